#pragma once
#include <span>

#include "crowd/people/mixture.hpp"
#include "crowd/plan/building_plan.hpp"

namespace scree {

/// Mean horizontal speed of unimpeded people on a stair [m/s], by age and sex (as of AgentType; an empty sex:
/// both), from J. J. Fruin, Pedestrian Planning and Design, 1971, table 3-B: measured on two stairs, of 27
/// and 32 degrees. `angle` [rad]: linear between these, and as at the nearer one beyond.
Real fruin_speed(const std::string& age, const std::string& sex, bool goes_up, Real angle);

/// Gives the stairs with factors = "fruin" the factors of desired speeds v of each kind of people: on average
/// over the kind the horizontal speed is h = fruin_speed(), so along the slope
///
///     factor = h / cos(angle) / mean(v).
///
/// Throws InputError if a kind has no age. Local.
void set_stair_factors(BuildingPlan& building, std::span<const AgentType> kinds);

}  // namespace scree
