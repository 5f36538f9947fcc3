#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "run/simulation.hpp"

namespace scree {

/// Where the bodies of a run are [m], in the order of their ids, on every rank. For a few bodies. Collective.
template <int D>
std::vector<Vec<D>> positions_of(const Simulation<D>& simulation) {
  const State<D>& state = simulation.state();
  std::vector<Real> numbers(static_cast<std::size_t>(simulation.n_bodies()) * D, -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    std::ranges::copy(state.bodies.position()[i].component,
                      &numbers[static_cast<std::size_t>(state.bodies.id()[i]) * D]);
  state.comm.max(numbers);
  std::vector<Vec<D>> positions(numbers.size() / D);
  for (std::size_t i = 0; i < positions.size(); ++i)
    std::copy_n(&numbers[i * D], D, positions[i].component.begin());
  return positions;
}

}  // namespace scree
