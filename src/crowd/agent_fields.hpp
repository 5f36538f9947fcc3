#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "crowd/floor_field/people_at.hpp"
#include "state/state.hpp"

/// The fields of people (agent_fields.def), as agent::desired_speed(bodies)[i].
namespace scree::agent {

namespace detail {
enum Place : std::uint8_t {
#define SCREE_AGENT_FIELD(name, stored, type, unit, what) name,
#include "crowd/agent_fields.def"
#undef SCREE_AGENT_FIELD
};
}  // namespace detail

/// For BodyStore::carry_extra().
inline constexpr std::array fields{
#define SCREE_AGENT_FIELD(name, stored, type, unit, what) \
  ExtraField{{#stored, unit, Ghosts::none, true, Carried::always, what}, std::is_same_v<type, std::int32_t>},
#include "crowd/agent_fields.def"
#undef SCREE_AGENT_FIELD
};

#define SCREE_AGENT_FIELD(name, stored, type, unit, what)         \
  inline std::span<type> name(BodyStore<2>& bodies) {             \
    return bodies.extra<type>(detail::name);                      \
  }                                                               \
  inline std::span<const type> name(const BodyStore<2>& bodies) { \
    return bodies.extra<type>(detail::name);                      \
  }
#include "crowd/agent_fields.def"
#undef SCREE_AGENT_FIELD

}  // namespace scree::agent

namespace scree {

/// The owned people of a rank, with the levels that they are on.
inline PeopleAt owned_people(const State<2>& state) {
  const BodyStore<2>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_owned());
  return {bodies.position().first(n), bodies.carries_levels() ? bodies.level().first(n) : bodies.level()};
}
/// The level of the building that body i is on; 0 where there is one.
inline int level_of(const BodyStore<2>& bodies, std::size_t i) {
  return bodies.carries_levels() ? bodies.level()[i] : 0;
}

}  // namespace scree
