#pragma once
#include "contact/contact_graph.hpp"
#include "state/state.hpp"

namespace scree {

/// What the two materials of contact c do to each other. All pairs that may touch are given: the deck is
/// checked for it before a run.
template <int D>
const PairProperties<D>& pair_of(const State<D>& state, const ContactGraph<D>& contacts, std::size_t c) {
  const auto material = [&](Index body) {
    const auto type = state.bodies.type()[body];
    return state.type_material[type];
  };
  const int other = contacts.b[c] < 0 ? state.obstacle_material[state.obstacles.obstacle_of(contacts.wall[c])]
                                      : material(contacts.b[c]);
  return *state.materials.pair(material(contacts.a[c]), other);
}

/// R_a + R_b of contact c, R_a at an obstacle [m].
template <int D>
Real sum_of_radii(const State<D>& state, const ContactGraph<D>& contacts, std::size_t c) {
  const auto radius = state.bodies.radius();
  const Real a = radius[contacts.a[c]];
  return contacts.b[c] < 0 ? a : a + radius[contacts.b[c]];
}

/// Whether a body of contact c is no sphere.
template <int D>
bool has_shape(const State<D>& state, const ContactGraph<D>& contacts, std::size_t c) {
  if (!state.bodies.carries_shapes()) return false;
  const auto is_sphere = [&](Index body) { return state.bodies.shape()[body] == 0; };
  return !is_sphere(contacts.a[c]) || (contacts.b[c] >= 0 && !is_sphere(contacts.b[c]));
}

/// The sum of `length` times radius over the shapes of both bodies of contact c, of one at an obstacle [m].
template <int D>
Real sum_of_lengths(const State<D>& state, const ContactGraph<D>& contacts, std::size_t c,
                    Real ConvexShape<D>::*length) {
  const auto of = [&](Index body) {
    return state.bodies.radius()[body] * (state.shapes[state.bodies.shape()[body]].form.*length);
  };
  return of(contacts.a[c]) + (contacts.b[c] < 0 ? 0 : of(contacts.b[c]));
}
template <int D>
Real sum_of_roundings(const State<D>& state, const ContactGraph<D>& contacts, std::size_t c) {
  return sum_of_lengths(state, contacts, c, &ConvexShape<D>::rounding);
}
template <int D>
Real sum_of_inscribed_radii(const State<D>& state, const ContactGraph<D>& contacts, std::size_t c) {
  return sum_of_lengths(state, contacts, c, &ConvexShape<D>::inscribed_radius);
}

}  // namespace scree
