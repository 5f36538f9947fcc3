#include "crowd/exit_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/gathered.hpp"
#include "core/output_interval.hpp"
#include "core/random.hpp"

namespace scree {

namespace {

// Intervals of travel time, of 1 s at 1 m/s, in which people on their way are counted; the last has no end.
constexpr std::size_t n_intervals = 256;

std::size_t interval_of(Real travel_time) {
  return static_cast<std::size_t>(std::clamp(travel_time, 0.0, Real(n_intervals - 1)));
}

/// Whether person i chooses for itself: of a group one member does.
bool chooses_itself(const BodyStore<2>& bodies, std::size_t i) {
  const GlobalId group = agent::group(bodies)[i];
  return group < 0 || group == bodies.id()[i];
}

/// Somebody whom others may follow.
struct Leader {
  GlobalId id;
  Vec<2> x;
  std::int32_t level;
  std::int32_t kind;
  std::int32_t destination;
};

}  // namespace

void ExitChoice::update(State<2>& state, std::uint64_t seed) {
  if (journey_plan_.journeys().empty()) return;
  find_open_exits(state);
  if (std::ranges::any_of(journey_plan_.journeys(), [](const JourneyPlan::Journey& journey) {
        return journey.steps.back().choice == JourneyPlan::Choice::quickest;
      }))
    count_heading(state);
  for (const std::size_t i : owned(state.bodies)) choose(state, i, seed);
  follow_leaders(state);
}

void ExitChoice::reset_choice(State<2>& state) const {
  for (const std::size_t i : owned(state.bodies)) {
    std::int32_t& destination = agent::destination(state.bodies)[i];
    if (destination < 0) continue;
    const bool is_lost = !std::isfinite(travel_time(destination, standpoint_of(state, i)));
    if (is_lost || journey_plan_.is_exit(destination)) destination = -1;
  }
}

void ExitChoice::find_open_exits(const State<2>& state) {
  is_open_.clear();
  is_closing_.clear();
  for (std::size_t e = 0; e < journey_plan_.exits().size(); ++e) {
    is_open_.push_back(journey_plan_.exits()[e].is_open(state.clock.time) ? 1 : 0);
    is_closing_.push_back(exits_.is_closing(e, state) ? 1 : 0);
  }
}

void ExitChoice::count_heading(const State<2>& state) {
  const std::size_t n_exits = journey_plan_.exits().size();
  heading_.assign(n_exits * n_intervals, 0);
  for (const std::size_t i : owned(state.bodies)) {
    const int to = agent::destination(state.bodies)[i];
    if (!journey_plan_.is_exit(to)) continue;
    ++heading_[static_cast<std::size_t>(to) * n_intervals +
               interval_of(travel_time(to, standpoint_of(state, i)))];
  }
  state.comm.sum(heading_);
  n_nearer_.resize(heading_.size());
  for (std::size_t e = 0; e < n_exits; ++e) {
    const auto begin = heading_.begin() + static_cast<std::ptrdiff_t>(e * n_intervals);
    std::exclusive_scan(begin, begin + n_intervals,
                        n_nearer_.begin() + static_cast<std::ptrdiff_t>(e * n_intervals), std::int64_t{0});
  }
}

Real ExitChoice::expected_time(int exit, Real travel_time, Real speed, bool is_heading_there) const {
  const std::size_t e = exit;
  const std::size_t at = e * n_intervals + interval_of(travel_time);
  // Of those in the same interval half are taken to be ahead.
  const Real n_ahead =
      static_cast<Real>(n_nearer_[at]) + static_cast<Real>(heading_[at] - (is_heading_there ? 1 : 0)) / 2;
  return std::max(travel_time / speed, n_ahead / journey_plan_.exits()[e].capacity());
}

/// The next destination of person i.
void ExitChoice::choose(State<2>& state, std::size_t i, std::uint64_t seed) {
  BodyStore<2>& bodies = state.bodies;
  if (agent::journey(bodies)[i] < 0) return;
  std::int32_t& destination = agent::destination(bodies)[i];
  if (const int around = closed_exit_around(state, i); around >= 0) {
    destination = around;
    return;
  }
  const Standpoint at = standpoint_of(state, i);
  pass_waypoints(state, i, at);
  const Step& step = *journey_plan_.step_of(bodies, i);
  if (!step.is_exit) return;
  constexpr Real slowest = 1e-3;  // somebody who cannot walk chooses as well
  const Chooser person{bodies.id()[i], at, std::max(agent::desired_speed(bodies)[i], slowest),
                       people_.types()[agent::agent_type(bodies)[i]].familiarity};
  const auto is_due = [&] {
    const Real own = RandomStream(seed, person.id, purpose::update_phase).uniform();
    return interval_ends_in_step(state.clock.time, state.clock.last_dt, step.update, own);
  };
  if (destination < 0 || !is_open(destination)) {
    const int chosen = first_exit(step, person, agent::journey_step(bodies)[i], seed);
    if (destination < 0 || (chosen >= 0 && is_open(chosen)))
      destination = chosen;
    else if (is_closing(destination))
      destination = -1;
  } else if (step.choice == JourneyPlan::Choice::quickest && chooses_itself(bodies, i) && is_due()) {
    destination = quicker_exit(step, person, destination);
  } else if (step.choice == JourneyPlan::Choice::nearest && person.familiarity.notices > 0 &&
             chooses_itself(bodies, i)) {
    destination = noticed_exit(step, person, destination);
  }
}

/// Person i goes on from waypoints that it has reached, once it has waited there.
void ExitChoice::pass_waypoints(State<2>& state, std::size_t i, const Standpoint& at) const {
  BodyStore<2>& bodies = state.bodies;
  const Real time = state.clock.time;
  std::int32_t& destination = agent::destination(bodies)[i];
  Real& waits_until = agent::waits_until(bodies)[i];
  // A round at most: waypoints of a journey that repeats may overlap.
  for (std::size_t k = 0; k < journey_plan_.journey_of(bodies, i)->steps.size(); ++k) {
    const Step& step = *journey_plan_.step_of(bodies, i);
    if (step.is_exit) return;
    if (destination < 0) {
      if (!std::isfinite(travel_time(step.exits[0], at))) return;
      destination = step.exits[0];
    }
    if (step.queue >= 0) return;  // Queues says when it goes on
    if (time + rounding_of_times < agent::premovement_end(bodies)[i]) return;
    if (waits_until == 0) {
      if (!journey_plan_.destinations()[destination].contains(at.x, at.level)) return;
      waits_until = time + step.wait;
    }
    if (time + rounding_of_times < waits_until || !journey_plan_.go_on(bodies, i)) return;
    waits_until = 0;
  }
}

/// The exit that somebody takes who has none yet, or whose exit has closed; -1: none.
int ExitChoice::first_exit(const Step& step, const Chooser& person, std::int32_t number_of_step,
                           std::uint64_t seed) {
  const std::size_t n = step.exits.size();
  travel_time_.clear();
  for (const int exit : step.exits) travel_time_.push_back(travel_time(exit, person.at));
  const auto is_usable = [&](std::size_t k) {
    return is_open(step.exits[k]) && std::isfinite(travel_time_[k]);
  };
  const auto is_known = [&](std::size_t k) {
    return person.familiarity.counts(step.exits[k], travel_time_[k]);
  };
  bool knows_any = false;
  for (std::size_t k = 0; k < n; ++k) knows_any = knows_any || (is_usable(k) && is_known(k));
  const auto can_use = [&](std::size_t k) { return is_usable(k) && (is_known(k) || !knows_any); };

  if (step.choice == JourneyPlan::Choice::weights) {
    RandomStream stream(seed, person.id, purpose::exit_choice);
    for (std::int32_t k = 0; k < 2 * number_of_step; ++k) stream.uniform();
    // First among all, so that a closed exit changes the choice of those only who would have taken it.
    for (const bool is_second : {false, true}) {
      const auto counts = [&](std::size_t k) { return is_second ? can_use(k) : is_known(k) || !knows_any; };
      Real total = 0;
      for (std::size_t k = 0; k < n; ++k) total += counts(k) ? step.weights[k] : 0;
      Real left = stream.uniform() * total;
      for (std::size_t k = 0; k < n; ++k) {
        if (!counts(k) || step.weights[k] == 0) continue;
        if (left < step.weights[k]) {
          if (can_use(k)) return step.exits[k];
          break;
        }
        left -= step.weights[k];
      }
    }
  }

  int best = -1;
  Real min = HUGE_VAL;
  for (const bool is_any_open : {true, false}) {
    for (std::size_t k = 0; k < n; ++k) {
      if (is_any_open ? !can_use(k) : !std::isfinite(travel_time_[k])) continue;
      const Real cost = step.choice == JourneyPlan::Choice::quickest && is_any_open
                            ? expected_time(step.exits[k], travel_time_[k], person.speed, false)
                            : travel_time_[k];
      if (cost < min) min = cost, best = step.exits[k];
    }
    // To walk to a door that waits to shut would keep it from it.
    if (best >= 0) return is_closing(best) ? -1 : best;
  }
  return -1;
}

/// An open exit that is expected to be so much quicker than the present one that people turn to it, or the
/// present one.
int ExitChoice::quicker_exit(const Step& step, const Chooser& person, int present) const {
  const Real now = expected_time(present, travel_time(present, person.at), person.speed, true);
  int best = present;
  Real min = now - std::max(1.0, 0.1 * now);
  for (const int exit : step.exits) {
    if (exit == present || !is_open(exit)) continue;
    const Real walk = travel_time(exit, person.at);
    if (!std::isfinite(walk) || !person.familiarity.counts(exit, walk)) continue;
    const Real time = expected_time(exit, walk, person.speed, false);
    if (time < min) min = time, best = exit;
  }
  return best;
}

/// An exit that is nearer than the present one and near enough to be noticed, or the present one.
int ExitChoice::noticed_exit(const Step& step, const Chooser& person, int present) const {
  int best = present;
  Real min = travel_time(present, person.at);
  for (const int exit : step.exits) {
    if (!is_open(exit)) continue;
    const Real walk = travel_time(exit, person.at);
    if (walk <= person.familiarity.notices && walk < min) min = walk, best = exit;
  }
  return best;
}

/// The exit that takes person i, though it is closed: it is behind its line, or in its opening on the way to
/// it; -1: none.
int ExitChoice::closed_exit_around(const State<2>& state, std::size_t i) const {
  const BodyStore<2>& bodies = state.bodies;
  const int level = level_of(bodies, i), destination = agent::destination(bodies)[i];
  for (std::size_t e = 0; e < is_open_.size(); ++e) {
    if (!exits_.has_door(e) || is_open_[e] != 0) continue;
    const Vec<2> x = wrapped(state.box, bodies.position()[i]);
    const Exit& exit = journey_plan_.exits()[e];
    const int number = static_cast<int>(e);
    if (level == exit.level && ring_contains(exit.pocket, x)) return number;
    if (is_closing_[e] != 0 && (destination < 0 || destination == number) &&
        exits_.is_in_opening(e, x, level, bodies.radius()[i]))
      return number;
  }
  return -1;
}

/// Those whose kind follows another go to the exit of the nearest leader within reach, if it is open and they
/// fit through a route to it; others keep theirs. Collective if any kind follows: every rank gets all
/// leaders; O(followers * leaders).
void ExitChoice::follow_leaders(State<2>& state) {
  const auto is_followed = [&](std::int32_t kind) {
    return std::ranges::any_of(people_.types(),
                               [&](const AgentType& type) { return type.familiarity.leaders == kind; });
  };
  if (std::ranges::all_of(people_.types(),
                          [](const AgentType& type) { return type.familiarity.leaders < 0; }))
    return;
  BodyStore<2>& bodies = state.bodies;
  std::vector<Leader> mine;
  for (const std::size_t i : owned(bodies)) {
    const std::int32_t to = agent::destination(bodies)[i], kind = agent::agent_type(bodies)[i];
    if (!journey_plan_.is_exit(to) || !is_followed(kind)) continue;
    mine.push_back({bodies.id()[i], wrapped(state.box, bodies.position()[i]), level_of(bodies, i), kind, to});
  }
  const std::vector<Leader> leaders = gathered_by_id(state.comm, mine);
  for (const std::size_t i : owned(bodies)) {
    const Familiarity& own = people_.types()[agent::agent_type(bodies)[i]].familiarity;
    std::int32_t& destination = agent::destination(bodies)[i];
    if (own.leaders < 0 || !journey_plan_.is_exit(destination) || !may_change_exit(state, i)) continue;
    const Standpoint at = standpoint_of(state, i);
    const Leader* nearest = nullptr;
    Real min = own.follow_reach * own.follow_reach;
    for (const Leader& leader : leaders) {
      if (leader.kind != own.leaders || leader.level != at.level || leader.id == bodies.id()[i]) continue;
      const Vec<2> offset = state.box.shortest(leader.x - at.x);
      const Real square = dot(offset, offset);
      if (nearest ? square < min : square <= min) min = square, nearest = &leader;
    }
    if (nearest && is_open(nearest->destination) && std::isfinite(travel_time(nearest->destination, at)))
      destination = nearest->destination;
  }
}

/// Whether person i is at a step that leads to exits, chooses for itself, and is not in the opening of an
/// exit that shuts.
bool ExitChoice::may_change_exit(const State<2>& state, std::size_t i) const {
  const Step* step = journey_plan_.step_of(state.bodies, i);
  return step && step->is_exit && chooses_itself(state.bodies, i) && closed_exit_around(state, i) < 0;
}

}  // namespace scree
