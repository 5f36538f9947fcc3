// Lifts of a building: their tables, and the lines that join them with floors.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/suggestion.hpp"
#include "crowd/plan/building_plan.hpp"

namespace scree {

namespace {

/// Overlaps of areas below this are rounding [m2].
constexpr Real min_overlap = 1e-3;
/// What a person is reckoned to need in a cabin if the deck does not say how many it holds [m2].
constexpr Real area_of_person = 0.25;

}  // namespace

void BuildingPlan::describe_lifts(Section& root) {
  root.tables(
      "lifts", {.doc = "A lift: a cabin that takes people from floors to one floor."},
      [&](const std::string& name, Section& section) {
        auto level = std::make_unique<Level>();
        level->name = name;
        Lift lift;
        const Ring cabin =
            read_ring(section, "cabin", true,
                      "corners of the cabin, the same on all floors that it serves, outside of "
                      "their walkable area");
        std::vector<std::vector<Real>> door;
        section.points("door", door, 2,
                       {.unit = Unit::length,
                        .required = true,
                        .doc = "two ends of its door, on the border of the cabin and of each floor served"});
        std::vector<std::string> floors;
        section.texts("floors", floors, {.required = true, .doc = "names of the floors that it serves"});
        std::string to;
        section.text(
            "to", to,
            {.required = true, .doc = "the one of them at which people get out; on the others they get in"});
        section.integer(
            "capacity", lift.capacity,
            {.range = {.min = 1}, .doc = "most people in it; not given: one for each 0.25 m2 of the cabin"});
        section.real("speed", lift.speed,
                     {.unit = Unit::speed, .range = positive, .required = true, .doc = "of the cabin"});
        section.real(
            "door_time", lift.door_time,
            {.unit = Unit::time, .range = non_negative, .doc = "to open and to close the door, together"});
        section.real("dwell", lift.dwell,
                     {.unit = Unit::time,
                      .range = positive,
                      .doc = "the door closes when nobody has come through it for this time"});
        section.real(
            "wait", lift.wait,
            {.unit = Unit::time,
             .range = non_negative,
             .doc = "how long people reckon to wait for it when they choose a route; not given: until "
                    "a cabin has come from the floor where people get out"});
        section.real("closed_from", lift.closed_from,
                     {.unit = Unit::time,
                      .range = positive,
                      .doc = "when it closes: nobody enters it from then on, and who is in it still rides"});
        if (!section.reading()) return;
        if (levels_.size() == 1 && levels_[0]->name.empty())
          section.fail("", "lifts join floors: the deck has [walkable], and no [floors.NAME]");
        if (find(name) >= 0)
          section.fail("", fmt::format("there is a floor or connector \"{}\" already: give the lift another "
                                       "name",
                                       name));
        level->where = section.where("cabin");
        level->plan.use_polygon(cabin, level->where);
        lift.door = line_of(section, "door", door);
        lift.where_door = section.where("door");
        if (lift.capacity == 0)
          lift.capacity =
              std::max<std::int64_t>(1, static_cast<std::int64_t>(level->plan.free_area() / area_of_person));
        find_stops(section, lift, floors, to);
        level->elevation = lift.stops[lift.to].elevation;
        level->lift = std::move(lift);
        levels_.push_back(std::move(level));
      });
}

void BuildingPlan::find_stops(const Section& section, Lift& lift, const std::vector<std::string>& floors,
                              const std::string& to) const {
  for (const std::string& name : floors) {
    const int floor = floor_named(name, section.where("floors"));
    const Real elevation = level(floor).elevation;
    for (const Lift::Stop& other : lift.stops) {
      if (other.floor == floor) section.fail("floors", fmt::format("\"{}\" is listed twice", name));
      if (other.elevation == elevation)
        section.fail("floors", fmt::format("\"{}\" and \"{}\" are both {:g} m high: a lift cannot stop at "
                                           "both",
                                           level(other.floor).name, name, elevation));
    }
    lift.stops.push_back({floor, elevation});
  }
  if (lift.stops.size() < 2)
    section.fail("floors", fmt::format("a lift serves two floors or more, not {}", lift.stops.size()));
  std::ranges::sort(lift.stops, {}, &Lift::Stop::elevation);
  const auto found = std::ranges::find(lift.stops, find(to), &Lift::Stop::floor);
  if (found == lift.stops.end())
    section.fail("to", fmt::format("\"{}\" is none of the floors that the lift serves: \"{}\"", to,
                                   fmt::join(floors, "\", \"")));
  lift.to = static_cast<std::size_t>(found - lift.stops.begin());
}

void BuildingPlan::join_lift(int number, Real largest_radius, std::vector<LevelLine>& lines) {
  Level& level = *levels_[number];
  Lift& lift = *level.lift;
  const Ring cabin = level.plan.area()[0].outline;
  const Vec<2> a = lift.door[0], b = lift.door[1];
  const Real depth = depth_behind_line(largest_radius);
  const Vec<2> outward = border_opened(number, a, b, depth, lift.where_door, "lifts." + level.name);
  lift.inward = -outward;
  for (const Vec<2>& corner : cabin) lift.depth = std::max(lift.depth, dot(lift.inward, corner - a));
  constexpr Real far_in = 0.75;
  lift.inside = 0.5 * (a + b) + far_in * std::min(depth, lift.depth) * lift.inward;
  // Routes out of the cabin lead over its first line.
  std::vector<std::size_t> order{lift.to};
  for (std::size_t k = 0; k < lift.stops.size(); ++k)
    if (k != lift.to) order.push_back(k);
  for (const std::size_t k : order) {
    Lift::Stop& stop = lift.stops[k];
    const std::string& name = this->level(stop.floor).name;
    const Real overlap = plan(stop.floor).free_area(cabin);
    if (overlap > min_overlap)
      throw InputError(
          fmt::format("{}: {:.3g} m2 of the cabin lie in the walkable area of [floors.{}]: take the "
                      "shaft out of it, say by an obstacle",
                      level.where, overlap, name));
    const Vec<2> in = border_opened(stop.floor, a, b, depth, lift.where_door, "floors." + name);
    if (dot(in, lift.inward) < 0)
      throw InputError(fmt::format("{}: the floor \"{}\" and [lifts.{}] lie on the same side of the door",
                                   lift.where_door, name, level.name));
    stop.line = lines.size();
    lines.push_back({.a = a,
                     .b = b,
                     .level = {stop.floor, number},
                     .outward = lift.inward,
                     .depth = depth,
                     .is_open = false});
  }
  for (int other = 0; other < number; ++other) {
    if (!this->level(other).lift) continue;
    if (const Real overlap = plan(other).free_area(cabin); overlap > min_overlap)
      throw InputError(fmt::format("{}: the cabins of [lifts.{}] and [lifts.{}] overlap by {:.3g} m2",
                                   level.where, this->level(other).name, level.name, overlap));
  }
}

void BuildingPlan::stand(int lift, int at, Real elevation) {
  Level& level = *levels_[lift];
  level.elevation = elevation;
  for (std::size_t k = 0; k < level.lift->stops.size(); ++k)
    map_->set_open(level.lift->stops[k].line, static_cast<int>(k) == at);
}

}  // namespace scree
