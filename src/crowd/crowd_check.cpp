#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/region.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "crowd/crowd_environment.hpp"
#include "crowd/person.hpp"
#include "crowd/plan/plan_gap.hpp"

namespace scree {

namespace {

/// An opening must be this much wider than a person, or two walls touch it at once [m].
constexpr Real clearance = 0.01;

std::string at(const Vec<2>& x) {
  return fmt::format("({:.3g}, {:.3g})", x[0], x[1]);
}

/// Narrow openings, coarse cells, exits on top of each other. Local.
void check_exits(const JourneyPlan& journey_plan, const FloorField& floor_field, Real largest, Real smallest,
                 std::vector<std::string>& findings) {
  const auto exits = journey_plan.exits();
  for (const Exit& exit : exits) {
    if (exit.line.empty()) continue;
    const Real width = exit.width();
    const Vec<2> middle = exit.middle();
    if (!fits(width, smallest))
      findings.push_back(fmt::format(
          "error: {}: [exits.{}] at {} is {:.3g} m wide: nobody fits through, the smallest person "
          "has a radius of {:.3g} m",
          exit.where, exit.name, at(middle), width, smallest));
    else if (!fits(width, largest))
      findings.push_back(fmt::format(
          "{}: [exits.{}] at {} is {:.3g} m wide: people with a radius above {:.4g} m do not fit through{}",
          exit.where, exit.name, at(middle), width, 0.5 * width,
          floor_field.by_width() ? " and take other routes" : ""));
    if (floor_field.cell() > (width + rounding_of_widths) / 4)
      findings.push_back(
          fmt::format("{}: [exits.{}] at {} is {:.3g} m wide: cells of navigation.cell = {:g} m are too "
                      "coarse for it, take {:.2g} m or less",
                      exit.where, exit.name, at(middle), width, floor_field.cell(), width / 4));
  }
  for (std::size_t i = 0; i < exits.size(); ++i)
    for (std::size_t j = i + 1; j < exits.size(); ++j) {
      const auto meets = [](const Exit& one, const Exit& other) {
        for (const Ring& region : one.regions)
          for (const Ring& second : other.regions)
            for (const Vec<2>& corner : region)
              if (ring_contains(second, corner)) return true;
        return false;
      };
      if (exits[i].level == exits[j].level && (meets(exits[i], exits[j]) || meets(exits[j], exits[i])))
        findings.push_back(fmt::format(
            "{}: [exits.{}] and [exits.{}] overlap at {}: people who get there count for the first",
            exits[j].where, exits[i].name, exits[j].name, at(exits[j].regions[0][0])));
    }
}

/// Connectors and lifts that are too narrow for some. Local.
void check_lines(const BuildingPlan& building, Real largest, Real smallest,
                 std::vector<std::string>& findings) {
  if (!building.map()) return;
  for (const LevelLine& line : building.map()->lines()) {
    const Level& beyond = building.level(line.level[1]);
    const Real width =
        beyond.lift ? std::min(norm(line.b - line.a), beyond.lift->depth) : norm(line.b - line.a);
    if (fits(width, largest)) continue;
    const std::string who = fits(width, smallest)
                                ? fmt::format("people with a radius above {:.4g} m do not fit", 0.5 * width)
                                : "nobody fits";
    const std::string finding = fmt::format("{}: \"{}\" is {:.3g} m wide at {}: {} in", beyond.where,
                                            beyond.name, width, at(0.5 * (line.a + line.b)), who);
    if (std::ranges::count(findings, finding) == 0)
      findings.push_back(finding);  // a lift has a line by floor
  }
}

/// Cabins with less room than their capacity, by the area of equal disks on a hexagonal lattice, or with more
/// people in them. Collective.
void check_lifts(const State<2>& state, const BuildingPlan& building, Real largest,
                 std::vector<std::string>& findings) {
  for (int number = 0; number < building.n_levels(); ++number) {
    const Level& level = building.level(number);
    if (!level.lift) continue;
    std::int64_t n_here = 0;
    for (const std::size_t i : owned(state.bodies)) n_here += level_of(state.bodies, i) == number ? 1 : 0;
    if (const std::int64_t n = state.comm.sum(n_here); n > level.lift->capacity)
      findings.push_back(fmt::format("error: {}: {} people start in [lifts.{}], but its capacity is {}",
                                     level.where, n, level.name, level.lift->capacity));
    const Real of_person = 2 * std::sqrt(3.0) * largest * largest;
    const Real area = level.plan.free_area();
    if (static_cast<Real>(level.lift->capacity) * of_person > area)
      findings.push_back(fmt::format(
          "{}: the cabin of [lifts.{}] has {:.3g} m2, room for {} people of radius {:.3g} m at most, but its "
          "capacity is {}: it will leave with fewer",
          level.where, level.name, area, static_cast<std::int64_t>(area / of_person), largest,
          level.lift->capacity));
  }
}

}  // namespace

/// Who is across a periodic face is looked for on this side of it: what reaches beyond counts there only.
void CrowdEnvironment::require_places_between_faces(const Box<2>& box) const {
  const auto require = [&](const Ring& ring, const std::string& what, const std::string& where) {
    if (!ring.empty()) require_between_faces(box, bounds_of(ring), what, where);
  };
  for (const Destination& destination : journey_plan_.destinations())
    for (const Ring& ring : destination.regions)
      require(ring, fmt::format("region of [{}]", destination.name), destination.where);
  for (const QueueLine& queue : journey_plan_.queues())
    require(queue.line, fmt::format("line of the queue \"{}\"", queue.name), queue.where);
  for (const Zone& zone : journey_plan_.zones())
    require(zone.region, fmt::format("polygon of [zones.{}]", zone.name), zone.where);
  for (const Population& population : people_.populations())
    require(population.region, fmt::format("region of [populations.{}]", population.name), population.where);
  for (const Source& source : people_.sources())
    require(source.region, fmt::format("region of [sources.{}]", source.name), source.where);
}

/// Where zones or crowds change how long routes take, travel times are no lengths.
void CrowdEnvironment::require_routes_by_length() const {
  const auto zone =
      std::ranges::find_if(journey_plan_.zones(), [](const Zone& z) { return z.speed_factor != 1; });
  std::string other;
  if (zone != journey_plan_.zones().end())
    other = fmt::format("speed_factor of [zones.{}]", zone->name);
  else if (floor_field_.counts_density())
    other = "[navigation.density_cost]";
  if (other.empty()) return;
  for (const AgentType& kind : people_.types())
    if (kind.familiarity.notices > 0)
      throw InputError(
          fmt::format("{}: notices of [agents.{}] is a length of routes, which are found by the time that "
                      "they take, and {} "
                      "changes that: remove one of them",
                      kind.familiarity.where_notices, kind.name, other));
}

/// Queues of which more people may come than have a place. Collective.
void CrowdEnvironment::check_queues(const State<2>& state, std::vector<std::string>& findings) const {
  for (std::size_t j = 0; j < journey_plan_.journeys().size(); ++j) {
    std::int64_t n_here = 0;
    for (const std::size_t i : owned(state.bodies))
      n_here += agent::journey(state.bodies)[i] == static_cast<std::int32_t>(j) ? 1 : 0;
    const std::int64_t n_at_start = state.comm.sum(n_here);
    const bool may_come = people_.may_come(static_cast<int>(j));
    for (const JourneyPlan::Step& step : journey_plan_.journeys()[j].steps) {
      if (step.queue < 0) continue;
      const QueueLine& queue = journey_plan_.queues()[step.queue];
      if (n_at_start > queue.n_places() || may_come)
        findings.push_back(fmt::format(
            "{}: {} people fit into the line of the queue \"{}\", {:g} m long; {}{} may come. Those "
            "who find no place stand at its end",
            queue.where, queue.n_places(), queue.name, queue.length, n_at_start,
            may_come ? " and those of sources" : ""));
    }
  }
}

std::vector<std::string> CrowdEnvironment::diagnostics(const State<2>& state) const {
  std::vector<std::string> findings = people_.diagnostics(*building_, journey_plan_, is_led_);
  const Real largest = people_.largest_radius();
  check_exits(journey_plan_, floor_field_, largest, people_.smallest_radius(), findings);
  check_lines(*building_, largest, people_.smallest_radius(), findings);
  check_queues(state, findings);
  check_lifts(state, *building_, largest, findings);
  for (int level = 0; level < building_->n_levels(); ++level)
    for (const PlanFinding& finding : building_->plan(level).narrow_places(2 * largest + clearance))
      findings.push_back(
          fmt::format("{}: {} at {}", building_->level(level).where, finding.text, at(finding.at)));

  for (const auto& [level, finding] : building_->walls_behind_lines(largest))
    findings.push_back(
        fmt::format("{}: {} at {}", building_->level(level).where, finding.text, at(finding.at)));
  for (const Obstacle<2>& obstacle : state.obstacles.list())
    if (obstacle.from_deck)
      findings.push_back(
          fmt::format("{}: routes do not lead around [obstacles.{}]: what stands still belongs in "
                      "[walkable.obstacles]",
                      obstacle.where, obstacle.name));
  check_routes(state, findings);
  return findings;
}

/// Who has no route, and what stops them. Collective.
void CrowdEnvironment::check_routes(const State<2>& state, std::vector<std::string>& findings) const {
  std::vector<RouteCheck::Region> regions;
  for (const Destination& destination : journey_plan_.destinations())
    for (const Ring& ring : destination.regions) regions.emplace_back(destination.level, ring);
  if (regions.empty()) return;
  const RouteCheck smallest(*building_, regions, people_.smallest_radius());
  for (int level = 0; level < building_->n_levels(); ++level)
    if (!smallest.reaches(level))
      findings.push_back(fmt::format("{}: no route leads from \"{}\" to any exit or waypoint",
                                     building_->level(level).where, building_->level(level).name));
  const BodyStore<2>& bodies = state.bodies;
  struct Group {
    std::int64_t count = 0;
    GlobalId first = std::numeric_limits<GlobalId>::max();
    std::size_t body = 0;  // of the first
  };
  for (std::size_t c = 0; c < floor_field_.n_classes(); ++c) {
    // Without routes by width all are taken to be as wide as the widest.
    const Real radius =
        floor_field_.by_width() ? floor_field_.width_class(c).largest : people_.largest_radius();
    const RouteCheck check(*building_, regions, radius);
    Group lost, squeezed;
    for (const std::size_t i : owned(bodies)) {
      if (floor_field_.class_of(agent::route_radius(bodies)[i]) != c) continue;
      const bool is_lost = agent::destination(bodies)[i] < 0;
      if (!is_lost && !check.has_no_route(wrapped(state.box, bodies.position()[i]), level_of(bodies, i)))
        continue;
      Group& group = is_lost ? lost : squeezed;
      ++group.count;
      if (bodies.id()[i] < group.first) group.first = bodies.id()[i], group.body = i;
    }
    const auto report = [&](const Group& group, const std::string& what) {
      const std::int64_t of_all = state.comm.sum(group.count);
      std::string who;
      if (group.count > 0) {
        const Vec<2> x = wrapped(state.box, bodies.position()[group.body]);
        const int level = level_of(bodies, group.body);
        who = fmt::format("person {} at {}{}{}", group.first, at(x), check.gap_text(x, level),
                          widest_route(state, group.body));
      }
      who = message_of_smallest(state.comm, group.first, who);
      if (of_all > 0)
        findings.push_back(fmt::format("error: {}: {} people{} {}: {}", building_->where(), of_all,
                                       floor_field_.n_classes() > 1
                                           ? fmt::format(" with a radius of up to {:.4g} m", radius)
                                           : std::string(),
                                       what, who));
    };
    report(lost, "have no route to any destination of their journey");
    report(squeezed, floor_field_.by_width() ? "start where no route to a destination is wide enough for them"
                                             : "start where no route is wide enough for the largest person "
                                               "to a destination");
  }
}

/// Of the routes of body i to the destinations of its step the narrow place of the widest one, as the end of
/// a message; empty if none stops it. Local.
std::string CrowdEnvironment::widest_route(const State<2>& state, std::size_t i) const {
  const JourneyPlan::Step* step = journey_plan_.step_of(state.bodies, i);
  if (!step) return {};
  std::vector<RouteCheck::Region> regions;
  for (const int d : step->exits) {
    if (journey_plan_.is_closed_for_good(d, state.clock.time)) continue;
    const Destination& destination = journey_plan_.destinations()[d];
    for (const Ring& ring : destination.regions) regions.emplace_back(destination.level, ring);
  }
  if (regions.empty()) return "; all exits that it may take are closed for good";
  const Standpoint from = standpoint_of(state, i);
  const auto too_narrow = std::ranges::find_if(
      narrow_places_, [&](const NarrowPlace& place) { return !fits(place.width, from.radius); });
  // The wider the disk, the fewer routes; the place of the widest one is the first that leaves one.
  const auto found = std::partition_point(too_narrow, narrow_places_.end(), [&](const NarrowPlace& place) {
    constexpr Real narrower = 1e-4;  // chords for arcs are taken for walls as far as this
    return RouteCheck(*building_, regions, std::max(0.5 * place.width - narrower, 0.0))
        .has_no_route(from.x, from.level);
  });
  if (found == narrow_places_.end()) return {};
  return fmt::format("; the widest route is {:.4g} m wide at {}, and {:.4g} m are needed", found->width,
                     at(0.5 * (found->a + found->b)), 2 * from.radius);
}

}  // namespace scree
