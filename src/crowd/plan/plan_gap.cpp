#include "crowd/plan/plan_gap.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "crowd/plan/floor_plan_geos.hpp"

namespace scree {

RouteCheck::RouteCheck(const BuildingPlan& building, const std::vector<Region>& regions, Real radius)
    : building_(building), radius_(radius * (1 - 1e-6)) {  // who touches both sides gets through
  for (const auto& [level, ring] : regions) {
    const auto add = [&, on = level](const Vec<2>& x) {
      parts_.insert(part_of(x, on));
      target_level_ = on;
      target_ = x;
    };
    Vec<2> middle{};
    for (const Vec<2>& corner : ring) middle += (1.0 / static_cast<Real>(ring.size())) * corner;
    if (ring_contains(ring, middle)) add(middle);
    const Box<2> bounds = bounds_of(ring);
    constexpr int n_points = 8;  // along each axis
    for (int i = 0; i <= n_points; ++i)
      for (int j = 0; j <= n_points; ++j) {
        const Vec<2> x{{bounds.lower[0] + bounds.length(0) * i / n_points,
                        bounds.lower[1] + bounds.length(1) * j / n_points}};
        if (ring_contains(ring, x)) add(x);
      }
  }
  if (!building.map()) return;
  const auto& lines = building.map()->lines();
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const LevelLine& line : lines)
      for (const std::size_t side : {0, 1}) {
        const int from = line.level[side], to = line.level[1 - side];
        constexpr Real inside = 1.01;  // of the border of what people can reach with their centres
        const Vec<2> middle = 0.5 * (line.a + line.b);
        const Vec<2> ahead = (side == 0 ? inside : -inside) * radius * line.outward;
        if (building.may_enter(from, to) && parts_.contains(part_of(middle + ahead, to)))
          is_new = parts_.insert(part_of(middle - ahead, from)).second || is_new;
      }
  }
}

bool RouteCheck::reaches(int level) const {
  return std::ranges::any_of(parts_, [&](const Part& part) { return part.first == level; });
}

bool RouteCheck::has_no_route(const Vec<2>& x, int level) const {
  const Part part = part_of(x, level);
  return part.second >= 0 && !parts_.contains(part);
}

std::string RouteCheck::gap_text(const Vec<2>& x, int level) const {
  if (level != target_level_) return {};
  const Geos geos;
  std::vector<Geometry> pieces;
  for (const PolygonWithHoles& polygon : building_.plan(level).area())
    pieces.push_back(geos.polygon(polygon));
  const Geometry all = geos.collection(std::move(pieces));
  const GEOSGeometry *of_x = geos.part_at(all, x), *of_target = geos.part_at(all, target_);
  if (of_x == of_target) return {};
  const auto [end, other_end] = geos.nearest_points(of_x, of_target);
  return fmt::format(
      "; the plan is in pieces: this one and that of the destination are {:.3g} m apart at ({:.3f}, {:.3f}) "
      "m",
      norm(other_end - end), 0.5 * (end[0] + other_end[0]), 0.5 * (end[1] + other_end[1]));
}

}  // namespace scree
