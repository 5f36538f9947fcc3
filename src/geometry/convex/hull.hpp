#pragma once
#include <span>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// A convex polygon (2D) or polyhedron (3D) by its corners [m].
template <int D>
struct ConvexHull {
  std::vector<Vec<D>> vertices;  ///< 2D: counter-clockwise
  /// 3D: places in `vertices`, of each face counter-clockwise seen from outside. 2D: empty, as side i goes
  /// from vertex i to the next one.
  std::vector<std::vector<int>> faces;

  bool operator==(const ConvexHull&) const = default;
};

/// A plane n.x = offset with the solid on the side n.x <= offset; n is a unit vector. 2D: a line.
template <int D>
struct Plane {
  Vec<D> normal;
  Real offset = 0;
};

/// The convex hull of `points` [m], by qhull; faces whose planes agree to round-off are one. Points closer to
/// each other than 1e-9 of the largest extent count once. Vertices are points of the input in their order,
/// and faces start at their first vertex and are sorted, so that equal points give equal hulls. Errors:
/// InputError if a coordinate is not finite, or if the points lie in one plane (2D: on one line) or are fewer
/// than D + 1; its text goes on after a name, as "has 3 different points; ...". Cost O(n log n). Local.
/// Source: C. B. Barber, D. P. Dobkin, H. Huhdanpaa, ACM Trans. Math. Softw. 22 (1996) 469-483.
template <int D>
ConvexHull<D> hull_of(std::span<const Vec<D>> points);

/// The planes of the faces, in their order; of the sides in 2D. Local.
template <int D>
std::vector<Plane<D>> planes_of(const ConvexHull<D>& hull);

/// What is left of `hull` when all faces move inwards by `depth` [m]. The origin must be inside, further than
/// `depth` from every face. Faces may vanish. Errors: as hull_of(). Cost O(n log n). Local.
template <int D>
ConvexHull<D> inset(const ConvexHull<D>& hull, Real depth);

}  // namespace scree
