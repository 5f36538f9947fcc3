#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "geometry/box_tree.hpp"
#include "geometry/mesh.hpp"

namespace scree {

/// The point of a triangle that is nearest to a given point x, seen from x.
struct TriangleFoot {
  Vec<3> point;              ///< the foot [m]
  Vec<3> away;               ///< unit, from the foot to x; 0 if x is the foot
  Real distance = 0;         ///< of x from the foot, not negative [m]
  Real from_edges = 0;       ///< of the foot from the nearest edge [m]; 0 on edges and corners
  std::int16_t corner = -1;  ///< 0 to 2: the foot is that corner
  std::int16_t edge = -1;    ///< 0 to 2: it is on the edge from that corner to the next
};

/// Triangles as a surface that bodies touch: where the distance from a point has a local minimum, on which
/// side of the surface a point is, and what a path passes through.
///
/// The distance of x has a local minimum at the foot of x on triangle t unless some triangle that also holds
/// that foot comes nearer. Of triangles with the same foot the nearest in (distance, number) answers; feet
/// that differ by less than 1e-6 of the distance count as one. Triangles that share a corner and meet flatter
/// than `flat_angle` are one surface: t is silent if such a neighbour is nearer. So a plane cut into any
/// triangles touches a sphere once, a convex edge or corner once, a concave edge twice.
///
/// Memory: about 160 bytes per triangle. All functions are local and allocate nothing.
class TriangleSurface {
 public:
  TriangleSurface() = default;
  /// `front` = +1: bodies are where the triangles' corners run counter-clockwise; -1: behind. O(n log n).
  TriangleSurface(TriangleMesh mesh, Real flat_angle, Real front = 1);

  int size() const { return static_cast<int>(mesh_.triangles.size()); }
  const TriangleMesh& mesh() const { return mesh_; }
  Box<3> bounds() const { return tree_.bounds(); }
  Box<3> bounds(int triangle) const;
  /// Unit, to the front.
  const Vec<3>& normal(int triangle) const { return normals_[triangle]; }
  /// Normal to the front of the feature that holds a foot: of the face, the sum of both faces at an edge, the
  /// sum of all faces weighted with their angles at a corner. Its product with `away` says on which side of a
  /// closed surface x is, if the foot is the nearest of all. Not a unit vector.
  /// Source: J. A. Baerentzen and H. Aanaes, IEEE Trans. Vis. Comput. Graph. 11 (2005) 243.
  Vec<3> front_at(int triangle, const TriangleFoot& foot) const;

  /// Of x from the planes of a triangle: its own, and those through its edges.
  struct Sides {
    Real height;
    std::array<Real, 3> within;  ///< to the inside, times the length of the edge [m2]
  };
  Sides sides(int triangle, const Vec<3>& x) const;
  TriangleFoot foot(int triangle, const Vec<3>& x) const { return foot(triangle, x, sides(triangle, x)); }
  TriangleFoot foot(int triangle, const Vec<3>& x, const Sides& sides) const;
  /// A lower bound of the distance from `triangle`, less what rounding takes [m].
  Real at_least(int triangle, const Sides& sides) const;
  /// Whether x is in front of the plane of `triangle`, and so of a closed surface if the foot on it is the
  /// nearest of all. False, too, where that does not follow: beside edges and corners at which the free space
  /// is sharper than a right angle.
  bool is_in_front(int triangle, const Vec<3>& x) const;
  /// Whether the foot of x on `triangle` is a local minimum for which this triangle answers.
  bool answers(int triangle, const Vec<3>& x, const TriangleFoot& foot) const;
  /// The first of all triangles in (distance from x, number), and its foot; -1 if all are farther than `max`
  /// [m].
  int nearest(const Vec<3>& x, TriangleFoot& foot, Real max = HUGE_VAL) const;
  /// Whether `triangle` is the first of all in (distance from x, number).
  bool is_nearest(int triangle, const Vec<3>& x, const TriangleFoot& foot) const;
  /// Whether the path from -> at passes through `triangle`, from one side to the other, or ends on it.
  bool passes(int triangle, const Vec<3>& from, const Vec<3>& at) const;
  /// Of `triangle` and those that share a corner with it the one that the path from -> at passes first, from
  /// one side to the other or ending on it; -1: none. Paths slip through no seam between triangles with
  /// common corners.
  int first_passed(int triangle, const Vec<3>& from, const Vec<3>& at) const;
  /// Foot of a point that passed through `triangle`: on it, or on a flat neighbour that is nearer.
  TriangleFoot foot_beyond(int triangle, const Vec<3>& x) const;
  /// Signed height of x over the plane of a triangle, positive in front [m].
  Real height(int triangle, const Vec<3>& x) const { return dot(normal(triangle), x - corner(triangle, 0)); }
  /// Triangles that share a corner with this one, ascending.
  std::span<const int> neighbours(int triangle) const {
    const std::size_t t = triangle;
    return std::span(neighbours_).subspan(first_neighbour_[t], first_neighbour_[t + 1] - first_neighbour_[t]);
  }
  const BoxTree& tree() const { return tree_; }
  /// Edges that stick out to the front, from end to end; with `of_sheet` to either side, and those of one
  /// triangle. O(n).
  std::vector<std::array<Vec<3>, 2>> sharp_edges(bool of_sheet) const;

 private:
  const Vec<3>& corner(int triangle, std::size_t k) const {
    return mesh_.vertices[mesh_.triangles[triangle][k % 3]];
  }
  bool is_flat(int triangle, int other) const;
  /// How far x is over a triangle, counted in its plane from its edge between p and q, times their distance
  /// [m2].
  Real over(int triangle, const Vec<3>& p, const Vec<3>& q, const Vec<3>& x) const;
  void find_neighbours();
  void find_flat_neighbours();
  void find_fronts();
  void find_blunt();

  TriangleMesh mesh_;
  Real front_ = 1;
  Real flat_cosine_ = 1;
  Real extent_ = 0;  // [m] largest coordinate
  std::vector<Vec<3>> normals_;
  std::vector<std::array<float, 3>> inverse_lengths_;  // of edges [1/m]
  std::vector<Vec<3>> corner_fronts_;                  // by vertex
  std::vector<std::array<int, 3>> across_;  // the triangle beyond each edge; itself: none, or several
  std::vector<std::uint8_t> is_blunt_;      // no neighbour faces the other way
  std::vector<float> flat_tangent_;         // of the largest angle to a flat neighbour
  std::vector<std::size_t> first_neighbour_;
  std::vector<int> neighbours_;
  BoxTree tree_;
};

}  // namespace scree
