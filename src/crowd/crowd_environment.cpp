#include "crowd/crowd_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/output_interval.hpp"
#include "core/parallel.hpp"
#include "core/timing.hpp"
#include "crowd/output/evacuation.hpp"
#include "crowd/people/stair_speeds.hpp"
#include "crowd/person.hpp"

namespace scree {

void CrowdEnvironment::describe(Section& root) {
  building_->describe(root);
  journey_plan_.describe(root, *building_);
  people_.describe(root, *building_, journey_plan_);
  if (root.reading()) set_stair_factors(*building_, people_.types());
  floor_field_.describe(root);
  hazard_.describe(root, *building_, journey_plan_);
  if (root.reading()) require_routes_by_length();
}

namespace {

/// Results name columns after exits.
void refuse_equal_columns(std::span<const Exit> exits) {
  std::map<std::string, const Exit*> exit_of;
  for (const Exit& exit : exits) {
    const auto [other, is_new] = exit_of.emplace(column_name(exit.name), &exit);
    if (!is_new)
      throw InputError(
          fmt::format("{}: the exits \"{}\" and \"{}\" would both be \"{}\" in column names of results, "
                      "which replace , \" < > & and line ends by _; rename one of them",
                      exit.where, other->second->name, exit.name, other->first));
  }
}

}  // namespace

void CrowdEnvironment::build(Box<2>& box, bool box_given, ObstacleSet<2>& obstacles) {
  refuse_equal_columns(journey_plan_.exits());
  if (box_given && building_->n_levels() == 1) building_->plan(0).require_periodic(box);
  journey_plan_.place(*building_, people_.largest_radius());
  building_->join(people_.largest_radius());
  const bool has_levels = building_->n_levels() > 1;
  if (has_levels && (box.periodic[0] || box.periodic[1]))
    throw InputError(
        fmt::format("{}: a building of several floors cannot be periodic: take periodic out of "
                    "[domain]",
                    building_->where()));
  const Box<2> plan = building_->bounds();
  for (int k = 0; k < 2 && box_given; ++k)
    if (!box.is_periodic(k) && (box.lower[k] > plan.lower[k] || box.upper[k] < plan.upper[k]))
      throw InputError(fmt::format(
          "{}: the floor plan reaches from {:g} to {:g} m along {}, with the room behind its exits, but "
          "[domain] only from {:g} to "
          "{:g} m: enlarge it, make the axis periodic, or leave out lower and upper, for a domain "
          "that fits",
          building_->where(), plan.lower[k], plan.upper[k], "xy"[k], box.lower[k], box.upper[k]));
  if (!box_given) {
    // Room for the whole of a body that stands at the edge of the plan, and for one cell of the fields beyond
    // it.
    const Real margin = std::max(people_.largest_radius(), floor_field_.cell());
    box.lower = plan.lower - filled<2>(margin);
    box.upper = plan.upper + filled<2>(margin);
  }
  require_places_between_faces(box);
  obstacles.put_on_levels(building_->names());
  for (int number = 0; number < building_->n_levels(); ++number) {
    const Level& level = building_->level(number);
    const auto name = [&](const char* what) { return has_levels ? level.name + "." + what : what; };
    const int only = has_levels ? number : -1;
    obstacles.add(name("walls"), level.where, std::make_unique<WallSegments>(level.plan.walls()), only);
    const auto columns = level.plan.columns();
    if (!columns.empty())
      obstacles.add(name("columns"), level.where,
                    std::make_unique<Columns>(std::vector<Columns::Column>(columns.begin(), columns.end())),
                    only);
  }
  hazard_.close_routes(journey_plan_, *building_);
  exits_.add_doors(obstacles);
  lifts_.add_doors(obstacles);
}

void CrowdEnvironment::prepare(State<2>& state) {
  state.bodies.carry_extra(agent::fields);
  state.bodies.carry_levels(building_->n_levels() > 1);
  state.levels = building_->map();
  if (state.levels) state.level_names = building_->names();
  state.world = CrowdWorld{building_, this};
  exits_.add_outlets(state);
  people_.prepare(state);
  groups_.start();
  queues_.start(state.bodies);
  Scope timer("floor_field");
  floor_field_.build(state.comm, *building_, state.box, journey_plan_.zones(), journey_plan_.destinations(),
                     find_width_classes(state.box));
}

std::vector<WidthClass> CrowdEnvironment::find_width_classes(const Box<2>& box) {
  if (!floor_field_.by_width()) return {{}};
  constexpr std::size_t max_classes = 4;
  narrow_places_ =
      find_narrow_places(*building_, floor_field_.grid_for(*building_, box), 2 * people_.largest_radius());
  // Exits are narrow places in any case: behind their lines the plan may be as narrow and no narrower.
  for (const Exit& exit : journey_plan_.exits())
    if (!exit.line.empty() && !fits(exit.width(), people_.largest_radius()))
      narrow_places_.push_back({exit.line[0], exit.line[1], exit.width(), exit.level});
  std::ranges::stable_sort(narrow_places_, std::greater<>(), &NarrowPlace::width);
  const std::vector<std::pair<Real, Real>> radii = people_.radii();
  std::vector<WidthClass> classes = width_classes(narrow_places_, building_->n_levels(), radii, SIZE_MAX);
  if (classes.size() <= max_classes) return classes;
  log::info(
      "{} classes of width would need routes of their own: those with the nearest radii share the routes "
      "of the wider ones, {} are left",
      classes.size(), max_classes);
  return width_classes(narrow_places_, building_->n_levels(), radii, max_classes);
}

Real CrowdEnvironment::fastest_of(Real desired_speed) const {
  Real max = 1;
  for (const Zone& zone : journey_plan_.zones()) max *= std::max(zone.speed_factor, 1.0);
  return max * building_->max_factor() * desired_speed + building_->fastest_belt();
}

void CrowdEnvironment::populate(State<2>& state, std::uint64_t seed) {
  people_.populate(state, *building_, seed);
}

void CrowdEnvironment::start(State<2>& state, std::uint64_t seed) {
  Scope timer("floor_field");
  seed_ = seed;
  const bool is_restart = state.clock.step > 0;
  people_.record_due(state);
  if (floor_field_.counts_density() && is_restart) floor_field_.restore_density();
  if (is_restart)
    exits_.restore_doors(state);
  else
    exits_.switch_doors(state, [] {});
  lifts_.start(is_restart, state.clock.time);
  const PeopleAt owned = owned_people(state);
  floor_field_.close_connectors(state.clock.time);
  floor_field_.fetch(owned, std::max(fastest(), lifts_.reach_of_routes()));
  is_empty_ = false;
  if (is_restart) {  // where everybody goes stands in the state
    locks_.restore();
    count_remaining(state, false);
    is_empty_ = false;
    return;
  }
  if (floor_field_.counts_density()) floor_field_.update_density(owned);
  exit_choice_.update(state, seed);
}

std::vector<NamedNumbers> CrowdEnvironment::memory() {
  std::vector<NamedNumbers> memories{{"[scene]", floor_field_.density()},  {"[doors]", exits_.doors()},
                                     {"[exits]", exits_.left_elsewhere()}, {"[groups]", groups_.memory()},
                                     {"[queues]", queues_.memory()},       {"[hazard]", hazard_.memory()}};
  memories.push_back({"[locks]", locks_.memory()});
  if (lifts_.is_used()) memories.push_back({"[lifts]", lifts_.memory()});
  return memories;
}

Fate CrowdEnvironment::fate_of(const State<2>& state, std::size_t i) const {
  const BodyStore<2>& bodies = state.bodies;
  if (is_incapacitated(bodies, i)) return Fate::incapacitated;
  const Real time = state.clock.time;
  const std::int32_t destination = agent::destination(bodies)[i];
  const bool stands = time < agent::premovement_end(bodies)[i] || agent::waits_until(bodies)[i] > 0 ||
                      agent::queue_place(bodies)[i] > 0;
  const bool is_before_door =
      journey_plan_.is_exit(destination) && !journey_plan_.exits()[destination].is_open(time);
  if (agent::lock(bodies)[i] > 0) return Fate::locked;
  if (has_no_route(state, i)) return Fate::no_route;
  return stands || is_before_door ? Fate::waiting : Fate::inside;
}

std::string CrowdEnvironment::name_of_type(std::size_t type) const {
  return fmt::format("{}: people \"{}\"", building_->where(), people_.body_type_names()[type]);
}

EnvironmentMessages CrowdEnvironment::messages() const {
  return {.bodies = "people",
          .start_from = "[populations.NAME]",
          .instead_of_particles = "people come from [populations.NAME] and [sources.NAME]",
          .instead_of_outlets = "people leave by [exits.NAME], which may have a region",
          .instead_of_outside =
              "would lose people whom no exit counts: the scheme \"crowd\" keeps them on the "
              "floor plan and ends with an error if one is lost",
          .if_none_come = "add a [populations.NAME] or [sources.NAME] table, or raise a rate",
          .over = locks_.ends_run() ? "people are locked, which ends the run as [crowd.lock] says"
                  : hazard_.stays() && hazard_.n_fallen() > 0
                      ? "only people who are incapacitated are left, and nobody is to come"
                      : "nobody is left or to come"};
}

std::string CrowdEnvironment::fault_of_body(const BodyStore<2>& bodies, std::size_t i) const {
  const auto outside = [](std::string_view name, std::int64_t value, std::int64_t min, std::size_t end) {
    return value >= min && value < static_cast<std::int64_t>(end)
               ? ""
               : fmt::format("{} is {}, not in [{}, {})", name, value, min, end);
  };
  std::string fault = outside("type", bodies.type()[i], 0, people_.body_type_names().size());
  if (fault.empty()) fault = outside("agent_type", agent::agent_type(bodies)[i], 0, people_.types().size());
  if (fault.empty() && !(agent::dose(bodies)[i] >= 0)) fault = "its dose is not a number of 0 or more";
  if (fault.empty())
    fault = outside("journey", agent::journey(bodies)[i], -1, journey_plan_.journeys().size());
  const std::size_t n_destinations = journey_plan_.destinations().size();
  if (fault.empty()) fault = outside("destination", agent::destination(bodies)[i], -1, n_destinations);
  if (fault.empty())
    fault =
        outside("queue_place", agent::queue_place(bodies)[i], 0, std::numeric_limits<std::int32_t>::max());
  if (fault.empty())
    fault = outside("group", agent::group(bodies)[i], -1, static_cast<std::size_t>(bodies.id()[i]) + 1);
  if (fault.empty())
    fault = outside("level", level_of(bodies, i), 0, static_cast<std::size_t>(building_->n_levels()));
  if (!fault.empty() || agent::journey(bodies)[i] < 0) return fault;
  const std::int32_t at_step = agent::journey_step(bodies)[i];
  fault = outside("journey_step", at_step, 0, journey_plan_.journey_of(bodies, i)->steps.size());
  if (!fault.empty()) return fault;
  const JourneyPlan::Step& step = *journey_plan_.step_of(bodies, i);
  if (agent::queue_place(bodies)[i] > 0 && step.queue < 0)
    return fmt::format("queue_place is {}, but step {} of its journey is no queue",
                       agent::queue_place(bodies)[i], at_step);
  if (step.is_exit)
    fault = outside("destination of somebody on the way to an exit", agent::destination(bodies)[i], -1,
                    journey_plan_.exits().size());
  return fault;
}

void CrowdEnvironment::after_step(State<2>& state, std::uint64_t seed, BodyChange<2>& change) {
  Scope timer("people");
  groups_.after_step(state);
  const bool has_departures = remove_people(state, change);
  add_people(state, seed, change);
  update_routes(state);
  queues_.update(state, seed, has_departures);
  exit_choice_.update(state, seed);
  lifts_.update(state, floor_field_);
  count_remaining(state, true);
}

/// Incapacitated by smoke, or by exits whose doors are open: true, on all ranks, if anybody left or fell.
bool CrowdEnvironment::remove_people(State<2>& state, BodyChange<2>& change) {
  std::vector<Departure>& departures = exits_.departures();
  std::size_t n_before = departures.size();
  bool has_departures = hazard_.expose(state, departures, change);
  if (hazard_.stays()) n_before = departures.size();  // who has fallen is still here
  exits_.switch_doors(state, [&] { change.begin(); });
  if (exits_.remove_arrived(state, staying_)) {
    has_departures = true;
    change.remove_bodies(staying_);
  }
  if (has_departures)
    groups_.count_departures(state.comm, exits_.first_outlet(), std::span(departures).subspan(n_before));
  return has_departures;
}

void CrowdEnvironment::add_people(State<2>& state, std::uint64_t seed, BodyChange<2>& change) {
  // They may be far from those who were on this rank.
  if (people_.feed(state, *building_, seed, [&] { change.begin(); }))
    floor_field_.fetch(owned_people(state), std::max(fastest(), lifts_.reach_of_routes()));
}

/// Connectors close, and it gets crowded elsewhere.
void CrowdEnvironment::update_routes(State<2>& state) {
  if (floor_field_.close_connectors(state.clock.time)) exit_choice_.reset_choice(state);
  if (floor_field_.counts_density() &&
      interval_ends_in_step(state.clock.time, state.clock.last_dt, floor_field_.density_interval()))
    floor_field_.update_density(owned_people(state));
}

/// Whether none of the destinations of its step can be reached by person i, or will be open again.
bool CrowdEnvironment::has_no_route(const State<2>& state, std::size_t i) const {
  const int destination = agent::destination(state.bodies)[i];
  const Real time = state.clock.time;
  const JourneyPlan::Step* step = journey_plan_.step_of(state.bodies, i);
  if (!step || (destination >= 0 && !journey_plan_.is_closed_for_good(destination, time))) return false;
  const Standpoint from = standpoint_of(state, i);
  // Behind its line people walk on.
  if (destination >= 0 && ring_contains(journey_plan_.exits()[destination].pocket, from.x)) return false;
  return std::ranges::none_of(step->exits, [&](int to) {
    return !journey_plan_.is_closed_for_good(to, time) && std::isfinite(travel_time(floor_field_, to, from));
  });
}

/// Counts who may still leave, and says so (`warns`) if more of them have no route now. Collective.
void CrowdEnvironment::count_remaining(const State<2>& state, bool warns) {
  std::array<std::int64_t, 2> counts{0, 0};
  GlobalId first = std::numeric_limits<GlobalId>::max();
  std::string who;
  const BodyStore<2>& bodies = state.bodies;
  std::size_t place = 0;
  for (const std::size_t i : owned(bodies)) {
    if (hazard_.stays() && is_incapacitated(bodies, i)) continue;
    ++counts[0];
    if (!has_no_route(state, i)) continue;
    ++counts[1];
    if (bodies.id()[i] < first) first = bodies.id()[i], place = i;
  }
  state.comm.sum(std::span<std::int64_t>(counts));
  is_empty_ = counts[0] == 0;
  const bool is_more = counts[1] > n_without_route_;
  n_without_route_ = counts[1];
  if (!is_more || !warns) return;
  if (first != std::numeric_limits<GlobalId>::max()) {
    const std::string& level = building_->level(level_of(bodies, place)).name;
    who = fmt::format("person {} at ({:.3g}, {:.3g}){}{}", first, bodies.position()[place][0],
                      bodies.position()[place][1], level.empty() ? "" : fmt::format(" on \"{}\"", level),
                      widest_route(state, place));
  }
  log::warn("t = {:.6g} s: {} people have no route left to where they want to go: {}", state.clock.time,
            counts[1], message_of_smallest(state.comm, first, who));
}

bool CrowdEnvironment::finished(const State<2>& state) const {
  return (is_empty_ && people_.exhausted(state)) || locks_.ends_run();
}

}  // namespace scree
