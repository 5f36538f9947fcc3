#include "crowd/plan/building_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/suggestion.hpp"
#include "geometry/edge.hpp"

namespace scree {

namespace {

enum class ConnectorType { stair, ramp, escalator, level };

bool is_closed(const Incline& connector, Real time) {
  constexpr Real rounding = 1e-9;  // times are sums of steps
  return time + rounding >= connector.closed_from;
}

Vec<2> middle(const std::array<Vec<2>, 2>& line) {
  return 0.5 * (line[0] + line[1]);
}

/// The part of a line that centres of people of `radius` cross: walls begin at its ends.
Edge part_for_centres(const LevelLine& line, Real radius) {
  const Vec<2> way = line.b - line.a;
  const Vec<2> margin = std::min(radius / norm(way), 0.49) * way;
  return {line.a + margin, line.b - margin};
}

struct WayBetween {
  Vec<2> way;   ///< [m]
  Vec<2> from;  ///< its start, on the first edge
};
/// The shortest way from one edge to another that it does not cross.
WayBetween shortest_way(const Edge& one, const Edge& other) {
  WayBetween shortest{filled<2>(HUGE_VAL), {}};
  const auto look = [&](const Vec<2>& end, const Edge& edge, bool is_start) {
    const Foot foot = foot_on(edge, end, edge.normal);
    if (!(foot.distance < norm(shortest.way))) return;
    const Vec<2> to_foot = -foot.distance * foot.away;
    shortest = is_start ? WayBetween{to_foot, end} : WayBetween{-to_foot, end + to_foot};
  };
  for (const Vec<2>& end : {one.a, one.b}) look(end, other, true);
  for (const Vec<2>& end : {other.a, other.b}) look(end, one, false);
  return shortest;
}

/// Unit vector across a line into one of its levels.
Vec<2> into(const LevelLine& line, int level) {
  return line.level[1] == level ? line.outward : -line.outward;
}

}  // namespace

Real Incline::stretch(const Vec<2>& direction) const {
  return std::hypot(1, gradient() * dot(direction, uphill));
}

Real Level::height(const Vec<2>& x) const {
  if (!incline) return elevation;
  return elevation +
         incline->gradient() * std::clamp(dot(x - incline->foot, incline->uphill), 0.0, incline->run);
}

void BuildingPlan::describe(Section& root) {
  describe_floors(root);
  if (!root.reading()) {
    FloorPlan().describe(root);
  } else if (levels_.empty()) {
    levels_.push_back(std::make_unique<Level>());
    levels_.back()->plan.describe(root);
    levels_.back()->where = levels_.back()->plan.where();
  } else if (root.has("walkable")) {
    root.fail("walkable", "the deck has [floors.NAME]: say where people can be in [floors.NAME.walkable]");
  }
  describe_connectors(root);
  describe_lifts(root);
}

void BuildingPlan::describe_floors(Section& root) {
  root.tables("floors", {.doc = "A floor of a building of several, instead of [walkable]."},
              [&](const std::string& name, Section& section) {
                auto floor = std::make_unique<Level>();
                floor->name = name;
                section.real("elevation", floor->elevation,
                             {.unit = Unit::length, .required = true, .doc = "height of the floor"});
                floor->plan.describe(section);
                if (!section.reading()) return;
                floor->where = floor->plan.where();
                levels_.push_back(std::move(floor));
              });
}

BuildingPlan::End BuildingPlan::describe_end(Section& section, const char* key, const char* doc) {
  End end;
  section.table(key, {.required = true, .doc = doc}, [&](Section& table) {
    table.text("floor", end.floor, {.required = true, .doc = "name of the floor"});
    std::vector<std::vector<Real>> line;
    table.points("line", line, 2,
                 {.unit = Unit::length,
                  .required = true,
                  .doc = "two ends of the line on the border of the floor that people cross"});
    if (!table.reading()) return;
    end.where = table.where("line");
    end.line = line_of(table, "line", line);
  });
  return end;
}

void BuildingPlan::describe_connectors(Section& root) {
  root.tables(
      "connectors", {.doc = "What people take from one floor to another."},
      [&](const std::string& name, Section& section) {
        if (section.reading() && find(name) >= 0)
          section.fail("",
                       fmt::format("there is a floor \"{}\" already: give the connector another name", name));
        auto level = std::make_unique<Level>();
        level->name = name;
        Incline incline;
        ConnectorType type = ConnectorType::stair;
        section.choice(
            "type", type,
            {{"stair", ConnectorType::stair},
             {"ramp", ConnectorType::ramp},
             {"escalator", ConnectorType::escalator},
             {"level", ConnectorType::level}},
            {.doc = "\"stair\": one straight flight; \"ramp\"; \"escalator\"; \"level\": a bridge"});
        const Ring ring = read_ring(section, "polygon", true,
                                    "corners of its plan, which may lie above or below floors and other "
                                    "connectors");
        Real up = std::nan(""), down = std::nan("");
        section.real("up_factor", up,
                     {.range = positive,
                      .doc = "factor of desired speeds along the slope, upwards; 0.5 of a stair, else 1, if "
                             "not given"});
        section.real("down_factor", down,
                     {.range = positive, .doc = "the same downwards; 0.75 of a stair, else 1, if not given"});
        std::string factors;
        section.choice(
            "factors", factors, {"fruin"},
            {.doc = "of a stair, instead of up_factor and down_factor: \"fruin\": speeds of a table "
                    "of J. J. Fruin, by age and sex of [agents.NAME]"});
        // Not given: values that the keys refuse.
        Real speed = std::nan(""), walk = std::nan("");
        std::string direction;
        section.real("speed", speed,
                     {.unit = Unit::speed,
                      .range = non_negative,
                      .doc = "of an escalator, required: speed of the steps along the slope"});
        section.choice(
            "direction", direction, {"up", "down"},
            {.doc = "where people may go: \"up\", from bottom to top, or \"down\"; both ways if not "
                    "given; required of an escalator"});
        section.real(
            "walk", walk,
            {.range = unit_interval,
             .doc = "of an escalator: share of the people who walk on it; the others stand; 0 if not "
                    "given"});
        section.real("closed_from", incline.closed_from,
                     {.unit = Unit::time,
                      .range = positive,
                      .doc = "when it closes: nobody enters it from then on, and who is in it walks out"});
        Connector connector;
        connector.ends[0] = describe_end(section, "bottom", "the lower end");
        connector.ends[1] = describe_end(section, "top", "the upper end");
        if (!section.reading()) return;
        if (levels_.size() == 1 && levels_[0]->name.empty())
          section.fail("", "connectors join floors: the deck has [walkable], and no [floors.NAME]");
        const bool is_escalator = type == ConnectorType::escalator;
        if (is_escalator && !(speed > 0))
          section.fail("speed", "the speed of the escalator is missing: speed = \"0.5 m/s\", say");
        if (is_escalator && direction.empty())
          section.fail("direction", "the direction of the escalator is missing: \"up\" or \"down\"");
        for (const auto& [key, value] : {std::pair("speed", speed), std::pair("walk", walk)})
          if (!is_escalator && std::isfinite(value))
            section.fail(key, fmt::format("{} is a key of escalators only", key));
        incline.one_way = direction == "up" ? 1 : direction == "down" ? -1 : 0;
        if (is_escalator) {
          incline.belt_speed = speed;
          incline.walking_share = std::isfinite(walk) ? walk : 0;
        }
        const bool is_stair = type == ConnectorType::stair;
        constexpr Real usual_up = 0.5, usual_down = 0.75;
        incline.up_factor = std::isfinite(up) ? up : is_stair ? usual_up : 1;
        incline.down_factor = std::isfinite(down) ? down : is_stair ? usual_down : 1;
        incline.is_by_age = !factors.empty();
        if (incline.is_by_age && !is_stair) section.fail("factors", "factors is a key of stairs only");
        for (const auto& [key, value] : {std::pair("up_factor", up), std::pair("down_factor", down)})
          if (incline.is_by_age && std::isfinite(value))
            section.fail(key, fmt::format("factors gives the speeds on this stair: remove {}", key));
        level->where = section.where("polygon");
        level->plan.use_polygon(ring, level->where);
        level->incline = incline;
        connector.level = n_levels();
        place(section, *level, connector);
        const Real rise = level->incline->rise;
        if (type == ConnectorType::level && rise != 0)
          section.fail("type",
                       fmt::format("its ends are {:g} m apart in height: \"level\" joins floors of one "
                                   "elevation; take \"ramp\"",
                                   rise));
        if (type != ConnectorType::level && rise == 0)
          section.fail("type", is_escalator
                                   ? "both ends are at one elevation: take \"level\", which may have a "
                                     "direction, too, and remove speed and walk"
                                   : "both ends are at one elevation: take \"level\"");
        levels_.push_back(std::move(level));
        connectors_.push_back(std::move(connector));
      });
}

/// Finds heights and slope of a connector from its ends.
void BuildingPlan::place(Section& section, Level& level, const Connector& connector) const {
  std::array<int, 2> floors{};
  for (std::size_t e = 0; e < 2; ++e) {
    const End& end = connector.ends[e];
    floors[e] = find(end.floor);
    if (floors[e] >= 0 && this->level(floors[e]).is_floor()) continue;
    std::vector<std::string> names;
    for (const auto& one : levels_)
      if (one->is_floor()) names.push_back(one->name);
    throw InputError(end.where + ": " + no_such_table("floors", end.floor, names));
  }
  Incline& incline = *level.incline;
  incline.lower_floor = floors[0];
  incline.upper_floor = floors[1];
  level.elevation = this->level(floors[0]).elevation;
  incline.rise = this->level(floors[1]).elevation - level.elevation;
  if (incline.rise < 0)
    section.fail("top", fmt::format("the top is {:g} m below the bottom: exchange the two", -incline.rise));
  if (floors[0] == floors[1]) section.fail("top", "both ends are on one floor");
  incline.foot = middle(connector.ends[0].line);
  incline.head = middle(connector.ends[1].line);
  const Vec<2> way = incline.head - incline.foot;
  incline.run = norm(way);
  constexpr Real steepest = 1.7320508;  // 60 degrees
  if (incline.rise > steepest * incline.run)
    section.fail("top", fmt::format("it rises {:g} m over {:g} m from line to line, more than 60 degrees",
                                    incline.rise, incline.run));
  if (incline.rise > 0) incline.uphill = (1 / incline.run) * way;
}

int BuildingPlan::find(const std::string& name) const {
  for (std::size_t k = 0; k < levels_.size(); ++k)
    if (levels_[k]->name == name) return static_cast<int>(k);
  return -1;
}

int BuildingPlan::read_level(Section& section) const {
  std::string name;
  section.text("floor", name,
               {.doc = "name of its floor, or connector, in a building of several: required there"});
  return section.reading() ? level_of(name, section.where("floor")) : 0;
}

std::vector<std::string> BuildingPlan::names() const {
  std::vector<std::string> names;
  for (const auto& level : levels_) names.push_back(level->name);
  return names;
}

int BuildingPlan::level_of(const std::string& name, const std::string& where) const {
  return level_named(name, names(), where);
}

std::string BuildingPlan::wkt() const {
  std::vector<std::string> levels;
  for (const auto& level : levels_) levels.push_back(level->plan.wkt());
  return n_levels() == 1 ? levels[0] : fmt::format("GEOMETRYCOLLECTION ({})", fmt::join(levels, ", "));
}

Box<2> BuildingPlan::bounds() const {
  Box<2> box = Box<2>::empty();
  for (const auto& level : levels_) {
    const Box<2> of_level = level->plan.bounds();
    box.include(of_level.lower);
    box.include(of_level.upper);
  }
  return box;
}

LevelLine BuildingPlan::opened(const End& end, int connector, Real largest_radius) {
  const Vec<2> a = end.line[0], b = end.line[1];
  const Real depth = depth_behind_line(largest_radius);
  const int floor = find(end.floor);
  const std::array<Vec<2>, 2> outward{
      border_opened(floor, a, b, depth, end.where, "floors." + end.floor),
      border_opened(connector, a, b, depth, end.where, "connectors." + level(connector).name)};
  if (dot(outward[0], outward[1]) > 0)
    throw InputError(fmt::format("{}: the floor \"{}\" and [connectors.{}] lie on the same side of the line",
                                 end.where, end.floor, level(connector).name));
  return {.a = a, .b = b, .level = {floor, connector}, .outward = outward[0], .depth = depth};
}

Real BuildingPlan::depth_behind_line(Real largest_radius) {
  // Wider than anybody: nobody whose centre is before the line touches its back.
  return 0.5 + 2 * largest_radius;
}

Vec<2> BuildingPlan::border_opened(int level, const Vec<2>& a, const Vec<2>& b, Real depth,
                                   const std::string& where, const std::string& table) {
  const Ring behind = plan(level).open_border(a, b, depth, fmt::format("{}: [{}]", where, table));
  return (1 / depth) * (behind[2] - behind[1]);
}

void BuildingPlan::join(Real largest_radius) {
  if (n_levels() == 1) return;
  std::vector<LevelLine> lines;
  for (const Connector& connector : connectors_)
    for (const End& end : connector.ends) lines.push_back(opened(end, connector.level, largest_radius));
  for (const Cabin& cabin : lifts_) join_lift(cabin, largest_radius, lines);
  map_ = std::make_shared<LevelMap>(n_levels(), std::move(lines));
}

bool BuildingPlan::may_touch(const Vec<2>& x, int level, int other, Real reach) const {
  if (level == other) return true;
  return map_ && std::ranges::any_of(map_->lines(), [&](const LevelLine& line) {
           if (std::ranges::count(line.level, level) + std::ranges::count(line.level, other) < 2)
             return false;
           const Edge edge(line.a, line.b);
           return foot_on(edge, x, edge.normal).distance < reach;
         });
}

void BuildingPlan::require_lines_apart(Real radius, Real step) const {
  if (!map_) return;
  const std::vector<LevelLine>& lines = map_->lines();
  const auto look = [&](const LevelLine& one, const LevelLine& other, int number) {
    // Only one line of a lift is open at a time.
    if (std::ranges::count(other.level, number) == 0 || level(number).lift) return;
    const Vec<2> in = into(one, number), other_in = into(other, number);
    const Real needed = 2 * radius + step * std::max(0.0, -2 * dot(in, other_in));
    const auto [way, from] = shortest_way(part_for_centres(one, radius), part_for_centres(other, radius));
    // Of lines side by side none leads towards the other.
    constexpr Real rounding = 1e-6;
    if (norm(way) >= needed || dot(in, way) < rounding || dot(other_in, way) > -rounding) return;
    const auto beyond = [&](const LevelLine& line) -> const std::string& {
      return level(line.level[line.level[0] == number ? 1 : 0]).name;
    };
    throw InputError(fmt::format(
        "{}: at ({:.3g}, {:.3g}) m \"{}\" is {:.3g} m long from the line to \"{}\" to that to \"{}\": people "
        "across both lines do not see each other, so it takes {:.3g} m. Make it longer, or one level of two",
        level(number).where, from[0], from[1], level(number).name, norm(way), beyond(one), beyond(other),
        needed));
  };
  for (std::size_t n = 0; n < lines.size(); ++n)
    for (std::size_t m = n + 1; m < lines.size(); ++m)
      for (const int number : lines[n].level) look(lines[n], lines[m], number);
}

std::vector<std::pair<int, PlanFinding>> BuildingPlan::walls_behind_lines(Real radius) const {
  std::vector<std::pair<int, PlanFinding>> found;
  if (!map_) return found;
  for (const LevelLine& line : map_->lines()) {
    if (norm(line.b - line.a) < 2 * radius) continue;  // nobody that wide gets there
    const Edge part = part_for_centres(line, radius);
    for (const int number : line.level) {
      const Real free = radius - 1e-3;  // as much as walls beside the line leave, which begin at its ends
      Real least = free;
      Vec<2> at;
      const auto look = [&](Real distance, const Vec<2>& x) {
        if (distance < least) least = distance, at = x;
      };
      for (const Edge& wall : plan(number).walls()) {
        const auto [way, from] = shortest_way(part, wall);
        look(norm(way), from + way);
      }
      for (const Columns::Column& column : plan(number).columns())
        look(foot_on(part, column.centre, part.normal).distance - column.radius, column.centre);
      if (!(least < free)) continue;
      const int other = line.level[line.level[0] == number ? 1 : 0];
      found.emplace_back(
          number,
          PlanFinding{at,
                      fmt::format("a wall or column is {:.3g} m behind the line to \"{}\": people of radius "
                                  "{:g} m meet it only when their centre is over the line; leave them room",
                                  std::max(least, 0.0), level(other).name, radius)});
    }
  }
  return found;
}

bool BuildingPlan::may_enter(int from, int to, Real time) const {
  if (const auto& lift = level(to).lift) return from != lift->stops[lift->to].floor && !lift->is_closed(time);
  if (const auto& lift = level(from).lift) return to == lift->stops[lift->to].floor;
  const bool is_entry = level(to).incline.has_value();
  const Incline& incline = *level(is_entry ? to : from).incline;
  if (is_entry && is_closed(incline, time)) return false;
  if (incline.one_way == 0) return true;
  return (is_entry ? from : to) ==
         (is_entry == (incline.one_way > 0) ? incline.lower_floor : incline.upper_floor);
}

void BuildingPlan::set_factors(int connector, std::vector<std::array<Real, 2>> of_kinds) {
  Incline& incline = *levels_[static_cast<std::size_t>(connector)]->incline;
  incline.up_factor = incline.down_factor = 0;
  for (const auto& [up, down] : of_kinds) {
    incline.up_factor += up / static_cast<Real>(of_kinds.size());
    incline.down_factor += down / static_cast<Real>(of_kinds.size());
  }
  incline.factor_of_kind = std::move(of_kinds);
}

void BuildingPlan::close_for_good(int connector, Real time) {
  Real& closed_from = levels_[static_cast<std::size_t>(connector)]->incline->closed_from;
  closed_from = std::min(closed_from, time);
}

int BuildingPlan::n_closed(Real time) const {
  return static_cast<int>(std::ranges::count_if(levels_, [&](const auto& level) {
    return (level->incline && is_closed(*level->incline, time)) ||
           (level->lift && level->lift->is_closed(time));
  }));
}

Real BuildingPlan::most_factor() const {
  Real most = 1;
  for (const auto& level : levels_) {
    if (!level->incline) continue;
    most = std::max({most, level->incline->up_factor, level->incline->down_factor});
    for (const auto& [up, down] : level->incline->factor_of_kind) most = std::max({most, up, down});
  }
  return most;
}

Real BuildingPlan::fastest_belt() const {
  Real fastest = 0;
  for (const auto& level : levels_)
    if (level->incline) fastest = std::max(fastest, level->incline->belt_speed);
  return fastest;
}

}  // namespace scree
