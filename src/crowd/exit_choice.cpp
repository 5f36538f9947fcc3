// How people choose their next destination.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/output_interval.hpp"
#include "core/random.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/journeys.hpp"
#include "particles/fill/region.hpp"

namespace scree {

namespace {

// Intervals of travel time, of 1 s at 1 m/s, in which people on their way are counted; the last has no end.
constexpr std::size_t n_intervals = 256;

std::size_t interval_of(Real travel_time) {
  return static_cast<std::size_t>(std::clamp(travel_time, 0.0, Real(n_intervals - 1)));
}

}  // namespace

Real Journeys::speed_factor(const Vec<2>& x, int level) const {
  Real factor = 1;
  for (const Zone& zone : zones_)
    if (zone.contains(x, level)) factor *= zone.speed_factor;
  return factor;
}

void Journeys::count_heading(const State<2>& state, const FloorField& floor_field) {
  const BodyStore<2>& bodies = state.bodies;
  heading_.assign(exits_.size() * n_intervals, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const int to = agent::destination(bodies)[i];
    if (!is_exit(to)) continue;
    ++heading_[static_cast<std::size_t>(to) * n_intervals +
               interval_of(floor_field.travel_time(to, bodies.position()[i], level_of(bodies, i),
                                                   agent::way_radius(bodies)[i]))];
  }
  state.comm.sum(heading_);
  n_nearer_.resize(heading_.size());
  for (std::size_t e = 0; e < exits_.size(); ++e) {
    const auto begin = heading_.begin() + static_cast<std::ptrdiff_t>(e * n_intervals);
    std::exclusive_scan(begin, begin + n_intervals,
                        n_nearer_.begin() + static_cast<std::ptrdiff_t>(e * n_intervals), std::int64_t{0});
  }
}

Real Journeys::expected_time(int exit, Real travel_time, Real speed, bool is_heading_there) const {
  const auto e = static_cast<std::size_t>(exit);
  const std::size_t at = e * n_intervals + interval_of(travel_time);
  // Of those in the same interval half are taken to be ahead.
  const Real n_ahead =
      static_cast<Real>(n_nearer_[at]) + static_cast<Real>(heading_[at] - (is_heading_there ? 1 : 0)) / 2;
  return std::max(travel_time / speed, n_ahead / exits_[e].capacity());
}

int Journeys::first_exit(const Step& step, const Familiarity& familiarity, GlobalId id,
                         std::size_t number_of_step, Real speed, const Vec<2>& x, int level, Real radius,
                         const FloorField& floor_field, std::uint64_t seed) const {
  std::vector<Real>& travel_time = travel_time_;
  travel_time.clear();
  for (const int exit : step.exits) travel_time.push_back(floor_field.travel_time(exit, x, level, radius));
  const std::size_t n = step.exits.size();
  const auto is_usable = [&](std::size_t k) {
    return is_open_[static_cast<std::size_t>(step.exits[k])] != 0 && std::isfinite(travel_time[k]);
  };
  const auto is_known = [&](std::size_t k) { return familiarity.counts(step.exits[k], travel_time[k]); };
  bool knows_any = false;
  for (std::size_t k = 0; k < n; ++k) knows_any = knows_any || (is_usable(k) && is_known(k));
  const auto can_use = [&](std::size_t k) { return is_usable(k) && (is_known(k) || !knows_any); };

  if (step.choice == Choice::weights) {
    RandomStream stream(seed, id, purpose::exit_choice);
    for (std::size_t k = 0; k < 2 * number_of_step; ++k) stream.uniform();
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
  Real least = HUGE_VAL;
  for (const bool is_any_open : {true, false}) {
    for (std::size_t k = 0; k < n; ++k) {
      if (is_any_open ? !can_use(k) : !std::isfinite(travel_time[k])) continue;
      const Real cost = step.choice == Choice::quickest && is_any_open
                            ? expected_time(step.exits[k], travel_time[k], speed, false)
                            : travel_time[k];
      if (cost < least) least = cost, best = step.exits[k];
    }
    // To walk to a door that waits to shut would keep it from it.
    if (best >= 0) return is_closing_[static_cast<std::size_t>(best)] != 0 ? -1 : best;
  }
  return -1;
}

int Journeys::quicker_exit(const Step& step, const Familiarity& familiarity, int present, Real speed,
                           const Vec<2>& x, int level, Real radius, const FloorField& floor_field) const {
  const Real now = expected_time(present, floor_field.travel_time(present, x, level, radius), speed, true);
  int best = present;
  Real least = now - std::max(1.0, 0.1 * now);
  for (const int exit : step.exits) {
    if (exit == present || is_open_[static_cast<std::size_t>(exit)] == 0) continue;
    const Real travel_time = floor_field.travel_time(exit, x, level, radius);
    if (!std::isfinite(travel_time) || !familiarity.counts(exit, travel_time)) continue;
    const Real time = expected_time(exit, travel_time, speed, false);
    if (time < least) least = time, best = exit;
  }
  return best;
}

int Journeys::noticed_exit(const Step& step, const Familiarity& familiarity, int present, const Vec<2>& x,
                           int level, Real radius, const FloorField& floor_field) const {
  int best = present;
  Real least = floor_field.travel_time(present, x, level, radius);
  for (const int exit : step.exits) {
    if (is_open_[static_cast<std::size_t>(exit)] == 0) continue;
    const Real travel_time = floor_field.travel_time(exit, x, level, radius);
    if (travel_time <= familiarity.notices && travel_time < least) least = travel_time, best = exit;
  }
  return best;
}

void Journeys::reconsider(State<2>& state, const FloorField& floor_field) const {
  BodyStore<2>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    std::int32_t& destination = agent::destination(bodies)[i];
    if (destination < 0) continue;
    const bool is_lost = !std::isfinite(floor_field.travel_time(
        destination, bodies.position()[i], level_of(bodies, i), agent::way_radius(bodies)[i]));
    if (is_lost || is_exit(destination)) destination = -1;
  }
}

void Journeys::choose(State<2>& state, const FloorField& floor_field, std::uint64_t seed) {
  if (journeys_.empty()) return;
  BodyStore<2>& bodies = state.bodies;
  const Real time = state.clock.time;
  constexpr Real rounding = 1e-9;  // times are sums of steps
  is_open_.clear();
  for (const Exit& exit : exits_) is_open_.push_back(exit.is_open(time) ? 1 : 0);
  is_closing_.clear();
  for (std::size_t e = 0; e < exits_.size(); ++e)
    is_closing_.push_back(is_closing(static_cast<int>(e), state) ? 1 : 0);
  const bool is_any_closed = std::ranges::any_of(is_open_, [](char is_open) { return is_open == 0; });
  if (has_quickest_) count_heading(state, floor_field);

  const auto is_due = [&](GlobalId id, Real interval) {
    const Real own = RandomStream(seed, id, purpose::update_phase).uniform();
    return interval_ends_in_step(time, state.clock.last_dt, interval, own);
  };
  const auto chooses_itself = [&](std::size_t i) {
    const GlobalId party = agent::party(std::as_const(bodies))[i];
    return party < 0 || party == bodies.id()[i];
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    if (agent::journey(bodies)[i] < 0) continue;
    const std::vector<Step>& steps = journeys_[static_cast<std::size_t>(agent::journey(bodies)[i])].steps;
    const Vec<2>& x = bodies.position()[i];
    const int level = level_of(bodies, i);
    const Real radius = agent::way_radius(bodies)[i];
    std::int32_t& destination = agent::destination(bodies)[i];
    std::int32_t& at_step = agent::journey_step(bodies)[i];
    Real& waits_until = agent::waits_until(bodies)[i];
    if (is_any_closed) {
      const int around = closed_exit_around(wrapped(state.box, x), level, bodies.radius()[i], destination);
      if (around >= 0) {
        destination = around;
        continue;
      }
    }
    constexpr Real slowest = 1e-3;  // somebody who cannot walk chooses as well
    const Real speed = std::max(agent::desired_speed(bodies)[i], slowest);

    const bool repeats = journeys_[static_cast<std::size_t>(agent::journey(bodies)[i])].repeats;
    // A round at most: waypoints of a journey that repeats may overlap.
    for (std::size_t k = 0; k < steps.size() && !steps[static_cast<std::size_t>(at_step)].is_exit; ++k) {
      const Step& step = steps[static_cast<std::size_t>(at_step)];
      if (destination < 0) {
        if (!std::isfinite(floor_field.travel_time(step.exits[0], x, level, radius))) break;
        destination = step.exits[0];
      }
      if (step.queue >= 0) break;  // Queues says when it goes on
      if (time + rounding < agent::premovement_end(bodies)[i]) break;
      if (waits_until == 0) {
        if (!destinations_[static_cast<std::size_t>(destination)].contains(wrapped(state.box, x), level))
          break;
        waits_until = time + step.wait;
      }
      const bool is_last = static_cast<std::size_t>(at_step) + 1 == steps.size();
      if (time + rounding < waits_until || (is_last && !repeats)) break;
      at_step = is_last ? 0 : at_step + 1;
      waits_until = 0;
      destination = -1;
    }
    const Step& step = steps[static_cast<std::size_t>(at_step)];
    if (!step.is_exit) continue;
    const Familiarity& familiarity = familiarity_[static_cast<std::size_t>(agent::type(bodies)[i])];
    if (destination < 0 || is_open_[static_cast<std::size_t>(destination)] == 0) {
      const int chosen = first_exit(step, familiarity, bodies.id()[i], static_cast<std::size_t>(at_step),
                                    speed, x, level, radius, floor_field, seed);
      if (destination < 0 || (chosen >= 0 && is_open_[static_cast<std::size_t>(chosen)] != 0))
        destination = chosen;
      else if (is_closing_[static_cast<std::size_t>(destination)] != 0)
        destination = -1;
    } else if (step.choice == Choice::quickest && chooses_itself(i) && is_due(bodies.id()[i], step.update)) {
      destination = quicker_exit(step, familiarity, destination, speed, x, level, radius, floor_field);
    } else if (step.choice == Choice::nearest && familiarity.notices > 0 && chooses_itself(i)) {
      destination = noticed_exit(step, familiarity, destination, x, level, radius, floor_field);
    }
  }
  follow_leaders(state, floor_field);
}

}  // namespace scree
