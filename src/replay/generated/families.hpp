#pragma once
#include <vector>

#include "replay/generated_problems.hpp"

/// Families of generated problems, one per file.
namespace scree::generated {

// Two million contacts at most, with which lists, shares and files take some GB of memory; the pile is
// bounded by its sweeps, which are minutes.
inline constexpr int most_bodies = 400'000;

template <int D>
std::vector<GeneratedProblem<D>> columns();
template <int D>
std::vector<GeneratedProblem<D>> masonry();
template <int D>
std::vector<GeneratedProblem<D>> spheres();
template <int D>
std::vector<GeneratedProblem<D>> made_from_solutions();

}  // namespace scree::generated
