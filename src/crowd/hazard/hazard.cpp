#include "crowd/hazard/hazard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/file_checksum.hpp"
#include "core/input_file.hpp"
#include "core/log.hpp"
#include "core/suggestion.hpp"
#include "crowd/agent_fields.hpp"
#include "particles/packing/region.hpp"

namespace scree {

namespace {
constexpr Real not_given = std::numeric_limits<Real>::quiet_NaN();
}

bool is_incapacitated(const BodyStore<2>& bodies, std::size_t i) {
  return agent::dose(bodies)[i] >= 1;
}

void Hazard::describe(Section& root, const BuildingPlan& building, const JourneyPlan& journey_plan) {
  constant_.fill(not_given);
  root.optional_table(
      "hazard", {.doc = "Smoke and toxic gas: slower walking, a dose, incapacitation."},
      [&](Section& section) {
        std::string file;
        section.text(
            "file", file,
            {.doc = "table (CSV) of a grid with columns t, x, y, floor (any may be left out) and some of "
                    "K [1/m], CO, CO2, O2 (volume fractions), temperature [deg C]; linear in between"});
        for (std::size_t k = 0; k < n_smoke; ++k)
          section.real(smoke_limits[k].key, constant_[k],
                       {.range = {.min = smoke_limits[k].min},
                        .doc = fmt::format("the same everywhere and at any time, instead of a column {} [{}]",
                                           smoke_limits[k].column, smoke_limits[k].unit)});
        describe_speed(section);
        section.choice(
            "fallen", fallen_, {{"stay", Fallen::stay}, {"vanish", Fallen::vanish}},
            {.doc = "who is incapacitated (dose 1) stays as an obstacle that never moves, or vanishes"});
        describe_closings(section, building, journey_plan);
        if (section.reading() && !file.empty()) {
          const std::string where = section.where("file"), path = path_of_input(file, where);
          if (const std::string why = obstacle_to_read(path); !why.empty())
            section.fail("file", fmt::format("'{}' is not there or cannot be opened: {}", file, why));
          grid_.read(path, where, building);
        }
        describe_checksum(section, "file", file);
        if (!section.reading()) return;
        is_on_ = true;
        for (std::size_t k = 0; k < n_smoke; ++k)
          if (const std::string fault = fault_of_smoke(k, constant_[k]); !fault.empty())
            section.fail(smoke_limits[k].key, fault);
        bool is_any = false;
        for (std::size_t k = 0; k < n_smoke; ++k) {
          if (!std::isnan(constant_[k]) && grid_.has(static_cast<Smoke>(k)))
            section.fail(
                smoke_limits[k].key,
                fmt::format("the file has a column {} as well: remove one of them", smoke_limits[k].column));
          is_any = is_any || knows(static_cast<Smoke>(k));
        }
        if (!is_any)
          section.fail("file",
                       "[hazard] needs file, or one at least of extinction, carbon_monoxide, "
                       "carbon_dioxide, oxygen and temperature");
      });
}

void Hazard::describe_speed(Section& section) {
  section.real("speed_at_zero", speed_.at_zero,
               {.unit = Unit::speed,
                .range = positive,
                .doc = "a of the speed factor max(least_speed_factor, 1 + b K / a) in smoke"});
  section.real("speed_slope", speed_.slope, {.range = {.max = 0}, .doc = "b of it [m2/s]"});
  section.real("least_speed_factor", speed_.min,
               {.range = {.min = 0, .max = 1}, .doc = "lowest factor in any smoke"});
  std::vector<std::vector<Real>> table;
  section.points("speed_table", table, 2,
                 {.doc = "pairs of K [1/m] and a speed factor, linear in between, instead of a and b"});
  if (!section.reading()) return;
  for (const std::vector<Real>& entry : table) {
    if (entry[0] < 0 || (!speed_table_.empty() && entry[0] <= speed_table_.back()[0]))
      section.fail("speed_table", fmt::format("K must be 0 or more and rise: {:g} does not", entry[0]));
    if (!(entry[1] >= 0 && entry[1] <= 1))
      section.fail("speed_table", fmt::format("a speed factor is from 0 to 1, not {:g}", entry[1]));
    speed_table_.push_back({entry[0], entry[1]});
  }
}

void Hazard::describe_closings(Section& section, const BuildingPlan& building,
                               const JourneyPlan& journey_plan) {
  section.tables(
      "closes",
      {.doc = "Smoke that closes an exit or a connector for good, as soon as any of the limits is passed "
              "there."},
      [&](const std::string& name, Section& table) {
        Closing closing;
        std::string exit, connector;
        closing.limit.fill(not_given);
        table.text(
            "exit", exit,
            {.doc = "name of the exit; without exit and connector: the one of the name of this table"});
        table.text("connector", connector, {.doc = "name of the connector, instead of exit"});
        for (std::size_t k = 0; k < n_smoke; ++k)
          table.real(smoke_limits[k].key, closing.limit[k],
                     {.range = {.min = smoke_limits[k].min},
                      .doc = fmt::format("{} {} [{}]",
                                         k == static_cast<std::size_t>(Smoke::oxygen) ? "closed below this"
                                                                                      : "closed above this",
                                         smoke_limits[k].column, smoke_limits[k].unit)});
        if (!table.reading()) return;
        find_closed(table, name, exit, connector, building, journey_plan, closing);
        if (std::ranges::all_of(closing.limit, [](Real limit) { return std::isnan(limit); }))
          table.fail("extinction",
                     fmt::format("[{}] needs a limit: extinction, temperature or another", table.path()));
        closings_.push_back(closing);
      });
}

/// What a table closes: `exit` or `connector` name it, or else the name of the table does.
void Hazard::find_closed(const Section& table, const std::string& name, std::string exit,
                         std::string connector, const BuildingPlan& building, const JourneyPlan& journey_plan,
                         Closing& closing) {
  if (!exit.empty() && !connector.empty())
    table.fail("connector", "a table closes an exit or a connector: remove one of the two keys");
  std::vector<std::string> connectors, names;
  for (int level = 0; level < building.n_levels(); ++level)
    if (building.level(level).incline) connectors.push_back(building.level(level).name);
  if (exit.empty() && connector.empty()) {
    names = connectors;
    for (const Exit& one : journey_plan.exits()) names.push_back(one.name);
    const auto n = std::ranges::count(names, name);
    if (n == 0)
      table.fail("exit", fmt::format("there is no exit or connector \"{}\"{}; there are \"{}\"", name,
                                     suggestion(name, names), fmt::join(names, "\", \"")));
    if (n > 1)
      table.fail("exit",
                 fmt::format("there are an exit and a connector \"{}\": name one of them with the key "
                             "exit or connector",
                             name));
    (std::ranges::count(connectors, name) == 1 ? connector : exit) = name;
  }
  closing.where = table.where(connector.empty() ? "exit" : "connector");
  if (connector.empty()) {
    closing.exit = journey_plan.find_destination("exits", exit, closing.where);
  } else {
    table_named("connectors", connector, connectors, closing.where);
    closing.connector = building.find(connector);
  }
}

bool Hazard::knows(Smoke quantity) const {
  return grid_.has(quantity) || !std::isnan(constant_[static_cast<std::size_t>(quantity)]);
}

std::optional<Real> Hazard::value(Smoke quantity, const Vec<2>& x, int level, Real time) const {
  if (grid_.has(quantity)) return grid_.at(quantity, x, level, time);
  const Real constant = constant_[static_cast<std::size_t>(quantity)];
  return std::isnan(constant) ? std::nullopt : std::optional(constant);
}

Real Hazard::speed_factor(const Vec<2>& x, int level, Real time) const {
  const std::optional<Real> extinction = value(Smoke::extinction, x, level, time);
  if (!extinction) return 1;
  if (speed_table_.empty()) return speed_.factor(*extinction);
  const auto above =
      std::ranges::upper_bound(speed_table_, *extinction, {}, [](const auto& e) { return e[0]; });
  if (above == speed_table_.begin()) return speed_table_.front()[1];
  if (above == speed_table_.end()) return speed_table_.back()[1];
  const std::array<Real, 2>&low = *(above - 1), &high = *above;
  return low[1] + (*extinction - low[0]) / (high[0] - low[0]) * (high[1] - low[1]);
}

Real Hazard::dose_rate(const Vec<2>& x, int level, Real time) const {
  return scree::dose_rate({.carbon_monoxide = value(Smoke::carbon_monoxide, x, level, time),
                           .carbon_dioxide = value(Smoke::carbon_dioxide, x, level, time),
                           .oxygen = value(Smoke::oxygen, x, level, time)});
}

/// When a quantity first passes a limit at x: oxygen falls below it, others rise above; infinite: never.
Real Hazard::time_above(Smoke quantity, const Vec<2>& x, int level, Real limit) const {
  const Real sign = quantity == Smoke::oxygen ? -1 : 1;
  const auto excess = [&](Real time) {
    return sign * (value(quantity, x, level, time).value_or(limit) - limit);
  };
  const std::vector<Real> none{0};
  const std::vector<Real>& times = grid_.has(quantity) ? grid_.times() : none;
  for (std::size_t k = 0; k < times.size(); ++k) {
    const Real now = excess(times[k]);
    if (now <= 0) continue;
    if (k == 0) return 0;
    const Real before = excess(times[k - 1]);
    return std::max(times[k - 1] + before / (before - now) * (times[k] - times[k - 1]), 0.0);
  }
  return HUGE_VAL;
}

/// When a limit is first passed at one of the places; infinite: never.
Real Hazard::closing_time(const Closing& closing, std::span<const Vec<2>> places, int level) const {
  Real first = HUGE_VAL;
  for (std::size_t k = 0; k < n_smoke; ++k) {
    if (std::isnan(closing.limit[k])) continue;
    if (!knows(static_cast<Smoke>(k)))
      throw InputError(fmt::format("{}: a limit of {}, but [hazard] says nothing of {}", closing.where,
                                   smoke_limits[k].key, smoke_limits[k].key));
    for (const Vec<2>& at : places)
      first = std::min(first, time_above(static_cast<Smoke>(k), at, level, closing.limit[k]));
  }
  return first;
}

void Hazard::close_routes(JourneyPlan& journey_plan, BuildingPlan& building) const {
  const auto say = [](const char* what, const std::string& name, Real time) {
    if (std::isfinite(time))
      log::info("smoke closes the {} \"{}\" at t = {:.6g} s", what, name, time);
    else
      log::info("smoke never closes the {} \"{}\"", what, name);
  };
  for (const Closing& closing : closings_) {
    if (closing.connector >= 0) {
      const Incline& flight = *building.level(closing.connector).incline;
      const std::array<Vec<2>, 3> places{flight.foot, 0.5 * (flight.foot + flight.head), flight.head};
      const Real time = closing_time(closing, places, closing.connector);
      say("connector", building.level(closing.connector).name, time);
      if (std::isfinite(time)) building.close_for_good(closing.connector, time);
      continue;
    }
    const Exit& exit = journey_plan.exits()[closing.exit];
    const std::array<Vec<2>, 1> middle{exit.middle()};
    const Real time = closing_time(closing, middle, exit.level);
    say("exit", exit.name, time);
    if (std::isfinite(time)) journey_plan.close_for_good(closing.exit, time);
  }
}

bool Hazard::expose(State<2>& state, std::vector<Departure>& departures, BodyChange<2>& change) {
  if (!is_on_) return false;
  BodyStore<2>& bodies = state.bodies;
  const Real dt = state.clock.last_dt, middle = state.clock.time - dt / 2;
  const std::size_t n_owned = bodies.n_owned();
  staying_.clear();
  std::int64_t n_fell = 0;
  Real largest = totals_[1];
  for (std::size_t i = 0; i < n_owned; ++i) {
    const bool was_down = is_incapacitated(bodies, i);
    Real& dose = agent::dose(bodies)[i];
    if (!was_down)
      dose += dt * dose_rate(wrapped(state.box, bodies.position()[i]), level_of(bodies, i), middle);
    largest = std::max(largest, dose);
    if (!was_down && dose >= 1) {
      agent::incapacitated_at(bodies)[i] = state.clock.time;
      departures.push_back(departure_of(bodies, i, -1, state.clock.time));
      departures.back().fate = Fate::incapacitated;
      agent::destination(bodies)[i] = agent::journey(bodies)[i] = agent::group(bodies)[i] = -1;
      agent::journey_step(bodies)[i] = agent::queue_place(bodies)[i] = 0;
      agent::queue_since(bodies)[i] = agent::served_from(bodies)[i] = 0;
      ++n_fell;
    } else {
      staying_.push_back(static_cast<Index>(i));
    }
  }
  std::array<Real, 2> worst{largest, n_fell > 0 ? 1.0 : 0.0};
  state.comm.max(std::span<Real>(worst));
  totals_[1] = worst[0];
  if (worst[1] == 0) return false;
  totals_[0] += static_cast<Real>(state.comm.sum(n_fell));
  if (fallen_ == Fallen::vanish) {
    change.remove_bodies(staying_);
    return true;
  }
  change.begin();
  for (std::size_t i = 0; i < n_owned; ++i)
    if (is_incapacitated(bodies, i)) {
      bodies.mobility()[i] = 0;
      bodies.velocity()[i] = {};
    }
  return true;
}

std::vector<std::string> Hazard::laws() const {
  std::vector<std::string> lines;
  if (knows(Smoke::extinction))
    lines.push_back(
        speed_table_.empty()
            ? fmt::format("speed in smoke: factor max({:g}, 1 + ({:g}) K / {:g}), K in 1/m (Frantzich and "
                          "Nilsson 2003)",
                          speed_.min, speed_.slope, speed_.at_zero)
            : "speed in smoke: factor by speed_table");
  if (knows(Smoke::carbon_monoxide) || knows(Smoke::oxygen))
    lines.emplace_back(
        "dose: integral of 4.607e-7 C_CO^1.036 exp(0.1930 c_CO2 + 2.0004)/7.1 + 1/(60 exp(8.13 - 0.54 (20.9 "
        "- "
        "c_O2))), C in ppm, c in % (FDS+Evac guide, VTT Working Papers 119, 2009, eq. 11-14); people are "
        "incapacitated at 1");
  return lines;
}

}  // namespace scree
