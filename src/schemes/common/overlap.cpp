#include "schemes/common/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace scree {

template <int D>
Real deepest_overlap(const State<D>& state, const ContactGraph<D>& contacts) {
  Real least = 0;
  for (const Real gap : contacts.gap) least = std::min(least, gap);
  return std::abs(state.comm.min(least));
}

template <int D>
std::string who_overlaps(const State<D>& state, const ContactGraph<D>& contacts, Real overlap) {
  GlobalId key = std::numeric_limits<GlobalId>::max();
  std::string who;
  const auto id_of = [&](Index body) { return state.bodies.id()[static_cast<std::size_t>(body)]; };
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const GlobalId id = id_of(contacts.a[c]);
    if (contacts.gap[c] != -overlap || id >= key) continue;
    key = id;
    who = contacts.b[c] >= 0 ? fmt::format("bodies {} and {}", id, id_of(contacts.b[c]))
                             : fmt::format("body {} and obstacle \"{}\"", id,
                                           state.obstacles.obstacle_with(contacts.wall[c]).name);
  }
  return message_of_smallest(state.comm, key, who);
}

template <int D>
Real smallest_radius(const State<D>& state) {
  const auto radius = state.bodies.radius().first(static_cast<std::size_t>(state.bodies.n_owned()));
  if (state.bodies.carries_shapes()) {
    Real least = HUGE_VAL;
    for (std::size_t i = 0; i < radius.size(); ++i)
      least = std::min(least, state.shapes.inscribed_radius(state.bodies.shape()[i], radius[i]));
    return state.comm.min(least);
  }
  return state.comm.min(radius.empty() ? HUGE_VAL : *std::ranges::min_element(radius));
}

template Real deepest_overlap<2>(const State<2>&, const ContactGraph<2>&);
template Real deepest_overlap<3>(const State<3>&, const ContactGraph<3>&);
template std::string who_overlaps<2>(const State<2>&, const ContactGraph<2>&, Real);
template std::string who_overlaps<3>(const State<3>&, const ContactGraph<3>&, Real);
template Real smallest_radius<2>(const State<2>&);
template Real smallest_radius<3>(const State<3>&);

}  // namespace scree
