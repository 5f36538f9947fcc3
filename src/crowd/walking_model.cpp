#include "crowd/walking_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "core/timing.hpp"
#include "crowd/person.hpp"

namespace scree {

void WalkingModel::describe(Section& section) {
  section.choice(
      "speed_law", keeps_headway_, {{"headway", true}, {"none", false}},
      {.doc =
           "\"headway\": max(creep_speed, min(desired speed, free distance ahead / headway_time)); \"none\": "
           "the desired speed"});
  section.real("headway_width", headway_width_,
               {.range = {.min = 0, .max = 1, .min_open = true},
                .doc = "Of the headway law: width of the corridor in which others who stand are ahead, as a "
                       "share of that in which disks would touch. Below 1 lanes may overlap"});
  section.real("moving_width", moving_width_,
               {.range = unit_interval,
                .doc = "Of the headway law: the same for others who walk; more than headway_width counts as "
                       "headway_width"});
  section.real("spreading", spreading_,
               {.unit = Unit::speed,
                .range = non_negative,
                .doc = "Of the headway law: people drift to the side where others leave them more room, with "
                       "this speed if one side is free and the other is not, and never so that they become "
                       "faster than their desired speed"});
  section.real("turning_angle", turning_angle_,
               {.unit = Unit::angle,
                .range = {.min = 0, .max = 0.7},
                .doc = "Of the headway law: people whom others slow down turn by this angle, or by twice as "
                       "much, where they advance faster; 0: no turning"});
  section.real("turning_share", turning_share_,
               {.range = unit_interval,
                .doc = "Of the headway law: people turn only if they then advance with at least this share "
                       "of their desired speed"});
  section.point<2>(
      "direction", direction_,
      {.doc = "Walking direction of people without a destination, of any length; (0, 0): they stand"});
  section.real(
      "noise", noise_,
      {.range = non_negative,
       .doc = "Random walk added to the desired motion: its rms displacement after one second, along each "
              "axis [m / sqrt(s)]"});
  section.optional_table("avoidance", {.doc = "Avoidance of oncoming people"}, [&](Section& table) {
    horizon_ = 2;
    table.real("horizon", horizon_,
               {.unit = Unit::time,
                .range = positive,
                .doc = "Time horizon: people who would be met within this time are avoided"});
    table.real("angle", aside_angle_,
               {.unit = Unit::angle,
                .range = {.min = 0, .max = 2.5},
                .doc = "Largest angle of evasion: right before a meeting"});
    table.real("lateral_clearance", lateral_clearance_,
               {.unit = Unit::length, .range = non_negative, .doc = "Lateral clearance in passing"});
  });
  if (section.reading() && norm(direction_) > 0) direction_ *= 1 / norm(direction_);
}

Real WalkingModel::needed_range() const {
  const Real seen = keeps_headway_ ? environment_.fastest() * environment_.people().longest_headway() : 0;
  const Real met = horizon_ > 0 ? 2 * environment_.fastest() * horizon_ : 0;
  return std::max(seen, met);
}

/// Gap up to which others matter to somebody who walks at most at `speed` on free ground: farther ones
/// neither slow it down nor take room at its sides. Who is met counts as far as anybody looks.
Real WalkingModel::sight(Real speed, const AgentType& type) const {
  if (speed == 0) return -1;
  if (horizon_ > 0) return HUGE_VAL;
  if (!keeps_headway_) return -1;
  return std::max(speed * type.headway_time, spreading_ > 0 ? side_range : 0);
}

const AgentType& WalkingModel::type_of(const State<2>& state, std::size_t i) const {
  return environment_.people().types()[agent::agent_type(state.bodies)[i]];
}

void WalkingModel::find_sights(const State<2>& state, std::vector<Real>& sight_of) const {
  sight_of.resize(state.bodies.n_owned());
  for (std::size_t i = 0; i < sight_of.size(); ++i)
    sight_of[i] = sight(environment_.fastest_of(agent::desired_speed(state.bodies)[i]), type_of(state, i));
}

LookAhead::Perception WalkingModel::perception(Real range, Real reach) const {
  return {.range = range,
          .reach = reach,
          .oncoming = horizon_ > 0,
          .lateral_clearance = horizon_ > 0 ? lateral_clearance_ : 0,
          .headway_width = headway_width_,
          .moving_width = std::min(moving_width_, headway_width_),
          .side_range = keeps_headway_ && spreading_ > 0 ? side_range : 0,
          .turning_angle = keeps_headway_ ? turning_angle_ : 0};
}

/// Whether person i is on its way: it has started, has somewhere to go and waits nowhere.
bool WalkingModel::walks(const State<2>& state, std::size_t i) const {
  return (agent::destination(state.bodies)[i] >= 0 || direction_ != Vec<2>{}) &&
         may_walk(state.bodies, i, state.clock.time);
}

Real WalkingModel::speed_on_free_ground(const State<2>& state, std::size_t i, const Vec<2>& direction) const {
  const BodyStore<2>& bodies = state.bodies;
  const int level = level_of(bodies, i);
  const Vec<2> x = wrapped(state.box, bodies.position()[i]);
  Real speed = environment_.journey_plan().speed_factor(x, level) * agent::desired_speed(bodies)[i];
  if (environment_.hazard().is_on()) speed *= environment_.hazard().speed_factor(x, level, state.clock.time);
  const std::optional<Incline>& incline = environment_.building().level(level).incline;
  if (!incline) return speed;
  speed *= incline->factor(dot(direction, incline->uphill) > 0,
                           static_cast<std::size_t>(agent::agent_type(bodies)[i]));
  if (incline->belt_speed > 0) {
    const bool stands = RandomStream(environment_.seed(), bodies.id()[i], purpose::escalator).uniform() >=
                        incline->walking_share;
    speed = incline->belt_speed + (stands ? 0 : speed);
  }
  return speed / incline->stretch(direction);
}

/// The walk of somebody in a queue: along the line to its place, slower before it, so that it comes to rest.
bool WalkingModel::walk_in_queue(const State<2>& state, std::size_t i, WalkingIntent& walk) const {
  const std::int32_t place = agent::queue_place(state.bodies)[i];
  const QueueLine* queue = place > 0 ? environment_.queues().queue_ahead(state.bodies, i) : nullptr;
  if (!queue) return false;
  constexpr Real slowing_time = 0.25;  // [s]
  const QueueLine::Path path = queue->path(wrapped(state.box, state.bodies.position()[i]), place);
  walk.destination = queue->destination;
  walk.time_to_go = path.to_counter;
  // Who has no place yet stands where it has joined.
  walk.speed = place > queue->n_places()
                   ? 0
                   : std::min(speed_on_free_ground(state, i, path.direction), path.to_place / slowing_time);
  walk.direction = path.direction;
  return true;
}

void WalkingModel::choose_directions(State<2>& state, LookAhead& look_ahead) const {
  Scope timer("directions");
  const auto walk = look_ahead.walks(state);
  const BodyStore<2>& bodies = state.bodies;
  const FloorField& floor_field = environment_.floor_field();
  for (std::size_t i = 0; i < walk.size(); ++i) {
    // The fields of a large hall do not fit the cache, and a question waits for its first cell.
    constexpr std::size_t ahead = 8;
    if (i + ahead < walk.size() && agent::destination(bodies)[i + ahead] >= 0)
      floor_field.prefetch(agent::destination(bodies)[i + ahead], bodies.position()[i + ahead],
                           level_of(bodies, i + ahead), agent::route_radius(bodies)[i + ahead]);
    walk[i] = {.last_speed = norm(bodies.velocity()[i])};
    if (!walks(state, i)) continue;
    if (walk_in_queue(state, i, walk[i])) continue;
    Vec<2> direction = direction_;
    if (const int destination = agent::destination(bodies)[i]; destination >= 0) {
      const FloorField::Course course = course_of(floor_field, destination, standpoint_of(state, i));
      direction = course.direction;
      walk[i].destination = destination;
      walk[i].time_to_go = course.travel_time;
      if (const QueueLine* queue = environment_.queues().queue_ahead(bodies, i))
        walk[i].time_to_go += queue->length;
    }
    walk[i].speed = speed_on_free_ground(state, i, direction);
    walk[i].direction = direction;
  }
}

/// Turns those aside who would soon meet somebody: away from the side where that is sooner, the more the
/// sooner.
void WalkingModel::avoid_oncoming(State<2>& state, Neighborhood<2>& neighborhood, LookAhead& look_ahead,
                                  const LookAhead::Perception& perception) const {
  const auto walk = look_ahead.walks(state);
  for (std::size_t i = 0; i < walk.size(); ++i) {
    const LookAheadResult& result = look_ahead.result(i);
    const Real time = std::min(result.left, result.right);
    if (!(time < horizon_)) continue;
    const Real angle = (result.left <= result.right ? -1 : 1) * aside_angle_ * (1 - time / horizon_);
    const Real c = std::cos(angle), s = std::sin(angle);
    const auto [x, y] = walk[i].direction.component;
    walk[i].direction = {{c * x - s * y, s * x + c * y}};
  }
  look_ahead.find_again(state, neighborhood, perception);
}

/// Eq. P.1 of docs/method.md: straight on, or along the turned direction that gets one on fastest.
Vec<2> WalkingModel::desired_velocity(std::size_t i, const LookAhead& look_ahead, const WalkingIntent& walk,
                                      const AgentType& type) const {
  const Vec<2>& direction = walk.direction;
  if (!keeps_headway_) return walk.speed * direction;
  const auto pace = [&](Real free_distance) {
    return free_distance < walk.speed * type.headway_time ? free_distance / type.headway_time : walk.speed;
  };
  const Real straight_on =
      std::min(walk.speed, std::max(type.creep_speed, pace(look_ahead.result(i).free_distance)));
  Vec<2> velocity = straight_on * direction;
  if (turning_angle_ == 0 || straight_on >= walk.speed) return velocity;
  Real progress = std::max(straight_on, turning_share_ * walk.speed);
  for (int k = 0; k < LookAhead::n_turns; ++k) {
    const auto [c, s] = look_ahead.turn(k);
    const Real speed = pace(look_ahead.result(i).turned[k]);
    if (speed * c <= progress) continue;
    progress = speed * c;
    velocity = {
        {speed * (c * direction[0] - s * direction[1]), speed * (s * direction[0] + c * direction[1])}};
  }
  return velocity;
}

/// Speed to the left with which somebody who wants to walk with `velocity`, at most `speed`, evens out the
/// room on both sides: no faster than to a wall in a second, and within the desired speed.
Real WalkingModel::lateral_speed(std::size_t i, const LookAhead& look_ahead, Real speed,
                                 const Vec<2>& velocity) const {
  const LookAheadResult& result = look_ahead.result(i);
  const Real max = std::sqrt(std::max(speed * speed - dot(velocity, velocity), 0.0));
  return std::clamp(spreading_ * (result.room_left - result.room_right) / side_range,
                    -std::min(result.wall_right, max), std::min(result.wall_left, max));
}

void WalkingModel::find_desired(State<2>& state, Neighborhood<2>& neighborhood, LookAhead& look_ahead,
                                const LookAhead::Perception& perception, Real dt,
                                std::vector<Vec<2>>& velocity) const {
  choose_directions(state, look_ahead);
  environment_.groups().adjust(state, direction_, look_ahead.walks(state));
  environment_.lifts().guide(state, look_ahead.walks(state));
  const auto walk = look_ahead.walks(state);
  for (std::size_t i = 0; i < walk.size(); ++i) walk[i].sight = sight(walk[i].speed, type_of(state, i));
  look_ahead.find(state, neighborhood, perception, dt);
  if (perception.oncoming) avoid_oncoming(state, neighborhood, look_ahead, perception);
  Scope timer("desired velocities");
  velocity.resize(state.bodies.n_local());
  for (std::size_t i = 0; i < walk.size(); ++i) {
    velocity[i] = desired_velocity(i, look_ahead, walk[i], type_of(state, i));
    if (perception.side_range > 0)
      velocity[i] += lateral_speed(i, look_ahead, walk[i].speed, velocity[i]) *
                     Vec<2>{{-walk[i].direction[1], walk[i].direction[0]}};
    if (noise_ == 0 || velocity[i] == Vec<2>{}) continue;
    // A stream of its own for each step.
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    RandomStream stream(environment_.seed() + odd * static_cast<std::uint64_t>(state.clock.step + 1),
                        state.bodies.id()[i], purpose::crowd_noise);
    for (int k = 0; k < 2; ++k) velocity[i][k] += noise_ / std::sqrt(dt) * stream.normal();
  }
}

}  // namespace scree
