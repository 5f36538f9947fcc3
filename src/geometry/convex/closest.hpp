#pragma once
#include "geometry/convex/core.hpp"

namespace scree {

enum class Meeting {
  apart,    ///< the cores are farther apart than asked for
  near,     ///< distance and normal are those of the closest points
  overlap,  ///< the cores have common points: the least way out of each other
};

/// Two cores along their common normal.
template <int D>
struct ClosestPoints {
  Meeting meeting = Meeting::apart;
  Vec<D> normal;      ///< unit vector from a to b
  Real distance = 0;  ///< of the cores; below 0 if they overlap
  Vec<D> on_a, on_b;  ///< the closest points, if `near`
  int rounds = 0;     ///< of the search
};

/// The closest points of two cores, or Meeting::apart if they are more than `reach` from each other. Works in
/// coordinates about the centre of a: `b_pose.centre` is relative to it, and that of a must be 0.
///
/// The search (Gilbert, Johnson, Keerthi) starts from the centres and walks over the differences of corners;
/// distances to points, edges, triangles and tetrahedra of these are found in closed form. Its end is made
/// exact: where a face meets a corner, edge or face, the normal is that face's to the last bit, where edges
/// cross their vector product. Cores that overlap are met by the axis of least overlap, among normals of
/// faces and products of edges.
///
/// A pure function of its arguments. Local. Cost some 0.2 us for boxes; O(faces * corners + edges^2) if they
/// overlap. Source: E. G. Gilbert, D. W. Johnson, S. S. Keerthi, IEEE J. Robot. Automat. 4 (1988) 193-203.
template <int D>
ClosestPoints<D> closest_points(const PosedCore<D>& a, const PosedCore<D>& b, Real reach);

}  // namespace scree
