#include "geometry/convex/core.hpp"

#include <algorithm>

namespace scree {

template <int D>
ConvexCore<D>::ConvexCore(const ConvexHull<D>& hull) : vertices_(hull.vertices) {
  const int n = static_cast<int>(vertices_.size());
  std::vector<std::vector<int>> faces = hull.faces;
  if (D == 2 && n > 2)
    for (int i = 0; i < n; ++i) faces.push_back({i, (i + 1) % n});
  if (!faces.empty()) planes_ = planes_of(hull);

  std::vector<std::vector<int>> faces_of(vertices_.size());
  first_corner_.push_back(0);
  for (std::size_t f = 0; f < faces.size(); ++f) {
    for (const int i : faces[f]) faces_of[static_cast<std::size_t>(i)].push_back(static_cast<int>(f));
    face_corners_.insert(face_corners_.end(), faces[f].begin(), faces[f].end());
    first_corner_.push_back(static_cast<int>(face_corners_.size()));
  }
  first_face_.push_back(0);
  for (const auto& list : faces_of) {
    vertex_faces_.insert(vertex_faces_.end(), list.begin(), list.end());
    first_face_.push_back(static_cast<int>(vertex_faces_.size()));
  }
  if constexpr (D == 3) {
    constexpr Real parallel = 1e-9;
    const auto add = [&](int a, int b) {
      const Vec<3> along = vertices_[static_cast<std::size_t>(b)] - vertices_[static_cast<std::size_t>(a)];
      const Vec<3> unit = 1 / norm(along) * along;
      for (const Vec<3>& known : edge_directions_)
        if (norm(cross(known, unit)) < parallel) return;
      edge_directions_.push_back(unit);
    };
    for (const auto& face : faces)
      for (std::size_t k = 0; k < face.size(); ++k) {
        const int a = face[k], b = face[(k + 1) % face.size()];
        if (a < b) add(a, b);
      }
    if (n == 2) add(0, 1);
  }
}

template class ConvexCore<2>;
template class ConvexCore<3>;

}  // namespace scree
