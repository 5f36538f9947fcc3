#include "crowd/journeys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/output_interval.hpp"
#include "core/random.hpp"
#include "core/suggestion.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/plan/ring.hpp"
#include "particles/fill/region.hpp"

namespace scree {

namespace {

// Intervals of travel time, of 1 s at 1 m/s, in which people on their way are counted; the last has no end.
constexpr std::size_t n_intervals = 256;

std::size_t interval_of(Real travel_time) {
  return static_cast<std::size_t>(std::clamp(travel_time, 0.0, Real(n_intervals - 1)));
}

std::string quoted(const std::vector<std::string>& names) {
  return fmt::format("\"{}\"", fmt::join(names, "\", \""));
}

/// Times of opening and closing in turn, from the lists of both.
std::vector<Real> merged(const Section& section, const std::vector<Real>& from,
                         const std::vector<Real>& until) {
  if (from.size() != until.size() && from.size() != until.size() + 1)
    section.fail("open_until", fmt::format("there must be as many times in open_until as in open_from ({}), "
                                           "or one less if it stays open, not {}",
                                           from.size(), until.size()));
  std::vector<Real> switches;
  for (std::size_t k = 0; k < from.size(); ++k) {
    for (const Real time :
         k < until.size() ? std::vector<Real>{from[k], until[k]} : std::vector<Real>{from[k]}) {
      if (!switches.empty() && time <= switches.back())
        section.fail(section.has("open_until") ? "open_until" : "open_from",
                     fmt::format("times must rise, from one opening to its closing to the next opening: "
                                 "{:g} s does not follow on {:g} s",
                                 time, switches.back()));
      switches.push_back(time);
    }
  }
  return switches;
}

}  // namespace

void Journeys::describe(Section& root) {
  describe_exits(root);
  root.tables("waypoints", {.doc = "A place that journeys lead through."},
              [&](const std::string& name, Section& section) {
                Ring ring = read_ring(section, "polygon", true, "corners of the place");
                if (section.reading())
                  destinations_.push_back({"waypoints." + name, section.where("polygon"), {std::move(ring)}});
              });
  root.tables("zones", {.doc = "An area where people walk faster or slower than elsewhere."},
              [&](const std::string& name, Section& section) {
                Zone zone;
                zone.name = name;
                zone.region = read_ring(section, "polygon", true, "corners of the area");
                section.real("speed_factor", zone.speed_factor,
                             {.range = positive,
                              .required = true,
                              .doc = "desired speeds are multiplied by it; factors of zones that overlap "
                                     "multiply each other"});
                if (!section.reading()) return;
                zone.where = section.where("polygon");
                zones_.push_back(std::move(zone));
              });
  describe_journeys(root);
}

void Journeys::describe_exits(Section& root) {
  root.tables(
      "exits", {.doc = "A way out: people who come through it vanish."},
      [&](const std::string& name, Section& section) {
        Exit exit;
        exit.name = name;
        std::vector<std::vector<Real>> line;
        section.points("line", line, 2,
                       {.unit = Unit::length,
                        .doc = "the two ends of an opening in the wall; or give polygon or color"});
        Ring ring = read_ring(section, "polygon", false, "corners of a region that takes people");
        section.text("color", exit.colour,
                     {.doc = "color of a region in an image plan, such as \"#00ff00\""});
        Real absorb_depth = std::numeric_limits<Real>::quiet_NaN();  // not given
        section.real("absorb_depth", absorb_depth,
                     {.unit = Unit::length,
                      .range = non_negative,
                      .doc = "how far behind the line the centre of somebody is who vanishes; 0.5 m "
                             "if not given"});
        std::vector<Real> from{0}, until;
        section.reals("open_from", from, -1,
                      {.unit = Unit::time, .range = non_negative, .doc = "when it opens"});
        section.reals("open_until", until, -1,
                      {.unit = Unit::time,
                       .range = positive,
                       .doc = "when it closes, after each time it opened; after the last closing it "
                              "stays closed"});
        section.real("max_flow", exit.max_flow,
                     {.unit = Unit::rate,
                      .range = non_negative,
                      .doc = "persons per second that it lets through; 0: no cap"});
        if (!section.reading()) return;
        const int n_given = (line.empty() ? 0 : 1) + (ring.empty() ? 0 : 1) + (exit.colour.empty() ? 0 : 1);
        if (n_given != 1)
          section.fail(n_given == 0    ? "line"
                       : !line.empty() ? "line"
                                       : "polygon",
                       fmt::format("[{}] needs one of line, polygon and color", section.path()));
        exit.where = section.where(!line.empty() ? "line" : !ring.empty() ? "polygon" : "color");
        if (std::isfinite(absorb_depth)) exit.absorb_depth = absorb_depth;
        if (!line.empty()) {
          if (line.size() != 2) section.fail("line", fmt::format("a line has 2 ends, not {}", line.size()));
          for (const std::vector<Real>& end : line) exit.line.push_back({{end[0], end[1]}});
          if (exit.line[0] == exit.line[1]) section.fail("line", "the two ends are the same");
        } else if (std::isfinite(absorb_depth)) {
          section.fail(
              "absorb_depth",
              "absorb_depth has no effect without line: the region of an exit says itself how deep it is");
        }
        if (!ring.empty()) exit.regions.push_back(std::move(ring));
        exit.switches = merged(section, from, until);
        destinations_.push_back({"exits." + name, exit.where, exit.regions});
        exits_.push_back(std::move(exit));
      });
}

int Journeys::find_destination(const Section& section, std::string_view key, const std::string& kind,
                               const std::string& name) const {
  std::vector<std::string> names;
  const std::string prefix = kind + ".";
  for (std::size_t d = 0; d < destinations_.size(); ++d) {
    if (!destinations_[d].name.starts_with(prefix)) continue;
    names.push_back(destinations_[d].name.substr(prefix.size()));
    if (names.back() == name) return static_cast<int>(d);
  }
  if (names.empty())
    section.fail(key, fmt::format("\"{}\" is not there: the deck has no [{}.NAME]", name, kind));
  const std::string near = suggestion(name, names);
  throw InputError(fmt::format("{}: there is no [{}.{}]{}", section.where(key), kind, name,
                               near.empty() ? "; there are " + quoted(names) : near));
}

Journeys::Step Journeys::describe_step(Section& section) const {
  Step step;
  std::vector<std::string> exits;
  std::string waypoint;
  Real update = std::numeric_limits<Real>::quiet_NaN();  // not given
  section.texts("exits", exits, {.doc = "names of the exits to choose from; not given: all"});
  section.choice("choice", step.choice,
                 {{"nearest", Choice::nearest}, {"quickest", Choice::quickest}, {"weights", Choice::weights}},
                 {.doc = "which exit: the nearest; the one that seems quickest, with queues, chosen anew "
                         "during the walk; or one drawn with given weights"});
  section.reals(
      "weights", step.weights, -1,
      {.range = non_negative, .doc = "one for each of exits, to any scale, for choice = \"weights\""});
  section.real("update", update,
               {.unit = Unit::time,
                .range = positive,
                .doc = "how often each person chooses the quickest exit anew; 1 s if not given"});
  section.text("waypoint", waypoint, {.doc = "name of the waypoint to walk to, instead of exits"});
  section.real("wait", step.wait,
               {.unit = Unit::time, .range = non_negative, .doc = "how long people stay at the waypoint"});
  if (!section.reading()) return step;
  if (!waypoint.empty()) {
    const std::array<std::pair<std::string_view, bool>, 4> of_exits{
        {{"exits", !exits.empty()},
         {"choice", step.choice != Choice::nearest},
         {"weights", !step.weights.empty()},
         {"update", std::isfinite(update)}}};
    for (const auto& entry : of_exits)
      if (entry.second)
        section.fail(entry.first,
                     fmt::format("a step to a waypoint has no {}: make it another step", entry.first));
    step.is_exit = false;
    step.exits.push_back(find_destination(section, "waypoint", "waypoints", waypoint));
    return step;
  }
  if (step.wait > 0) section.fail("wait", "people wait at waypoints only: give waypoint");
  if (exits_.empty()) section.fail("exits", "the deck has no [exits.NAME] to walk to; or give waypoint");
  for (const std::string& name : exits) {
    step.exits.push_back(find_destination(section, "exits", "exits", name));
    if (std::ranges::count(step.exits, step.exits.back()) > 1)
      section.fail("exits", fmt::format("\"{}\" is listed twice", name));
  }
  if (exits.empty()) {
    step.exits.resize(exits_.size());
    std::iota(step.exits.begin(), step.exits.end(), 0);
  }
  if (step.choice == Choice::weights) {
    if (step.weights.size() != step.exits.size())
      section.fail("weights", fmt::format("choice = \"weights\" needs one weight for each of the {} exits, "
                                          "not {}",
                                          step.exits.size(), step.weights.size()));
    if (!(std::accumulate(step.weights.begin(), step.weights.end(), 0.0) > 0))
      section.fail("weights", "the weights sum to 0; one at least must be positive");
  } else if (!step.weights.empty()) {
    section.fail("weights", "weights are for choice = \"weights\" only");
  }
  if (step.choice != Choice::quickest && std::isfinite(update))
    section.fail(
        "update",
        "update has no effect without choice = \"quickest\": only that choice is made again during the walk");
  if (std::isfinite(update)) step.update = update;
  return step;
}

void Journeys::describe_journeys(Section& root) {
  root.tables("journeys", {.doc = "Where people walk to, one step after the other."},
              [&](const std::string& name, Section& section) {
                Journey journey;
                journey.name = name;
                section.list("steps",
                             {.required = true, .doc = "One step of a journey: to exits, or to a waypoint."},
                             [&](std::size_t, Section& entry) {
                               if (entry.reading() && !journey.steps.empty() && journey.steps.back().is_exit)
                                 entry.fail("exits", "a step after one that leads to exits is never reached");
                               Step step = describe_step(entry);
                               if (entry.reading()) journey.steps.push_back(std::move(step));
                             });
                section.boolean("repeat", journey.repeats,
                                {.doc = "whether it begins anew after its last step, a waypoint: for ever"});
                if (!section.reading()) return;
                journey.where = section.where("steps");
                if (journey.steps.empty()) section.fail("steps", "a journey needs at least one step");
                if (journey.repeats && journey.steps.back().is_exit)
                  section.fail("repeat",
                               "a journey that leads to exits ends there: steps that repeat are all "
                               "to waypoints");
                if (journey.repeats && journey.steps.size() < 2)
                  section.fail("repeat", "a journey that repeats needs at least two steps, not 1");
                journeys_.push_back(std::move(journey));
              });
  if (!root.reading()) return;
  if (journeys_.empty() && !exits_.empty()) {
    Step step;
    step.exits.resize(exits_.size());
    std::iota(step.exits.begin(), step.exits.end(), 0);
    journeys_.push_back({"leave", exits_[0].where, {std::move(step)}});
  }
  for (const Journey& journey : journeys_)
    has_quickest_ = has_quickest_ || journey.steps.back().choice == Choice::quickest;
}

int Journeys::find(const std::string& name, const std::string& where) const {
  if (name.empty() && journeys_.size() < 2) return static_cast<int>(journeys_.size()) - 1;
  std::vector<std::string> names;
  for (std::size_t j = 0; j < journeys_.size(); ++j) {
    names.push_back(journeys_[j].name);
    if (names.back() == name) return static_cast<int>(j);
  }
  if (names.empty())
    throw InputError(
        fmt::format("{}: there is no journey \"{}\": the deck has no [journeys.NAME]", where, name));
  if (name.empty())
    throw InputError(fmt::format("{}: which journey? There are {}: give journey", where, quoted(names)));
  const std::string near = suggestion(name, names);
  throw InputError(fmt::format("{}: there is no [journeys.{}]{}", where, name,
                               near.empty() ? "; there are " + quoted(names) : near));
}

Real Journeys::speed_factor(const Vec<2>& x) const {
  Real factor = 1;
  for (const Zone& zone : zones_)
    if (ring_contains(zone.region, x)) factor *= zone.speed_factor;
  return factor;
}

void Journeys::count_heading(const State<2>& state, const FloorField& floor_field) {
  const BodyStore<2>& bodies = state.bodies;
  heading_.assign(exits_.size() * n_intervals, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const int to = agent::destination(bodies)[i];
    if (to < 0 || static_cast<std::size_t>(to) >= exits_.size()) continue;
    ++heading_[static_cast<std::size_t>(to) * n_intervals +
               interval_of(floor_field.travel_time(to, bodies.position()[i]))];
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

int Journeys::first_exit(const Step& step, GlobalId id, std::size_t number_of_step, Real speed,
                         const Vec<2>& x, const FloorField& floor_field, std::uint64_t seed) const {
  std::vector<Real>& travel_time = travel_time_;
  travel_time.clear();
  for (const int exit : step.exits) travel_time.push_back(floor_field.travel_time(exit, x));
  const auto can_use = [&](std::size_t k) {
    return is_open_[static_cast<std::size_t>(step.exits[k])] != 0 && std::isfinite(travel_time[k]);
  };
  const std::size_t n = step.exits.size();

  if (step.choice == Choice::weights) {
    RandomStream stream(seed, id, purpose::exit_choice);
    for (std::size_t k = 0; k < 2 * number_of_step; ++k) stream.uniform();
    // First among all, so that a closed exit changes the choice of those only who would have taken it.
    for (const bool is_second : {false, true}) {
      const auto counts = [&](std::size_t k) { return !is_second || can_use(k); };
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

int Journeys::quicker_exit(const Step& step, int present, Real speed, const Vec<2>& x,
                           const FloorField& floor_field) const {
  const Real now = expected_time(present, floor_field.travel_time(present, x), speed, true);
  int best = present;
  Real least = now - std::max(1.0, 0.1 * now);
  for (const int exit : step.exits) {
    if (exit == present || is_open_[static_cast<std::size_t>(exit)] == 0) continue;
    const Real travel_time = floor_field.travel_time(exit, x);
    if (!std::isfinite(travel_time)) continue;
    const Real time = expected_time(exit, travel_time, speed, false);
    if (time < least) least = time, best = exit;
  }
  return best;
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
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    if (agent::journey(bodies)[i] < 0) continue;
    const std::vector<Step>& steps = journeys_[static_cast<std::size_t>(agent::journey(bodies)[i])].steps;
    const Vec<2>& x = bodies.position()[i];
    std::int32_t& destination = agent::destination(bodies)[i];
    std::int32_t& at_step = agent::journey_step(bodies)[i];
    Real& waits_until = agent::waits_until(bodies)[i];
    if (is_any_closed) {
      const int around = closed_exit_around(wrapped(state.box, x), bodies.radius()[i], destination);
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
        if (!std::isfinite(floor_field.travel_time(step.exits[0], x))) break;
        destination = step.exits[0];
      }
      if (time + rounding < agent::premovement_end(bodies)[i]) break;
      if (waits_until == 0) {
        if (!destinations_[static_cast<std::size_t>(destination)].contains(wrapped(state.box, x))) break;
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
    if (destination < 0 || is_open_[static_cast<std::size_t>(destination)] == 0) {
      const int chosen =
          first_exit(step, bodies.id()[i], static_cast<std::size_t>(at_step), speed, x, floor_field, seed);
      if (destination < 0 || (chosen >= 0 && is_open_[static_cast<std::size_t>(chosen)] != 0))
        destination = chosen;
      else if (is_closing_[static_cast<std::size_t>(destination)] != 0)
        destination = -1;
    } else if (step.choice == Choice::quickest && is_due(bodies.id()[i], step.update)) {
      destination = quicker_exit(step, destination, speed, x, floor_field);
    }
  }
}

}  // namespace scree
