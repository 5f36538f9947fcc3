#pragma once
#include <span>
#include <utility>
#include <vector>

#include "crowd/floor_field/tiling.hpp"
#include "crowd/plan/building_plan.hpp"

namespace scree {

/// A place where the free space between walls and columns is narrowest: the segment across it.
struct NarrowPlace {
  Vec<2> a, b;     ///< on the two sides [m]
  Real width = 0;  ///< [m]
  int level = 0;   ///< of the building
};

/// Widths that differ by less are equal [m].
inline constexpr Real rounding_of_widths = 1e-6;
/// Whether a disk of this radius gets through: it may touch both sides.
inline bool fits(Real width, Real radius) {
  return width >= 2 * radius - rounding_of_widths;
}

/// All narrow places of a building that are less than `max` [m] wide, widest first. They are the segments
/// between two corners, walls or columns whose disk (the segment is its diameter) has nothing else in it: the
/// saddles of the distance from walls. So with a wall across each of those that a disk is too wide for, the
/// plan hangs together as the places do where the centre of the disk can be; and such a wall shuts nothing
/// else, as no point of it is farther than half its length from a wall. `grid`: periodic axes, images count.
/// Local, alike on all ranks; O(walls) where walls lie loosely.
std::vector<NarrowPlace> find_narrow_places(const BuildingPlan& building, const CellGrid& grid, Real max);

/// People of one range of radii, who have routes of their own.
struct WidthClass {
  Real up_to = HUGE_VAL;                  ///< everybody up to this radius who is in no class before it [m]
  Real largest = 0;                       ///< of their radii [m]; 0: widths do not matter
  std::vector<std::vector<Edge>> shut{};  ///< by level: across the places that they are too wide for
};

/// The classes of people with radii in these ranges (min and max): two radii are in one if the same
/// `places` are too narrow for them. At most `max_classes`: those with the nearest radii are taken together,
/// with the routes of the wider one.
std::vector<WidthClass> width_classes(std::span<const NarrowPlace> places, int n_levels,
                                      std::span<const std::pair<Real, Real>> radii, std::size_t max_classes);

}  // namespace scree
