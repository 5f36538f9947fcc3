#include "replay/generated_problems.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "replay/generated/families.hpp"

namespace scree {

using namespace generated;

template <int D>
std::span<const GeneratedProblem<D>> generated_problems() {
  static const std::vector<GeneratedProblem<D>> all = [] {
    std::vector<GeneratedProblem<D>> problems;
    for (const auto& family : {columns<D>(), masonry<D>(), spheres<D>(), made_from_solutions<D>()})
      problems.insert(problems.end(), family.begin(), family.end());
    return problems;
  }();
  return all;
}

template <int D>
ListedProblem<D> generate_problem(std::string_view name, int size, std::uint64_t seed) {
  std::string listed_name(name);
  std::replace(listed_name.begin(), listed_name.end(), '-', '_');
  std::string names;
  for (const GeneratedProblem<D>& problem : generated_problems<D>()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", problem.name);
    if (problem.name != listed_name) continue;
    if (size < problem.least_size || size > problem.largest_size)
      throw InputError(fmt::format("generated problem \"{}\": size {} ({}) is {}: sizes go from {} to {}",
                                   name, size, problem.size,
                                   size < problem.least_size ? fmt::format("below {}", problem.least_size)
                                                             : fmt::format("above {}", problem.largest_size),
                                   problem.least_size, problem.largest_size));
    return problem.make(size, seed);
  }
  throw InputError(fmt::format("there is no generated problem \"{}\"; there are {}", name, names));
}

template std::span<const GeneratedProblem<2>> generated_problems<2>();
template std::span<const GeneratedProblem<3>> generated_problems<3>();
template ListedProblem<2> generate_problem<2>(std::string_view, int, std::uint64_t);
template ListedProblem<3> generate_problem<3>(std::string_view, int, std::uint64_t);

}  // namespace scree
