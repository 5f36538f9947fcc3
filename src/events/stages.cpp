#include "events/stages.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/suggestion.hpp"
#include "geometry/driven_motion.hpp"
#include "state/energy_balance.hpp"
#include "state/step_messages.hpp"

namespace scree {

namespace {

/// The numbers of the obstacles that the list `key` names.
template <int D>
std::vector<int> describe_obstacles(Section& section, std::string_view key, const ObstacleSet<D>& obstacles,
                                    std::string_view doc) {
  std::vector<std::string> names, known;
  for (const Obstacle<D>& obstacle : obstacles.list()) known.push_back(obstacle.name);
  section.texts(key, names, {.doc = doc});
  std::vector<int> numbers;
  if (!section.reading()) return numbers;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end() && (name == "walls" || name == "columns"))
      section.fail(key,
                   fmt::format("there is no [obstacles.{}]; walls and columns of a floor plan are always "
                               "there: stages cannot put or take them, but exits can open and close",
                               name));
    if (found == known.end())
      section.fail(key, fmt::format("there is no obstacle '{}'{}", name,
                                    known.empty() ? "; the deck has none" : suggestion(name, known)));
    numbers.push_back(static_cast<int>(found - known.begin()));
  }
  return numbers;
}

}  // namespace

template <int D>
void Stages<D>::describe(Section& root, const ObstacleSet<D>& obstacles) {
  const Key meaning{.doc =
                        "Stages of the run, one after the other: each lasts for its duration or until its "
                        "conditions hold. The run ends with the last one"};
  root.list("stages", meaning, [&](std::size_t, Section& section) {
    Stage stage;
    section.text("name", stage.name, {.required = true, .doc = "of the stage, for messages"});
    section.real("duration", stage.duration,
                 {.unit = Unit::time, .range = positive, .doc = "How long the stage lasts; or give until"});
    bool has_until = false;
    section.optional_table(
        "until", {.doc = "When the stage ends: as soon as all that is given here holds"},
        [&](Section& until) {
          has_until = true;
          until.real(
              "kinetic_energy", stage.kinetic_energy,
              {.unit = Unit::energy,
               .range = non_negative,
               .doc = "Bodies that can move have at most this kinetic energy, on average, and rest: the "
                      "forces from outside on them, gravity and [forces] and those of obstacles, add up to "
                      "at most half of the sum of their magnitudes. So it is not met by bodies that have "
                      "just been let go, or at the top of a flight. For schemes with inertia"});
          until.integer("bodies_at_least", stage.min_bodies,
                        {.range = non_negative, .doc = "The run holds at least this many bodies"});
          until.integer("bodies_at_most", stage.max_bodies,
                        {.range = non_negative, .doc = "The run holds at most this many bodies"});
          std::vector<std::string> loaded;
          until.real("load_within", stage.load_within,
                     {.range = {.min = 0, .max = 1, .min_open = true},
                      .doc = "Reactions of the obstacles in of are within this share of their loads"});
          until.texts("of", loaded, {.doc = "Names of driven obstacles, for load_within"});
          until.real("stress_within", stage.stress_within,
                     {.range = {.min = 0, .max = 1, .min_open = true},
                      .doc = "Stresses of the domain are within this share of those that it is asked for"});
          until.real("time", stage.time,
                     {.unit = Unit::time, .range = positive, .doc = "The time has reached this value"});
          until.real("max_time", stage.max_time,
                     {.unit = Unit::time,
                      .range = positive,
                      .doc = "How long the stage lasts at most; required unless only time is given"});
          if (!until.reading()) return;
          stage.where_kinetic_energy = until.where("kinetic_energy");
          stage.where_load = until.where("load_within");
          stage.where_stress = until.where("stress_within");
          for (const std::string& name : loaded)
            stage.loaded.push_back(find_driven(until, "of", name, obstacles));
          if ((stage.load_within >= 0) == loaded.empty())
            until.fail(loaded.empty() ? "load_within" : "of",
                       "load_within and of belong together: the share, and the obstacles that it is about");
          if (!stage.has_condition() && !std::isfinite(stage.time))
            until.fail("max_time", fmt::format("[{}] needs kinetic_energy, bodies_at_least, "
                                               "bodies_at_most, load_within, stress_within or time; for a "
                                               "fixed time give the stage a duration",
                                               until.path()));
          if (stage.has_condition() && !std::isfinite(stage.max_time))
            until.fail("max_time",
                       fmt::format("[{}] needs max_time: its conditions may never hold", until.path()));
        });
    section.choice("on_timeout", stage.stops_on_timeout, {{"warn", false}, {"stop", true}},
                   {.doc = "What happens if the conditions do not hold after max_time: a warning and the "
                           "next stage, or the end of the run"});
    stage.removed = describe_obstacles(section, "remove_obstacles", obstacles,
                                       "Names of obstacles that are taken away when the stage begins");
    stage.added = describe_obstacles(section, "add_obstacles", obstacles,
                                     "Names of obstacles that are put in place when the stage begins. What "
                                     "is added first is absent before");
    describe_orders(section, obstacles, stage.orders);
    DomainDeformation<D>::describe_order(section, stage.deformation, stage.where_deformation);
    if (!section.reading()) return;
    stage.where = section.where("name");
    if (std::isfinite(stage.duration) == has_until)
      section.fail("duration", fmt::format("stage \"{}\" needs either duration or until", stage.name));
    for (const Stage& other : list_)
      if (other.name == stage.name)
        section.fail("name", fmt::format("there are two stages \"{}\"", stage.name));
    list_.push_back(std::move(stage));
  });
  if (!root.reading()) return;
  check_obstacles(obstacles);
  check_loads(obstacles);
  check_pressures(obstacles);
}

template <int D>
DrivenOrder Stages<D>::order_in(std::int64_t stage, int wall, DrivenOrder order) const {
  for (std::int64_t s = 0; s <= stage && s < static_cast<std::int64_t>(list_.size()); ++s)
    for (const WallOrder& given : list_[s].orders)
      if (given.wall == wall) order = given.order;
  return order;
}

/// A stage cannot wait for the load of an obstacle that is away, or that has none.
template <int D>
void Stages<D>::check_loads(const ObstacleSet<D>& obstacles) const {
  const auto n = static_cast<int>(obstacles.list().size());
  for (std::size_t s = 0; s < list_.size(); ++s)
    for (const int wall : list_[s].loaded) {
      const DrivenState& driven = obstacles.driven()[wall];
      const std::string name = obstacles.name_of(driven);
      const DrivenOrder order = order_in(static_cast<std::int64_t>(s), wall, driven.order);
      const auto fail = [&](std::string_view what) {
        throw InputError(fmt::format("{}: stage \"{}\" waits for the load of obstacle '{}', which {}",
                                     list_[s].where_load, list_[s].name, name, what));
      };
      if (active_obstacles(static_cast<std::int64_t>(s), n)[driven.obstacle] == 0)
        fail("is not there in this stage");
      if (order.kind == DrivenOrder::Kind::speed) fail("has a speed by then and no load");
      if (order.value == 0) fail("is 0 by then: a share of it is nothing");
    }
}

/// A pressure cannot act on the area between planes some of which are away.
template <int D>
void Stages<D>::check_pressures(const ObstacleSet<D>& obstacles) const {
  const auto list = obstacles.list();
  for (std::size_t s = 0; s < list_.size(); ++s) {
    const auto stage = static_cast<std::int64_t>(s);
    const std::vector<char> active = active_obstacles(stage, static_cast<int>(list.size()));
    for (std::size_t w = 0; w < obstacles.driven().size(); ++w) {
      const DrivenState& wall = obstacles.driven()[w];
      const std::size_t number = wall.obstacle;
      if (active[number] == 0 ||
          order_in(stage, static_cast<int>(w), wall.order).kind != DrivenOrder::Kind::pressure)
        continue;
      for (const int plane : obstacles.driven_motion_of(wall).planes())
        if (active[plane] == 0)
          throw InputError(fmt::format(
              "{}: in stage \"{}\" the pressure of obstacle '{}' acts between planes, but '{}' is not there; "
              "give area in place of between, or a load or a speed in drive of the stage",
              list_[s].where, list_[s].name, obstacles.name_of(wall), list[plane].name));
    }
  }
}

template <int D>
std::vector<char> Stages<D>::active_obstacles(std::int64_t stage, int n_obstacles) const {
  std::vector<char> active(n_obstacles, 1);
  for (std::size_t o = 0; o < active.size(); ++o)
    for (const Stage& s : list_) {
      const auto names = [&](const std::vector<int>& numbers) {
        return std::ranges::count(numbers, static_cast<int>(o)) > 0;
      };
      if (names(s.added)) active[o] = 0;
      if (names(s.added) || names(s.removed)) break;
    }
  for (std::int64_t s = 0; s <= stage && s < static_cast<std::int64_t>(list_.size()); ++s) {
    for (const int o : list_[s].removed) active[o] = 0;
    for (const int o : list_[s].added) active[o] = 1;
  }
  return active;
}

template <int D>
void Stages<D>::check_obstacles(const ObstacleSet<D>& obstacles) const {
  const auto n = static_cast<int>(obstacles.list().size());
  for (std::size_t s = 0; s < list_.size(); ++s) {
    std::vector<char> active = active_obstacles(static_cast<std::int64_t>(s) - 1, n);
    const auto change = [&](const std::vector<int>& numbers, char to, std::string_view deed) {
      for (const int o : numbers) {
        if (active[o] == to)
          throw InputError(fmt::format("{}: stage \"{}\" {} obstacle '{}' by then", list_[s].where,
                                       list_[s].name, deed, obstacles.list()[o].name));
        active[o] = to;
      }
    };
    change(list_[s].removed, 0, "removes an obstacle that is not there: there is no");
    change(list_[s].added, 1, "adds an obstacle that is there already: there is an");
  }
}

template <int D>
Real Stages<D>::latest_end() const {
  if (list_.empty()) return HUGE_VAL;
  Real end = 0;
  for (const Stage& stage : list_)
    end = std::isfinite(stage.duration)   ? end + stage.duration
          : std::isfinite(stage.max_time) ? end + stage.max_time
                                          : std::max(end, stage.time);
  return end;
}

template <int D>
Real Stages<D>::remaining_time(const State<D>& state) const {
  if (list_.empty() || finished(state)) return HUGE_VAL;
  const Stage& stage = list_[state.stage.index];
  Real end = state.stage.begin + std::min(stage.duration, stage.max_time);
  if (!is_reached(state, stage.time)) end = std::min(end, stage.time);
  return end - state.clock.time;
}

template <int D>
void Stages<D>::set_orders(State<D>& state) const {
  const std::vector<char> active =
      active_obstacles(state.stage.index, static_cast<int>(state.obstacles.list().size()));
  // Others, as doors of an environment, have their own times.
  for (const Stage& stage : list_)
    for (const auto* named : {&stage.removed, &stage.added})
      for (const int o : *named) state.obstacles.set_active(o, active[o] != 0);
  const auto driven = state.obstacles.driven();
  for (std::size_t k = 0; k < driven.size(); ++k)
    driven[k].order =
        order_in(state.stage.index, static_cast<int>(k), state.obstacles.driven_motion_of(driven[k]).order());
  state.deformation.start_orders();
  for (std::int64_t s = 0; s <= state.stage.index && s < static_cast<std::int64_t>(list_.size()); ++s)
    state.deformation.change_order(list_[s].deformation);
}

/// Times are sums of steps: a millionth of a step does not count.
template <int D>
bool Stages<D>::is_reached(const State<D>& state, Real time) const {
  return state.clock.time >= time - 1e-6 * state.clock.last_dt;
}

template <int D>
bool Stages<D>::holds(const State<D>& state, const Stage& stage, const std::function<bool()>& is_carried,
                      std::string& unmet) const {
  if (std::isfinite(stage.duration)) return is_reached(state, state.stage.begin + stage.duration);
  if (std::isfinite(stage.time) && !is_reached(state, stage.time))
    unmet = fmt::format("t < {:g} s", stage.time);
  if (!stage.has_condition()) return unmet.empty();
  const std::int64_t n = state.comm.sum(static_cast<std::int64_t>(state.bodies.n_owned()));
  if (stage.min_bodies >= 0 && n < stage.min_bodies)
    unmet = fmt::format("{} bodies, fewer than {}", n, stage.min_bodies);
  if (stage.max_bodies >= 0 && n > stage.max_bodies)
    unmet = fmt::format("{} bodies, more than {}", n, stage.max_bodies);
  for (const int k : stage.loaded) {
    const DrivenState& wall = state.obstacles.driven()[k];
    const Real target = target_of(state.obstacles, wall);
    if (std::abs(wall.reaction - target) <= stage.load_within * std::abs(target)) continue;
    unmet =
        fmt::format("'{}' carries {:.4g} of {:.4g} N", state.obstacles.name_of(wall), wall.reaction, target);
  }
  if (stage.stress_within >= 0 && !(state.deformation.stress_residual() <= stage.stress_within))
    unmet =
        fmt::format("stresses are off by {:.3g} of what is asked for", state.deformation.stress_residual());
  if (stage.kinetic_energy >= 0) {
    const auto owned = state.bodies.mobility().first(state.bodies.n_owned());
    const std::int64_t n_free =
        state.comm.sum(static_cast<std::int64_t>(owned.size()) - std::ranges::count(owned, 0.0));
    const Real mean =
        n_free > 0 ? mechanical_energy(state).kinetic / static_cast<Real>(n_free) : HUGE_VAL;  // none yet
    if (!(mean <= stage.kinetic_energy))
      unmet = fmt::format("{:.3g} J of kinetic energy per body that can move, more than {:g} J", mean,
                          stage.kinetic_energy);
    if (unmet.empty() && !is_carried()) unmet = "forces on the bodies do not balance: they are in flight";
  }
  return unmet.empty();
}

template <int D>
bool Stages<D>::advance(State<D>& state, const std::function<bool()>& is_carried) const {
  if (list_.empty() || finished(state)) return false;
  const Stage& stage = list_[state.stage.index];
  std::string unmet;
  if (!holds(state, stage, is_carried, unmet)) {
    if (!is_reached(state, state.stage.begin + stage.max_time)) return false;
    const std::string message =
        fmt::format("{}: stage \"{}\" has reached its max_time of {:g} s without its conditions: {}",
                    step_label(state.clock), stage.name, stage.max_time, unmet);
    if (stage.stops_on_timeout)
      throw RunError(message + fmt::format(" ({}, on_timeout = \"stop\")", stage.where));
    log::warn(message);
  }
  ++state.stage.index;
  state.stage.begin = state.clock.time;
  if (finished(state)) {
    log::info("t = {:.6g} s: stage \"{}\" is over, the last one", state.clock.time, stage.name);
    return false;
  }
  for (DrivenState& wall : state.obstacles.driven()) wall.stage_position = wall.position;
  const Stage& next = list_[state.stage.index];
  log::info("t = {:.6g} s: stage \"{}\" is over, \"{}\" begins", state.clock.time, stage.name, next.name);
  set_orders(state);
  return !next.removed.empty() || !next.added.empty();
}

template class Stages<2>;
template class Stages<3>;

}  // namespace scree
