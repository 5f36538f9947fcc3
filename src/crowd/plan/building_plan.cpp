#include "crowd/plan/building_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/suggestion.hpp"
#include "geometry/edge.hpp"

namespace scree {

namespace {

bool is_closed(const Incline& connector, Real time) {
  constexpr Real rounding = 1e-9;  // times are sums of steps
  return time + rounding >= connector.closed_from;
}

/// The part of a line that centres of people of `radius` cross: walls begin at its ends.
Edge part_for_centres(const LevelLine& line, Real radius) {
  const Vec<2> span = line.b - line.a;
  const Vec<2> margin = std::min(radius / norm(span), 0.49) * span;
  return {line.a + margin, line.b - margin};
}

struct EdgeGap {
  Vec<2> gap;   ///< [m]
  Vec<2> from;  ///< its start, on the first edge
};
/// The shortest line from one edge to another that it does not cross.
EdgeGap shortest_gap(const Edge& one, const Edge& other) {
  EdgeGap shortest{filled<2>(HUGE_VAL), {}};
  const auto look = [&](const Vec<2>& end, const Edge& edge, bool is_start) {
    const Foot foot = foot_on(edge, end, edge.normal);
    if (!(foot.distance < norm(shortest.gap))) return;
    const Vec<2> to_foot = -foot.distance * foot.away;
    shortest = is_start ? EdgeGap{to_foot, end} : EdgeGap{-to_foot, end + to_foot};
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

int BuildingPlan::find(const std::string& name) const {
  for (std::size_t k = 0; k < levels_.size(); ++k)
    if (levels_[k]->name == name) return static_cast<int>(k);
  return -1;
}

/// Floors come first among the levels.
int BuildingPlan::floor_named(const std::string& name, const std::string& where) const {
  std::vector<std::string> floors;
  for (const auto& level : levels_)
    if (level->is_floor()) floors.push_back(level->name);
  return table_named("floors", name, floors, where);
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
  for (int number = 0; number < n_levels(); ++number)
    if (level(number).lift) join_lift(number, largest_radius, lines);
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
    const auto [gap, from] = shortest_gap(part_for_centres(one, radius), part_for_centres(other, radius));
    // Of lines side by side none leads towards the other.
    constexpr Real rounding = 1e-6;
    if (norm(gap) >= needed || dot(in, gap) < rounding || dot(other_in, gap) > -rounding) return;
    const auto beyond = [&](const LevelLine& line) -> const std::string& {
      return level(line.level[line.level[0] == number ? 1 : 0]).name;
    };
    throw InputError(fmt::format(
        "{}: at ({:.3g}, {:.3g}) m \"{}\" is {:.3g} m long from the line to \"{}\" to that to \"{}\": people "
        "across both lines do not see each other, so it takes {:.3g} m. Make it longer, or one level of two",
        level(number).where, from[0], from[1], level(number).name, norm(gap), beyond(one), beyond(other),
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
      Real min = free;
      Vec<2> at;
      const auto look = [&](Real distance, const Vec<2>& x) {
        if (distance < min) min = distance, at = x;
      };
      for (const Edge& wall : plan(number).walls()) {
        const auto [gap, from] = shortest_gap(part, wall);
        look(norm(gap), from + gap);
      }
      for (const Columns::Column& column : plan(number).columns())
        look(foot_on(part, column.centre, part.normal).distance - column.radius, column.centre);
      if (!(min < free)) continue;
      const int other = line.level[line.level[0] == number ? 1 : 0];
      found.emplace_back(
          number,
          PlanFinding{at,
                      fmt::format("a wall or column is {:.3g} m behind the line to \"{}\": people of radius "
                                  "{:g} m meet it only when their centre is over the line; leave them room",
                                  std::max(min, 0.0), level(other).name, radius)});
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
  if (incline.allowed_direction == 0) return true;
  return (is_entry ? from : to) ==
         (is_entry == (incline.allowed_direction > 0) ? incline.lower_floor : incline.upper_floor);
}

void BuildingPlan::set_factors(int connector, std::vector<std::array<Real, 2>> of_kinds) {
  Incline& incline = *levels_[connector]->incline;
  incline.up_factor = incline.down_factor = 0;
  for (const auto& [up, down] : of_kinds) {
    incline.up_factor += up / static_cast<Real>(of_kinds.size());
    incline.down_factor += down / static_cast<Real>(of_kinds.size());
  }
  incline.factor_of_kind = std::move(of_kinds);
}

void BuildingPlan::close_for_good(int connector, Real time) {
  Real& closed_from = levels_[connector]->incline->closed_from;
  closed_from = std::min(closed_from, time);
}

int BuildingPlan::n_closed(Real time) const {
  return static_cast<int>(std::ranges::count_if(levels_, [&](const auto& level) {
    return (level->incline && is_closed(*level->incline, time)) ||
           (level->lift && level->lift->is_closed(time));
  }));
}

Real BuildingPlan::max_factor() const {
  Real max = 1;
  for (const auto& level : levels_) {
    if (!level->incline) continue;
    max = std::max({max, level->incline->up_factor, level->incline->down_factor});
    for (const auto& [up, down] : level->incline->factor_of_kind) max = std::max({max, up, down});
  }
  return max;
}

Real BuildingPlan::fastest_belt() const {
  Real fastest = 0;
  for (const auto& level : levels_)
    if (level->incline) fastest = std::max(fastest, level->incline->belt_speed);
  return fastest;
}

}  // namespace scree
