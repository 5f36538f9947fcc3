#include "crowd/lifts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "crowd/counter.hpp"
#include "geometry/walls.hpp"

namespace scree {

namespace {

/// Who is in the door and does not get in walks back out after this time more [s].
constexpr Real patience = 10;

/// What memory() has of a cabin.
std::size_t n_numbers_of(const Lift& lift) {
  constexpr std::size_t n_of_car = 9;
  return n_of_car + static_cast<std::size_t>(lift.capacity);
}

}  // namespace

void Lifts::add_doors(ObstacleSet<2>& obstacles) {
  const int n_levels = building_.n_levels();
  car_of_level_.assign(n_levels, -1);
  doors_of_.resize(n_levels);
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
      doors_of_[floor].push_back({cars_.size(), stop});
    }
    car_of_level_[number] = static_cast<int>(cars_.size());
    cars_.push_back(std::move(car));
  }
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

/// For how many more there is room, beside those inside and those who have been admitted.
std::int64_t Lifts::room(const Car& car) const {
  return lift(car).capacity - car.counts.inside - static_cast<std::int64_t>(car.admitted->size()) +
         car.counts.admitted_inside;
}

/// Whether nobody has come through an open door for so long that it may close.
bool Lifts::has_waited(const Car& car, Real time) const {
  return time + rounding_of_times >= car.last + lift(car).dwell || lift(car).is_closed(time);
}

void Lifts::end_phase(Car& car, Real time) {
  car.has_opened = false;
  if (car.phase == Phase::idle || car.phase == Phase::open || time + rounding_of_times < car.until) return;
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

/// Takes those off the list who came through, and once the door has waited all whom it need not wait for:
/// they may have gone elsewhere. Returns how many came through.
int Lifts::release(Car& car, bool has_waited) {
  std::vector<GlobalId>& admitted = *car.admitted;
  int n_through = 0;
  staying_.clear();
  for (const Event& event : events_) {
    if (!is_about(event, car)) continue;
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
void Lifts::board(Car& car, Real time) {
  std::vector<GlobalId>& admitted = *car.admitted;
  const bool had_waited_long = time + rounding_of_times >= car.last + lift(car).dwell + patience;
  std::int64_t room = this->room(car);
  if (release(car, has_waited(car, time)) > 0 && !car.turns_back) car.last = time;
  candidates_.clear();
  for (const Event& event : events_)
    if (is_about(event, car) && event.kind == Event::Kind::admit) candidates_.push_back(event);
  const auto nearest = [](const Event& e) { return std::pair(e.distance, e.id); };
  for (const Event& event : Counter{room}.admit(candidates_, nearest)) {
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
void Lifts::unload(Car& car, Real time) {
  std::vector<GlobalId>& admitted = *car.admitted;
  if (car.has_opened) {
    // By id; memory() has room for so many.
    for (const Event& event : events_)
      if (is_about(event, car) && static_cast<std::int64_t>(admitted.size()) < lift(car).capacity)
        admitted.push_back(event.id);
    if (car.counts.inside > 0) ++car.trips;
  } else if (const int n_through = release(car, has_waited(car, time)); n_through > 0) {
    car.persons += n_through;
    car.last = time;
  }
  if (admitted.empty()) begin(car, Phase::closing, time);
}

/// The door is shut: where to go.
void Lifts::choose_stop(Car& car, Real time) {
  const Counts& counts = car.counts;
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

void Lifts::update_car(Car& car, Real time) {
  if (car.phase == Phase::open)
    car.at == lift(car).to ? unload(car, time) : board(car, time);
  else if (car.phase == Phase::idle)
    choose_stop(car, time);
}

void Lifts::update(const State<2>& state, const FloorField& floor_field) {
  if (!is_used()) return;
  Scope timer("lifts");
  const Real time = state.clock.time;
  for (Car& car : cars_) end_phase(car, time);
  observe(state, floor_field);
  sum_over_ranks(state.comm);
  for (Car& car : cars_) update_car(car, time);
  place_cabins(time);
}

Real Lifts::elevation(const Car& car, Real time) const {
  const Lift& lift = this->lift(car);
  const Real here = lift.stops[car.at].elevation;
  if (car.phase != Phase::riding) return here;
  const Real there = lift.stops[car.target].elevation;
  const Real left = std::clamp((car.until - time) / lift.ride_time(car.at, car.target), 0.0, 1.0);
  return there + left * (here - there);
}

void Lifts::place_cabins(Real time) {
  for (const Car& car : cars_)
    building_.stand(car.level, car.phase == Phase::open ? static_cast<int>(car.at) : -1,
                    elevation(car, time));
}

std::span<Real> Lifts::memory() {
  numbers_.clear();
  for (const Car& car : cars_) {
    const std::size_t end = numbers_.size() + n_numbers_of(lift(car));
    numbers_.insert(numbers_.end(),
                    {static_cast<Real>(car.phase), static_cast<Real>(car.at), static_cast<Real>(car.target),
                     static_cast<Real>(car.last_called), car.until, car.last, car.turns_back ? 1.0 : 0.0,
                     static_cast<Real>(car.trips), static_cast<Real>(car.persons)});
    numbers_.insert(numbers_.end(), car.admitted->begin(), car.admitted->end());
    numbers_.resize(end, -1);
  }
  return numbers_;
}

void Lifts::start(bool is_restart, Real time) {
  if (!is_used()) return;
  if (is_restart) restore();
  place_cabins(time);
}

void Lifts::restore() {
  auto next = numbers_.begin();
  for (Car& car : cars_) {
    const Lift& lift = this->lift(car);
    const auto end = next + static_cast<std::ptrdiff_t>(n_numbers_of(lift));
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
