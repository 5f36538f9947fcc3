#pragma once
#include "geometry/convex/core.hpp"

namespace scree {

/// The part of a core that the closest point lies on: a corner, an edge (two corners) or a face.
struct CoreFeature {
  int corner = 0;
  int other = -1;  ///< the second corner of an edge
  int face = -1;
};

template <int D>
struct ClosestFeatures {
  CoreFeature of_a, of_b;
  Vec<D> on_a, on_b;
  Real distance = HUGE_VAL;
};

/// The closest points of two cores that are apart, by comparison of all features that can hold them: corners
/// with faces and edges with edges. Closest points are within `slack` [m] of the farthest of a along n and of
/// b against n if slack is the difference of a bound of the distance from above and one from below, the
/// latter being the separation along n; what lies deeper is left out. Each comparison is of edges of bodies,
/// which are long, not of differences of corners, which may be short: distances are exact but for round-off
/// whatever is parallel to what. Local. Cost O(product of the numbers of edges within slack).
template <int D>
ClosestFeatures<D> compare_features(const PosedCore<D>& a, const PosedCore<D>& b, const Vec<D>& n,
                                    Real slack);

}  // namespace scree
