#include "crowd/floor_field/terrain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace scree {

namespace {

/// What is left of a wall between the faces of periodic axes; false if nothing is.
bool clip(const CellGrid& grid, Vec<2>& a, Vec<2>& b) {
  for (int k = 0; k < 2; ++k) {
    if (!grid.periodic[k]) continue;
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

/// Tiles whose cells come within `reach` of the box, as far as the box says.
Range2 tiles_near(const Tiling& tiling, const Box<2>& box, Real reach) {
  Range2 range;
  const CellGrid& grid = tiling.grid();
  const Real size = grid.cell * tiling.edge();
  for (int k = 0; k < 2; ++k) {
    const auto count = static_cast<Real>(tiling.tiles(k));
    const Real from = std::floor((box.lower[k] - reach - grid.origin[k]) / size);
    const Real to = std::floor((box.upper[k] + reach - grid.origin[k]) / size) + 1;
    range.first[k] = static_cast<std::int64_t>(std::clamp(from, 0.0, count));
    range.last[k] = static_cast<std::int64_t>(std::clamp(to, 0.0, count));
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
    throw RunError("floor field: more than 4e9 pieces of wall near tiles");
  return {std::span(found), static_cast<std::size_t>(n_tiles)};
}

}  // namespace

Real squared_distance(const Edge& wall, const Vec<2>& x) {
  const Real along = std::clamp(dot(wall.tangent, x - wall.a), 0.0, wall.length);
  const Vec<2> away = x - wall.a - along * wall.tangent;
  return dot(away, away);
}

RouteWalls route_walls(const CellGrid& grid, const FloorPlan& plan, std::span<const Edge> more) {
  RouteWalls around;
  std::vector<Edge> walls = plan.walls();
  for (const Edge& fence : plan.fences()) walls.push_back(fence);
  walls.insert(walls.end(), more.begin(), more.end());
  for (const Edge& wall : walls) {
    Vec<2> a = wall.a;
    Vec<2> b = wall.b;
    if (!clip(grid, a, b)) continue;
    for_images(grid, [&](const Vec<2>& shift) { around.walls.emplace_back(a + shift, b + shift); });
  }
  for (const Columns::Column& column : plan.columns())
    for_images(grid, [&](const Vec<2>& shift) {
      around.columns.push_back({column.centre + shift, column.radius});
    });
  return around;
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
    const auto more_here = more.empty() ? std::span<const Edge>() : more[level];
    const RouteWalls around = route_walls(grid, building.plan(level), more_here);
    for (const Edge& wall : around.walls) {
      for_tiles(bounds_of({wall.a, wall.b}), level, [&](std::int64_t tile) {
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
    for (const Columns::Column& column : around.columns)
      for_tiles(column.bounds(), level, [&](std::int64_t tile) { found_columns.emplace_back(tile, column); });
  }
  walls_ = by_tile(found, tiling.n_tiles());
  columns_ = by_tile(found_columns, tiling.n_tiles());
}

/// The cells of a tile and a rim of one cell, which decides about the links that leave the tile.
struct Terrain::Patch {
  enum class Area : std::uint8_t { unknown, outside, inside };
  struct Cell {
    Area area = Area::unknown;
    bool in_column = false;
    bool wall_right = false, wall_above = false;  // to the next cell along x and y
    bool column_right = false, column_above = false;
    bool is_walkable() const { return area == Area::inside && !in_column; }
  };
  Patch(std::int64_t number, int edge)
      : tile(number), stride(edge + 2), cells(static_cast<std::size_t>(stride * stride)) {}
  Cell& at(int i, int j) { return cells[i + 1 + stride * (j + 1)]; }
  /// Whether a route leads from a walkable cell to its neighbour.
  bool is_open(int i, int j, int i2, int j2) {
    if (!at(i2, j2).is_walkable()) return false;
    const Cell& first = at(std::min(i, i2), std::min(j, j2));
    return j == j2 ? !first.wall_right && !first.column_right : !first.wall_above && !first.column_above;
  }

  std::int64_t tile;
  int stride;
  std::vector<Cell> cells;
};

/// Where walls and columns are in the way.
Terrain::Patch Terrain::cut_patch(std::int64_t tile) const {
  const Real cell_size = tiling_.grid().cell;
  Patch patch(tile, tiling_.edge());
  for (const Edge& wall : walls(tile))
    tiling_.for_cells_near(tile, bounds_of({wall.a, wall.b}), cell_size, 1, [&](int i, int j) {
      const Vec<2> x = tiling_.centre(tile, i, j);
      if (std::abs(wall.height(x)) > 2 * cell_size) return;
      Patch::Cell& cell = patch.at(i, j);
      const auto is_cut = [&](const Vec<2>& to) { return segments_touch(x, to, wall.a, wall.b); };
      cell.wall_right = cell.wall_right || is_cut(tiling_.centre(tile, i + 1, j));
      cell.wall_above = cell.wall_above || is_cut(tiling_.centre(tile, i, j + 1));
    });
  for (const Columns::Column& column : columns(tile)) {
    const Real radius2 = column.radius * column.radius;
    tiling_.for_cells_near(tile, column.bounds(), cell_size, 1, [&](int i, int j) {
      const Vec<2> x = tiling_.centre(tile, i, j);
      const Vec<2> away = x - column.centre;
      Patch::Cell& cell = patch.at(i, j);
      const auto is_cut = [&](const Vec<2>& to) {
        return squared_distance(Edge(x, to), column.centre) < radius2;
      };
      cell.in_column = cell.in_column || dot(away, away) < radius2;
      cell.column_right = cell.column_right || is_cut(tiling_.centre(tile, i + 1, j));
      cell.column_above = cell.column_above || is_cut(tiling_.centre(tile, i, j + 1));
    });
  }
  return patch;
}

/// Which cells are in the area. Neighbours with no wall between them are in it together, so few cells need
/// the plan itself. Nothing is concluded through a periodic face, where no wall need be.
void Terrain::find_area(Patch& patch) const {
  using Area = Patch::Area;
  const CellGrid& grid = tiling_.grid();
  const std::int64_t tile = patch.tile;
  const int level = tiling_.level(tile);
  const auto index_of = [&](int i, int j) {
    return std::array<std::int64_t, 2>{tiling_.first_column(tile) + i, tiling_.first_row(tile) + j};
  };
  const auto ask_plan = [&](int i, int j) {
    std::array<std::int64_t, 2> index = index_of(i, j);
    for (std::size_t k = 0; k < 2; ++k) {
      const std::int64_t count = grid.count(static_cast<int>(k));
      if (index[k] >= 0 && index[k] < count) continue;
      if (!grid.periodic[k]) return Area::outside;
      index[k] = (index[k] % count + count) % count;
    }
    return building_.leads_over(grid.centre(index[0], index[1]), level) ? Area::inside : Area::outside;
  };
  const auto beyond = [&](int i, int j) {
    const auto [column, row] = index_of(i, j);
    return column < 0 || column >= grid.nx || row < 0 || row >= grid.ny;
  };
  for (int j = -1; j <= tiling_.height(tile); ++j)
    for (int i = -1; i <= tiling_.width(tile); ++i) {
      Patch::Cell& cell = patch.at(i, j);
      if (cell.in_column) continue;
      const auto conclude_from = [&](int i2, int j2, bool wall) {
        if (cell.area == Area::unknown && !wall && !beyond(i2, j2)) cell.area = patch.at(i2, j2).area;
      };
      if (!beyond(i, j)) {
        if (i >= 0) conclude_from(i - 1, j, patch.at(i - 1, j).wall_right);
        if (j >= 0) conclude_from(i, j - 1, patch.at(i, j - 1).wall_above);
      }
      if (cell.area == Area::unknown) cell.area = ask_plan(i, j);
    }
}

Terrain::Cells Terrain::cells(std::int64_t tile) const {
  Patch patch = cut_patch(tile);
  find_area(patch);
  Cells result;
  const int edge = tiling_.edge();
  result.links.assign(static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge), 0);
  for (int j = 0; j < tiling_.height(tile); ++j)
    for (int i = 0; i < tiling_.width(tile); ++i) {
      if (!patch.at(i, j).is_walkable()) continue;
      ++result.n_walkable;
      Links links = walkable_bit;
      if (patch.is_open(i, j, i - 1, j)) links |= link_bit(Side::left);
      if (patch.is_open(i, j, i + 1, j)) links |= link_bit(Side::right);
      if (patch.is_open(i, j, i, j - 1)) links |= link_bit(Side::lower);
      if (patch.is_open(i, j, i, j + 1)) links |= link_bit(Side::upper);
      result.links[i + edge * j] = links;
    }
  return result;
}

std::vector<float> Terrain::distances(std::int64_t tile, Real max) const {
  const int edge = tiling_.edge();
  std::vector<float> result(static_cast<std::size_t>(edge) * static_cast<std::size_t>(edge),
                            static_cast<float>(max));
  const auto nearer = [&](const Box<2>& box, const auto& distance) {
    tiling_.for_cells_near(tile, box, max, 0, [&](int i, int j) {
      float& min = result[i + edge * j];
      min = std::min(min, static_cast<float>(distance(tiling_.centre(tile, i, j))));
    });
  };
  for (const Edge& wall : walls(tile))
    nearer(bounds_of({wall.a, wall.b}),
           [&](const Vec<2>& x) { return std::sqrt(squared_distance(wall, x)); });
  for (const Columns::Column& column : columns(tile))
    nearer(column.bounds(),
           [&](const Vec<2>& x) { return std::max(0.0, norm(x - column.centre) - column.radius); });
  return result;
}

Real Terrain::distance(std::int64_t tile, const Vec<2>& x, Real max) const {
  Real min = max;
  for (const Edge& wall : walls(tile)) min = std::min(min, std::sqrt(squared_distance(wall, x)));
  for (const Columns::Column& column : columns(tile))
    min = std::min(min, std::max(0.0, norm(x - column.centre) - column.radius));
  return min;
}

bool Terrain::is_cut(std::int64_t tile, const Vec<2>& x, const Vec<2>& to) const {
  return std::ranges::any_of(walls(tile), [&](const Edge& wall) { return crosses(wall, x, to); });
}

}  // namespace scree
