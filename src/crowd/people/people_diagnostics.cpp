#include <fmt/format.h>

#include "crowd/people/people.hpp"
#include "crowd/plan/plan_gap.hpp"
#include "crowd/plan/ring.hpp"

namespace scree {

std::vector<std::string> People::diagnostics(const BuildingPlan& building, const JourneyPlan& journey_plan,
                                             bool is_led) const {
  std::vector<std::string> found;
  // Without obstacles of the deck: what the plan alone says.
  const ObstacleSet<2> none;
  const Box<2> domain = building.bounds();

  const auto look = [&](const std::string& table, const Origin& origin, std::int64_t count, Real density) {
    const auto& [name, where, mixture, level, region, file, journey, body_type] = origin;
    const NearObstacles near(none, journey_plan.exits(), domain, level, largest_radius());
    const StartSpace space(building, near, journey_plan.exits(), domain, region, where);
    const Real n = count > 0 ? static_cast<Real>(count) : density * space.area();
    const Real filled_share = densest_disks * n / max_that_fit(space, mixture);
    constexpr Real tight = 0.75;  // random disks jam at about 0.84
    if (filled_share > densest_disks)
      found.push_back(fmt::format("error: {}: [{}] asks for {:.0f} people, who would fill {:.0f} % of {}",
                                  where, table, n, 100 * filled_share, space.text()));
    else if (filled_share > tight)
      found.push_back(fmt::format("{}: the {:.0f} people of [{}] fill {:.0f} % of {}: they may not fit",
                                  where, n, table, 100 * filled_share, space.text()));
    if (journey < 0) {
      if (!is_led)
        found.push_back(fmt::format(
            "{}: people of [{}] will stand still: they have no journey, and crowd.direction is not set",
            where, table));
      return;
    }
    const JourneyPlan::Journey& first = journey_plan.journeys()[journey];
    std::vector<RouteCheck::Region> regions;
    for (const int to : first.steps[0].exits) {
      const Destination& destination = journey_plan.destinations()[to];
      for (const Ring& ring : destination.regions) regions.emplace_back(destination.level, ring);
    }
    const RouteCheck check(building, regions, mixture.largest_radius());
    constexpr int n_points = 64;
    for (int i = 0; i < n_points; ++i)
      for (int j = 0; j < n_points; ++j) {
        const Vec<2> x{{space.bounds().lower[0] + space.bounds().length(0) * (i + 0.5) / n_points,
                        space.bounds().lower[1] + space.bounds().length(1) * (j + 0.5) / n_points}};
        if (!space.holds(x) || !check.has_no_route(x, level)) continue;
        found.push_back(fmt::format(
            "{}: people of [{}] of radius {:g} m have no route from ({:.2f}, {:.2f}) m to "
            "where the journey \"{}\" leads first{}",
            where, table, mixture.largest_radius(), x[0], x[1], first.name, check.gap_text(x, level)));
        return;
      }
  };
  // Places of people from files are looked at one by one.
  for (const Population& p : populations_)
    if (!p.file.is_given()) look("populations." + p.name, p, p.count, p.density);
  for (const Source& s : sources_)
    if (!s.file.is_given()) look("sources." + s.name, s, 0, 0);
  return found;
}

}  // namespace scree
