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
      if (meets(exits[i], exits[j]) || meets(exits[j], exits[i]))
        findings.push_back(fmt::format(
            "{}: [exits.{}] and [exits.{}] overlap at {}: people who get there count for the first",
            exits[j].where, exits[i].name, exits[j].name, at(exits[j].regions[0][0])));
    }
}

/// Where the plan is too narrow for the largest person. Local.
void check_passages(const FloorPlan& plan, Real largest, std::vector<std::string>& findings) {
  for (const PlanFinding& finding : plan.narrow_places(2 * largest + clearance))
    findings.push_back(fmt::format("{}: {} at {}", plan.where(), finding.text, at(finding.at)));
}

}  // namespace

std::vector<std::string> CrowdScene::diagnostics(const State<2>& state) const {
  std::vector<std::string> findings = people_.diagnostics(*plan_, journeys_, is_led_);
  const Real largest = people_.largest_radius();
  check_exits(journeys_, floor_field_, largest, findings);
  check_passages(*plan_, largest, findings);

  // Who has no way: none at all, or none wide enough for the largest person.
  const BodyStore<2>& bodies = state.bodies;
  std::vector<int> parts;  // of the plan, for the largest person, in which destinations lie
  Vec<2> destination{};    // a point of one
  const auto exits = journeys_.exits();
  const auto& destinations = journeys_.destinations();
  for (std::size_t k = 0; k < destinations.size(); ++k) {
    if (k < exits.size() && !exits[k].line.empty()) {
      destination = 0.5 * (exits[k].line[0] + exits[k].line[1]);
      parts.push_back(plan_->part_of(destination, largest));
      continue;
    }
    for (const Ring& region : destinations[k].regions) {
      Vec<2> middle{};
      for (const Vec<2>& corner : region) middle += (1.0 / static_cast<Real>(region.size())) * corner;
      parts.push_back(plan_->part_of(middle, largest));
      destination = middle;
    }
  }
  std::int64_t lost = 0, squeezed = 0;
  GlobalId first_lost = std::numeric_limits<GlobalId>::max(), first_squeezed = first_lost;
  Vec<2> lost_at{}, squeezed_at{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()) && !parts.empty(); ++i) {
    const GlobalId id = bodies.id()[i];
    const Vec<2> x = wrapped(state.box, bodies.position()[i]);
    if (agent::destination(bodies)[i] < 0) {
      ++lost;
      if (id < first_lost) first_lost = id, lost_at = x;
      continue;
    }
    const int part = plan_->part_of(x, largest);
    if (part < 0 || std::ranges::find(parts, part) != parts.end()) continue;
    ++squeezed;
    if (id < first_squeezed) first_squeezed = id, squeezed_at = x;
  }
  const auto report = [&](std::int64_t count, GlobalId first, const Vec<2>& x, const std::string& what) {
    const std::int64_t of_all = state.comm.sum(count);
    const std::string who = message_of_smallest(
        state.comm, first,
        count > 0 ? fmt::format("person {} at {}{}", first, at(x), gap_text(plan_->area(), x, destination))
                  : std::string());
    if (of_all > 0)
      findings.push_back(fmt::format("error: {}: {} people {}: {}", plan_->where(), of_all, what, who));
  };
  report(lost, first_lost, lost_at, "have no way to any destination of their journey");
  report(squeezed, first_squeezed, squeezed_at,
         "start where no way is wide enough for the largest person to a destination");
  return findings;
}

}  // namespace scree
