#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "solvers/listed_problem.hpp"

namespace scree {

/// Friction problems made from nothing but a size and a seed, for tests, benchmarks and studies.
///
/// All are one step of dt = 0.01 s under gravity g = 9.81 m/s2 along the last axis, from rest unless the
/// summary says otherwise; touching contacts have no bias, contacts with a gap may just close
/// (w_N = gap / dt). So v = 0 keeps every contact from closing further and a solution exists; where the
/// bodies stand, v = 0 is the solution.
template <int D>
struct GeneratedProblem {
  std::string_view name;
  std::string_view summary;
  std::string_view size;  ///< what the size counts
  int least_size;
  /// Cost O(bodies), except pile: some hundred sweeps over its pairs, a thousand at 20,000 spheres.
  ListedProblem<D> (*make)(int size, std::uint64_t seed);
};

/// All of them; the plane has fewer.
template <int D>
std::span<const GeneratedProblem<D>> generated_problems();

/// The one called `name`. Throws InputError for a name or size that does not exist.
template <int D>
ListedProblem<D> generate_problem(std::string_view name, int size, std::uint64_t seed = 1);

}  // namespace scree
