#pragma once
#include <cstdint>
#include <vector>

#include "core/parallel.hpp"
#include "replay/serial_problem.hpp"

namespace scree {

/// One rank's rows of a friction problem that is spread over ranks: in any order and on any ranks, but each
/// body and each contact on exactly one. Both are numbered from 0 without gaps.
/// Shapes, units and signs as in FrictionProblem.
template <int D>
struct ProblemShare {
  static constexpr int q = n_velocities<D>;

  std::vector<std::int64_t> body;   ///< numbers of the bodies of this rank
  std::vector<Real> mass;           ///< q * q for each of them
  std::vector<Real> free_velocity;  ///< q for each
  /// q for each, or empty on all ranks: as free_velocity.
  std::vector<Real> start_velocity;

  std::vector<std::int64_t> contact;  ///< numbers of the contacts of this rank
  std::vector<std::int64_t> a, b;     ///< numbers of bodies of any rank; -1: static
  std::vector<Real> jacobian;         ///< 2 * D * q
  std::vector<Real> bias;             ///< D
  std::vector<Real> mu;
  std::vector<Real> compliance;  ///< 2, or empty on all ranks: rigid

  Real time_step = 0;  ///< these two the same on all ranks
  Real velocity_floor = 0;
};

/// What all ranks' shares have in common.
struct ShareSizes {
  std::int64_t n_bodies = 0, n_contacts = 0;
  bool is_compliant = false, has_start = false;
};

/// Throws InputError on all ranks if the arrays do not fit each other, a number is missing or occurs twice,
/// or a contact is not between two different bodies. Collective.
template <int D>
ShareSizes check_share(const Comm& comm, const ProblemShare<D>& share);

/// This rank's even share of a list that all ranks have. Collective.
template <int D>
ProblemShare<D> share_of_list(const Comm& comm, const SerialProblem<D>& whole);

}  // namespace scree
