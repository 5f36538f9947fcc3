#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "crowd/floor_field/people_at.hpp"
#include "state/state.hpp"

/// The fields of people (agent_fields.def), as agent::desired_speed(bodies)[i].
namespace scree::agent {

/// The number of each field, as agent::place::desired_speed.
namespace place {
enum Place : std::uint8_t {
#define SCREE_AGENT_FIELD(name, type, unit, frames, table, only_if, what) name,
#include "crowd/agent_fields.def"
#undef SCREE_AGENT_FIELD
};
}  // namespace place

/// For BodyStore::carry_extra().
inline constexpr std::array fields{
#define SCREE_AGENT_FIELD(name, type, unit, frames, table, only_if, what) \
  ExtraField{{#name, unit, Ghosts::none, true, FieldSet::always, what}, std::is_same_v<type, std::int32_t>},
#include "crowd/agent_fields.def"
#undef SCREE_AGENT_FIELD
};

/// In which runs frames and tables have a field.
enum class OnlyIf : std::uint8_t { always, queues, groups, hazard };
/// Where a field is written: its place among the columns of frames and of NAME.agents.csv; 0: not there.
struct Written {
  int frames;
  int table;
  OnlyIf only_if;
};
inline constexpr std::array written{
#define SCREE_AGENT_FIELD(name, type, unit, frames, table, only_if, what) \
  Written{frames, table, OnlyIf::only_if},
#include "crowd/agent_fields.def"
#undef SCREE_AGENT_FIELD
};

constexpr bool are_different(int Written::*place) {
  for (std::size_t k = 0; k < written.size(); ++k)
    for (std::size_t other = 0; other < k; ++other)
      if (written[k].*place != 0 && written[k].*place == written[other].*place) return false;
  return true;
}
static_assert(are_different(&Written::frames) && are_different(&Written::table),
              "two fields of agent_fields.def have one place");

#define SCREE_AGENT_FIELD(name, type, unit, frames, table, only_if, what) \
  inline std::span<type> name(BodyStore<2>& bodies) {                     \
    return bodies.extra<type>(place::name);                               \
  }                                                                       \
  inline std::span<const type> name(const BodyStore<2>& bodies) {         \
    return bodies.extra<type>(place::name);                               \
  }
#include "crowd/agent_fields.def"
#undef SCREE_AGENT_FIELD

}  // namespace scree::agent

namespace scree {

/// The owned people of a rank, with the levels that they are on.
inline PeopleAt owned_people(const State<2>& state) {
  const BodyStore<2>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  return {bodies.position().first(n), bodies.carries_levels() ? bodies.level().first(n) : bodies.level()};
}
/// The level of the building that body i is on; 0 where there is one.
inline int level_of(const BodyStore<2>& bodies, std::size_t i) {
  return bodies.carries_levels() ? bodies.level()[i] : 0;
}

}  // namespace scree
