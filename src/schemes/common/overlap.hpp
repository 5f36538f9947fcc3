#pragma once
#include <algorithm>
#include <string>

#include "contact/contact_graph.hpp"
#include "state/state.hpp"

namespace scree {

/// The deepest overlap of the contacts of all ranks [m]. Collective.
template <int D>
Real deepest_overlap(const State<D>& state, const ContactGraph<D>& contacts);

/// How much deeper than `share` of its smaller radius the worst of all contacts is [m]; -infinite without
/// contacts. Collective.
template <int D>
Real overlap_beyond(const State<D>& state, const ContactGraph<D>& contacts, Real share);

/// Which contact is that: "bodies 3 and 5 overlap by 0.1 m", `body 3 and obstacle "floor" ...`; of several
/// that of the smallest id. The same on all ranks. Collective.
template <int D>
std::string who_overlaps(const State<D>& state, const ContactGraph<D>& contacts, Real share, Real beyond);

/// Radius of body i [m]; of a body with a shape that of the inscribed sphere. Local.
template <int D>
Real inscribed_radius(const State<D>& state, Index i) {
  const Real radius = state.bodies.radius()[i];
  return state.bodies.carries_shapes() ? state.shapes.inscribed_radius(state.bodies.shape()[i], radius)
                                       : radius;
}
/// The smaller one of the bodies of a contact; b < 0: there is one. Local.
template <int D>
Real smaller_radius(const State<D>& state, Index a, Index b) {
  const Real of_a = inscribed_radius(state, a);
  return b < 0 ? of_a : std::min(of_a, inscribed_radius(state, b));
}

/// Of bodies with shapes that of the inscribed sphere. Of the owned bodies of all ranks [m]; infinite without
/// bodies. Collective.
template <int D>
Real smallest_radius(const State<D>& state);

}  // namespace scree
