#pragma once
#include <array>
#include <cstdint>

#include "geometry/convex/core.hpp"

namespace scree {

/// Contact points of a convex body with one part of a wall; each has a normal of its own, as walls may be
/// curved.
template <int D>
struct WallContacts {
  static constexpr int max = D == 2 ? 2 : 4;
  struct Point {
    Vec<D> normal;              ///< unit, from the body to the wall
    Vec<D> place;               ///< in the middle of the gap, from the centre of the body [m]
    Real gap = 0;               ///< between the surfaces along the normal; below 0: overlap [m]
    std::uint32_t feature = 0;  ///< names the point as long as the same corners and edges meet
  };
  int n = 0;
  std::array<Point, max> points;
  bool cores_overlap = false;
};

}  // namespace scree
