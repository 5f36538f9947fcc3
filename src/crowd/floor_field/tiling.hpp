#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "geometry/box.hpp"

namespace scree {

/// Square cells of one size [m] in a rectangle, periodic along some axes.
struct CellGrid {
  Vec<2> origin;  ///< lower corner of cell (0, 0)
  Real cell = 0;
  std::int64_t nx = 0, ny = 0;
  std::array<bool, 2> periodic{};

  std::int64_t count(int axis) const { return axis == 0 ? nx : ny; }
  Real length(int axis) const { return static_cast<Real>(count(axis)) * cell; }
  Vec<2> centre(std::int64_t i, std::int64_t j) const {
    return origin + cell * Vec<2>{{static_cast<Real>(i) + 0.5, static_cast<Real>(j) + 0.5}};
  }
  /// x moved into the grid along its periodic axes.
  Vec<2> wrapped(Vec<2> x) const {
    for (int k = 0; k < 2; ++k)
      if (periodic[k]) x[k] -= length(k) * std::floor((x[k] - origin[k]) / length(k));
    return x;
  }
};

/// The four neighbours of a cell or tile.
enum class Side : std::uint8_t { left, right, lower, upper };
inline constexpr std::array<Side, 4> all_sides{Side::left, Side::right, Side::lower, Side::upper};
constexpr Side opposite(Side side) {
  return static_cast<Side>(static_cast<std::uint8_t>(side) ^ 1U);
}

/// A grid for each level of a building, cut into square tiles, and which rank owns each: tiles along a Morton
/// curve, cut into ranges with about as many walkable cells each, which are dealt out to the ranks in turn,
/// so that a front that passes over the grid keeps all ranks busy. Tiles above each other have one owner.
/// Tiles are numbered level by level, row by row. Every rank has the table of owners: 4 bytes per
/// tile.
class Tiling {
 public:
  static constexpr int default_edge = 32;
  static constexpr int ranges_per_rank = 8;
  /// Tiles of edge x edge cells (a power of two); those at the upper ends of the grid may have fewer.
  explicit Tiling(const CellGrid& grid = {}, int edge = default_edge, int n_levels = 1);

  const CellGrid& grid() const { return grid_; }
  int edge() const { return edge_; }
  /// edge() = 2 to this power.
  int edge_bits() const { return edge_bits_; }
  std::int64_t tiles(int axis) const { return axis == 0 ? tiles_x_ : tiles_y_; }
  int n_levels() const { return n_levels_; }
  std::int64_t tiles_of_level() const { return tiles_x_ * tiles_y_; }
  std::int64_t n_tiles() const { return n_levels_ * tiles_of_level(); }
  int level(std::int64_t tile) const {
    return n_levels_ == 1 ? 0 : static_cast<int>(tile / tiles_of_level());
  }
  std::int64_t tile(std::int64_t column, std::int64_t row, int level) const {
    return column + tiles_x_ * row + level * tiles_of_level();
  }
  std::int64_t first_column(std::int64_t tile) const { return tile % tiles_x_ * edge_; }
  std::int64_t first_row(std::int64_t tile) const { return tile / tiles_x_ % tiles_y_ * edge_; }
  /// Centre of a cell, counted in its tile.
  Vec<2> centre(std::int64_t tile, int i, int j) const {
    return grid_.centre(first_column(tile) + i, first_row(tile) + j);
  }
  int width(std::int64_t tile) const;
  int height(std::int64_t tile) const;
  /// The tile of the same level beyond a side, or -1; through a periodic face it may be the same tile.
  std::int64_t neighbour(std::int64_t tile, Side side) const;

  /// Calls f(i, j), row by row, for the cells of a tile, and of a rim of `rim` cells around it, whose centres
  /// are within `reach` [m] of a box, and for some that are a little farther. Cells are counted in the tile,
  /// as if it had edge() of them each way.
  template <class F>
  void for_cells_near(std::int64_t tile, const Box<2>& box, Real reach, int rim, const F& f) const {
    const auto range = [&](int axis, std::int64_t first) {
      const auto index = [&](Real x) {
        return (x - grid_.origin[axis]) / grid_.cell - static_cast<Real>(first);
      };
      const auto bounded = [&](Real i) { return static_cast<int>(std::clamp<Real>(i, -rim, edge_ + rim)); };
      return std::pair{bounded(std::floor(index(box.lower[axis] - reach)) - 1),
                       bounded(std::ceil(index(box.upper[axis] + reach)) + 1)};
    };
    const auto columns = range(0, first_column(tile)), rows = range(1, first_row(tile));
    for (int j = rows.first; j < rows.second; ++j)
      for (int i = columns.first; i < columns.second; ++i) f(i, j);
  }

  /// Gives each tile with walkable cells an owner. `n_walkable` is asked once per tile, on one rank.
  /// Collective.
  void share_out(const Comm& comm, const std::function<std::int64_t(std::int64_t)>& n_walkable);
  /// Rank that owns the tile; -1: nothing in it is walkable.
  int owner(std::int64_t tile) const { return owner_[tile]; }
  /// Tiles of this rank, in ascending order.
  std::span<const std::int64_t> own() const { return own_; }

 private:
  CellGrid grid_;
  int edge_;
  int edge_bits_;
  int n_levels_;
  std::int64_t tiles_x_, tiles_y_;
  std::vector<std::int32_t> owner_;
  std::vector<std::int64_t> own_;
};

}  // namespace scree
