#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "replay/listed_problem.hpp"

namespace scree {

/// Friction problems made from a size and a seed, for tests, benchmarks and studies. All have a
/// solution, and each summary says why.
///
/// All are one step of dt = 0.01 s under gravity g = 9.81 m/s2 along the last axis. Except in
/// `manufactured` and `ill_conditioned`, bodies start from rest unless the summary says otherwise; touching
/// contacts have no bias, contacts with a gap may just close (w_N = gap / dt). So v = 0 keeps every contact
/// from closing further, and that is enough for a solution to exist (Acary, Cadoux, Lemarechal, Malick, ZAMM
/// 91, 2011); where the bodies stand, v = 0 is the solution.
template <int D>
struct GeneratedProblem {
  std::string_view name;
  std::string_view summary;
  std::string_view size;  ///< what the size counts
  int least_size;
  int largest_size;  ///< by the memory of one rank, some GB
  /// Cost O(bodies), except pile: some hundred sweeps over its pairs, a thousand at 20,000 spheres.
  ListedProblem<D> (*make)(int size, std::uint64_t seed);
};

/// A problem with a solution of it: M (v - v_free) = H^T r, u = H v + w and Coulomb's law hold to round-off.
/// Others may exist: r is one of many where contacts are redundant, and with large mu so may be v and u.
template <int D>
struct SolvedProblem {
  ListedProblem<D> problem;
  std::vector<Real> v;  ///< n_bodies * q [m/s, rad/s]
  std::vector<Real> r;  ///< n_contacts * D [N s]
  std::vector<Real> u;  ///< n_contacts * D [m/s]
};

/// Keeps bodies, contacts, masses and mu of `problem`, draws a solution of about the size of a step under
/// gravity, and sets free velocities and bias (all D components) to what makes it one:
///     v_free = v - M^-1 H^T r,   w = u - H v.
/// Of the contacts about a third each is open, sticks and slips, strictly so but where mu = 0. Contacts with
/// an impulse in `carried` (n_contacts * D, or empty; inside their cones) stick with that impulse.
/// Mass blocks as ListedProblem::add_body makes them, no compliance.
template <int D>
SolvedProblem<D> manufacture(ListedProblem<D> problem, std::uint64_t seed,
                             std::span<const Real> carried = {});

/// All of them; the plane has fewer.
template <int D>
std::span<const GeneratedProblem<D>> generated_problems();

/// The one called `name`, in which '-' counts as '_'. Throws InputError for a name that does not exist
/// and for a size out of its range, which the message names.
template <int D>
ListedProblem<D> generate_problem(std::string_view name, int size, std::uint64_t seed = 1);

/// `manufactured` and `ill_conditioned` with the solution that they were made from.
template <int D>
SolvedProblem<D> manufactured_problem(int size, std::uint64_t seed);
template <int D>
SolvedProblem<D> ill_conditioned_problem(int size, std::uint64_t seed);

}  // namespace scree
