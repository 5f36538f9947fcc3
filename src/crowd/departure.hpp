#pragma once
#include <array>
#include <cstdint>

#include "crowd/agent_fields.hpp"

namespace scree {

/// What has become of a person; of those who stay as at the end of the run.
enum class Fate : std::int32_t { left, left_elsewhere, incapacitated, inside, waiting, no_route, locked };

/// A person who has left, or stays, with what is known of the route.
struct Departure {
  GlobalId id = 0;
  std::int32_t exit = 0;       ///< in State::outlets; -1: incapacitated, see Hazard
  std::int32_t body_type = 0;  ///< field `type` of bodies: its population or source
  std::int32_t level = 0;      ///< of the building, that of the exit
  Real radius = 0;             ///< [m]
  Real time = 0;               ///< when it left [s]; infinite: it stays
  Vec<2> at{};                 ///< where it was then [m]
  Fate fate = Fate::left;
  std::array<Real, agent::fields.size()> values{};  ///< of agent_fields.def, by agent::place
};
/// Of body i, which left through an exit at `time`, at its present place.
Departure departure_of(const BodyStore<2>& bodies, std::size_t i, std::int32_t exit, Real time);

}  // namespace scree
