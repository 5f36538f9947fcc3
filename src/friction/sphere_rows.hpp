#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "friction/friction_problem.hpp"
#include "friction/lane_groups.hpp"

namespace scree {

/// A contact of bodies that are round where they touch, in scaled units: J_b = [s_b F, -c_b n x F],
/// J_a = [-s_a F, -c_a n x F] for the frame F, so W is diagonal.
template <int D>
struct SphereContact {
  Index a, b;         ///< n_local stands for none
  Real F[D][D];       ///< n, t1[, t2] by rows
  Real s[2], c[2];    ///< of a and of b: sqrt(m_c / m), arm sqrt(m_c / J); zero for none
  Real inverse_W[2];  ///< 1 / (W + G) along N and along T
  Real w[D];          ///< bias
  Real mu;
  Real g[2];  ///< compliance along N and along T
  Real compliance(int k) const { return g[k > 0]; }
  Real diagonal(int k) const { return 1 / inverse_W[k > 0]; }  ///< of W + G
  /// J y.
  void relative_velocity(const Real* y, Real* u) const {
    const Real* of_a = y + static_cast<std::size_t>(a) * velocity_width<D>;
    const Real* of_b = y + static_cast<std::size_t>(b) * velocity_width<D>;
    Real d[D];
    for (int k = 0; k < D; ++k) d[k] = s[1] * of_b[k] - s[0] * of_a[k];
    for (int i = 0; i < D; ++i) {
      u[i] = 0;
      for (int k = 0; k < D; ++k) u[i] += F[i][k] * d[k];
    }
    if constexpr (D == 2) {
      u[1] -= c[0] * of_a[2] + c[1] * of_b[2];
    } else {
      for (int k = 0; k < 3; ++k) {
        const Real spin = c[0] * of_a[3 + k] + c[1] * of_b[3 + k];
        u[1] -= F[2][k] * spin;
        u[2] += F[1][k] * spin;
      }
    }
  }
  /// y += J^T r.
  void add_impulse(const Real* r, Real* y) const {
    Real* to_a = y + static_cast<std::size_t>(a) * velocity_width<D>;
    Real* to_b = y + static_cast<std::size_t>(b) * velocity_width<D>;
    for (int k = 0; k < D; ++k) {
      Real force = 0;
      for (int i = 0; i < D; ++i) force += F[i][k] * r[i];
      to_a[k] -= s[0] * force;
      to_b[k] += s[1] * force;
    }
    if constexpr (D == 2) {
      to_a[2] -= c[0] * r[1];
      to_b[2] -= c[1] * r[1];
    } else {
      for (int k = 0; k < 3; ++k) {
        const Real torque = F[1][k] * r[2] - F[2][k] * r[1];
        to_a[3 + k] += c[0] * torque;
        to_b[3 + k] += c[1] * torque;
      }
    }
  }
};

/// A group of them (LaneGroups). Unused lanes have bodies n_local and zeros.
template <int D>
struct alignas(64) SphereGroup {
  using Entry = GroupEntry;
  Index a[group_size], b[group_size];
  Entry F[D][D], s[2], c[2], inverse_W[2], w[D], mu, g[2];
};
/// What a group has besides where contacts resist rolling (docs/method.md, eq. D.5), in scaled units: the
/// impulse is s / R and the velocity R w, with j_a, j_b in place of s_a, s_b. 0 where it does not.
template <int D>
struct alignas(64) RollingGroup {
  GroupEntry j[2];  ///< of a and of b: R sqrt(m_c / J); zero for none
  GroupEntry mu, w[n_turns<D>];
  GroupEntry coupling;    ///< what s does to u_T, and r_T to R w
  GroupEntry inverse_W;   ///< what R w needs, other impulses held
  GroupEntry inverse_WT;  ///< the same while the surfaces stick
};
/// The resistance to rolling that kernels take along with groups; none if `rows` is null.
template <int D>
struct RollingSweep {
  const RollingGroup<D>* rows = nullptr;
  GroupImpulses<n_turns<D>>* impulses = nullptr;
  GroupMomentum<n_turns<D>>* of_sweeps = nullptr;
  /// From a group on.
  RollingSweep from(std::size_t group) const {
    if (rows == nullptr) return {};
    return {rows + group, impulses + group, of_sweeps == nullptr ? nullptr : of_sweeps + group};
  }
};
/// How the error of a contact with a scale of its own is measured (docs/method.md, eq. F.8), in scaled units.
struct alignas(64) OwnScales {
  GroupEntry weight[2];  ///< (W + G)/W along N and along T; 0 in other lanes
  GroupEntry floor;      ///< square of the least impulse to which errors are compared; 1 in other lanes
};
/// Velocities and impulses that resist rolling come with `rolling`, if they do.
template <int D>
struct SphereKernels {
  using Group = SphereGroup<D>;
  using Rolling = RollingSweep<D>;
  std::string_view instruction_set;
  /// One sweep of block Gauss-Seidel (docs/method.md, eq. N.1-N.3); y: velocities of all local bodies and of
  /// nobody, on 16 bytes.
  void (*sweep)(std::span<const Group> groups, GroupImpulses<D>* impulses, Real* y, Rolling rolling);
  /// The same with momentum. squares: d . (W + G) d of each lane, 0 of unused ones. Returns the sum of
  /// their SweepChange::terms.
  Real (*sweep_on)(std::span<const Group> groups, GroupImpulses<D>* impulses, GroupMomentum<D>* of_sweeps,
                   Real* y, SweepMomentum momentum, Real* squares, Rolling rolling);
  /// The momentum of n velocities y, which are as they were when the sweep was over; `start`: as it found
  /// them.
  void (*take_momentum)(std::size_t n, SweepMomentum momentum, Real* y, Real* p, Real* start);
  /// y += J^T r.
  void (*add)(std::span<const Group> groups, const GroupImpulses<D>* impulses, Real* y, Rolling rolling);
  /// |J y + w|^2 of each lane.
  void (*free_squares)(std::span<const Group> groups, const Real* y, Real* squares);
  /// |r - P_K(r - u^)|^2 of each lane (eq. F.6).
  void (*natural_squares)(std::span<const Group> groups, const GroupImpulses<D>* impulses, const Real* y,
                          Real* squares, Rolling rolling);
  /// The square of the error (F.8) of each lane with a scale of its own; 0 of others.
  void (*own_squares)(std::span<const Group> groups, const OwnScales* scales,
                      const GroupImpulses<D>* impulses, const Real* y, Real* squares, Rolling rolling);
  /// The natural squares, and the largest of each of the other measures of a Residual, in scaled units and
  /// in its order.
  void (*measure)(std::span<const Group> groups, const GroupImpulses<D>* impulses, const Real* y,
                  Real* squares, Real* largest, Rolling rolling);
};
/// Contacts of round bodies, and what solvers do with all of them at once.
template <int D>
class SphereRows : public PackedRows<SphereGroup<D>, SphereKernels<D>> {
  using Base = PackedRows<SphereGroup<D>, SphereKernels<D>>;

 public:
  using Group = SphereGroup<D>;
  static constexpr std::size_t n_measures = 5;

  SphereRows();

  void begin(Index none);
  /// A copy of contact c: for whoever does not mind to be slow.
  SphereContact<D> operator[](std::size_t c) const;
  /// Resistance to rolling of each group, in the same lanes; empty: none.
  std::vector<RollingGroup<D>>& rolling() { return rolling_; }
  const std::vector<RollingGroup<D>>& rolling() const { return rolling_; }

  /// Contact c is measured by its own scale, at least by the velocity `min`, in units of v_c. After the
  /// last add().
  void set_own_scale(std::size_t c, Real min);
  /// Of each group; empty if no contact has one.
  std::span<const OwnScales> own_scales() const {
    return has_own_scales_ ? std::span<const OwnScales>(own_scales_) : std::span<const OwnScales>();
  }
  /// w of contact c.
  void set_bias(std::size_t c, const Real* w);
  void divide_bias(Real by);

 private:
  std::size_t place_of(std::size_t c) const { return static_cast<std::size_t>(this->lanes().place()[c]); }

  std::vector<RollingGroup<D>> rolling_;
  std::vector<OwnScales> own_scales_;
  bool has_own_scales_ = false;
};

/// The kernels that this processor can run, the portable ones first.
template <int D>
std::span<const typename SphereRows<D>::Kernels* const> available_sphere_kernels();

}  // namespace scree
