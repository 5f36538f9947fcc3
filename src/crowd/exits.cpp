// What journeys do at exits: openings, doors, and who leaves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/output_interval.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/journeys.hpp"
#include "crowd/plan/ring.hpp"
#include "geometry/walls.hpp"
#include "particles/fill/region.hpp"

namespace scree {

namespace {

constexpr Real rounding_of_time = 1e-9;  // times are sums of steps

/// Length of the border of these regions that people can cross, to 1 cm: the plan is on both sides of it.
Real border_within(const FloorPlan& plan, std::span<const Ring> regions) {
  constexpr Real piece = 0.01, aside = 1e-3;  // [m]
  Real length = 0;
  for (const Ring& region : regions)
    for (std::size_t k = 0; k < region.size(); ++k) {
      const Vec<2> a = region[k], way = region[(k + 1) % region.size()] - a;
      const Vec<2> outward = (aside / norm(way)) * Vec<2>{{way[1], -way[0]}};
      const auto n = static_cast<std::int64_t>(std::ceil(norm(way) / piece));
      for (std::int64_t i = 0; i < n; ++i) {
        const Vec<2> x = a + ((static_cast<Real>(i) + 0.5) / static_cast<Real>(n)) * way;
        const bool is_outside = std::ranges::none_of(
            regions, [&](const Ring& other) { return ring_contains(other, x + outward); });
        if (is_outside && plan.contains(x + outward) && plan.contains(x - outward))
          length += norm(way) / static_cast<Real>(n);
      }
    }
  return length;
}

}  // namespace

bool Exit::is_open(Real time) const {
  const auto n = std::ranges::upper_bound(switches, time + rounding_of_time) - switches.begin();
  return n % 2 == 1;
}

bool Exit::is_closed_for_good(Real time) const {
  return switches.empty() || (switches.size() % 2 == 0 && time + rounding_of_time >= switches.back());
}

Real Exit::width() const {
  return line.empty() ? open_border : norm(line[1] - line[0]);
}

Vec<2> Exit::middle() const {
  if (!line.empty()) return 0.5 * (line[0] + line[1]);
  Box<2> box = Box<2>::empty();
  for (const Ring& region : regions)
    for (const Vec<2>& corner : region) box.include(corner);
  return 0.5 * (box.lower + box.upper);
}

Real Exit::capacity() const {
  constexpr Real specific_flow = 1.3;  // [1/(m s)], of level openings in the common building guides
  const Real by_width = specific_flow * width();
  return max_flow > 0 ? std::min(max_flow, by_width) : by_width;
}

std::int64_t Exit::n_admitted(Real time, Real last_dt) const {
  if (max_flow == 0) return std::numeric_limits<std::int64_t>::max();
  const Real interval = 1 / max_flow;
  return static_cast<std::int64_t>(interval_count(time, interval) - interval_count(time - last_dt, interval));
}

void Journeys::place(BuildingPlan& building, Real largest_radius) {
  for (const Destination& destination : destinations_)
    if (building.level(destination.level).lift)
      throw InputError(fmt::format("{}: [{}] is in the lift \"{}\": people walk to places on floors only",
                                   destination.where, destination.name,
                                   building.level(destination.level).name));
  for (std::size_t e = 0; e < exits_.size(); ++e) {
    Exit& exit = exits_[e];
    FloorPlan& plan = building.plan(exit.level);
    if (!exit.line.empty()) {
      const Real depth = exit.absorb_depth + 2 * largest_radius;
      exit.pocket = plan.open_exit(exit.line[0], exit.line[1], depth, exit.where);
      const Vec<2> a = exit.line[0], b = exit.line[1];
      Vec<2> centre;
      for (const Vec<2>& corner : exit.pocket) centre += 1.0 / static_cast<Real>(exit.pocket.size()) * corner;
      Vec<2> outward{{-(b - a)[1], (b - a)[0]}};
      outward *= 1 / norm(outward);
      if (dot(outward, centre - a) < 0) outward *= -1.0;
      const Vec<2> near = exit.absorb_depth * outward, far = depth * outward;
      Ring region{a + near, b + near, b + far, a + far};
      turn_counter_clockwise(region);
      exit.regions = {region};
    } else if (!exit.colour.empty()) {
      exit.regions = plan.regions_of_colour(exit.colour, exit.where);
    }
    destinations_[e].regions = exit.regions;
    if (!exit.line.empty()) destinations_[e].width = exit.width();
  }
  for (Exit& exit : exits_) {
    if (!exit.line.empty()) continue;
    exit.open_border = border_within(building.plan(exit.level), exit.regions);
    if (exit.open_border == 0) exit.open_border = HUGE_VAL;  // all of the plan: nobody has to get in
  }
  for (const QueueLine& queue : queues_) queue.require_room(building.plan(queue.level), largest_radius);
  for (const Destination& destination : destinations_) {
    Real area = 0;
    for (const Ring& region : destination.regions) area += building.plan(destination.level).free_area(region);
    if (!(area > 0))
      throw InputError(
          fmt::format("{}: [{}] lies outside of the walkable area, or in an obstacle: nobody "
                      "could get there",
                      destination.where, destination.name));
  }
}

void Journeys::close_for_good(int exit, Real time) {
  std::vector<Real>& switches = exits_[static_cast<std::size_t>(exit)].switches;
  std::erase_if(switches, [&](Real at) { return at >= time; });
  if (switches.size() % 2 == 1) switches.push_back(time);
}

void Journeys::add_doors(ObstacleSet<2>& obstacles) {
  is_shut_.assign(exits_.size(), 0);
  left_elsewhere_.assign(exits_.size(), 0);
  for (Exit& exit : exits_) {
    if (exit.line.empty() || !exit.ever_closes()) continue;
    std::vector<Edge> edges{Edge(exit.line[0], exit.line[1])};
    exit.door = obstacles.add("exits." + exit.name, exit.where,
                              std::make_unique<WallSegments>(std::move(edges)), exit.level);
    obstacles.set_active(exit.door, false);
  }
}

bool Journeys::is_in_opening(const Exit& exit, const Vec<2>& x, int level, Real radius) {
  if (level != exit.level) return false;
  // Somebody who leans on the corner of the wall beside it overlaps by as much as steps are inexact.
  constexpr Real slack = 1e-3;  // [m]
  const Edge door(exit.line[0], exit.line[1]);
  return foot_on(door, x, door.normal).distance < radius - slack;
}

bool Journeys::is_closing(int exit, const State<2>& state) const {
  const Exit& e = exits_[static_cast<std::size_t>(exit)];
  return e.door >= 0 && !e.is_open(state.clock.time) && !state.obstacles.active(e.door);
}

int Journeys::closed_exit_around(const Vec<2>& x, int level, Real radius, int destination) const {
  for (std::size_t e = 0; e < exits_.size(); ++e) {
    const Exit& exit = exits_[e];
    if (exit.door < 0 || is_open_[e] != 0) continue;
    const int number = static_cast<int>(e);
    if (level == exit.level && ring_contains(exit.pocket, x)) return number;
    if (is_closing_[e] != 0 && (destination < 0 || destination == number) &&
        is_in_opening(exit, x, level, radius))
      return number;
  }
  return -1;
}

bool Journeys::switch_doors(State<2>& state, const std::function<void()>& before_change) {
  const BodyStore<2>& bodies = state.bodies;
  std::vector<std::int64_t>& n_in_opening = n_at_exit_;
  n_in_opening.assign(exits_.size(), 0);
  bool is_any_closing = false;
  for (std::size_t e = 0; e < exits_.size(); ++e) {
    if (!is_closing(static_cast<int>(e), state)) continue;
    is_any_closing = true;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
      if (is_in_opening(exits_[e], wrapped(state.box, bodies.position()[i]), level_of(bodies, i),
                        bodies.radius()[i]))
        ++n_in_opening[e];
  }
  if (is_any_closing) state.comm.sum(n_in_opening);
  bool is_changed = false;
  for (std::size_t e = 0; e < exits_.size(); ++e) {
    const Exit& exit = exits_[e];
    if (exit.door < 0) continue;
    const bool is_shut = !exit.is_open(state.clock.time) && n_in_opening[e] == 0;
    is_shut_[e] = is_shut ? 1 : 0;
    if (state.obstacles.active(exit.door) == is_shut) continue;
    if (!is_changed) before_change();
    is_changed = true;
    state.obstacles.set_active(exit.door, is_shut);
  }
  return is_changed;
}

void Journeys::restore_doors(State<2>& state) const {
  for (std::size_t e = 0; e < exits_.size(); ++e)
    if (exits_[e].door >= 0) state.obstacles.set_active(exits_[e].door, is_shut(e));
}

bool Journeys::leaves_elsewhere(const BodyStore<2>& bodies, std::size_t i, std::size_t exit) const {
  return !exits_[exit].takes_all && agent::destination(bodies)[i] != static_cast<std::int32_t>(exit);
}

bool Journeys::absorb(State<2>& state, std::size_t first_outlet, std::vector<Index>& staying) {
  const BodyStore<2>& bodies = state.bodies;
  const std::size_t n_exits = exits_.size();
  const Real time = state.clock.time;
  staying.clear();

  std::vector<Box<2>>& around = around_;
  around.assign(n_exits, Box<2>::empty());
  for (std::size_t e = 0; e < n_exits; ++e) {
    const Exit& exit = exits_[e];
    // Behind a line there is no way back.
    const bool takes = exit.is_open(time) || !exit.line.empty();
    if (!takes || exit.n_admitted(time, state.clock.last_dt) == 0) continue;
    for (const Ring& region : exit.regions)
      for (const Vec<2>& corner : region) around[e].include(corner);
  }
  std::vector<std::vector<Index>>& inside = inside_;
  inside.resize(n_exits);
  for (std::vector<Index>& in_region : inside) in_region.clear();
  const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
  std::vector<char>& is_leaving = is_leaving_;
  is_leaving.assign(n_owned, 0);
  for (std::size_t i = 0; i < n_owned; ++i) {
    if (agent::dose(bodies)[i] >= 1) continue;  // who is incapacitated walks through no exit
    const Vec<2> x = wrapped(state.box, bodies.position()[i]);
    for (std::size_t e = 0; e < n_exits; ++e) {
      const bool is_bound = agent::destination(bodies)[i] == static_cast<std::int32_t>(e);
      // A region takes those who walk to it, no one who has not started.
      const bool takes_bound = !exits_[e].takes_all && exits_[e].line.empty();
      if (takes_bound && (!is_bound || time + rounding_of_time < agent::premovement_end(bodies)[i])) continue;
      if (!around[e].contains(x) || !destinations_[e].contains(x, level_of(bodies, i))) continue;
      inside[e].push_back(static_cast<Index>(i));
      break;
    }
  }

  std::vector<std::int64_t>& n_inside = n_at_exit_;  // and how many of them are bound for elsewhere
  n_inside.assign(2 * n_exits, 0);
  const auto count_elsewhere = [&](std::size_t e) {
    return std::ranges::count_if(
        inside[e], [&](Index i) { return leaves_elsewhere(bodies, static_cast<std::size_t>(i), e); });
  };
  for (std::size_t e = 0; e < n_exits; ++e) {
    n_inside[e] = static_cast<std::int64_t>(inside[e].size());
    n_inside[n_exits + e] = count_elsewhere(e);
  }
  state.comm.sum(n_inside);
  bool is_any = false;
  for (std::size_t e = 0; e < n_exits; ++e) {
    if (n_inside[e] == 0) continue;
    is_any = true;
    const std::int64_t n_admitted = exits_[e].n_admitted(time, state.clock.last_dt);
    if (n_inside[e] > n_admitted) {
      // One after the other by id, over all ranks: a cap lets few pass in a step.
      const auto id = [&](Index i) { return bodies.id()[static_cast<std::size_t>(i)]; };
      std::ranges::sort(inside[e], {}, id);
      std::size_t n_here = 0;
      for (std::int64_t k = 0; k < n_admitted; ++k) {
        const GlobalId mine =
            n_here < inside[e].size() ? id(inside[e][n_here]) : std::numeric_limits<GlobalId>::max();
        if (state.comm.min(mine) == mine && n_here < inside[e].size()) ++n_here;
      }
      inside[e].resize(n_here);
    }
    state.outlets[first_outlet + e].n_removed += std::min(n_inside[e], n_admitted);
    if (n_inside[n_exits + e] > 0)
      left_elsewhere_[e] += static_cast<Real>(state.comm.sum(std::int64_t{count_elsewhere(e)}));
    for (const Index body : inside[e]) {
      const auto i = static_cast<std::size_t>(body);
      is_leaving[i] = 1;
      departures_.push_back(departure_of(bodies, i, static_cast<std::int32_t>(first_outlet + e), time));
      Departure& departure = departures_.back();
      departure.level = exits_[e].level;
      if (leaves_elsewhere(bodies, i, e)) departure.fate = Fate::left_elsewhere;
    }
  }
  for (std::size_t i = 0; i < n_owned; ++i)
    if (is_leaving[i] == 0) staying.push_back(static_cast<Index>(i));
  return is_any;
}

}  // namespace scree
