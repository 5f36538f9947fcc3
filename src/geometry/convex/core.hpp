#pragma once
#include <array>
#include <cstdint>
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
  const Plane<D>& plane(int face) const { return planes_[static_cast<std::size_t>(face)]; }
  /// Places of the corners of a face, counter-clockwise from outside; of a side its two ends.
  std::span<const int> corners(int face) const { return range(face_corners_, first_corner_, face); }
  std::span<const int> faces_of_vertex(int vertex) const { return range(vertex_faces_, first_face_, vertex); }
  /// 3D: directions of edges, of which parallel ones count once. For the search of a separating axis.
  const std::vector<Vec<D>>& edge_directions() const { return edge_directions_; }

 private:
  static std::span<const int> range(const std::vector<int>& all, const std::vector<int>& first, int i) {
    const auto k = static_cast<std::size_t>(i);
    return std::span(all).subspan(static_cast<std::size_t>(first[k]),
                                  static_cast<std::size_t>(first[k + 1] - first[k]));
  }

  std::vector<Vec<D>> vertices_;
  std::vector<Plane<D>> planes_;
  std::vector<int> face_corners_, first_corner_, vertex_faces_, first_face_;
  std::vector<Vec<D>> edge_directions_;
};

/// Where a core is: x = centre + size * (sum of in_body[k] axes[k]).
template <int D>
struct BodyPose {
  Vec<D> centre;
  std::array<Vec<D>, D> axes;  ///< body axes, unit vectors
  Real size = 1;

  Vec<D> direction(const Vec<D>& in_body) const {
    Vec<D> sum;
    for (int k = 0; k < D; ++k) sum += in_body[k] * axes[static_cast<std::size_t>(k)];
    return sum;
  }
  Vec<D> place(const Vec<D>& in_body) const { return centre + size * direction(in_body); }
  Vec<D> in_body(const Vec<D>& direction) const {
    Vec<D> result;
    for (int k = 0; k < D; ++k) result[k] = dot(axes[static_cast<std::size_t>(k)], direction);
    return result;
  }
};

/// A core at a place.
template <int D>
struct PosedCore {
  const ConvexCore<D>& core;
  const BodyPose<D>& pose;

  /// The corner farthest along `direction`; the first of several.
  int support(const Vec<D>& direction) const {
    const Vec<D> local = pose.in_body(direction);
    const auto& vertices = core.vertices();
    int best = 0;
    Real most = dot(vertices[0], local);
    for (int i = 1; i < static_cast<int>(vertices.size()); ++i) {
      const Real along = dot(vertices[static_cast<std::size_t>(i)], local);
      if (along > most) most = along, best = i;
    }
    return best;
  }
  Vec<D> vertex(int i) const { return pose.place(core.vertices()[static_cast<std::size_t>(i)]); }
  Vec<D> normal(int face) const { return pose.direction(core.plane(face).normal); }
};

}  // namespace scree
