#pragma once
#include <vector>

#include "unit/geometry/convex_cores.hpp"
#include "unit/geometry/read_obstacles.hpp"

namespace scree {

/// The contacts with all parts, of a body that comes from where it is.
template <int D>
std::vector<typename WallContacts<D>::Point> touch(const ObstacleSet<D>& set, const PosedCore<D>& body,
                                                   Real rounding, Real reach, Real width,
                                                   bool* overlap = nullptr) {
  std::vector<typename WallContacts<D>::Point> all;
  for (int c = 0; c < set.n_constraints(); ++c) {
    WallContacts<D> found;
    set.touch(c, body.core, body.pose, rounding, body.pose.centre, reach, width, found);
    all.insert(all.end(), found.points.begin(), found.points.begin() + found.n);
    if (overlap && found.cores_overlap) *overlap = true;
  }
  return all;
}

template <int D>
WallContacts<D> touch_part(const ObstacleSet<D>& set, int part, const ConvexCore<D>& core,
                           const BodyPose<D>& pose, const Vec<D>& from, Real rounding = 0.01,
                           Real reach = 0.1, Real width = 0.05) {
  WallContacts<D> found;
  set.touch(part, core, pose, rounding, from, reach, width, found);
  return found;
}
}  // namespace scree
