#include "crowd/lifts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/gathered.hpp"
#include "core/error.hpp"
#include "core/timing.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/hazard/hazard.hpp"
#include "crowd/micro_seconds.hpp"
#include "geometry/walls.hpp"
#include "particles/fill/region.hpp"

namespace scree {

namespace {

constexpr Real rounding_of_ends = 1e-9;  // times are sums of steps
/// Who is this near to a door and on the way into it calls the lift, and may be admitted [m].
constexpr Real call_reach = 2;
/// A way leads in if it crosses the door, to this far beside it [m].
constexpr Real beside_door = 0.5;
/// Beside a door ways may bend: there they are followed [m].
constexpr Real near_door = 1;
/// Who is in the door and does not get in walks back out after this time more [s].
constexpr Real patience = 10;
/// People come to rest before a door, and at the back of a cabin, within this time [s].
constexpr Real resting_time = 0.25;

/// Whether somebody is on its way now.
bool is_walking(const BodyStore<2>& bodies, std::size_t i, Real time) {
  return agent::destination(bodies)[i] >= 0 && !is_incapacitated(bodies, i) &&
         agent::queue_place(bodies)[i] == 0 && time >= agent::premovement_end(bodies)[i] &&
         time >= agent::waits_until(bodies)[i];
}

}  // namespace

void Lifts::add_doors(ObstacleSet<2>& obstacles) {
  const int n_levels = building_.n_levels();
  car_of_level_.assign(static_cast<std::size_t>(n_levels), -1);
  doors_of_.resize(static_cast<std::size_t>(n_levels));
  for (int number = 0; number < n_levels; ++number) {
    const Level& level = building_.level(number);
    if (!level.lift) continue;
    Car car;
    car.level = number;
    car.at = level.lift->to;
    const auto add = [&](int on) {
      std::vector<Edge> edges{Edge(level.lift->door[0], level.lift->door[1])};
      const int door = obstacles.add(building_.level(on).name + "." + level.name + ".door", level.where,
                                     std::make_unique<WallSegments>(std::move(edges)), on);
      obstacles.admit(door, car.admitted);
    };
    add(number);
    for (std::size_t stop = 0; stop < level.lift->stops.size(); ++stop) {
      const int floor = level.lift->stops[stop].floor;
      add(floor);
      doors_of_[static_cast<std::size_t>(floor)].push_back({cars_.size(), stop});
    }
    car_of_level_[static_cast<std::size_t>(number)] = static_cast<int>(cars_.size());
    cars_.push_back(std::move(car));
  }
  counts_.resize(cars_.size());
}

bool Lifts::is_admitted(const Car& car, GlobalId id) const {
  return std::ranges::binary_search(*car.admitted, id);
}

Real Lifts::distance(const Lift& lift, const Vec<2>& x) const {
  const Edge door(lift.door[0], lift.door[1]);
  return foot_on(door, x, door.normal).distance;
}

bool Lifts::is_clear(const Car& car, const Vec<2>& x, Real radius) const {
  constexpr Real within = 1 - 1e-6;  // the tolerance, or the step would begin beyond it
  return distance(lift(car), x) >= radius - within * tolerance_;
}

/// Whether nobody has come through an open door for so long that it may close.
bool Lifts::has_waited(const Car& car, Real time) const {
  return time + rounding_of_ends >= car.last + lift(car).dwell || lift(car).is_closed(time);
}

bool Lifts::has_waited_long(const Car& car, Real time) const {
  return time + rounding_of_ends >= car.last + lift(car).dwell + patience;
}

/// Whether somebody who goes straight on from x crosses the door, or passes beside it.
bool Lifts::heads_in(const Lift& lift, const Vec<2>& x, const Vec<2>& direction) const {
  const Real towards = dot(direction, lift.inward);
  if (!(towards > 0)) return false;
  const Vec<2> way = lift.door[1] - lift.door[0];
  const Real length = norm(way);
  const Vec<2> met = x + (dot(lift.door[0] - x, lift.inward) / towards) * direction;
  const Real along = dot(met - lift.door[0], way) / length;
  return along >= -beside_door && along <= length + beside_door;
}

/// Whether the way from x, on a floor, leads over the door before it gets farther than way_reach from x.
bool Lifts::leads_in(const FloorField& floor_field, int destination, const Lift& lift, const Vec<2>& x,
                     int level) const {
  constexpr Real step = 0.1;
  constexpr int most_steps = 40;
  const Edge door(lift.door[0], lift.door[1]);
  Vec<2> at = x;
  for (int k = 0; k < most_steps; ++k) {
    const Vec<2> way = floor_field.direction(destination, at, level);
    const Vec<2> next = at + step * way;
    if (crosses(door, at, next)) return true;
    if (way == Vec<2>{} || norm(next - x) > way_reach - step) return false;
    at = next;
  }
  return false;
}

void Lifts::pass(Car& car, Real time) {
  car.has_opened = false;
  if (car.phase == Phase::idle || car.phase == Phase::open || time + rounding_of_ends < car.until) return;
  if (car.phase == Phase::riding) {
    car.at = car.target;
    begin(car, Phase::opening, time);
  } else if (car.phase == Phase::opening) {
    begin(car, Phase::open, time);
  } else {
    car.phase = Phase::idle;
  }
}

void Lifts::begin(Car& car, Phase phase, Real time) {
  car.phase = phase;
  if (phase == Phase::opening || phase == Phase::closing) car.until = time + lift(car).door_time / 2;
  if (phase != Phase::open) return;
  car.last = time;
  car.turns_back = false;
  car.has_opened = true;
}

void Lifts::ride(Car& car, std::size_t target, Real time) {
  car.phase = Phase::riding;
  car.target = target;
  car.until = time + lift(car).ride_time(car.at, target);
}

/// Person i is in the cabin of car c.
void Lifts::look_inside(const State<2>& state, std::size_t i, std::size_t c) {
  const Car& car = cars_[c];
  Counts& counts = counts_[c];
  if (car.phase != Phase::idle && car.phase != Phase::open) return;
  const BodyStore<2>& bodies = state.bodies;
  const Real time = state.clock.time;
  ++counts.inside;
  if (is_walking(bodies, i, time)) ++counts.walkers;
  if (car.phase != Phase::open) return;
  const Vec<2> x = wrapped(state.box, bodies.position()[i]);
  const auto tell = [&](Event::Kind kind) {
    events_.push_back({bodies.id()[i], 0, static_cast<std::int32_t>(c), kind});
    ++counts.events;
  };
  const bool gets_out = car.at == lift(car).to;
  if (gets_out && car.has_opened) tell(Event::Kind::admit);
  if (!is_admitted(car, bodies.id()[i])) return;
  ++counts.admitted_inside;
  const bool is_clear_now = is_clear(car, x, bodies.radius()[i]);
  if (is_clear_now && !gets_out)
    tell(Event::Kind::through);
  else if (has_waited(car, time) && (!is_clear_now || is_walking(bodies, i, time)))
    tell(Event::Kind::stay);
}

/// Person i is on a floor that a lift serves.
void Lifts::look_before(const State<2>& state, const FloorField& floor_field, std::size_t i,
                        const Door& door) {
  const Car& car = cars_[door.car];
  if (car.phase != Phase::idle && car.phase != Phase::open) return;
  const BodyStore<2>& bodies = state.bodies;
  const Real time = state.clock.time;
  const Lift& lift = this->lift(car);
  const Vec<2> x = wrapped(state.box, bodies.position()[i]);
  const Real radius = bodies.radius()[i];
  const GlobalId id = bodies.id()[i];
  Counts& counts = counts_[door.car];
  const auto tell = [&](Event::Kind kind, Real away) {
    events_.push_back({id, in_micro(away), static_cast<std::int32_t>(door.car), kind});
  };
  const bool is_open = car.phase == Phase::open && car.at == door.stop;
  if (is_open && is_admitted(car, id)) {
    const bool is_clear_now = is_clear(car, x, radius);
    if (is_clear_now && door.stop == lift.to)
      tell(Event::Kind::through, 0);
    else if (!is_clear_now && has_waited(car, time))
      tell(Event::Kind::stay, 0);
    else
      return;
    ++counts.events;
    return;
  }
  if (door.stop == lift.to) return;
  const Real away = distance(lift, x);
  if (away > call_reach || !is_walking(bodies, i, time)) return;
  const int destination = agent::destination(bodies)[i], level = level_of(bodies, i);
  if (!heads_in(lift, x, floor_field.direction(destination, x, level)) &&
      (away > near_door || !leads_in(floor_field, destination, lift, x, level)))
    return;
  ++counts.calls[door.stop];
  if (!is_open || car.turns_back || has_waited(car, time)) return;
  // From the middle of the door: somebody beside it has no straight way in.
  tell(Event::Kind::admit, norm(x - 0.5 * (lift.door[0] + lift.door[1])));
  ++counts.candidates;
}

void Lifts::look(const State<2>& state, const FloorField& floor_field) {
  events_.clear();
  for (std::size_t c = 0; c < cars_.size(); ++c) {
    std::vector<std::int64_t> calls = std::move(counts_[c].calls);
    calls.assign(lift(cars_[c]).stops.size(), 0);
    counts_[c] = {};
    counts_[c].calls = std::move(calls);
  }
  const BodyStore<2>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const auto level = static_cast<std::size_t>(level_of(bodies, i));
    if (car_of_level_[level] >= 0) look_inside(state, i, static_cast<std::size_t>(car_of_level_[level]));
    for (const Door& door : doors_of_[level]) look_before(state, floor_field, i, door);
  }
}

/// Adds counts up over all ranks, and brings events together where they are needed.
void Lifts::share(const Comm& comm) {
  sums_.clear();
  for (const Counts& n : counts_) {
    sums_.insert(sums_.end(), {n.inside, n.walkers, n.admitted_inside, n.events, n.candidates});
    sums_.insert(sums_.end(), n.calls.begin(), n.calls.end());
  }
  comm.sum(sums_);
  const std::int64_t* next = sums_.data();
  bool is_any = false;
  for (std::size_t c = 0; c < cars_.size(); ++c) {
    Counts& n = counts_[c];
    for (std::int64_t* count : {&n.inside, &n.walkers, &n.admitted_inside, &n.events, &n.candidates})
      *count = *next++;
    for (std::int64_t& calls : n.calls) calls = *next++;
    const std::int64_t taken =
        n.inside + static_cast<std::int64_t>(cars_[c].admitted->size()) - n.admitted_inside;
    is_any = is_any || n.events > 0 || (n.candidates > 0 && taken < lift(cars_[c]).capacity);
  }
  if (is_any)
    events_ = gathered_by_id(comm, events_);
  else
    events_.clear();
}

/// Takes those off the list who came through, and once the door has waited all whom it need not wait for:
/// they may have gone elsewhere. Returns how many came through.
int Lifts::let_go(std::size_t c, bool has_waited) {
  std::vector<GlobalId>& admitted = *cars_[c].admitted;
  int n_through = 0;
  staying_.clear();
  for (const Event& event : events_) {
    if (static_cast<std::size_t>(event.car) != c) continue;
    if (event.kind == Event::Kind::through) {
      std::erase(admitted, event.id);
      ++n_through;
    } else if (event.kind == Event::Kind::stay) {
      staying_.push_back(event.id);
    }
  }
  if (has_waited) admitted.assign(staying_.begin(), staying_.end());
  return n_through;
}

/// The door is open where people get in.
void Lifts::let_in(std::size_t c, Real time) {
  Car& car = cars_[c];
  std::vector<GlobalId>& admitted = *car.admitted;
  const Counts& counts = counts_[c];
  const bool had_waited_long = has_waited_long(car, time);
  std::int64_t room = lift(car).capacity - counts.inside - static_cast<std::int64_t>(admitted.size()) +
                      counts.admitted_inside;
  if (let_go(c, has_waited(car, time)) > 0 && !car.turns_back) car.last = time;
  candidates_.clear();
  for (const Event& event : events_)
    if (static_cast<std::size_t>(event.car) == c && event.kind == Event::Kind::admit)
      candidates_.push_back(event);
  std::ranges::sort(candidates_, {}, [](const Event& e) { return std::pair(e.distance, e.id); });
  for (const Event& event : candidates_) {
    if (room <= 0) break;
    admitted.insert(std::ranges::upper_bound(admitted, event.id), event.id);
    car.last = time;
    --room;
  }
  if (admitted.empty() && (room <= 0 || car.turns_back || has_waited(car, time)))
    begin(car, Phase::closing, time);
  else
    car.turns_back = car.turns_back || (had_waited_long && !admitted.empty());
}

/// The door is open where people get out.
void Lifts::let_out(std::size_t c, Real time) {
  Car& car = cars_[c];
  std::vector<GlobalId>& admitted = *car.admitted;
  if (car.has_opened) {
    // By id; memory() has room for so many.
    for (const Event& event : events_)
      if (static_cast<std::size_t>(event.car) == c &&
          static_cast<std::int64_t>(admitted.size()) < lift(car).capacity)
        admitted.push_back(event.id);
    if (counts_[c].inside > 0) ++car.trips;
  } else if (const int n_through = let_go(c, has_waited(car, time)); n_through > 0) {
    car.persons += n_through;
    car.last = time;
  }
  if (admitted.empty()) begin(car, Phase::closing, time);
}

/// The door is shut: where to go.
void Lifts::decide(Car& car, const Counts& counts, Real time) {
  const Lift& lift = this->lift(car);
  const auto n = lift.stops.size();
  const bool takes_more = counts.inside < lift.capacity && !lift.is_closed(time);
  if (car.at != lift.to && counts.inside > 0) {
    // On the way down, or up, it stops where somebody waits.
    std::size_t next = lift.to;
    const int step = car.at < lift.to ? 1 : -1;
    for (std::size_t k = lift.to; takes_more && k != car.at; k -= static_cast<std::size_t>(step))
      if (counts.calls[k] > 0) next = k;
    ride(car, next, time);
  } else if (counts.walkers > 0) {
    begin(car, Phase::opening, time);
  } else if (takes_more) {
    // Floors take turns.
    for (std::size_t k = 1; k <= n; ++k) {
      const std::size_t stop = (car.last_called + k) % n;
      if (counts.calls[stop] == 0) continue;
      car.last_called = stop;
      if (stop == car.at)
        begin(car, Phase::opening, time);
      else
        ride(car, stop, time);
      break;
    }
  }
}

void Lifts::act(std::size_t c, Real time) {
  Car& car = cars_[c];
  if (car.phase == Phase::open)
    car.at == lift(car).to ? let_out(c, time) : let_in(c, time);
  else if (car.phase == Phase::idle)
    decide(car, counts_[c], time);
}

void Lifts::update(const State<2>& state, const FloorField& floor_field) {
  if (!is_used()) return;
  Scope timer("lifts");
  const Real time = state.clock.time;
  for (Car& car : cars_) pass(car, time);
  look(state, floor_field);
  share(state.comm);
  for (std::size_t c = 0; c < cars_.size(); ++c) act(c, time);
  stand(time);
}

Real Lifts::elevation(const Car& car, Real time) const {
  const Lift& lift = this->lift(car);
  const Real here = lift.stops[car.at].elevation;
  if (car.phase != Phase::riding) return here;
  const Real there = lift.stops[car.target].elevation;
  const Real left = std::clamp((car.until - time) / lift.ride_time(car.at, car.target), 0.0, 1.0);
  return there + left * (here - there);
}

void Lifts::stand(Real time) {
  for (const Car& car : cars_)
    building_.stand(car.level, car.phase == Phase::open ? static_cast<int>(car.at) : -1,
                    elevation(car, time));
}

/// In the cabin people walk to its back, and come to rest there; who did not get in walks back out.
void Lifts::guide_inside(const Car& car, bool is_admitted, const Vec<2>& x, Real radius,
                         LookAhead::Walk& walk) const {
  const Lift& lift = this->lift(car);
  const bool is_open = car.phase == Phase::open;
  if (is_open && is_admitted && car.at == lift.to) return;
  const Real depth = dot(x - lift.door[0], lift.inward);
  const bool turns_back = is_open && is_admitted && car.turns_back;
  const Vec<2> way = turns_back ? -lift.inward : lift.inward;
  walk.direction[0] = way[0];
  walk.direction[1] = way[1];
  if (turns_back) return;
  walk.speed = std::min(walk.speed, std::max(lift.depth - radius - depth, 0.0) / resting_time);
  walk.time_to_go = -depth;
}

void Lifts::guide(const State<2>& state, std::span<LookAhead::Walk> walks) const {
  if (!is_used()) return;
  const BodyStore<2>& bodies = state.bodies;
  for (std::size_t i = 0; i < walks.size(); ++i) {
    LookAhead::Walk& walk = walks[i];
    if (walk.speed == 0) continue;
    const auto level = static_cast<std::size_t>(level_of(bodies, i));
    const Vec<2> x = wrapped(state.box, bodies.position()[i]);
    const Real radius = bodies.radius()[i];
    if (car_of_level_[level] >= 0) {
      const Car& car = cars_[static_cast<std::size_t>(car_of_level_[level])];
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
      if (!may_pass && !heads_in(lift, x, {{walk.direction[0], walk.direction[1]}})) continue;
      if (is_open && car.turns_back) {
        walk.direction[0] = -lift.inward[0];
        walk.direction[1] = -lift.inward[1];
      } else if (is_open) {
        walk.speed = 0;  // whoever is not admitted leaves the way to those who are
      } else {
        const Real left = dot(lift.door[0] - x, lift.inward) - radius;
        walk.speed = std::min(walk.speed, std::max(left, 0.0) / resting_time);
      }
    }
  }
}

std::size_t Lifts::n_numbers(const Car& car) const {
  constexpr std::size_t n_of_car = 9;
  return n_of_car + static_cast<std::size_t>(lift(car).capacity);
}

std::span<Real> Lifts::memory() {
  numbers_.clear();
  for (const Car& car : cars_) {
    const std::size_t end = numbers_.size() + n_numbers(car);
    numbers_.insert(numbers_.end(),
                    {static_cast<Real>(car.phase), static_cast<Real>(car.at), static_cast<Real>(car.target),
                     static_cast<Real>(car.last_called), car.until, car.last, car.turns_back ? 1.0 : 0.0,
                     static_cast<Real>(car.trips), static_cast<Real>(car.persons)});
    for (const GlobalId id : *car.admitted) numbers_.push_back(static_cast<Real>(id));
    numbers_.resize(end, -1);
  }
  return numbers_;
}

void Lifts::start(bool is_restart, Real time) {
  if (!is_used()) return;
  if (is_restart) restore();
  stand(time);
}

void Lifts::restore() {
  auto next = numbers_.begin();
  for (Car& car : cars_) {
    const Lift& lift = this->lift(car);
    const auto end = next + static_cast<std::ptrdiff_t>(n_numbers(car));
    const auto below = [&](std::size_t n) {
      const Real number = *next++;
      if (!(number >= 0 && number < static_cast<Real>(n)))
        throw RunError(fmt::format("the checkpoint is damaged: what it has of the lift \"{}\" makes no sense",
                                   building_.level(car.level).name));
      return static_cast<std::size_t>(number);
    };
    constexpr std::size_t n_phases = 5;
    car.phase = static_cast<Phase>(below(n_phases));
    for (std::size_t* stop : {&car.at, &car.target, &car.last_called}) *stop = below(lift.stops.size());
    car.until = *next++;
    car.last = *next++;
    car.turns_back = *next++ != 0;
    car.trips = std::llround(*next++);
    car.persons = std::llround(*next++);
    car.admitted->clear();
    for (; next != end; ++next)
      if (*next >= 0) car.admitted->push_back(std::llround(*next));
    std::ranges::sort(*car.admitted);
  }
}

std::vector<LiftReport> Lifts::reports() const {
  std::vector<LiftReport> reports;
  for (const Car& car : cars_) reports.push_back({building_.level(car.level).name, car.trips, car.persons});
  return reports;
}

}  // namespace scree
