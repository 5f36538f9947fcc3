#include "schemes/common/overlap.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace scree {

template <int D>
Real deepest_overlap(const State<D>& state, const ContactGraph<D>& contacts) {
  Real min = 0;
  for (const Real gap : contacts.gap) min = std::min(min, gap);
  return std::abs(state.comm.min(min));
}

template <int D>
Real overlap_beyond(const State<D>& state, const ContactGraph<D>& contacts, Real share) {
  Real max = -HUGE_VAL;
  for (std::size_t c = 0; c < contacts.size(); ++c)
    max = std::max(
        max, std::max(-contacts.gap[c], 0.0) - share * smaller_radius(state, contacts.a[c], contacts.b[c]));
  return state.comm.max(max);
}

template <int D>
std::string who_overlaps(const State<D>& state, const ContactGraph<D>& contacts, Real share, Real beyond) {
  GlobalId key = std::numeric_limits<GlobalId>::max();
  std::string who;
  const auto id_of = [&](Index body) { return state.bodies.id()[body]; };
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const GlobalId id = id_of(contacts.a[c]);
    if (-contacts.gap[c] - share * smaller_radius(state, contacts.a[c], contacts.b[c]) != beyond || id >= key)
      continue;
    key = id;
    who = contacts.b[c] >= 0 ? fmt::format("bodies {} and {}", id, id_of(contacts.b[c]))
                             : fmt::format("body {} and obstacle \"{}\"", id,
                                           state.obstacles.obstacle_with(contacts.wall[c]).name);
    who += fmt::format(" overlap by {:.3g} m", -contacts.gap[c]);
  }
  return message_of_smallest(state.comm, key, who);
}

template <int D>
Real smallest_radius(const State<D>& state) {
  Real min = HUGE_VAL;
  for (Index i = 0; i < state.bodies.n_owned(); ++i) min = std::min(min, inscribed_radius(state, i));
  return state.comm.min(min);
}

template Real deepest_overlap<2>(const State<2>&, const ContactGraph<2>&);
template Real deepest_overlap<3>(const State<3>&, const ContactGraph<3>&);
template Real overlap_beyond<2>(const State<2>&, const ContactGraph<2>&, Real);
template Real overlap_beyond<3>(const State<3>&, const ContactGraph<3>&, Real);
template std::string who_overlaps<2>(const State<2>&, const ContactGraph<2>&, Real, Real);
template std::string who_overlaps<3>(const State<3>&, const ContactGraph<3>&, Real, Real);
template Real smallest_radius<2>(const State<2>&);
template Real smallest_radius<3>(const State<3>&);

}  // namespace scree
