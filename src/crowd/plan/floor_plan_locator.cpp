#include "crowd/plan/floor_plan_locator.hpp"

#include <algorithm>

namespace scree {

PolygonLocator::PolygonLocator(std::span<const PolygonWithHoles> polygons) {
  Box<2> box = Box<2>::empty();
  std::uint32_t label = 0;
  const auto add = [&](const Ring& ring) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      sides_.push_back({ring[i], ring[(i + 1) % ring.size()], label});
      box.include(ring[i]);
    }
  };
  for (const PolygonWithHoles& polygon : polygons) {
    ++label;
    add(polygon.outline);
    for (const Ring& hole : polygon.holes) add(hole);
  }
  if (sides_.empty()) return;
  // Room around the polygons, so that the first cell of a row has its reference point outside of all.
  const Real margin = 0.01 * std::max(box.length(0), box.length(1));
  box.lower -= filled<2>(margin);
  box.upper += filled<2>(margin);
  constexpr std::size_t max_cells = 4'000'000;
  grid_ = BucketGrid(box, std::clamp<std::size_t>(4 * sides_.size(), 64, max_cells));

  for (std::size_t s = 0; s < sides_.size(); ++s) put_side(s);
  grid_.sort();
  find_labels(box.lower[0]);
}

/// Puts a side into the cells that it passes, and into those that it misses by no more than rounding: it does
/// no harm there.
void PolygonLocator::put_side(std::size_t s) {
  const Real reach_x = 1e-6 * grid_.size(0);
  const Real reach_y = 1e-6 * grid_.size(1);
  const Vec<2>& a = sides_[s].a;
  const Vec<2>& b = sides_[s].b;
  const Real low = std::min(a[1], b[1]);
  const Real high = std::max(a[1], b[1]);
  const int last = grid_.cell_of(1, high + reach_y);
  for (int j = grid_.cell_of(1, low - reach_y); j <= last; ++j) {
    Real left = std::min(a[0], b[0]);
    Real right = std::max(a[0], b[0]);
    if (high - low > grid_.size(1)) {
      const auto x_at = [&a, &b, left, right](Real y) {
        return std::clamp(a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]), left, right);
      };
      const Real x_low = x_at(grid_.lower(1, j) - reach_y);
      const Real x_high = x_at(grid_.lower(1, j + 1) + reach_y);
      left = std::min(x_low, x_high);
      right = std::max(x_low, x_high);
    }
    const int end = grid_.cell_of(0, right + reach_x);
    for (int i = grid_.cell_of(0, left - reach_x); i <= end; ++i)
      grid_.put(i, j, static_cast<std::int32_t>(s));
  }
}

/// `outside`: x of a line that is left of all polygons.
void PolygonLocator::find_labels(Real outside) {
  label_.resize(grid_.place(0, grid_.n(1)));
  for (int j = 0; j < grid_.n(1); ++j) {
    Vec<2> before = reference(0, j);
    std::uint32_t here = crossed(grid_.place(0, j), {{outside, before[1]}}, before);
    label_[grid_.place(0, j)] = here;
    for (int i = 1; i < grid_.n(0); ++i) {
      const Vec<2> next = reference(i, j), border{{grid_.lower(0, i), before[1]}};
      here ^= crossed(grid_.place(i - 1, j), before, border) ^ crossed(grid_.place(i, j), border, next);
      label_[grid_.place(i, j)] = here;
      before = next;
    }
  }
}

Vec<2> PolygonLocator::reference(int i, int j) const {
  // Not the middle: round numbers of plans shall not meet it.
  return {{grid_.lower(0, i) + 0.5127 * grid_.size(0), grid_.lower(1, j) + 0.4871 * grid_.size(1)}};
}

/// Whether x lies to the left of the line a -> b; a point on the line counts as one moved up, and then right,
/// by next to nothing.
bool PolygonLocator::is_left(const Side& side, const Vec<2>& x) {
  // From the lower end, so that the answer for a side does not depend on its direction.
  const bool turned = side.b[1] < side.a[1] || (side.b[1] == side.a[1] && side.b[0] < side.a[0]);
  const Vec<2>& low = turned ? side.b : side.a;
  const Vec<2>& high = turned ? side.a : side.b;
  const Real area = (high[0] - low[0]) * (x[1] - low[1]) - (high[1] - low[1]) * (x[0] - low[0]);
  if (area != 0) return area > 0;
  return high[0] > low[0];
}

/// Exclusive or of the labels of the sides that the path from -> to crosses, first along x, then along y; all
/// in one cell.
std::uint32_t PolygonLocator::crossed(std::size_t cell, const Vec<2>& from, const Vec<2>& to) const {
  std::uint32_t labels = 0;
  const Vec<2> bend{{to[0], from[1]}};
  for (const std::int32_t s : grid_.items(cell)) {
    const Side& side = sides_[s];
    const bool level = (side.a[1] <= from[1]) != (side.b[1] <= from[1]);
    if (level && is_left(side, from) != is_left(side, bend)) labels ^= side.label;
    const bool upright = (side.a[0] <= to[0]) != (side.b[0] <= to[0]);
    if (upright && is_left(side, bend) != is_left(side, to)) labels ^= side.label;
  }
  return labels;
}

int PolygonLocator::find(const Vec<2>& x) const {
  if (sides_.empty() || !grid_.covers(x)) return -1;
  const int i = grid_.cell_of(0, x[0]);
  const int j = grid_.cell_of(1, x[1]);
  const std::size_t cell = grid_.place(i, j);
  return static_cast<int>(label_[cell] ^ crossed(cell, x, reference(i, j))) - 1;
}

}  // namespace scree
