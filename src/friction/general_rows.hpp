#pragma once
#include <span>
#include <string_view>

#include "friction/friction_problem.hpp"
#include "friction/lane_groups.hpp"

namespace scree {

/// A group (LaneGroups) of contacts of any bodies, in scaled units. Unused lanes have bodies n_local, W = I
/// and zeros.
template <int D>
struct alignas(64) GeneralGroup {
  static constexpr int q = n_velocities<D>;
  Index a[group_size], b[group_size];
  GroupEntry J[2][D][q];          ///< rows for a and for b; zero for none
  GroupEntry W[D * (D + 1) / 2];  ///< own block without compliance: the lower half by rows
  GroupEntry w[D], mu, g[2];      ///< bias, friction, compliance along N and along T
};

template <int D>
struct GeneralKernels {
  using Group = GeneralGroup<D>;
  std::string_view instruction_set;
  /// One sweep of block Gauss-Seidel (docs/method.md, eq. N.1-N.3). slip: of each lane, the guess of its
  /// next local solution; y: velocities of all local bodies and of nobody, on 16 bytes.
  void (*sweep)(std::span<const Group> groups, GroupImpulses<D>* impulses, Real* slip, Real* y);
  /// The same with momentum. squares: d . (W + G) d of each lane, 0 of unused ones. Returns the sum of
  /// their SweepChange::terms.
  Real (*sweep_on)(std::span<const Group> groups, GroupImpulses<D>* impulses, GroupMomentum<D>* of_sweeps,
                   Real* slip, Real* y, SweepMomentum momentum, Real* squares);
  /// |r - P_K(r - u^)|^2 of each lane (eq. F.6).
  void (*natural_squares)(std::span<const Group> groups, const GroupImpulses<D>* impulses, const Real* y,
                          Real* squares);
};

/// Contacts of any bodies, and what solvers do with all of them at once.
template <int D>
class GeneralRows : public PackedRows<GeneralGroup<D>, GeneralKernels<D>> {
 public:
  using Group = GeneralGroup<D>;

  GeneralRows();

  /// Adds a contact: rows like ScaledProblem::Contact, without a coupling.
  template <class Row>
  void add(const Row& row) {
    put(row, GeneralRows::PackedRows::add(row.a, row.b));
  }
  /// Contact c, which was deferred.
  template <class Row>
  void add(std::size_t c, const Row& row) {
    put(row, GeneralRows::PackedRows::add(c, row.a, row.b));
  }
  /// w of contact c.
  void set_bias(std::size_t c, const Real* w) {
    const std::size_t place = this->lanes().place()[c];
    for (std::size_t i = 0; i < D; ++i) this->group(place).w[i][place % group_size] = w[i];
  }

 private:
  template <class Row>
  void put(const Row& row, std::size_t place) {
    const std::size_t lane = place % group_size;
    Group& group = this->group(place);
    if (lane == 0)
      for (int i = 0, at = 0; i < D; ++i, at += i + 1) std::fill_n(group.W[at], group_size, 1.0);
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < D; ++i)
        for (int k = 0; k < Group::q; ++k) group.J[side][i][k][lane] = row.J[side][i][k];
    for (int i = 0, at = 0; i < D; ++i)
      for (int j = 0; j <= i; ++j) group.W[at++][lane] = row.W[i][j];
    for (int i = 0; i < D; ++i) group.w[i][lane] = row.w[i];
    group.mu[lane] = row.mu;
    for (int k = 0; k < 2; ++k) group.g[k][lane] = row.g[k];
  }
};

/// The kernels that this processor can run, the portable ones first.
template <int D>
std::span<const typename GeneralRows<D>::Kernels* const> available_general_kernels();

}  // namespace scree
