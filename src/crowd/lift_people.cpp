// People in lifts and before their doors: who calls, who is through, and how they walk.
#include <algorithm>

#include "analysis/gathered.hpp"
#include "crowd/lifts.hpp"
#include "crowd/micro_seconds.hpp"
#include "crowd/person.hpp"
#include "geometry/edge.hpp"

namespace scree {

namespace {

/// Who is this near to a door and on the way into it calls the lift, and may be admitted [m].
constexpr Real call_reach = 2;
/// A route leads in if it crosses the door, to this far beside it [m].
constexpr Real beside_door = 0.5;
/// Beside a door routes may bend: there they are followed [m].
constexpr Real near_door = 1;
/// People come to rest before a door, and at the back of a cabin, within this time [s].
constexpr Real resting_time = 0.25;

/// Whether somebody is on its way now.
bool is_walking(const BodyStore<2>& bodies, std::size_t i, Real time) {
  return agent::destination(bodies)[i] >= 0 && agent::queue_place(bodies)[i] == 0 &&
         may_walk(bodies, i, time);
}

}  // namespace

/// Whether somebody who goes straight on from x crosses the door, or passes beside it.
bool Lifts::heads_in(const Lift& lift, const Vec<2>& x, const Vec<2>& direction) const {
  const Real towards = dot(direction, lift.inward);
  if (!(towards > 0)) return false;
  const Vec<2> sill = lift.door[1] - lift.door[0];
  const Real length = norm(sill);
  const Vec<2> met = x + (dot(lift.door[0] - x, lift.inward) / towards) * direction;
  const Real along = dot(met - lift.door[0], sill) / length;
  return along >= -beside_door && along <= length + beside_door;
}

/// Whether the route from x, on a floor, leads over the door before it gets farther than route_reach from x.
bool Lifts::leads_in(const FloorField& floor_field, int destination, const Lift& lift,
                     const Standpoint& from) const {
  constexpr Real step = 0.1;
  constexpr int max_steps = 40;
  const Edge door(lift.door[0], lift.door[1]);
  Vec<2> at = from.x;
  for (int k = 0; k < max_steps; ++k) {
    const Vec<2> direction = floor_field.direction(destination, at, from.level, from.radius);
    const Vec<2> next = at + step * direction;
    if (crosses(door, at, next)) return true;
    if (direction == Vec<2>{} || norm(next - from.x) > route_reach - step) return false;
    at = next;
  }
  return false;
}

/// Person i is in the cabin of car c.
void Lifts::observe_inside(const State<2>& state, std::size_t i, std::size_t c) {
  Car& car = cars_[c];
  Counts& counts = car.counts;
  if (car.phase != Phase::idle && car.phase != Phase::open) return;
  const BodyStore<2>& bodies = state.bodies;
  const Real time = state.clock.time;
  ++counts.inside;
  if (is_walking(bodies, i, time)) ++counts.walkers;
  if (car.phase != Phase::open) return;
  const Vec<2> x = wrapped(state.box, bodies.position()[i]);
  const auto add_event = [&](Event::Kind kind) {
    events_.push_back({bodies.id()[i], 0, static_cast<std::int32_t>(c), kind});
    ++counts.events;
  };
  const bool gets_out = car.at == lift(car).to;
  if (gets_out && car.has_opened) add_event(Event::Kind::admit);
  if (!is_admitted(car, bodies.id()[i])) return;
  ++counts.admitted_inside;
  const bool is_clear_now = is_clear(car, x, bodies.radius()[i]);
  if (is_clear_now && !gets_out)
    add_event(Event::Kind::through);
  else if (has_waited(car, time) && (!is_clear_now || is_walking(bodies, i, time)))
    add_event(Event::Kind::stay);
}

/// Person i is on a floor that a lift serves.
void Lifts::observe_before(const State<2>& state, const FloorField& floor_field, std::size_t i,
                           const Door& door) {
  Car& car = cars_[door.car];
  if (car.phase != Phase::idle && car.phase != Phase::open) return;
  const BodyStore<2>& bodies = state.bodies;
  const Real time = state.clock.time;
  const Lift& lift = this->lift(car);
  const Vec<2> x = wrapped(state.box, bodies.position()[i]);
  const Real radius = bodies.radius()[i];
  const GlobalId id = bodies.id()[i];
  Counts& counts = car.counts;
  const auto add_event = [&](Event::Kind kind, Real away) {
    events_.push_back({id, in_micro(away), static_cast<std::int32_t>(door.car), kind});
  };
  const bool is_open = car.phase == Phase::open && car.at == door.stop;
  if (is_open && is_admitted(car, id)) {
    const bool is_clear_now = is_clear(car, x, radius);
    if (is_clear_now && door.stop == lift.to)
      add_event(Event::Kind::through, 0);
    else if (!is_clear_now && has_waited(car, time))
      add_event(Event::Kind::stay, 0);
    else
      return;
    ++counts.events;
    return;
  }
  if (door.stop == lift.to) return;
  const Real away = distance(lift, x);
  if (away > call_reach || !is_walking(bodies, i, time)) return;
  const int destination = agent::destination(bodies)[i];
  const Standpoint from = standpoint_of(state, i);
  if (!heads_in(lift, x, course_of(floor_field, destination, from).direction) &&
      (away > near_door || !leads_in(floor_field, destination, lift, from)))
    return;
  ++counts.calls[door.stop];
  if (!is_open || car.turns_back || has_waited(car, time)) return;
  // From the middle of the door: somebody beside it has no straight route in.
  add_event(Event::Kind::admit, norm(x - 0.5 * (lift.door[0] + lift.door[1])));
  ++counts.candidates;
}

void Lifts::observe(const State<2>& state, const FloorField& floor_field) {
  events_.clear();
  for (Car& car : cars_) {
    std::vector<std::int64_t> calls = std::move(car.counts.calls);
    calls.assign(lift(car).stops.size(), 0);
    car.counts = {.calls = std::move(calls)};
  }
  const BodyStore<2>& bodies = state.bodies;
  for (const std::size_t i : owned(bodies)) {
    const std::size_t level = level_of(bodies, i);
    if (car_of_level_[level] >= 0) observe_inside(state, i, static_cast<std::size_t>(car_of_level_[level]));
    for (const Door& door : doors_of_[level]) observe_before(state, floor_field, i, door);
  }
}

/// Adds counts up over all ranks, and brings events together where they are needed.
void Lifts::sum_over_ranks(const Comm& comm) {
  sums_.clear();
  for (const Car& car : cars_) {
    const Counts& n = car.counts;
    sums_.insert(sums_.end(), {n.inside, n.walkers, n.admitted_inside, n.events, n.candidates});
    sums_.insert(sums_.end(), n.calls.begin(), n.calls.end());
  }
  comm.sum(sums_);
  const std::int64_t* next = sums_.data();
  bool is_any = false;
  for (Car& car : cars_) {
    Counts& n = car.counts;
    for (std::int64_t* count : {&n.inside, &n.walkers, &n.admitted_inside, &n.events, &n.candidates})
      *count = *next++;
    for (std::int64_t& calls : n.calls) calls = *next++;
    is_any = is_any || n.events > 0 || (n.candidates > 0 && room(car) > 0);
  }
  if (is_any)
    events_ = gathered_by_id(comm, events_);
  else
    events_.clear();
}

/// In the cabin people walk to its back, and come to rest there; who did not get in walks back out.
void Lifts::guide_inside(const Car& car, bool is_admitted, const Vec<2>& x, Real radius,
                         WalkingIntent& walk) const {
  const Lift& lift = this->lift(car);
  const bool is_open = car.phase == Phase::open;
  if (is_open && is_admitted && car.at == lift.to) return;
  const Real depth = dot(x - lift.door[0], lift.inward);
  const bool turns_back = is_open && is_admitted && car.turns_back;
  walk.direction = turns_back ? -lift.inward : lift.inward;
  if (turns_back) return;
  walk.speed = std::min(walk.speed, std::max(lift.depth - radius - depth, 0.0) / resting_time);
  walk.time_to_go = -depth;
}

void Lifts::guide(const State<2>& state, std::span<WalkingIntent> walks) const {
  if (!is_used()) return;
  const BodyStore<2>& bodies = state.bodies;
  for (std::size_t i = 0; i < walks.size(); ++i) {
    WalkingIntent& walk = walks[i];
    if (walk.speed == 0) continue;
    const std::size_t level = level_of(bodies, i);
    const Vec<2> x = wrapped(state.box, bodies.position()[i]);
    const Real radius = bodies.radius()[i];
    if (car_of_level_[level] >= 0) {
      const Car& car = cars_[car_of_level_[level]];
      guide_inside(car, is_admitted(car, bodies.id()[i]), x, radius, walk);
      continue;
    }
    for (const Door& door : doors_of_[level]) {
      const Car& car = cars_[door.car];
      const Lift& lift = this->lift(car);
      if (door.stop == lift.to || agent::queue_place(bodies)[i] > 0 || distance(lift, x) > call_reach)
        continue;
      const bool is_open = car.phase == Phase::open && car.at == door.stop;
      const bool may_pass = is_open && is_admitted(car, bodies.id()[i]);
      if (may_pass && !car.turns_back) continue;
      if (!may_pass && !heads_in(lift, x, walk.direction)) continue;
      if (is_open && car.turns_back) {
        walk.direction = -lift.inward;
      } else if (is_open) {
        walk.speed = 0;  // whoever is not admitted makes room for those who are
      } else {
        const Real left = dot(lift.door[0] - x, lift.inward) - radius;
        walk.speed = std::min(walk.speed, std::max(left, 0.0) / resting_time);
      }
    }
  }
}

}  // namespace scree
