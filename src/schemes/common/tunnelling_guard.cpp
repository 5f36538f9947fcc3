#include "schemes/common/tunnelling_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/timing.hpp"
#include "state/step_messages.hpp"

namespace scree {

namespace {

template <int D>
Vec<D> position_of(const Vec<D>& place) {
  return place;
}
template <int D>
void put(Vec<D>& place, const Vec<D>& x) {
  place = x;
}
template <int D>
void put(SweepRecord& record, const Vec<D>& x) {
  for (int k = 0; k < D; ++k) record.x[k] = x[k];
}

/// Whether the centre passed through, or lies on the wall: from there it would have no side to keep.
template <int D>
bool is_through(const SurfacePoint<D>& seen) {
  return std::signbit(seen.distance);
}

}  // namespace

template <int D>
std::string PassedThrough::complaint(const State<D>& state) const {
  std::string message;
  if (count > 0)
    message = fmt::format("the centre of body {} passed through the thin obstacle \"{}\"", body,
                          state.obstacles.obstacle_with(constraint).name);
  return message_of_smallest(state.comm, body, message);
}
template std::string PassedThrough::complaint(const State<2>& state) const;
template std::string PassedThrough::complaint(const State<3>& state) const;

template <int D>
template <class Place>
void TunnellingGuard<D>::find_surface(const State<D>& state, Index constraint, std::span<const Index> bodies,
                                      std::span<const Place> places) {
  const auto from = state.bodies.step_start();
  at_.clear();
  from_.clear();
  for (const Index i : bodies) {
    at_.push_back(position_of<D>(places[i]));
    from_.push_back(from[i]);
  }
  surface_.resize(bodies.size());
  state.obstacles.nearest(constraint, at_, from_, surface_);
}

template <int D>
template <class Place>
Real TunnellingGuard<D>::keep(const State<D>& state, const Neighborhood<D>& neighborhood,
                              std::span<Place> places, Real time) {
  const ObstacleSet<D>& obstacles = state.obstacles;
  if (!obstacles.any_thin()) return 0;
  Scope timer("sides");
  thin_.clear();
  for (int o = 0; o < static_cast<int>(obstacles.list().size()); ++o)
    if (obstacles.is_thin(obstacles.first_constraint(o))) thin_.push_back(o);
  const BodyStore<D>& bodies = state.bodies;
  const auto from = bodies.step_start();
  const auto mobility = bodies.mobility();
  Real deepest = 0;
  PassedThrough stuck;
  const auto keep_one = [&](Index body, Index constraint, Real distance) {
    if (mobility[body] == 0) return;
    deepest = std::max(deepest, bodies.radius()[body] - distance);
    Vec<D> x = position_of<D>(places[body]);
    if (!put_back(state, body, x)) stuck.add(bodies.id()[body], constraint);
    put(places[body], x);
  };
  const SweepSchedule<D>& schedule = neighborhood.schedule();
  for (const auto& wall : schedule.walls()) {
    if (!obstacles.is_thin(wall.constraint)) continue;
    const auto which = schedule.wall_bodies(wall);
    find_surface<Place>(state, wall.constraint, which, places);
    for (std::size_t k = 0; k < which.size(); ++k)
      if (is_through(surface_[k]) &&
          may_meet_obstacle(state, static_cast<std::size_t>(which[k]), wall.constraint))
        keep_one(which[k], wall.constraint, surface_[k].distance);
  }
  // A body farther from its reference position than candidates reach may have met anything.
  const Real travel = obstacles.travel(state.clock.reference_time, time, state.box);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Vec<D> x = position_of<D>(places[i]);
    const Vec<D> moved = x - bodies.reference_position()[i];
    const Real certain = bodies.radius()[i] + state.lattice.skin - travel;
    if (certain > 0 && dot(moved, moved) < certain * certain) continue;
    find_on_path(state, i, from[i], x);
    for (const Index c : on_path_) {
      SurfacePoint<D> seen;
      obstacles.nearest(c, {&x, 1}, from.subspan(i, 1), {&seen, 1});
      if (!is_through(seen)) continue;
      keep_one(static_cast<Index>(i), c, seen.distance);
      break;
    }
  }
  if (stuck.count > 0) deepest = HUGE_VAL;
  deepest = state.comm.max(deepest);
  if (std::isfinite(deepest)) return deepest;
  refuse_step(
      state.clock,
      fmt::format("{}, and there is no room to put it back: obstacles leave it no place, or the step is too "
                  "long; reduce [time] step or the speed of obstacles",
                  stuck.complaint(state)));
}

template <int D>
Real TunnellingGuard<D>::keep(State<D>& state, const Neighborhood<D>& neighborhood, Real time) {
  const auto positions = state.bodies.position().first(state.bodies.n_owned());
  try {
    return keep(std::as_const(state), neighborhood, positions, time);
  } catch (const StepRefused&) {
    std::copy_n(state.bodies.previous().begin(), positions.size(), positions.begin());
    state.obstacles.place(state.clock.time);
    throw;
  }
}

/// Finds the constraints of thin obstacles that the path of a point can have met: those no farther from its
/// end than it is long, seen from the obstacle.
template <int D>
void TunnellingGuard<D>::find_on_path(const State<D>& state, std::size_t body, const Vec<D>& from,
                                      const Vec<D>& x) {
  const ObstacleSet<D>& obstacles = state.obstacles;
  constexpr Real rounding = 1e-9;
  on_path_.clear();
  Box<D> start = Box<D>::empty();
  start.include(from);
  for (const Index o : thin_) {
    if (!may_meet_obstacle(state, body, obstacles.first_constraint(o))) continue;
    for (const int image : obstacles.images_of(o)) {
      const Real length = norm(x - from) + obstacles.moved_in_step(o, start, image);
      const Real reach = length + rounding * (length + norm(x));
      Box<D> cut = Box<D>::empty();
      cut.include(x - filled<D>(reach));
      cut.include(x + filled<D>(reach));
      if (!obstacles.may_reach(o, image, cut)) continue;
      obstacles.find_near(o, image, {&x, 1}, {&reach, 1}, cut, near_);
      for (const auto& entry : near_.found)
        on_path_.push_back(obstacles.first_constraint(o, image) + entry.part);
    }
  }
}

/// Puts an owned body at x back to its sides of all thin obstacles; false if it finds no place.
template <int D>
bool TunnellingGuard<D>::put_back(const State<D>& state, Index body, Vec<D>& x) {
  const std::size_t i = body;
  const Vec<D> from = state.bodies.step_start()[i];
  const auto is_free = [&](const auto& on_passed) {
    bool free = true;
    find_on_path(state, i, from, x);
    for (const Index c : on_path_) {
      SurfacePoint<D> seen;
      state.obstacles.nearest(c, {&x, 1}, {&from, 1}, {&seen, 1});
      if (!is_through(seen)) continue;
      free = false;
      on_passed(seen);
    }
    return free;
  };
  // Where obstacles are close together the body gets less and less room in front of each.
  constexpr int rounds_with_room = 8, max_rounds = 40;
  Real room = state.bodies.radius()[i];
  for (int round = 0; round < max_rounds; ++round) {
    if (is_free([&](const SurfacePoint<D>& seen) { x += (room - seen.distance) * seen.normal; })) return true;
    if (round >= rounds_with_room) room *= 0.5;
  }
  x = from;
  return is_free([](const SurfacePoint<D>&) {});
}

template class TunnellingGuard<2>;
template class TunnellingGuard<3>;
template Real TunnellingGuard<2>::keep(const State<2>&, const Neighborhood<2>&, std::span<SweepRecord>, Real);
template Real TunnellingGuard<3>::keep(const State<3>&, const Neighborhood<3>&, std::span<SweepRecord>, Real);

}  // namespace scree
