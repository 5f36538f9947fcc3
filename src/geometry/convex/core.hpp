#pragma once
#include <array>
#include <span>
#include <vector>

#include "geometry/convex/hull.hpp"

namespace scree {

/// The core of a convex body, made ready to be met: corners, faces and what lies next to what. All of a shape
/// in body axes; a BodyPose puts it into the world.
template <int D>
class ConvexCore {
 public:
  explicit ConvexCore(const ConvexHull<D>& hull);

  const std::vector<Vec<D>>& vertices() const { return vertices_; }
  /// Faces in space, sides in the plane. A point or segment has none.
  int n_faces() const { return static_cast<int>(planes_.size()); }
  const Plane<D>& plane(int face) const { return planes_[face]; }
  /// Places of the corners of a face, counter-clockwise from outside; of a side its two ends.
  std::span<const int> corners(int face) const { return range(face_corners_, first_corner_, face); }
  std::span<const int> faces_of_vertex(int vertex) const { return range(vertex_faces_, first_face_, vertex); }
  /// Vertices that share an edge with `vertex`.
  std::span<const int> neighbours(int vertex) const { return range(neighbours_, first_neighbour_, vertex); }
  /// The two ends of every edge; 2D: of every side.
  const std::vector<std::array<int, 2>>& edges() const { return edges_; }
  /// The corner farthest along `direction` in body axes; the first of several. O(corners), of a box O(1).
  int support(const Vec<D>& direction) const;
  /// 3D: directions of edges, of which parallel ones count once. For the search of a separating axis.
  const std::vector<Vec<D>>& edge_directions() const { return edge_directions_; }

 private:
  static std::span<const int> range(const std::vector<int>& all, const std::vector<int>& first, int i) {
    const std::size_t k = i;
    return std::span(all).subspan(first[k], first[k + 1] - first[k]);
  }

  static constexpr int lanes = 4;
  int farthest(const Vec<D>& direction) const;

  std::vector<Vec<D>> vertices_;
  bool is_box_ = false;  // corner i lies at +half[k] if bit k of i is set, else at -half[k]
  /// Coordinate k of corner i at place (i / lanes * D + k) * lanes + i % lanes; the last group is filled up
  /// with corner 0.
  std::vector<Real> coordinates_;
  std::vector<Plane<D>> planes_;
  std::vector<int> face_corners_, first_corner_, vertex_faces_, first_face_, neighbours_, first_neighbour_;
  std::vector<std::array<int, 2>> edges_;
  std::vector<Vec<D>> edge_directions_;
};

template <int D>
int ConvexCore<D>::support(const Vec<D>& direction) const {
  if (!is_box_) return farthest(direction);
  int corner = 0;
  for (int k = 0; k < D; ++k) corner |= (direction[k] > 0 ? 1 : 0) << k;
  return corner;
}

/// Where a core is: x = centre + size * (sum of in_body[k] axes[k]).
template <int D>
struct BodyPose {
  Vec<D> centre;
  std::array<Vec<D>, D> axes;  ///< body axes, unit vectors
  Real size = 1;

  Vec<D> direction(const Vec<D>& in_body) const {
    Vec<D> sum;
    for (int k = 0; k < D; ++k) sum += in_body[k] * axes[k];
    return sum;
  }
  Vec<D> place(const Vec<D>& in_body) const { return centre + size * direction(in_body); }
  Vec<D> in_body(const Vec<D>& direction) const {
    Vec<D> result;
    for (int k = 0; k < D; ++k) result[k] = dot(axes[k], direction);
    return result;
  }
};

/// A core at a place.
template <int D>
struct PosedCore {
  const ConvexCore<D>& core;
  const BodyPose<D>& pose;

  /// The corner farthest along `direction`.
  int support(const Vec<D>& direction) const { return core.support(pose.in_body(direction)); }
  Vec<D> vertex(int i) const { return pose.place(core.vertices()[i]); }
  Vec<D> normal(int face) const { return pose.direction(core.plane(face).normal); }
};

}  // namespace scree
