#include "crowd/plan/plan_gap.hpp"

#include <fmt/format.h>

#include "crowd/plan/floor_plan_geos.hpp"

namespace scree {

std::string gap_text(std::span<const PolygonWithHoles> area, const Vec<2>& x, const Vec<2>& y) {
  const Geos geos;
  std::vector<Geometry> pieces;
  for (const PolygonWithHoles& polygon : area) pieces.push_back(geos.polygon(polygon));
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
  const std::size_t of_x = piece_of(x), of_y = piece_of(y);
  if (of_x == of_y) return {};
  const auto [end, other_end] = geos.nearest_points(pieces[of_x], pieces[of_y]);
  return fmt::format(
      "; the plan is in pieces: this one and that of the destination are {:.3g} m apart at ({:.3f}, {:.3f}) "
      "m",
      norm(other_end - end), 0.5 * (end[0] + other_end[0]), 0.5 * (end[1] + other_end[1]));
}

}  // namespace scree
