#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/buckets.hpp"
#include "crowd/floor_field/tiling.hpp"
#include "crowd/plan/building_plan.hpp"
#include "geometry/walls.hpp"

namespace scree {

/// Which of the four links of a cell are open, as bits.
using Links = std::uint16_t;
constexpr Links link_bit(Side side) {
  return static_cast<Links>(1U << static_cast<unsigned>(side));
}
inline constexpr Links walkable_bit = 1U << 4U;  ///< the centre of the cell is free

template <class T>
using TileLists = Buckets<T, std::uint32_t>;

/// Walls and columns of a level as routes have them: between the faces of periodic axes, with their images,
/// and where other levels begin.
struct RouteWalls {
  std::vector<Edge> walls;
  std::vector<Columns::Column> columns;
};
/// `more`: walls besides those of the plan.
RouteWalls route_walls(const CellGrid& grid, const FloorPlan& plan, std::span<const Edge> more = {});

/// Of x from the nearest point of a wall [m2].
Real squared_distance(const Edge& wall, const Vec<2>& x);

/// Walls and columns as the cells of a tiling have them. On every rank: O(walls + tiles) memory.
///
/// A cell is walkable if its centre is. Two walkable neighbours are linked unless a wall or column touches
/// the segment between their centres, so no route leads through a wall, however thin. Along periodic axes
/// only what lies between the faces of the grid counts, with its images; walls that lie in a face are none.
class Terrain {
 public:
  /// Of the levels of a building, which must stay where it is. `reach` [m]: walls(tile) has all that come
  /// that near to the tile. `more`: walls besides, by level; empty: none. O(walls).
  Terrain(const Tiling& tiling, const BuildingPlan& building, Real reach,
          std::span<const std::vector<Edge>> more = {});

  /// Walls and columns within reach of the tile, as seen in it: images are moved.
  std::span<const Edge> walls(std::int64_t tile) const { return walls_[tile]; }
  std::span<const Columns::Column> columns(std::int64_t tile) const { return columns_[tile]; }

  /// Links of the cells of a tile, row by row in rows of tiling.edge(). O(cells + cells near walls).
  struct Cells {
    std::vector<Links> links;
    std::int64_t n_walkable = 0;
  };
  Cells cells(std::int64_t tile) const;

  /// Distances of the cells from the nearest wall or column, `max` if none is nearer [m]. O(cells near
  /// walls).
  std::vector<float> distances(std::int64_t tile, Real max) const;
  /// The same of a point within reach of the tile. O(walls near the tile).
  Real distance(std::int64_t tile, const Vec<2>& x, Real max) const;
  /// Whether a wall near the tile separates x from `to`. O(walls near the tile).
  bool is_cut(std::int64_t tile, const Vec<2>& x, const Vec<2>& to) const;

 private:
  struct Patch;
  Patch cut_patch(std::int64_t tile) const;
  void find_area(Patch& patch) const;

  const Tiling& tiling_;
  const BuildingPlan& building_;
  TileLists<Edge> walls_;
  TileLists<Columns::Column> columns_;
};

}  // namespace scree
