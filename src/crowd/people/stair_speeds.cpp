#include "crowd/people/stair_speeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.hpp"

namespace scree {

namespace {

/// A row of the table, in feet per minute: down and up, each on the stair of 32 and of 27 degrees.
struct FruinRow {
  std::string_view age, sex;
  std::array<Real, 2> down, up;
};
constexpr FruinRow fruin_rows[] = {
    {"under 30", "male", {163, 183}, {110, 120}},  {"under 30", "female", {117, 132}, {106, 110}},
    {"under 30", "", {149, 160}, {108, 115}},      {"30 to 50", "male", {136, 160}, {101, 116}},
    {"30 to 50", "female", {100, 128}, {94, 107}}, {"30 to 50", "", {127, 153}, {99, 114}},
    {"over 50", "male", {112, 118}, {85, 81}},     {"over 50", "female", {93, 111}, {77, 89}},
    {"over 50", "", {108, 117}, {83, 83}}};
constexpr Real metres_per_foot = 0.3048, seconds_per_minute = 60;
constexpr Real steep_stair = 32, flat_stair = 27;  // [degrees]

}  // namespace

Real fruin_speed(const std::string& age, const std::string& sex, bool goes_up, Real angle) {
  const auto* row =
      std::ranges::find_if(fruin_rows, [&](const FruinRow& r) { return r.age == age && r.sex == sex; });
  const std::array<Real, 2>& speeds = goes_up ? row->up : row->down;
  const Real degrees = std::clamp(angle * 180 / std::numbers::pi, flat_stair, steep_stair);
  const Real share = (steep_stair - degrees) / (steep_stair - flat_stair);
  return metres_per_foot / seconds_per_minute * (speeds[0] + share * (speeds[1] - speeds[0]));
}

void set_stair_factors(BuildingPlan& building, std::span<const AgentType> kinds) {
  for (int number = 0; number < building.n_levels(); ++number) {
    const Level& level = building.level(number);
    if (!level.incline || !level.incline->is_by_age) continue;
    const Real angle = std::atan(level.incline->gradient());
    std::vector<std::array<Real, 2>> factors;
    for (const AgentType& kind : kinds) {
      if (kind.age.empty())
        throw InputError(
            fmt::format("{}: speeds on this stair go by age, but [agents.{}] has none: give it age = \"under "
                        "30\", \"30 to 50\" or \"over 50\"",
                        level.where, kind.name));
      const Real mean = kind.speed->mean_of([](Real speed) { return speed; });
      const auto factor = [&](bool goes_up) {
        return fruin_speed(kind.age, kind.sex, goes_up, angle) / std::cos(angle) / mean;
      };
      factors.push_back({factor(true), factor(false)});
    }
    building.set_factors(number, std::move(factors));
  }
}

}  // namespace scree
