#pragma once
#include <cmath>

#include "geometry/convex/candidates.hpp"
#include "geometry/convex/core.hpp"

namespace scree {

/// What of a core looks along a direction: a face within 60 degrees of it, else an edge, else a corner.
template <int D>
struct CoreSide {
  int corner = 0;
  int other = -1;      // the second corner of an edge
  int face = -1;       // of a face
  Real alignment = 0;  // cosine of the angle with the direction, of a face
  Vec<D> normal;       // of a face

  bool is_face() const { return face >= 0; }
  bool is_edge() const { return face < 0 && other >= 0; }
  /// Calls f(corner) for the corners of the face, of the edge, or the one.
  template <class F>
  void for_each_corner(const ConvexCore<D>& core, const F& f) const {
    if (is_face()) {
      for (const int i : core.corners(face)) f(i);
      return;
    }
    f(corner);
    if (is_edge()) f(other);
  }
};

inline constexpr Real min_alignment = 0.5;  ///< cosine of 60 degrees

/// The edge that looks along the unit vector `direction` in body axes from `corner`, within 60 degrees; else
/// the corner.
template <int D>
CoreSide<D> edge_towards(const ConvexCore<D>& core, int corner, const Vec<D>& direction) {
  CoreSide<D> side;
  side.corner = corner;
  const auto vertex = [&](int i) { return core.vertices()[i]; };
  Real min_drop = std::sqrt(1 - min_alignment * min_alignment);
  for (const int other : core.neighbours(corner)) {
    const Vec<D> along = vertex(other) - vertex(corner);
    const Real drop = -dot(along, direction) / norm(along);
    if (drop < min_drop - same_number) side.other = other, min_drop = drop;
  }
  // Named the same from both ends.
  if (side.other >= 0 && side.other < side.corner) std::swap(side.corner, side.other);
  return side;
}

template <int D>
CoreSide<D> side_towards(const PosedCore<D>& body, const Vec<D>& direction) {
  CoreSide<D> side;
  const Vec<D> local = body.pose.in_body(direction);
  side.corner = body.core.support(local);
  for (const int f : body.core.faces_of_vertex(side.corner)) {
    const Real alignment = dot(body.core.plane(f).normal, local);
    // The first one of faces that are as near.
    if (alignment > side.alignment + same_number) side.face = f, side.alignment = alignment;
  }
  if (side.alignment <= min_alignment) return edge_towards(body.core, side.corner, local);
  side.normal = body.normal(side.face);
  return side;
}

}  // namespace scree
