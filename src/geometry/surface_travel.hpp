#pragma once
#include <algorithm>

#include "geometry/pose.hpp"

namespace scree {

// How far the distance of a surface from a point changes as the surface moves: tools of Shape::travel.
//
// If a motion takes a surface from S to S', every distance changes by at most the largest path of a point of
// S to S'. The motion may be replaced by any other that takes S to the same S': one that is made up of it and
// a symmetry of the surface. Paths are lengths of affine functions, hence convex and largest at corners of a
// box.

/// The longest path of any point of `box` [m]; 0 if the box is empty.
template <int D>
Real farthest_displacement(const Pose<D>& moved, const Box<D>& box) {
  if (box.is_empty()) return 0;
  Real farthest = 0;
  for (unsigned c = 0; c < Box<D>::n_corners; ++c)
    farthest = std::max(farthest, norm(moved.to_world(box.corner(c)) - box.corner(c)));
  return farthest;
}

/// The same for a plane through `point` with unit `normal`, of which `box` holds what counts: the
/// displacement across the plane.
template <int D>
Real displacement_of_plane(const Pose<D>& moved, const Vec<D>& point, const Vec<D>& normal,
                           const Box<D>& box) {
  if (box.is_empty()) return 0;
  const Vec<D> point_then = moved.to_world(point);
  const Vec<D> normal_then = moved.direction_to_world(normal);
  const auto change = [&](const Vec<D>& x) {
    return std::abs(dot(normal_then, x - point_then) - dot(normal, x - point));
  };
  Real farthest = 0;
  for (unsigned c = 0; c < Box<D>::n_corners; ++c)
    farthest = std::max({farthest, change(box.corner(c)), change(moved.to_world(box.corner(c)))});
  return farthest;
}

/// `moved` after a turn about the axis through `point` along the unit vector `axis`, such that the axis goes
/// where it goes and turns least: for surfaces of revolution. With `slides` it does not move along the axis
/// either: for those that go on for ever.
inline Pose<3> without_spin(const Pose<3>& moved, const Vec<3>& point, const Vec<3>& axis,
                            bool slides = false) {
  const Vec<3> axis_then = moved.direction_to_world(axis);
  const Vec<3> turn = cross(axis, axis_then);
  const Real cosine = dot(axis, axis_then);
  if (cosine < 0) return moved;  // no turn is the least if the axis is turned round
  // Rodrigues' formula for the rotation that takes axis to axis_then.
  Pose<3> pose;
  for (int column = 0; column < 3; ++column) {
    const Vec<3> unit = unit_vector<3>(column);
    const Vec<3> image = cosine * unit + cross(turn, unit) + turn * (dot(turn, unit) / (1 + cosine));
    for (int row = 0; row < 3; ++row) pose.rotation[row][column] = image[row];
  }
  Vec<3> goal = moved.to_world(point);
  if (slides) goal -= axis_then * dot(axis_then, goal - point);
  pose.translation = goal - pose.direction_to_world(point);
  return pose;
}

}  // namespace scree
