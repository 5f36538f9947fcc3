#pragma once
#include <algorithm>
#include <optional>

#include "neighbors/neighborhood.hpp"
#include "state/energy_balance.hpp"
#include "state/state.hpp"

namespace scree {

// What all schemes with inertia share.

/// A speed that bodies of this rank may get to by falling through the domain and down their potential, on top
/// of what they have, if nothing touches them [m/s]. Local.
template <int D>
Real fastest_fall(const State<D>& state) {
  Real drop = 0;
  for (int k = 0; k < D; ++k)
    if (!state.box.is_periodic(k)) drop += std::abs(state.gravity[k]) * state.box.length(k);
  Real fastest = 0;
  const auto velocity = state.bodies.velocity();
  const std::vector<Real> in_forces = potential_in_forces(state);
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
    const Real more = in_forces.empty() ? 0 : 2 * std::max(in_forces[i], 0.0) / state.bodies.mass()[i];
    fastest = std::max(fastest, dot(velocity[i], velocity[i]) + more);
  }
  return std::sqrt(2 * drop + fastest);
}

/// Neighborhood::rebuild, with the energy of bodies that are found outside the domain recorded as outflow.
/// Collective.
template <int D>
void rebuild_list(State<D>& state, Neighborhood<D>& neighborhood, std::optional<Real> needed_skin = {},
                  std::optional<Real> time = {}) {
  const Real before = mechanical_energy(state).total();
  const std::int64_t n_removed = neighborhood.n_removed();
  neighborhood.rebuild(state, needed_skin, time);
  if (neighborhood.n_removed() != n_removed)
    state.energy_balance.outflow += before - mechanical_energy(state).total();
}

}  // namespace scree
