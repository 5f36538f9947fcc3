#include "crowd/exits.hpp"

#include <algorithm>
#include <limits>

#include "analysis/gathered.hpp"
#include "core/output_interval.hpp"
#include "crowd/counter.hpp"
#include "crowd/person.hpp"
#include "crowd/plan/ring.hpp"
#include "geometry/walls.hpp"

namespace scree {

bool Exit::is_open(Real time) const {
  const auto n = std::ranges::upper_bound(switches, time + rounding_of_times) - switches.begin();
  return n % 2 == 1;
}

bool Exit::is_closed_for_good(Real time) const {
  return switches.empty() || (switches.size() % 2 == 0 && time + rounding_of_times >= switches.back());
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

void Exits::add_outlets(State<2>& state) {
  first_outlet_ = state.outlets.size();
  for (const Exit& exit : journey_plan_.exits()) state.outlets.push_back({.name = exit.name});
}

void Exits::add_doors(ObstacleSet<2>& obstacles) {
  const std::size_t n_exits = journey_plan_.exits().size();
  doors_.assign(n_exits, -1);
  is_shut_.assign(n_exits, 0);
  left_elsewhere_.assign(n_exits, 0);
  for (std::size_t e = 0; e < n_exits; ++e) {
    const Exit& exit = journey_plan_.exits()[e];
    if (exit.line.empty() || !exit.ever_closes()) continue;
    std::vector<Edge> edges{Edge(exit.line[0], exit.line[1])};
    doors_[e] = obstacles.add("exits." + exit.name, exit.where,
                              std::make_unique<WallSegments>(std::move(edges)), exit.level);
    obstacles.set_active(doors_[e], false);
  }
}

bool Exits::is_closing(std::size_t exit, const State<2>& state) const {
  return has_door(exit) && !journey_plan_.exits()[exit].is_open(state.clock.time) &&
         !state.obstacles.active(doors_[exit]);
}

bool Exits::is_in_opening(std::size_t exit, const Vec<2>& x, int level, Real radius) const {
  const Exit& e = journey_plan_.exits()[exit];
  if (level != e.level) return false;
  // Somebody who leans on the corner of the wall beside it overlaps by as much as steps are inexact.
  constexpr Real slack = 1e-3;  // [m]
  const Edge door(e.line[0], e.line[1]);
  return foot_on(door, x, door.normal).distance < radius - slack;
}

bool Exits::switch_doors(State<2>& state, const std::function<void()>& before_change) {
  const BodyStore<2>& bodies = state.bodies;
  const auto exits = journey_plan_.exits();
  n_at_exit_.assign(exits.size(), 0);
  bool is_any_closing = false;
  for (std::size_t e = 0; e < exits.size(); ++e) {
    if (!is_closing(e, state)) continue;
    is_any_closing = true;
    for (const std::size_t i : owned(bodies))
      if (is_in_opening(e, wrapped(state.box, bodies.position()[i]), level_of(bodies, i), bodies.radius()[i]))
        ++n_at_exit_[e];
  }
  if (is_any_closing) state.comm.sum(n_at_exit_);
  bool is_changed = false;
  for (std::size_t e = 0; e < exits.size(); ++e) {
    if (!has_door(e)) continue;
    const bool is_shut = !exits[e].is_open(state.clock.time) && n_at_exit_[e] == 0;
    is_shut_[e] = is_shut ? 1 : 0;
    if (state.obstacles.active(doors_[e]) == is_shut) continue;
    if (!is_changed) before_change();
    is_changed = true;
    state.obstacles.set_active(doors_[e], is_shut);
  }
  return is_changed;
}

void Exits::restore_doors(State<2>& state) const {
  for (std::size_t e = 0; e < doors_.size(); ++e)
    if (has_door(e)) state.obstacles.set_active(doors_[e], is_shut(e));
}

/// Fills in exit_of_: the exit in whose region each owned person is that takes it now; -1: none.
void Exits::find_arrived(const State<2>& state) {
  const BodyStore<2>& bodies = state.bodies;
  const auto exits = journey_plan_.exits();
  const Real time = state.clock.time;
  around_.assign(exits.size(), Box<2>::empty());
  for (std::size_t e = 0; e < exits.size(); ++e) {
    // Behind a line nobody can go back.
    const bool takes = exits[e].is_open(time) || !exits[e].line.empty();
    if (!takes || exits[e].n_admitted(time, state.clock.last_dt) == 0) continue;
    for (const Ring& region : exits[e].regions)
      for (const Vec<2>& corner : region) around_[e].include(corner);
  }
  exit_of_.assign(bodies.n_owned(), -1);
  for (const std::size_t i : owned(bodies)) {
    if (agent::dose(bodies)[i] >= 1) continue;  // who is incapacitated walks through no exit
    const Vec<2> x = wrapped(state.box, bodies.position()[i]);
    for (std::size_t e = 0; e < exits.size(); ++e) {
      const bool is_bound = agent::destination(bodies)[i] == static_cast<std::int32_t>(e);
      // A region takes those who walk to it, no one who has not started.
      const bool takes_bound = !exits[e].takes_all && exits[e].line.empty();
      if (takes_bound && (!is_bound || time + rounding_of_times < agent::premovement_end(bodies)[i]))
        continue;
      if (!around_[e].contains(x) || !journey_plan_.destinations()[e].contains(x, level_of(bodies, i)))
        continue;
      exit_of_[i] = static_cast<std::int32_t>(e);
      break;
    }
  }
}

/// Of those who have arrived at an exit only so many leave, smaller ids first, over all ranks.
void Exits::limit_departures(const State<2>& state, std::int32_t exit, std::int64_t n_admitted) {
  struct Arrived {
    GlobalId id;
  };
  const auto id = state.bodies.id();
  std::vector<Arrived> here;
  for (std::size_t i = 0; i < exit_of_.size(); ++i)
    if (exit_of_[i] == exit) here.push_back({id[i]});
  const Counter counter{n_admitted};
  here.resize(counter.admit(here, &Arrived::id).size());  // others are not among the first of all
  std::vector<Arrived> all = gathered_by_id(state.comm, here);
  const GlobalId last = counter.admit(all, &Arrived::id).back().id;
  for (std::size_t i = 0; i < exit_of_.size(); ++i)
    if (exit_of_[i] == exit && id[i] > last) exit_of_[i] = -1;
}

bool Exits::remove_arrived(State<2>& state, std::vector<Index>& staying) {
  const BodyStore<2>& bodies = state.bodies;
  const auto exits = journey_plan_.exits();
  const Real time = state.clock.time;
  find_arrived(state);
  n_at_exit_.assign(exits.size(), 0);
  for (const std::int32_t exit : exit_of_)
    if (exit >= 0) ++n_at_exit_[exit];
  state.comm.sum(n_at_exit_);
  if (std::ranges::none_of(n_at_exit_, [](std::int64_t n) { return n > 0; })) return false;
  for (std::size_t e = 0; e < exits.size(); ++e) {
    const std::int64_t n_admitted = exits[e].n_admitted(time, state.clock.last_dt);
    if (n_at_exit_[e] > n_admitted) limit_departures(state, static_cast<std::int32_t>(e), n_admitted);
    state.outlets[first_outlet_ + e].n_removed += std::min(n_at_exit_[e], n_admitted);
  }
  n_at_exit_.assign(exits.size(), 0);  // of those who leave, who was bound for elsewhere
  staying.clear();
  for (std::size_t i = 0; i < exit_of_.size(); ++i) {
    if (exit_of_[i] < 0) {
      staying.push_back(static_cast<Index>(i));
      continue;
    }
    const std::size_t e = exit_of_[i];
    departures_.push_back(departure_of(bodies, i, static_cast<std::int32_t>(first_outlet_ + e), time));
    departures_.back().level = exits[e].level;
    if (exits[e].takes_all || agent::destination(bodies)[i] == exit_of_[i]) continue;
    departures_.back().fate = Fate::left_elsewhere;
    ++n_at_exit_[e];
  }
  state.comm.sum(n_at_exit_);
  for (std::size_t e = 0; e < exits.size(); ++e) left_elsewhere_[e] += static_cast<Real>(n_at_exit_[e]);
  return true;
}

}  // namespace scree
