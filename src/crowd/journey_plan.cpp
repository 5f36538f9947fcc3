// The tables of exits, waypoints, zones and journeys.
#include "crowd/journey_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/suggestion.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/plan/ring.hpp"

namespace scree {

namespace {

/// Times of opening and closing in turn, from the lists of both.
std::vector<Real> merged(const Section& section, const std::vector<Real>& from,
                         const std::vector<Real>& until) {
  if (from.size() != until.size() && from.size() != until.size() + 1)
    section.fail("open_until", fmt::format("there must be as many times in open_until as in open_from ({}), "
                                           "or one less if it stays open, not {}",
                                           from.size(), until.size()));
  std::vector<Real> switches;
  const auto add = [&](Real time) {
    if (!switches.empty() && time <= switches.back())
      section.fail(section.has("open_until") ? "open_until" : "open_from",
                   fmt::format("times must rise, from one opening to its closing to the next opening: "
                               "{:g} s does not follow on {:g} s",
                               time, switches.back()));
    switches.push_back(time);
  };
  for (std::size_t k = 0; k < from.size(); ++k) {
    add(from[k]);
    if (k < until.size()) add(until[k]);
  }
  return switches;
}

/// Length of the border of these regions that people can cross, to 1 cm: the plan is on both sides of it.
Real border_within(const FloorPlan& plan, std::span<const Ring> regions) {
  constexpr Real piece = 0.01, aside = 1e-3;  // [m]
  Real length = 0;
  for (const Ring& region : regions)
    for (std::size_t k = 0; k < region.size(); ++k) {
      const Vec<2> a = region[k], edge = region[(k + 1) % region.size()] - a;
      const Vec<2> outward = (aside / norm(edge)) * Vec<2>{{edge[1], -edge[0]}};
      const auto n = static_cast<std::int64_t>(std::ceil(norm(edge) / piece));
      for (std::int64_t i = 0; i < n; ++i) {
        const Vec<2> x = a + ((static_cast<Real>(i) + 0.5) / static_cast<Real>(n)) * edge;
        const bool is_outside = std::ranges::none_of(
            regions, [&](const Ring& other) { return ring_contains(other, x + outward); });
        if (is_outside && plan.contains(x + outward) && plan.contains(x - outward))
          length += norm(edge) / static_cast<Real>(n);
      }
    }
  return length;
}

}  // namespace

void JourneyPlan::describe(Section& root, const BuildingPlan& building) {
  describe_exits(root, building);
  root.tables(
      "waypoints", {.doc = "An area that journeys lead through."},
      [&](const std::string& name, Section& section) {
        Ring ring = read_ring(section, "polygon", true, "corners of the area");
        const int level = building.read_level(section);
        if (section.reading())
          destinations_.push_back({"waypoints." + name, section.where("polygon"), {std::move(ring)}, level});
      });
  root.tables("zones", {.doc = "An area where people walk faster or slower."},
              [&](const std::string& name, Section& section) {
                Zone zone;
                zone.name = name;
                zone.region = read_ring(section, "polygon", true, "corners of the area");
                zone.level = building.read_level(section);
                section.real("speed_factor", zone.speed_factor,
                             {.range = positive,
                              .required = true,
                              .doc = "desired speeds are multiplied by it; factors of zones that overlap "
                                     "multiply each other"});
                if (!section.reading()) return;
                zone.where = section.where("polygon");
                zones_.push_back(std::move(zone));
              });
  describe_journeys(root, building);
}

void JourneyPlan::describe_exits(Section& root, const BuildingPlan& building) {
  root.tables(
      "exits", {.doc = "An exit: people who pass through it leave the run."},
      [&](const std::string& name, Section& section) {
        Exit exit;
        exit.name = name;
        exit.level = building.read_level(section);
        std::vector<std::vector<Real>> line;
        section.points("line", line, 2,
                       {.unit = Unit::length,
                        .doc = "the two ends of an opening in the wall; or give polygon or color"});
        Ring ring = read_ring(section, "polygon", false, "corners of a region in which people leave the run");
        section.text("color", exit.colour,
                     {.doc = "color of a region in an image plan, such as \"#00ff00\""});
        Real absorb_depth = std::numeric_limits<Real>::quiet_NaN();  // not given
        section.real(
            "absorb_depth", absorb_depth,
            {.unit = Unit::length,
             .range = non_negative,
             .doc =
                 "people leave the run once their centre is this far behind the line; 0.5 m if not given"});
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
                      .doc = "largest flow in persons per second; 0: unlimited"});
        section.choice("takes", exit.takes_all, {{"bound", false}, {"all", true}},
                       {.doc = "whom it takes: \"bound\": those who walk to it now, others go on through its "
                               "region; \"all\": whoever comes into it"});
        if (!section.reading()) return;
        const int n_given = (line.empty() ? 0 : 1) + (ring.empty() ? 0 : 1) + (exit.colour.empty() ? 0 : 1);
        if (n_given != 1)
          section.fail(n_given == 0 || !line.empty() ? "line" : "polygon",
                       fmt::format("[{}] needs one of line, polygon and color", section.path()));
        exit.where = section.where(!line.empty() ? "line" : !ring.empty() ? "polygon" : "color");
        if (std::isfinite(absorb_depth)) exit.absorb_depth = absorb_depth;
        if (!line.empty()) {
          const auto ends = line_of(section, "line", line);
          exit.line.assign(ends.begin(), ends.end());
        } else if (std::isfinite(absorb_depth)) {
          section.fail(
              "absorb_depth",
              "absorb_depth has no effect without line: the region of an exit says itself how deep it is");
        }
        if (!ring.empty()) exit.regions.push_back(std::move(ring));
        exit.switches = merged(section, from, until);
        destinations_.push_back({"exits." + name, exit.where, exit.regions, exit.level});
        exits_.push_back(std::move(exit));
      });
}

std::vector<int> JourneyPlan::all_exits() const {
  std::vector<int> all(exits_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int JourneyPlan::find_destination(const std::string& kind, const std::string& name,
                                  const std::string& where) const {
  std::vector<std::string> names;
  const std::string prefix = kind + ".";
  for (std::size_t d = 0; d < destinations_.size(); ++d) {
    if (!destinations_[d].name.starts_with(prefix)) continue;
    names.push_back(destinations_[d].name.substr(prefix.size()));
    if (names.back() == name) return static_cast<int>(d);
  }
  if (names.empty())
    throw InputError(fmt::format("{}: \"{}\" is not there: the deck has no [{}.NAME]", where, name, kind));
  throw InputError(where + ": " + no_such_table(kind, name, names));
}

void JourneyPlan::read_queue(Section& section, const BuildingPlan& building, const std::string& name,
                             Step& step) {
  section.optional_table(
      "queue",
      {.doc = "A counter with a line before it, instead of exits: people stand in line and are served."},
      [&](Section& table) {
        QueueLine queue;
        queue.describe(table, name);
        queue.level = building.read_level(table);
        if (!table.reading()) return;
        for (const QueueLine& other : queues_)
          if (other.name == queue.name)
            table.fail("name", fmt::format("there is a queue \"{}\" already: give another name", queue.name));
        queue.destination = static_cast<int>(destinations_.size());
        destinations_.push_back({table.path(), queue.where, {queue.joining_area()}, queue.level});
        step.is_exit = false;
        step.queue = static_cast<int>(queues_.size());
        step.exits = {queue.destination};
        queues_.push_back(std::move(queue));
      });
}

JourneyPlan::Step JourneyPlan::describe_step(Section& section, const BuildingPlan& building,
                                             const std::string& name_of_queue) {
  Step step;
  std::vector<std::string> exits;
  std::string waypoint;
  Real update = std::numeric_limits<Real>::quiet_NaN();  // not given
  section.texts("exits", exits, {.doc = "names of the exits to choose from; not given: all"});
  section.choice("choice", step.choice,
                 {{"nearest", Choice::nearest}, {"quickest", Choice::quickest}, {"weights", Choice::weights}},
                 {.doc = "\"nearest\": shortest travel time; \"quickest\": shortest expected time with "
                         "queues, chosen again during the walk; \"weights\": drawn with the given weights"});
  section.reals("weights", step.weights, -1,
                {.range = non_negative,
                 .doc = "one for each of exits, for choice = \"weights\"; they need not sum to 1"});
  section.real("update", update,
               {.unit = Unit::time,
                .range = positive,
                .doc = "time after which each person chooses the quickest exit again; 1 s if not given"});
  section.text("waypoint", waypoint, {.doc = "name of the waypoint to walk to, instead of exits"});
  section.real("wait", step.wait,
               {.unit = Unit::time, .range = non_negative, .doc = "how long people stay at the waypoint"});
  read_queue(section, building, name_of_queue, step);
  if (!section.reading()) return step;
  if (step.queue >= 0 && (!waypoint.empty() || step.wait > 0))
    section.fail(waypoint.empty() ? "wait" : "waypoint",
                 "a step to a queue has neither waypoint nor wait: make them another step");
  if (!waypoint.empty() || step.queue >= 0) {
    const std::array<std::pair<std::string_view, bool>, 4> of_exits{
        {{"exits", !exits.empty()},
         {"choice", step.choice != Choice::nearest},
         {"weights", !step.weights.empty()},
         {"update", std::isfinite(update)}}};
    for (const auto& entry : of_exits)
      if (entry.second)
        section.fail(entry.first, fmt::format("a step to a {} has no {}: make it another step",
                                              step.queue >= 0 ? "queue" : "waypoint", entry.first));
    if (step.queue >= 0) return step;
    step.is_exit = false;
    step.exits.push_back(find_destination("waypoints", waypoint, section.where("waypoint")));
    return step;
  }
  if (step.wait > 0) section.fail("wait", "people wait at waypoints only: give waypoint");
  if (exits_.empty()) section.fail("exits", "the deck has no [exits.NAME] to walk to; or give waypoint");
  for (const std::string& name : exits) {
    step.exits.push_back(find_destination("exits", name, section.where("exits")));
    if (std::ranges::count(step.exits, step.exits.back()) > 1)
      section.fail("exits", fmt::format("\"{}\" is listed twice", name));
  }
  if (exits.empty()) step.exits = all_exits();
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

void JourneyPlan::describe_journeys(Section& root, const BuildingPlan& building) {
  root.tables(
      "journeys", {.doc = "Where people walk to, one step after the other."},
      [&](const std::string& name, Section& section) {
        Journey journey;
        journey.name = name;
        section.list(
            "steps",
            {.required = true, .doc = "One step of a journey: to exits, to a waypoint, or to a queue."},
            [&](std::size_t k, Section& entry) {
              if (entry.reading() && !journey.steps.empty() && journey.steps.back().is_exit)
                entry.fail("exits", "a step after one that leads to exits is never reached");
              Step step = describe_step(entry, building, fmt::format("{}_{}", name, k + 1));
              if (entry.reading()) journey.steps.push_back(std::move(step));
            });
        section.boolean(
            "repeat", journey.repeats,
            {.doc = "whether it starts again after its last step, which must be a waypoint or a queue"});
        if (!section.reading()) return;
        if (journey.steps.empty()) section.fail("steps", "a journey needs at least one step");
        if (journey.repeats && journey.steps.back().is_exit)
          section.fail("repeat",
                       "a journey that leads to exits ends there: steps that repeat are all "
                       "to waypoints or queues");
        if (!journey.repeats && journey.steps.back().queue >= 0)
          section.fail("steps",
                       "a journey cannot end in a queue: add a step to exits or to a waypoint, where "
                       "people go once they have been served");
        if (journey.repeats && journey.steps.size() < 2)
          section.fail("repeat", "a journey that repeats needs at least two steps, not 1");
        journeys_.push_back(std::move(journey));
      });
  if (!root.reading()) return;
  if (journeys_.empty() && !exits_.empty()) {
    Step step;
    step.exits = all_exits();
    journeys_.push_back({"leave", {std::move(step)}});
  }
  n_named_ = journeys_.size();
}

int JourneyPlan::find(const std::string& name, const std::string& where) const {
  if (name.empty() && n_named_ < 2) return static_cast<int>(n_named_) - 1;
  std::vector<std::string> names;
  for (std::size_t j = 0; j < n_named_; ++j) {
    names.push_back(journeys_[j].name);
    if (names.back() == name) return static_cast<int>(j);
  }
  if (names.empty())
    throw InputError(
        fmt::format("{}: there is no journey \"{}\": the deck has no [journeys.NAME]", where, name));
  if (name.empty())
    throw InputError(
        fmt::format("{}: which journey? There are \"{}\": give journey", where, fmt::join(names, "\", \"")));
  throw InputError(where + ": " + no_such_table("journeys", name, names));
}

int JourneyPlan::with_exit(int journey, int exit, const std::string& where) {
  Journey made;
  if (journey >= 0) made = journeys_[journey];
  if (!made.steps.empty() && !made.steps.back().is_exit)
    throw InputError(
        fmt::format("{}: leaves_at: the journey \"{}\" does not lead to exits", where, made.name));
  if (made.steps.empty()) made.steps.emplace_back();
  Step last;
  last.exits = {exit};
  made.steps.back() = last;
  made.name += fmt::format(" by {}", exits_[exit].name);
  for (std::size_t j = n_named_; j < journeys_.size(); ++j)
    if (journeys_[j].name == made.name) return static_cast<int>(j);
  journeys_.push_back(std::move(made));
  return static_cast<int>(journeys_.size()) - 1;
}

void JourneyPlan::place(BuildingPlan& building, Real largest_radius) {
  for (const Destination& destination : destinations_)
    if (building.level(destination.level).lift)
      throw InputError(fmt::format("{}: [{}] is in the lift \"{}\": people walk to places on floors only",
                                   destination.where, destination.name,
                                   building.level(destination.level).name));
  for (std::size_t e = 0; e < exits_.size(); ++e) {
    Exit& exit = exits_[e];
    FloorPlan& plan = building.plan(exit.level);
    if (!exit.line.empty()) {
      const Real depth = exit.absorb_depth + 2 * largest_radius;
      exit.pocket = plan.open_exit(exit.line[0], exit.line[1], depth, exit.where);
      const Vec<2> a = exit.line[0], b = exit.line[1];
      Vec<2> centre;
      for (const Vec<2>& corner : exit.pocket) centre += 1.0 / static_cast<Real>(exit.pocket.size()) * corner;
      Vec<2> outward{{-(b - a)[1], (b - a)[0]}};
      outward *= 1 / norm(outward);
      if (dot(outward, centre - a) < 0) outward *= -1.0;
      const Vec<2> near = exit.absorb_depth * outward, far = depth * outward;
      Ring region{a + near, b + near, b + far, a + far};
      turn_counter_clockwise(region);
      exit.regions = {region};
    } else if (!exit.colour.empty()) {
      exit.regions = plan.regions_of_colour(exit.colour, exit.where);
    }
    destinations_[e].regions = exit.regions;
    if (!exit.line.empty()) destinations_[e].width = exit.width();
  }
  for (Exit& exit : exits_) {
    if (!exit.line.empty()) continue;
    exit.open_border = border_within(building.plan(exit.level), exit.regions);
    if (exit.open_border == 0) exit.open_border = HUGE_VAL;  // all of the plan: nobody has to get in
  }
  for (const QueueLine& queue : queues_) queue.require_room(building.plan(queue.level), largest_radius);
  for (const Destination& destination : destinations_) {
    Real area = 0;
    for (const Ring& region : destination.regions) area += building.plan(destination.level).free_area(region);
    if (!(area > 0))
      throw InputError(
          fmt::format("{}: [{}] lies outside of the walkable area, or in an obstacle: nobody "
                      "could get there",
                      destination.where, destination.name));
  }
}

void JourneyPlan::close_for_good(int exit, Real time) {
  std::vector<Real>& switches = exits_[exit].switches;
  std::erase_if(switches, [&](Real at) { return at >= time; });
  if (switches.size() % 2 == 1) switches.push_back(time);
}

Real JourneyPlan::speed_factor(const Vec<2>& x, int level) const {
  Real factor = 1;
  for (const Zone& zone : zones_)
    if (zone.contains(x, level)) factor *= zone.speed_factor;
  return factor;
}

const JourneyPlan::Journey* JourneyPlan::journey_of(const BodyStore<2>& bodies, std::size_t i) const {
  const std::int32_t journey = agent::journey(bodies)[i];
  return journey < 0 ? nullptr : &journeys_[journey];
}

const JourneyPlan::Step* JourneyPlan::step_of(const BodyStore<2>& bodies, std::size_t i) const {
  const Journey* journey = journey_of(bodies, i);
  return journey ? &journey->steps[agent::journey_step(bodies)[i]] : nullptr;
}

bool JourneyPlan::go_on(BodyStore<2>& bodies, std::size_t i) const {
  const Journey& journey = *journey_of(bodies, i);
  std::int32_t& at_step = agent::journey_step(bodies)[i];
  const bool is_last = static_cast<std::size_t>(at_step) + 1 == journey.steps.size();
  if (is_last && !journey.repeats) return false;
  at_step = is_last ? 0 : at_step + 1;
  agent::destination(bodies)[i] = -1;
  return true;
}

}  // namespace scree
