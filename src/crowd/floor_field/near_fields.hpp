#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "crowd/floor_field/people_at.hpp"
#include "crowd/floor_field/terrain.hpp"
#include "crowd/floor_field/tiling.hpp"

namespace scree {

/// What a rank has at hand of the fields: whole tiles near its people, ready to be asked from any point.
class NearFields {
 public:
  /// Eight bytes: what a crowd asks of a field each step should stay in the caches.
  struct Cell {
    /// T [s], infinite if nothing leads on. A minus sign says that the destination reaches into the cell.
    float time;
    /// Unit vector of the route from the centre of the cell, times 32767; zero in the destination.
    std::int16_t x, y;

    Cell() = default;
    /// `direction` of any length.
    Cell(Real seconds, bool is_reached, const Vec<2>& direction);
  };

  NearFields(const Tiling& tiling, const Terrain& terrain, std::size_t n_fields);

  /// Numbers of the tiles within `margin` of the people that have an owner, in ascending order, also on the
  /// levels that they may get to from there (`map`, null: one level). Local, O(people).
  std::vector<std::int64_t> tiles_near(const PeopleAt& people, const LevelMap* map, Real margin);
  /// Of these tiles those that are not here. Forgets others if there are many of them.
  std::vector<std::int64_t> missing(std::span<const std::int64_t> tiles);
  /// Tiles that are here.
  std::vector<std::int64_t> present() const;
  /// Room for a tile: cells of one field after the other, row by row in rows of tiling.edge().
  std::span<Cell> room(std::int64_t tile);

  /// Blends of the cells around x that no wall cuts off from x; of the nearest such cell within two cells if
  /// none of those has a value. Infinite, or zero, if there is none either. Local, O(1).
  Real time(std::size_t field, const Vec<2>& x, int level) const;
  struct Route {
    Real time = HUGE_VAL;       ///< as time()
    Vec<2> direction{};         ///< unit or zero
    bool may_be_there = false;  ///< the destination reaches into the cell that holds x
  };
  Route route(std::size_t field, const Vec<2>& x, int level) const;
  /// Asks for the cells around x from memory, for a question soon.
  void prefetch(std::size_t field, const Vec<2>& x, int level) const;

 private:
  struct Tile {
    std::int64_t number = -1;
    std::vector<Cell> cells;
    // Of each cell the walls that come between a point in it and the centres around it, as numbers in
    // terrain.walls(); empty if there are none in the whole tile.
    TileLists<std::uint32_t> walls;
  };
  /// The four cells around a point, the lower left first.
  struct Around {
    std::array<const Cell*, 4> cells{};  // null: not there, or cut off
    std::array<Real, 4> weights{};
    const Cell* own = nullptr;  // the cell that holds the point
    Vec<2> own_centre;
  };

  const Tile* tile_at(std::int64_t column, std::int64_t row, int level, int& local_column,
                      int& local_row) const;
  const Cell* cell_at(std::size_t field, std::int64_t column, std::int64_t row, int level) const;
  bool locate(std::size_t field, const Vec<2>& x, int level, Around& around) const;
  Real time_among(std::size_t field, const Vec<2>& x, int level, const Around& around) const;
  const Cell* nearest(std::size_t field, const Vec<2>& x, int level, Vec<2>& centre) const;
  void find_walls(Tile& tile) const;

  const Tiling& tiling_;
  const Terrain& terrain_;
  std::size_t n_fields_;
  std::size_t n_cells_;             // of a tile
  Real per_cell_;                   // 1 / cell
  std::vector<std::int32_t> slot_;  // by tile; -1: not here
  std::vector<Tile> tiles_;
  std::vector<std::int32_t> free_;
  std::vector<std::uint32_t> stamps_;  // by tile: the last search that found it
  std::uint32_t stamp_ = 0;
};

}  // namespace scree
