#include "crowd/floor_field/near_fields.hpp"

#include <algorithm>
#include <limits>

namespace scree {

namespace {

constexpr int reach_of_nearest = 2;  // cells

/// Whether the segment comes into the square around a point.
bool comes_into(const Edge& wall, const Vec<2>& middle, Real half) {
  for (int k = 0; k < 2; ++k)
    if (std::min(wall.a[k], wall.b[k]) > middle[k] + half ||
        std::max(wall.a[k], wall.b[k]) < middle[k] - half)
      return false;
  return std::abs(wall.height(middle)) <= half * (std::abs(wall.normal[0]) + std::abs(wall.normal[1]));
}

}  // namespace

NearFields::Cell::Cell(Real seconds, bool is_reached, const Vec<2>& direction)
    : time(static_cast<float>(is_reached ? -seconds : seconds)) {
  const Real length = norm(direction);
  const Real scale = length > 0 ? std::numeric_limits<std::int16_t>::max() / length : 0;
  x = static_cast<std::int16_t>(std::lround(scale * direction[0]));
  y = static_cast<std::int16_t>(std::lround(scale * direction[1]));
}

NearFields::NearFields(const Tiling& tiling, const Terrain& terrain, std::size_t n_fields)
    : tiling_(tiling),
      terrain_(terrain),
      n_fields_(n_fields),
      n_cells_(static_cast<std::size_t>(tiling.edge()) * static_cast<std::size_t>(tiling.edge())),
      per_cell_(1 / tiling.grid().cell),
      slot_(static_cast<std::size_t>(tiling.n_tiles()), -1),
      stamps_(static_cast<std::size_t>(tiling.n_tiles()), 0) {}

std::vector<std::int64_t> NearFields::tiles_near(const PeopleAt& people, const LevelMap* map, Real margin) {
  const CellGrid& grid = tiling_.grid();
  const Real size = grid.cell * tiling_.edge();
  const Real reach = margin + (reach_of_nearest + 1) * grid.cell;
  std::vector<std::int64_t> found;
  ++stamp_;
  std::array<std::array<std::int64_t, 2>, 2> last{{{0, -1}, {0, -1}}};
  LevelMap::Levels last_levels = 0;
  for (std::size_t p = 0; p < people.size(); ++p) {
    const Vec<2> x = grid.wrapped(people.position[p]) - grid.origin;
    std::array<std::array<std::int64_t, 2>, 2> range{};
    for (std::size_t k = 0; k < 2; ++k) {
      const int axis = static_cast<int>(k);
      const auto count = static_cast<Real>(tiling_.tiles(axis));
      if (grid.periodic[k]) {
        // The last tile may be narrower than the others: one more does no harm.
        const Real from = std::floor((x[axis] - reach) / size) - (x[axis] < reach ? 1 : 0);
        const Real to = std::floor((x[axis] + reach) / size) + (x[axis] + reach > grid.length(axis) ? 1 : 0);
        range[k] = {static_cast<std::int64_t>(from),
                    static_cast<std::int64_t>(std::min(to, from + count - 1))};
      } else {
        range[k] = {
            static_cast<std::int64_t>(std::clamp(std::floor((x[axis] - reach) / size), 0.0, count)),
            static_cast<std::int64_t>(std::clamp(std::floor((x[axis] + reach) / size), -1.0, count - 1))};
      }
    }
    const LevelMap::Levels levels =
        map ? map->within_reach(people.position[p], people.level(p), margin) : LevelMap::bit(0);
    if (range == last && levels == last_levels) continue;
    last = range;
    last_levels = levels;
    for (int level = 0; level < tiling_.n_levels(); ++level) {
      if ((levels & LevelMap::bit(level)) == 0) continue;
      for (std::int64_t j = range[1][0]; j <= range[1][1]; ++j)
        for (std::int64_t i = range[0][0]; i <= range[0][1]; ++i) {
          const std::int64_t column = (i % tiling_.tiles(0) + tiling_.tiles(0)) % tiling_.tiles(0);
          const std::int64_t row = (j % tiling_.tiles(1) + tiling_.tiles(1)) % tiling_.tiles(1);
          const std::int64_t tile = tiling_.tile(column, row, level);
          std::uint32_t& stamp = stamps_[tile];
          if (stamp == stamp_ || tiling_.owner(tile) < 0) continue;
          stamp = stamp_;
          found.push_back(tile);
        }
    }
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::int64_t> NearFields::missing(std::span<const std::int64_t> tiles) {
  std::vector<std::int64_t> missing;
  for (const std::int64_t tile : tiles)
    if (slot_[tile] < 0) missing.push_back(tile);

  // People who turn round find their tiles here; but what is kept for them stays below what is in use.
  if (tiles_.size() - free_.size() + missing.size() > 2 * tiles.size())
    for (std::size_t s = 0; s < tiles_.size(); ++s) {
      Tile& tile = tiles_[s];
      if (tile.number < 0 || std::ranges::binary_search(tiles, tile.number)) continue;
      slot_[tile.number] = -1;
      tile = {};
      free_.push_back(static_cast<std::int32_t>(s));
    }
  return missing;
}

std::vector<std::int64_t> NearFields::present() const {
  std::vector<std::int64_t> numbers;
  for (const Tile& tile : tiles_)
    if (tile.number >= 0) numbers.push_back(tile.number);
  std::ranges::sort(numbers);
  return numbers;
}

std::span<NearFields::Cell> NearFields::room(std::int64_t tile) {
  std::int32_t& slot = slot_[tile];
  if (slot < 0) {
    if (free_.empty()) {
      slot = static_cast<std::int32_t>(tiles_.size());
      tiles_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    Tile& made = tiles_[slot];
    made.number = tile;
    made.cells.resize(n_fields_ * n_cells_);
    find_walls(made);
  }
  return tiles_[slot].cells;
}

void NearFields::find_walls(Tile& tile) const {
  const Real half = 1.001 * tiling_.grid().cell;
  const auto walls = terrain_.walls(tile.number);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (std::size_t w = 0; w < walls.size(); ++w)
    tiling_.for_cells_near(tile.number, bounds_of({walls[w].a, walls[w].b}), half, 0, [&](int i, int j) {
      if (comes_into(walls[w], tiling_.centre(tile.number, i, j), half))
        found.emplace_back(static_cast<std::uint32_t>(i + tiling_.edge() * j), static_cast<std::uint32_t>(w));
    });
  tile.walls = {};
  if (!found.empty()) tile.walls = TileLists<std::uint32_t>(std::span(std::as_const(found)), n_cells_);
}

const NearFields::Tile* NearFields::tile_at(std::int64_t column, std::int64_t row, int level,
                                            int& local_column, int& local_row) const {
  const CellGrid& grid = tiling_.grid();
  const auto into = [](std::int64_t& at, std::int64_t count, bool periodic) {
    if (at >= 0 && at < count) return true;
    if (!periodic) return false;
    at = (at % count + count) % count;
    return true;
  };
  if (!into(column, grid.nx, grid.periodic[0]) || !into(row, grid.ny, grid.periodic[1])) return nullptr;
  const int bits = tiling_.edge_bits();
  const std::int64_t tile_column = column >> bits;
  const std::int64_t tile_row = row >> bits;
  local_column = static_cast<int>(column - (tile_column << bits));
  local_row = static_cast<int>(row - (tile_row << bits));
  const std::int32_t slot = slot_[tiling_.tile(tile_column, tile_row, level)];
  return slot < 0 ? nullptr : &tiles_[slot];
}

const NearFields::Cell* NearFields::cell_at(std::size_t field, std::int64_t column, std::int64_t row,
                                            int level) const {
  int i = 0;
  int j = 0;
  const Tile* tile = tile_at(column, row, level, i, j);
  return tile == nullptr ? nullptr
                         : &tile->cells[field * n_cells_ + static_cast<std::size_t>(i + tiling_.edge() * j)];
}

/// False if x is beyond all cells. `x` must be wrapped.
bool NearFields::locate(std::size_t field, const Vec<2>& x, int level, Around& around) const {
  const CellGrid& grid = tiling_.grid();
  const Vec<2> in_cells = per_cell_ * (x - grid.origin);
  // Far outside (or nan) there is nothing to find, and numbers of cells would overflow.
  if (!(in_cells[0] > -2 && in_cells[0] < static_cast<Real>(grid.nx) + 2 && in_cells[1] > -2 &&
        in_cells[1] < static_cast<Real>(grid.ny) + 2))
    return false;
  // Rounded down: conversion rounds towards zero, and faster than std::floor.
  const auto i = static_cast<std::int64_t>(in_cells[0] + 2.5) - 3;
  const auto j = static_cast<std::int64_t>(in_cells[1] + 2.5) - 3;
  const Real fx = in_cells[0] - 0.5 - static_cast<Real>(i);
  const Real fy = in_cells[1] - 0.5 - static_cast<Real>(j);
  const int right = fx >= 0.5 ? 1 : 0;
  const int above = fy >= 0.5 ? 1 : 0;
  around.weights = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};

  int own_i = 0;
  int own_j = 0;
  const Tile* tile = tile_at(i + right, j + above, level, own_i, own_j);
  if (tile == nullptr) {
    for (int n = 0; n < 4; ++n) around.cells[n] = cell_at(field, i + n % 2, j + n / 2, level);
  } else {
    const int edge = tiling_.edge();
    const Cell* cells = &tile->cells[field * n_cells_];
    const int low_i = own_i - right;
    const int low_j = own_j - above;
    around.own = cells + own_i + edge * own_j;
    if (low_i >= 0 && low_j >= 0 && low_i + 1 < edge && low_j + 1 < edge && i + 1 < grid.nx &&
        j + 1 < grid.ny) {
      const Cell* low = cells + low_i + edge * low_j;
      around.cells = {low, low + 1, low + edge, low + edge + 1};
    } else {
      for (int n = 0; n < 4; ++n) around.cells[n] = cell_at(field, i + n % 2, j + n / 2, level);
    }
  }
  around.own_centre = grid.centre(i + right, j + above);
  if (tile == nullptr || tile->walls.empty()) return true;
  const auto near = tile->walls[own_i + tiling_.edge() * own_j];
  if (near.empty()) return true;
  const auto walls = terrain_.walls(tile->number);
  for (int n = 0; n < 4; ++n) {
    const Cell*& seen = around.cells[n];
    if (seen == nullptr || std::isinf(seen->time)) continue;
    const Vec<2> centre = grid.centre(i + n % 2, j + n / 2);
    for (const std::uint32_t w : near)
      if (crosses(walls[w], x, centre)) {
        if (seen == around.own) around.own = nullptr;
        seen = nullptr;
        break;
      }
  }
  return true;
}

/// The nearest cell with a value that no wall cuts off from x.
const NearFields::Cell* NearFields::nearest(std::size_t field, const Vec<2>& x, int level,
                                            Vec<2>& centre) const {
  const CellGrid& grid = tiling_.grid();
  const Vec<2> in_cells = per_cell_ * (x - grid.origin);
  const auto i0 = static_cast<std::int64_t>(std::floor(in_cells[0]));
  const auto j0 = static_cast<std::int64_t>(std::floor(in_cells[1]));
  const Cell* best = nullptr;
  Real min = HUGE_VAL;
  for (std::int64_t j = j0 - reach_of_nearest; j <= j0 + reach_of_nearest; ++j)
    for (std::int64_t i = i0 - reach_of_nearest; i <= i0 + reach_of_nearest; ++i) {
      int local_i = 0;
      int local_j = 0;
      const Tile* tile = tile_at(i, j, level, local_i, local_j);
      if (tile == nullptr) continue;
      const Cell& cell =
          tile->cells[field * n_cells_ + static_cast<std::size_t>(local_i + tiling_.edge() * local_j)];
      if (std::isinf(cell.time)) continue;
      const Vec<2> at = grid.centre(i, j);
      const Real distance = norm(at - x);
      if (distance >= min) continue;
      // Walls are known in the frame of the tile, which may be that of an image.
      const Vec<2> frame = tiling_.centre(tile->number, local_i, local_j);
      if (terrain_.is_cut(tile->number, x + (frame - at), frame)) continue;
      min = distance;
      best = &cell;
      centre = at;
    }
  return best;
}

Real NearFields::time(std::size_t field, const Vec<2>& position, int level) const {
  const Vec<2> x = tiling_.grid().wrapped(position);
  Around around;
  return locate(field, x, level, around) ? time_among(field, x, level, around) : HUGE_VAL;
}

void NearFields::prefetch(std::size_t field, const Vec<2>& position, int level) const {
  const CellGrid& grid = tiling_.grid();
  const Vec<2> in_cells = per_cell_ * (grid.wrapped(position) - grid.origin);
  if (!(in_cells[0] >= 0 && in_cells[0] < static_cast<Real>(grid.nx) && in_cells[1] >= 0 &&
        in_cells[1] < static_cast<Real>(grid.ny)))
    return;
  // The lower left one of the four and the one above it: a row of them is mostly in one line of the cache.
  const auto column = static_cast<std::int64_t>(std::max(in_cells[0] - 0.5, 0.0));
  const auto row = static_cast<std::int64_t>(std::max(in_cells[1] - 0.5, 0.0));
  for (const std::int64_t above : {0, 1}) __builtin_prefetch(cell_at(field, column, row + above, level));
}

Real NearFields::time_among(std::size_t field, const Vec<2>& x, int level, const Around& around) const {
  Real total = 0;
  Real sum = 0;
  for (std::size_t n = 0; n < 4; ++n) {
    if (around.cells[n] == nullptr || std::isinf(around.cells[n]->time)) continue;
    total += around.weights[n];
    sum += around.weights[n] * static_cast<Real>(std::abs(around.cells[n]->time));
  }
  if (total > 0) return sum / total;
  Vec<2> centre;
  const Cell* cell = nearest(field, x, level, centre);
  return cell == nullptr ? HUGE_VAL : static_cast<Real>(std::abs(cell->time));
}

NearFields::Route NearFields::route(std::size_t field, const Vec<2>& position, int level) const {
  const Vec<2> x = tiling_.grid().wrapped(position);
  const auto towards = [&](const Vec<2>& to) {
    const Real length = norm(to - x);
    return length > 0 ? (1 / length) * (to - x) : Vec<2>{};
  };
  Around around;
  if (!locate(field, x, level, around)) return {};
  const Real time = time_among(field, x, level, around);
  const bool may_be_there = around.own != nullptr && std::signbit(around.own->time);
  // Beside the destination, in a cell whose centre is in it.
  if (may_be_there && around.own->time == 0) return {time, towards(around.own_centre), true};
  Vec<2> sum;
  Real total = 0;
  for (std::size_t n = 0; n < 4; ++n) {
    const Cell* cell = around.cells[n];
    if (cell == nullptr) continue;
    const auto cell_x = static_cast<Real>(cell->x);
    const auto cell_y = static_cast<Real>(cell->y);
    total += cell_x != 0 || cell_y != 0 ? around.weights[n] : 0;
    sum[0] += around.weights[n] * cell_x;
    sum[1] += around.weights[n] * cell_y;
  }
  const Real length = norm(sum);
  const auto direction_of = [](const Cell& cell) {
    const Vec<2> direction{{static_cast<Real>(cell.x), static_cast<Real>(cell.y)}};
    return (1 / norm(direction)) * direction;
  };
  // Where two routes are equally long, directions cancel and what is left is chance: there one cell decides.
  constexpr Real cancelled = 0.05 * std::numeric_limits<std::int16_t>::max();
  if (length > cancelled * total) return {time, (1 / length) * sum, may_be_there};
  if (around.own != nullptr && (around.own->x != 0 || around.own->y != 0))
    return {time, direction_of(*around.own), may_be_there};
  Vec<2> centre;
  const Cell* cell = nearest(field, x, level, centre);
  if (cell == nullptr) return {time, {}, may_be_there};
  return {time, cell->x == 0 && cell->y == 0 ? towards(centre) : direction_of(*cell), may_be_there};
}

}  // namespace scree
