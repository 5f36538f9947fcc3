#pragma once
#include "neighbors/neighborhood.hpp"
#include "state/state.hpp"

namespace scree {

// What all schemes with inertia share.

/// A speed that bodies of this rank may get to by falling through the domain and down their potential, on top
/// of what they have, if nothing touches them [m/s]. Local.
template <int D>
Real fastest_fall(const State<D>& state);

/// Neighborhood::rebuild, with the energy of bodies that are found outside the domain recorded as outflow.
/// Collective.
template <int D>
void rebuild_and_book_outflow(State<D>& state, Neighborhood<D>& neighborhood,
                              std::optional<Real> needed_skin = {}, std::optional<Real> time = {});

}  // namespace scree
