#pragma once
#include <array>
#include <vector>

#include "geometry/convex/hull.hpp"

namespace scree {

/// The surface of a rounded body as triangles, for pictures; in the plane they fill the body.
template <int D>
struct DrawnSurface {
  std::vector<Vec<D>> points;
  std::vector<std::array<int, 3>> triangles;  ///< counter-clockwise from outside
};

/// Of the points within `rounding` of the core, in its frame. Edges and corners are cut off flat where the
/// rounding is too small to be seen, and of facets along arcs of 15 degrees where it is not. Local.
template <int D>
DrawnSurface<D> drawn_surface(const ConvexHull<D>& core, Real rounding);

}  // namespace scree
