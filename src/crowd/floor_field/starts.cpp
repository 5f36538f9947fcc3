#include <algorithm>
#include <cmath>

#include "crowd/floor_field/floor_field.hpp"

namespace scree {

namespace {

struct Segment {
  Vec<2> a, b;
};

Vec<2> nearest_on(const Segment& segment, const Vec<2>& x) {
  const Vec<2> along = segment.b - segment.a;
  const Real length2 = dot(along, along);
  const Real part = length2 > 0 ? std::clamp(dot(along, x - segment.a) / length2, 0.0, 1.0) : 0.0;
  return segment.a + part * along;
}

}  // namespace

void FloorField::find_lines(ClassFields& fields, std::size_t destination) const {
  const Tiling& tiling = built_->tiling;
  const CellGrid& grid = tiling.grid();
  const Real reach = start_reach_in_cells * grid.cell;
  std::vector<Line>& lines = fields.lines[destination];
  const auto own = tiling.own();
  for (std::size_t k = 0; k < own.size(); ++k) {
    const std::int64_t tile = own[k];
    if (tiling.level(tile) != built_->destinations[destination].level) continue;
    const Vec<2> lower = tiling.centre(tile, 0, 0);
    const Vec<2> upper = tiling.centre(tile, tiling.width(tile), tiling.height(tile));
    const auto is_near = [&](const Box<2>& box) {
      for (int axis = 0; axis < 2; ++axis)
        if (box.lower[axis] > upper[axis] + reach || box.upper[axis] < lower[axis] - reach) return false;
      return true;
    };
    for (const Ring& ring : built_->destinations[destination].regions) {
      if (!is_near(bounds_of(ring))) continue;
      std::vector<Segment> rim;
      for (std::size_t n = 0; n < ring.size(); ++n) {
        const Segment side{ring[n], ring[(n + 1) % ring.size()]};
        if (is_near(bounds_of({side.a, side.b}))) rim.push_back(side);
      }
      for (int j = 0; j < tiling.height(tile); ++j) {
        bool was_inside = false;
        for (int i = 0; i < tiling.width(tile); ++i) {
          const Vec<2> x = tiling.centre(tile, i, j);
          Real min = HUGE_VAL;
          Vec<2> to;
          for (const Segment& side : rim) {
            const Vec<2> foot = nearest_on(side, x);
            const Real distance = norm(foot - x);
            if (distance < min) {
              min = distance;
              to = foot;
            }
          }
          // Only near the rim can a cell be inside and the one before it not.
          const bool inside = (i > 0 && min > 1.5 * grid.cell) ? was_inside : ring_contains(ring, x);
          was_inside = inside;
          const std::uint32_t place = fields.eikonal->place(k, i, j);
          if ((fields.eikonal->links(place) & walkable_bit) == 0) continue;
          if (inside || min == 0)
            lines.push_back({place, k, x, x, 0});
          else if (min < reach && !fields.terrain->is_cut(tile, x, to))
            lines.push_back({place, k, x, to, 0});
        }
      }
    }
  }
  // Regions of one destination may overlap, or be near to the same cell: the nearest counts.
  std::ranges::sort(lines, {}, [](const Line& line) {
    return std::pair{line.place, norm(line.to - line.from)};
  });
  const auto same_place = [](const Line& a, const Line& b) { return a.place == b.place; };
  lines.erase(std::unique(lines.begin(), lines.end(), same_place), lines.end());
  auto& line_of = fields.line_of[destination];
  for (std::size_t n = 0; n < lines.size(); ++n) line_of.emplace(lines[n].place, n);
}

/// Midpoint rule along the line.
Real FloorField::time_along(const ClassFields& fields, const Line& line) const {
  const Real length = norm(line.to - line.from);
  if (length == 0) return 0;
  const std::int64_t tile = built_->tiling.own()[line.own];
  const int level = built_->tiling.level(tile);
  const Real count = std::ceil(2 * length / built_->tiling.grid().cell);
  Real sum = 0;
  for (Real n = 0.5; n < count; ++n) {
    const Vec<2> x = line.from + (n / count) * (line.to - line.from);
    const Real distance = fields.terrain->distance(tile, x, settings_.wall_clearance);
    sum += density_factor(x, level) / (zone_factor(x, level) * clearance_factor(distance));
  }
  return sum * length / count;
}

}  // namespace scree
