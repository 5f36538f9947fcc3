#pragma once
#include <array>
#include <cstdint>

#include "geometry/convex/closest.hpp"

namespace scree {

/// Contact points of two bodies that meet, with one normal.
template <int D>
struct Manifold {
  static constexpr int max = D == 2 ? 2 : 4;
  struct Point {
    Vec<D> place;               ///< in the middle of the gap, from the centre of a
    Real gap = 0;               ///< between the surfaces along the normal; below 0: overlap
    std::uint32_t feature = 0;  ///< names the point as long as the same corners and edges meet
  };

  Vec<D> normal;  ///< unit vector from a to b
  int n = 0;
  std::array<Point, max> points;
  bool cores_overlap = false;
};

/// Where the normal of a contact comes from. `faces` is wrong where edges meet: a tent of two cards then
/// needs twice the friction to stand. It is there for comparison with programs that work so (scree verify
/// cards).
enum class NormalsOf {
  closest_points,
  faces,  ///< the face along whose normal the cores are farthest apart or overlap least
};

/// The contact points of bodies a and b, their cores with `rounding_a` and `rounding_b` around; none if all
/// gaps are above `reach`. Poses as of closest_points().
///
/// The normal n is that of the closest points. The face whose normal is nearest to n (or to -n on b; a's if
/// both are as near) is the reference; the face of the other body that looks at it is cut off beyond its
/// sides. The remaining corners have gaps along n to the reference's plane, and those up to `width` above the
/// least are points, with the closest ones if these are none of them. Of more than Manifold::most the deepest
/// stays, the farthest from it, and (in space) the farthest from their line on each side; of equals the one
/// with the least feature.
///
/// feature: bit 31 the reference is b; bits 19 to 30 its face; 7 to 18 corner of the other body; 0 to 6 the
/// side that cut off the edge that starts there, from 1; all bits 1: the closest points. Bodies of more than
/// 4095 faces or corners, or faces of more than 32 corners, are beyond it (core_fits()).
///
/// `axis`, if given, is a direction along which the pair was found apart, or 0: it is tried first and
/// replaced by what this call finds. It saves work and changes no result.
///
/// A pure function of its other arguments. Local. Cost 0.4 to 0.55 us for boxes that touch, 0.1 us for boxes
/// that are apart.
template <int D>
Manifold<D> contact_points(const PosedCore<D>& a, const PosedCore<D>& b, Real rounding_a, Real rounding_b,
                           Real reach, Real width, Vec<D>* axis = nullptr,
                           NormalsOf normals = NormalsOf::closest_points);

/// The contact points of a body and a wall that fills n.x >= offset: its lowest corners, as of
/// contact_points(). n points from the body to the wall; offset and places are about the origin of the body's
/// pose. feature: bits 7 to 18 the corner. Local.
template <int D>
Manifold<D> contact_points_with_plane(const PosedCore<D>& body, Real rounding, const Plane<D>& wall,
                                      Real reach, Real width);

/// Whether contact_points() can name all features of a core.
template <int D>
bool core_fits(const ConvexCore<D>& core);

}  // namespace scree
