#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/crowd_scene.hpp"
#include "crowd/plan/plan_gap.hpp"
#include "particles/fill/region.hpp"

namespace scree {

namespace {

/// An opening must be this much wider than a person, or two walls touch it at once [m].
constexpr Real clearance = 0.01;

std::string at(const Vec<2>& x) {
  return fmt::format("({:.3g}, {:.3g})", x[0], x[1]);
}

/// Narrow openings, coarse cells, exits on top of each other. Local.
void check_exits(const Journeys& journeys, const FloorField& floor_field, Real largest,
                 std::vector<std::string>& findings) {
  const auto exits = journeys.exits();
  for (const Exit& exit : exits) {
    if (exit.line.empty()) continue;
    const Real width = norm(exit.line[1] - exit.line[0]);
    const Vec<2> middle = 0.5 * (exit.line[0] + exit.line[1]);
    if (width < 2 * largest + clearance)
      findings.push_back(
          fmt::format("error: {}: [exits.{}] at {} is {:.3g} m wide: the largest person, of radius "
                      "{:.3g} m, does not fit through",
                      exit.where, exit.name, at(middle), width, largest));
    if (floor_field.cell() > width / 4)
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

/// Cabins with less room than their capacity: the area of equal disks on a hexagonal lattice. Local.
void check_lifts(const BuildingPlan& building, Real largest, std::vector<std::string>& findings) {
  for (int number = 0; number < building.n_levels(); ++number) {
    const Level& level = building.level(number);
    if (!level.lift) continue;
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

/// Queues of which more people may come than have a place. Collective.
void CrowdScene::check_queues(const State<2>& state, std::vector<std::string>& findings) const {
  for (std::size_t j = 0; j < journeys_.journeys().size(); ++j) {
    std::int64_t n_here = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
      n_here += agent::journey(state.bodies)[i] == static_cast<std::int32_t>(j) ? 1 : 0;
    const std::int64_t n_at_start = state.comm.sum(n_here);
    const bool may_come = people_.may_come(static_cast<int>(j));
    for (const Journeys::Step& step : journeys_.journeys()[j].steps) {
      if (step.queue < 0) continue;
      const QueueLine& queue = journeys_.queues()[static_cast<std::size_t>(step.queue)];
      if (n_at_start > queue.n_places() || may_come)
        findings.push_back(fmt::format(
            "{}: {} people fit into the line of the queue \"{}\", {:g} m long; {}{} may come. Those "
            "who find no place stand at its end",
            queue.where, queue.n_places(), queue.name, queue.length, n_at_start,
            may_come ? " and those of sources" : ""));
    }
  }
}

std::vector<std::string> CrowdScene::diagnostics(const State<2>& state) const {
  std::vector<std::string> findings = people_.diagnostics(*building_, journeys_, is_led_);
  const Real largest = people_.largest_radius();
  check_exits(journeys_, floor_field_, largest, findings);
  check_queues(state, findings);
  check_lifts(*building_, largest, findings);
  for (int level = 0; level < building_->n_levels(); ++level)
    for (const PlanFinding& finding : building_->plan(level).narrow_places(2 * largest + clearance))
      findings.push_back(
          fmt::format("{}: {} at {}", building_->level(level).where, finding.text, at(finding.at)));

  // Who has no way: none at all, or none wide enough for the largest person.
  std::vector<WayCheck::Region> regions;
  for (const Destination& destination : journeys_.destinations())
    for (const Ring& ring : destination.regions) regions.emplace_back(destination.level, ring);
  if (regions.empty()) return findings;
  const WayCheck check(*building_, regions, largest);
  for (int level = 0; level < building_->n_levels(); ++level)
    if (!check.reaches(level))
      findings.push_back(fmt::format("{}: no way leads from \"{}\" to any exit or waypoint",
                                     building_->level(level).where, building_->level(level).name));
  const BodyStore<2>& bodies = state.bodies;
  struct Group {
    std::int64_t count = 0;
    GlobalId first = std::numeric_limits<GlobalId>::max();
    Vec<2> at;  // of the first
    int level = 0;
  } lost, squeezed;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const Vec<2> x = wrapped(state.box, bodies.position()[i]);
    const bool is_lost = agent::destination(bodies)[i] < 0;
    if (!is_lost && !check.has_no_way(x, level_of(bodies, i))) continue;
    Group& group = is_lost ? lost : squeezed;
    ++group.count;
    if (bodies.id()[i] < group.first)
      group.first = bodies.id()[i], group.at = x, group.level = level_of(bodies, i);
  }
  const auto report = [&](const Group& group, const std::string& what) {
    const std::int64_t of_all = state.comm.sum(group.count);
    const std::string who =
        message_of_smallest(state.comm, group.first,
                            group.count > 0 ? fmt::format("person {} at {}{}", group.first, at(group.at),
                                                          check.gap_text(group.at, group.level))
                                            : std::string());
    if (of_all > 0)
      findings.push_back(fmt::format("error: {}: {} people {}: {}", building_->where(), of_all, what, who));
  };
  report(lost, "have no way to any destination of their journey");
  report(squeezed, "start where no way is wide enough for the largest person to a destination");
  return findings;
}

}  // namespace scree
