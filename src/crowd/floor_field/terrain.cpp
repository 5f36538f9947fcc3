#include "crowd/floor_field/terrain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace scree {

namespace {

Real squared_distance(const Edge& wall, const Vec<2>& x) {
  const Real along = std::clamp(dot(wall.tangent, x - wall.a), 0.0, wall.length);
  const Vec<2> away = x - wall.a - along * wall.tangent;
  return dot(away, away);
}

/// What is left of a wall between the faces of periodic axes; false if nothing is.
bool clip(const CellGrid& grid, Vec<2>& a, Vec<2>& b) {
  for (int k = 0; k < 2; ++k) {
    if (!grid.periodic[static_cast<std::size_t>(k)]) continue;
    const Real lower = grid.origin[k];
    const Real upper = lower + grid.length(k);
    const Real in_face = 1e-9 * grid.length(k);
    if (std::max(a[k], b[k]) <= lower + in_face || std::min(a[k], b[k]) >= upper - in_face) return false;
    const Vec<2> from = a;
    const Vec<2> along = b - a;
    for (Vec<2>* end : {&a, &b}) {
      const Real bounded = std::clamp((*end)[k], lower, upper);
      if (bounded == (*end)[k]) continue;
      *end = from + ((bounded - from[k]) / along[k]) * along;
      (*end)[k] = bounded;
    }
  }
  return a != b;
}

struct Range2 {
  std::array<std::int64_t, 2> first{}, last{};  // last: one after
};

/// Tiles whose cells come within `reach` of the box, as far as the box tells.
Range2 tiles_near(const Tiling& tiling, const Box<2>& box, Real reach) {
  Range2 range;
  const CellGrid& grid = tiling.grid();
  const Real size = grid.cell * tiling.edge();
  for (int k = 0; k < 2; ++k) {
    const auto a = static_cast<std::size_t>(k);
    const auto count = static_cast<Real>(tiling.tiles(k));
    const Real from = std::floor((box.lower[k] - reach - grid.origin[k]) / size);
    const Real to = std::floor((box.upper[k] + reach - grid.origin[k]) / size) + 1;
    range.first[a] = static_cast<std::int64_t>(std::clamp(from, 0.0, count));
    range.last[a] = static_cast<std::int64_t>(std::clamp(to, 0.0, count));
  }
  return range;
}

/// Calls do_it(shift) for the place itself and its images along periodic axes.
template <class F>
void for_images(const CellGrid& grid, F&& do_it) {
  const int x = grid.periodic[0] ? 1 : 0;
  const int y = grid.periodic[1] ? 1 : 0;
  for (int j = -y; j <= y; ++j)
    for (int i = -x; i <= x; ++i) do_it(Vec<2>{{i * grid.length(0), j * grid.length(1)}});
}

/// What was found for tiles, by tile.
template <class T>
TileLists<T> by_tile(const std::vector<std::pair<std::int64_t, T>>& found, std::int64_t n_tiles) {
  if (found.size() > std::numeric_limits<std::uint32_t>::max())
    throw RunError("ways: more than 4e9 pieces of wall near tiles");
  return {std::span(found), static_cast<std::size_t>(n_tiles)};
}

}  // namespace

SeenWalls walls_as_seen(const CellGrid& grid, const FloorPlan& plan, std::span<const Edge> more) {
  SeenWalls seen;
  std::vector<Edge> walls = plan.walls();
  for (const Edge& fence : plan.fences()) walls.push_back(fence);
  walls.insert(walls.end(), more.begin(), more.end());
  for (const Edge& wall : walls) {
    Vec<2> a = wall.a;
    Vec<2> b = wall.b;
    if (!clip(grid, a, b)) continue;
    for_images(grid, [&](const Vec<2>& shift) { seen.walls.emplace_back(a + shift, b + shift); });
  }
  for (const Columns::Column& column : plan.columns())
    for_images(grid, [&](const Vec<2>& shift) {
      seen.columns.push_back({column.centre + shift, column.radius});
    });
  return seen;
}

Terrain::Terrain(const Tiling& tiling, const BuildingPlan& building, Real reach,
                 std::span<const std::vector<Edge>> more)
    : tiling_(tiling), building_(building) {
  const CellGrid& grid = tiling.grid();
  const auto for_tiles = [&](const Box<2>& box, int level, const auto& do_it) {
    const Range2 range = tiles_near(tiling, box, reach);
    for (std::int64_t j = range.first[1]; j < range.last[1]; ++j)
      for (std::int64_t i = range.first[0]; i < range.last[0]; ++i) do_it(tiling.tile(i, j, level));
  };

  std::vector<std::pair<std::int64_t, Edge>> found;
  std::vector<std::pair<std::int64_t, Columns::Column>> found_columns;
  for (int level = 0; level < building.n_levels(); ++level) {
    const auto more_here = more.empty() ? std::span<const Edge>() : more[static_cast<std::size_t>(level)];
    const SeenWalls seen = walls_as_seen(grid, building.plan(level), more_here);
    for (const Edge& wall : seen.walls) {
      Box<2> box = Box<2>::empty();
      box.include(wall.a);
      box.include(wall.b);
      for_tiles(box, level, [&](std::int64_t tile) {
        // A long slanted wall passes few of the tiles in its box.
        const Real half_x = 0.5 * grid.cell * tiling_.width(tile);
        const Real half_y = 0.5 * grid.cell * tiling_.height(tile);
        const Vec<2> middle = grid.origin +
                              grid.cell * Vec<2>{{static_cast<Real>(tiling_.first_column(tile)),
                                                  static_cast<Real>(tiling_.first_row(tile))}} +
                              Vec<2>{{half_x, half_y}};
        const Real radius = reach + std::hypot(half_x, half_y);
        if (squared_distance(wall, middle) <= radius * radius) found.emplace_back(tile, wall);
      });
    }
    for (const Columns::Column& column : seen.columns) {
      const Vec<2> extent = filled<2>(column.radius);
      for_tiles({column.centre - extent, column.centre + extent, {}}, level,
                [&](std::int64_t tile) { found_columns.emplace_back(tile, column); });
    }
  }
  walls_ = by_tile(found, tiling.n_tiles());
  columns_ = by_tile(found_columns, tiling.n_tiles());
}

Terrain::Cells Terrain::cells(std::int64_t tile) const {
  const CellGrid& grid = tiling_.grid();
  const int level = tiling_.level(tile);
  const int width = tiling_.width(tile);
  const int height = tiling_.height(tile);
  const std::int64_t column0 = tiling_.first_column(tile) - 1;
  const std::int64_t row0 = tiling_.first_row(tile) - 1;
  // The tile and a rim of one cell, which decides about the links that leave the tile.
  const int n_columns = width + 2;
  const int n_rows = height + 2;
  const auto at = [&](int i, int j) { return static_cast<std::size_t>(i + n_columns * j); };
  const auto centre = [&](int i, int j) { return grid.centre(column0 + i, row0 + j); };

  enum class Area : std::uint8_t { unknown, outside, inside };
  struct Cell {
    Area area = Area::unknown;
    bool in_column = false;
    bool wall_right = false, wall_above = false;  // to the next cell along x and y
    bool column_right = false, column_above = false;
  };
  std::vector<Cell> patch(at(0, n_rows));
  const auto index_range = [&](int axis, Real from, Real to) {
    const Real first = axis == 0 ? static_cast<Real>(column0) : static_cast<Real>(row0);
    const Real most = axis == 0 ? n_columns : n_rows;
    const Real low = std::floor((from - grid.origin[axis]) / grid.cell - 0.5 - first) - 1;
    const Real high = std::ceil((to - grid.origin[axis]) / grid.cell - 0.5 - first) + 2;
    return std::pair{static_cast<int>(std::clamp(low, 0.0, most)),
                     static_cast<int>(std::clamp(high, 0.0, most))};
  };
  const auto for_cells_near = [&](const Vec<2>& lower, const Vec<2>& upper, const auto& do_it) {
    const auto range_x = index_range(0, lower[0], upper[0]);
    const auto range_y = index_range(1, lower[1], upper[1]);
    for (int j = range_y.first; j < range_y.second; ++j)
      for (int i = range_x.first; i < range_x.second; ++i) do_it(i, j);
  };
  for (const Edge& wall : walls(tile)) {
    Box<2> box = Box<2>::empty();
    box.include(wall.a);
    box.include(wall.b);
    for_cells_near(box.lower, box.upper, [&](int i, int j) {
      const Vec<2> x = centre(i, j);
      if (std::abs(wall.height(x)) > 2 * grid.cell) return;
      Cell& cell = patch[at(i, j)];
      cell.wall_right = cell.wall_right || segments_touch(x, centre(i + 1, j), wall.a, wall.b);
      cell.wall_above = cell.wall_above || segments_touch(x, centre(i, j + 1), wall.a, wall.b);
    });
  }
  for (const Columns::Column& column : columns(tile)) {
    const Vec<2> extent = filled<2>(column.radius);
    const Real radius2 = column.radius * column.radius;
    for_cells_near(column.centre - extent, column.centre + extent, [&](int i, int j) {
      const Vec<2> x = centre(i, j);
      const Vec<2> away = x - column.centre;
      Cell& cell = patch[at(i, j)];
      cell.in_column = cell.in_column || dot(away, away) < radius2;
      cell.column_right =
          cell.column_right || squared_distance(Edge(x, centre(i + 1, j)), column.centre) < radius2;
      cell.column_above =
          cell.column_above || squared_distance(Edge(x, centre(i, j + 1)), column.centre) < radius2;
    });
  }

  // Neighbours with no wall between them are in the area together, so few cells need the plan itself. Nothing
  // is concluded through a periodic face, where no wall need be.
  const auto ask_plan = [&](int i, int j) {
    std::array<std::int64_t, 2> index{column0 + i, row0 + j};
    for (std::size_t k = 0; k < 2; ++k) {
      const std::int64_t count = grid.count(static_cast<int>(k));
      if (index[k] >= 0 && index[k] < count) continue;
      if (!grid.periodic[k]) return Area::outside;
      index[k] = (index[k] % count + count) % count;
    }
    return building_.leads_over(grid.centre(index[0], index[1]), level) ? Area::inside : Area::outside;
  };
  const auto beyond = [&](int i, int j) {
    return column0 + i < 0 || column0 + i >= grid.nx || row0 + j < 0 || row0 + j >= grid.ny;
  };
  for (int j = 0; j < n_rows; ++j)
    for (int i = 0; i < n_columns; ++i) {
      Cell& cell = patch[at(i, j)];
      if (cell.in_column) continue;
      const auto conclude_from = [&](int i2, int j2, bool wall) {
        if (cell.area == Area::unknown && !wall && beyond(i, j) == beyond(i2, j2))
          cell.area = patch[at(i2, j2)].area;
      };
      if (!beyond(i, j)) {
        if (i > 0) conclude_from(i - 1, j, patch[at(i - 1, j)].wall_right);
        if (j > 0) conclude_from(i, j - 1, patch[at(i, j - 1)].wall_above);
      }
      if (cell.area == Area::unknown) cell.area = ask_plan(i, j);
    }

  Cells result;
  const int edge = tiling_.edge();
  result.links.assign(static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge), 0);
  const auto open = [&](int i, int j, int i2, int j2) {
    const Cell& other = patch[at(i2, j2)];
    if (other.area != Area::inside || other.in_column) return false;
    const Cell& first = patch[at(std::min(i, i2), std::min(j, j2))];
    return j == j2 ? !first.wall_right && !first.column_right : !first.wall_above && !first.column_above;
  };
  for (int j = 1; j <= height; ++j)
    for (int i = 1; i <= width; ++i) {
      const Cell& cell = patch[at(i, j)];
      if (cell.area != Area::inside || cell.in_column) continue;
      ++result.n_walkable;
      Links links = walkable_bit;
      if (open(i, j, i - 1, j)) links |= link_bit(Side::left);
      if (open(i, j, i + 1, j)) links |= link_bit(Side::right);
      if (open(i, j, i, j - 1)) links |= link_bit(Side::lower);
      if (open(i, j, i, j + 1)) links |= link_bit(Side::upper);
      result.links[static_cast<std::size_t>(i - 1 + edge * (j - 1))] = links;
    }
  return result;
}

std::vector<float> Terrain::distances(std::int64_t tile, Real most) const {
  const CellGrid& grid = tiling_.grid();
  const int edge = tiling_.edge();
  const std::int64_t column0 = tiling_.first_column(tile);
  const std::int64_t row0 = tiling_.first_row(tile);
  std::vector<float> result(static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge),
                            static_cast<float>(most));
  const auto range = [&](int axis, Real from, Real to) {
    const auto first = static_cast<Real>(axis == 0 ? column0 : row0);
    const Real low = std::floor((from - most - grid.origin[axis]) / grid.cell - first);
    const Real high = std::ceil((to + most - grid.origin[axis]) / grid.cell - first);
    return std::pair{static_cast<int>(std::clamp<Real>(low, 0, edge)),
                     static_cast<int>(std::clamp<Real>(high, 0, edge))};
  };
  const auto nearer = [&](const Vec<2>& lower, const Vec<2>& upper, const auto& distance) {
    const auto range_x = range(0, lower[0], upper[0]);
    const auto range_y = range(1, lower[1], upper[1]);
    for (int j = range_y.first; j < range_y.second; ++j)
      for (int i = range_x.first; i < range_x.second; ++i) {
        float& least = result[static_cast<std::size_t>(i + edge * j)];
        least = std::min(least, static_cast<float>(distance(grid.centre(column0 + i, row0 + j))));
      }
  };
  for (const Edge& wall : walls(tile))
    nearer({{std::min(wall.a[0], wall.b[0]), std::min(wall.a[1], wall.b[1])}},
           {{std::max(wall.a[0], wall.b[0]), std::max(wall.a[1], wall.b[1])}},
           [&](const Vec<2>& x) { return std::sqrt(squared_distance(wall, x)); });
  for (const Columns::Column& column : columns(tile)) {
    const Vec<2> extent = filled<2>(column.radius);
    nearer(column.centre - extent, column.centre + extent,
           [&](const Vec<2>& x) { return std::max(0.0, norm(x - column.centre) - column.radius); });
  }
  return result;
}

Real Terrain::distance(std::int64_t tile, const Vec<2>& x, Real most) const {
  Real least = most;
  for (const Edge& wall : walls(tile)) least = std::min(least, std::sqrt(squared_distance(wall, x)));
  for (const Columns::Column& column : columns(tile))
    least = std::min(least, std::max(0.0, norm(x - column.centre) - column.radius));
  return least;
}

bool Terrain::is_cut(std::int64_t tile, const Vec<2>& x, const Vec<2>& to) const {
  return std::ranges::any_of(walls(tile), [&](const Edge& wall) { return crosses(wall, x, to); });
}

}  // namespace scree
