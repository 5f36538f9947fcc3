#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "particles/body_store.hpp"

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
