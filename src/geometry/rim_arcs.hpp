#pragma once
#include <array>

#include "geometry/convex/core.hpp"

namespace scree {

/// A circle centre + cos(a) u + sin(a) v, seen from the centre of a body [m].
struct RimCircle {
  Vec<3> centre, u, v;
  Vec<3> at(Real angle) const;
};

/// Middles of the arcs of a circle that lie within the core of a body, and the nearest face of each. At most
/// `max`; what a core of more pieces has beyond is left out.
struct RimArcs {
  static constexpr std::size_t max = 8;
  struct Middle {
    Vec<3> x;  ///< from the centre of the body [m]
    int face;
  };
  std::array<Middle, max> middles;
  std::size_t n = 0;
};

/// None if the circle is outside or whole within. Cost O(faces), O(faces^2) if it passes through. Local.
RimArcs arcs_within(const PosedCore<3>& body, const RimCircle& circle);

}  // namespace scree
