#include "crowd/plan/plan_gap.hpp"

#include <fmt/format.h>

#include "crowd/plan/floor_plan_geos.hpp"

namespace scree {

WayCheck::WayCheck(const FloorPlan& plan, std::span<const Ring> regions, Real radius)
    : plan_(plan), radius_(radius) {
  const auto add = [&](const Vec<2>& x) {
    parts_.insert(plan.part_of(x, radius));
    target_ = x;
  };
  for (const Ring& ring : regions) {
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
}

bool WayCheck::has_no_way(const Vec<2>& x) const {
  const int part = plan_.part_of(x, radius_);
  return part >= 0 && !parts_.contains(part);
}

std::string WayCheck::gap_text(const Vec<2>& x) const {
  const Geos geos;
  std::vector<Geometry> pieces;
  for (const PolygonWithHoles& polygon : plan_.area()) pieces.push_back(geos.polygon(polygon));
  const auto piece_of = [&](const Vec<2>& at) {
    const Geometry point = geos.point(at);
    std::size_t nearest = 0;
    Real least = HUGE_VAL;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Real distance = geos.distance(pieces[i], point);
      if (distance < least) nearest = i, least = distance;
    }
    return nearest;
  };
  const std::size_t of_x = piece_of(x), of_y = piece_of(target_);
  if (of_x == of_y) return {};
  const auto [end, other_end] = geos.nearest_points(pieces[of_x], pieces[of_y]);
  return fmt::format(
      "; the plan is in pieces: this one and that of the destination are {:.3g} m apart at ({:.3f}, {:.3f}) "
      "m",
      norm(other_end - end), 0.5 * (end[0] + other_end[0]), 0.5 * (end[1] + other_end[1]));
}

}  // namespace scree
