#pragma once
#include <span>
#include <vector>

#include "crowd/plan/floor_plan.hpp"
#include "geometry/box.hpp"

namespace scree {

/// The Voronoi cell of each site [m], counter-clockwise: the points nearer to it than to any other. Sites
/// must lie in `reach`; cells end far outside of it. Sites are rounded to a grid of at most 1e-6 m (2^-30 of
/// a `reach` larger than 700 m). Of sites in one place the first has the cell and the others an empty ring.
/// Local; O(n log n).
struct VoronoiCells {
  VoronoiCells(std::span<const Vec<2>> sites, const Box<2>& reach);
  std::vector<Ring> ring;         ///< of each site
  std::vector<std::size_t> same;  ///< the site whose cell this one shares: itself, or the first in its place
  std::vector<int> n_same;        ///< how many share the cell of the site `same`
};

}  // namespace scree
