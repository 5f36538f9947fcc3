#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// Numbers per body in arrays of velocities: padded, so that a body is one or half a cache line.
template <int D>
inline constexpr int velocity_width = D == 2 ? 4 : 8;

/// A contact of bodies that are round where they touch, in scaled units: J_b = [s_b F, -c_b n x F],
/// J_a = [-s_a F, -c_a n x F] for the frame F, so W is diagonal.
template <int D>
struct SphereContact {
  Index a, b;         ///< n_held stands for none
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

/// Eight of them, lane k for contact k. They share no body that moves, so a sweep treats them at once. The
/// contacts of a body are in groups in the order of the sweep; others may change places, which changes no
/// bits. Unused lanes have bodies n_held and zeros.
template <int D>
struct alignas(64) SphereGroup {
  static constexpr std::size_t size = 8;
  using Entry = Real[size];
  Index a[size], b[size];
  Entry F[D][D], s[2], c[2], inverse_W[2], w[D], mu, g[2];
};
/// Impulses of a group.
template <int D>
struct alignas(64) SphereImpulses {
  typename SphereGroup<D>::Entry r[D];
};
/// What sweeps with momentum keep for a group.
template <int D>
struct alignas(64) SphereMomentum {
  typename SphereGroup<D>::Entry p[D];  ///< momentum of the sweeps before
  typename SphereGroup<D>::Entry d[D];  ///< what the last sweep changed r by, beyond momentum
};

/// What a sweep takes over from those before: r starts at r + beta p, and p becomes beta p + share d
/// (docs/method.md, eq. N.5).
struct SweepMomentum {
  Real beta = 0;
  Real share = 0;  ///< 1; 0 where momentum starts anew
  Real unit = 1;   ///< of the change that the sweep adds up, a power of two (SweepChange)
};

/// The sum of d . (W + G) d over contacts, in a unit that the sweep before suggests: the terms are rounded to
/// integers, which are added exactly, in one pass and in any order. A sum that is larger than that of the
/// sweep before is not needed, so terms are cut where it is certain to be.
struct SweepChange {
  static constexpr Real of_last = 0x1p36;  ///< the sum of the sweep before is at most this
  static constexpr Real most = 0x1p38;     ///< of a term
  static constexpr Real to_integer = 0x1.8p52;
  /// The term for d . (W + G) d.
  static Real term(Real square, Real unit) {
    const Real scaled = square * unit;
    return ((scaled < most ? scaled : most) + to_integer) - to_integer;
  }
};

/// Contacts of round bodies, packed for vectors, and what solvers do with all of them at once. The order is
/// that of a sweep, and the bits are those of one contact after the other, with any instruction set.
template <int D>
class SphereRows {
 public:
  using Group = SphereGroup<D>;
  struct Kernels {
    std::string_view instruction_set;
    /// One sweep of block Gauss-Seidel (docs/method.md, eq. N.1-N.3); y: velocities of all held and of
    /// nobody, on 16 bytes.
    void (*sweep)(std::span<const Group> groups, SphereImpulses<D>* impulses, Real* y);
    /// The same with momentum. squares: d . (W + G) d of each lane, 0 of unused ones. Returns the sum of
    /// their SweepChange::terms.
    Real (*sweep_on)(std::span<const Group> groups, SphereImpulses<D>* impulses, SphereMomentum<D>* of_sweeps,
                     Real* y, SweepMomentum momentum, Real* squares);
    /// The momentum of n velocities y, which are as they were when the sweep was over; `start`: as it found
    /// them.
    void (*take_momentum)(std::size_t n, SweepMomentum momentum, Real* y, Real* p, Real* start);
    /// y += J^T r.
    void (*add)(std::span<const Group> groups, const SphereImpulses<D>* impulses, Real* y);
    /// |J y + w|^2 of each lane.
    void (*free_squares)(std::span<const Group> groups, const Real* y, Real* squares);
    /// |r - P_K(r - u^)|^2 of each lane (eq. F.6).
    void (*natural_squares)(std::span<const Group> groups, const SphereImpulses<D>* impulses, const Real* y,
                            Real* squares);
    /// The same, and the largest of each of the other measures of a Residual, in scaled units and in its
    /// order.
    void (*measure)(std::span<const Group> groups, const SphereImpulses<D>* impulses, const Real* y,
                    Real* squares, Real* largest);
  };
  static constexpr std::size_t n_measures = 5;

  SphereRows();

  /// Takes contacts from here on, in the order of a sweep; `none`: what stands for no body, more than the
  /// number of any. Local, as all.
  void begin(Index none);
  /// A place for a contact of bodies a and b: lane `place % Group::size` of group(place).
  std::size_t add(Index a, Index b);
  Group& group(std::size_t place) { return groups_[place / Group::size]; }
  /// Ends a stretch of contacts that a sweep visits between transfers.
  void end_stretch() { stretch_first_.push_back(first_open_ = groups_.size()); }

  std::size_t size() const { return place_.size(); }
  bool empty() const { return place_.empty(); }
  /// A copy of contact c: for whoever does not mind to be slow.
  SphereContact<D> operator[](std::size_t c) const;
  std::span<const Group> groups() const { return groups_; }
  /// Group * size + lane of each contact.
  std::span<const Index> place() const { return place_; }
  /// The groups of a stretch, and the first of them.
  std::size_t first_group(std::size_t stretch) const { return stretch_first_[stretch]; }
  std::span<const Group> groups_of(std::size_t stretch) const {
    return groups().subspan(stretch_first_[stretch], stretch_first_[stretch + 1] - stretch_first_[stretch]);
  }
  const Kernels& kernels() const { return *kernels_; }
  /// For tests: use these kernels.
  void use(const Kernels& kernels) { kernels_ = &kernels; }

  /// w of contact c.
  void set_bias(std::size_t c, const Real* w);
  void divide_bias(Real by);
  /// Impulses (size() * D, contact by contact) in groups and back.
  void pack(std::span<const Real> r, std::vector<SphereImpulses<D>>& impulses) const;
  void unpack(std::span<const SphereImpulses<D>> impulses, std::span<Real> r) const;
  std::size_t bytes() const;

 private:
  const Kernels* kernels_;
  Index none_ = 0;
  std::vector<Group> groups_;
  std::vector<Index> place_;
  std::vector<std::size_t> stretch_first_;
  std::vector<std::uint8_t> n_in_;        // contacts of each group
  std::size_t first_open_ = 0;            // group of the present stretch that may have room
  std::vector<std::size_t> first_group_;  // of each body, where its next contact may be
};

/// The kernels that this processor can run, the portable ones first.
template <int D>
std::span<const typename SphereRows<D>::Kernels* const> available_sphere_kernels();

}  // namespace scree
