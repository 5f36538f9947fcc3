#include "geometry/convex/core.hpp"

#include <algorithm>

namespace scree {
namespace {

/// Lists one after another, and where each begins.
void join(const std::vector<std::vector<int>>& lists, std::vector<int>& all, std::vector<int>& first) {
  first.push_back(0);
  for (const auto& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
    first.push_back(static_cast<int>(all.size()));
  }
}

/// Whether corner i is at +half[k] where bit k of i is set, and at -half[k] where not.
template <int D>
bool has_corners_of_box(const std::vector<Vec<D>>& vertices) {
  if (vertices.size() != std::size_t{1} << D) return false;
  const Vec<D>& half = vertices.back();
  for (std::size_t i = 0; i < vertices.size(); ++i)
    for (int k = 0; k < D; ++k)
      if (!(half[k] > 0) || vertices[i][k] != (i >> k & 1 ? half[k] : -half[k])) return false;
  return true;
}

}  // namespace

template <int D>
ConvexCore<D>::ConvexCore(const ConvexHull<D>& hull)
    : vertices_(hull.vertices), is_box_(has_corners_of_box<D>(hull.vertices)) {
  const int n = static_cast<int>(vertices_.size());
  std::vector<std::vector<int>> faces = hull.faces;
  if (D == 2 && n > 2)
    for (int i = 0; i < n; ++i) faces.push_back({i, (i + 1) % n});
  if (!faces.empty()) planes_ = planes_of(hull);

  std::vector<std::vector<int>> faces_of(vertices_.size()), neighbours(vertices_.size());
  for (std::size_t f = 0; f < faces.size(); ++f) {
    const auto& face = faces[f];
    for (const int i : face) faces_of[i].push_back(static_cast<int>(f));
    // In space every edge is passed once in each direction, in the plane every side once.
    for (std::size_t k = 0; k + (D == 2 ? 1 : 0) < face.size(); ++k) {
      const int from = face[k], to = face[(k + 1) % face.size()];
      if (D == 2 || from < to) edges_.push_back({from, to});
    }
  }
  if (n == 2) edges_.push_back({0, 1});
  std::ranges::sort(edges_);
  for (const auto& [from, to] : edges_) {
    neighbours[from].push_back(to);
    neighbours[to].push_back(from);
  }
  join(faces, face_corners_, first_corner_);
  join(faces_of, vertex_faces_, first_face_);
  join(neighbours, neighbours_, first_neighbour_);

  if constexpr (D == 3) {
    constexpr Real parallel = 1e-9;
    for (const auto& [from, to] : edges_) {
      const Vec<3> along = vertices_[to] - vertices_[from];
      const Vec<3> unit = 1 / norm(along) * along;
      if (std::ranges::none_of(edge_directions_,
                               [&](const Vec<3>& known) { return norm(cross(known, unit)) < parallel; }))
        edge_directions_.push_back(unit);
    }
  }

  for (int group = 0; group < n; group += lanes)
    for (int k = 0; k < D; ++k)
      for (int lane = 0; lane < lanes; ++lane)
        coordinates_.push_back(vertices_[group + lane < n ? group + lane : 0][k]);
}

// Four corners at a time; the first of equal ones, as one corner at a time would give.
template <int D>
int ConvexCore<D>::farthest(const Vec<D>& direction) const {
  const int n_groups = static_cast<int>(coordinates_.size()) / (lanes * D);
  std::array<Real, lanes> max;
  std::array<std::int64_t, lanes> which{};
  for (int group = 0; group < n_groups; ++group) {
    const Real* x = coordinates_.data() + static_cast<std::ptrdiff_t>(group) * lanes * D;
    std::array<Real, lanes> along;
    for (int lane = 0; lane < lanes; ++lane) {
      Real sum = x[lane] * direction[0];
      for (int k = 1; k < D; ++k) sum += x[k * lanes + lane] * direction[k];
      along[lane] = sum;
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const bool farther = group == 0 || along[lane] > max[lane];
      max[lane] = farther ? along[lane] : max[lane];
      which[lane] = farther ? group : which[lane];
    }
  }
  int best = -1;
  Real best_along = 0;
  const int n = static_cast<int>(vertices_.size());
  for (int lane = 0; lane < std::min(lanes, n); ++lane) {
    const int corner = static_cast<int>(which[lane]) * lanes + lane;
    const int vertex = corner < n ? corner : 0;
    if (best < 0 || max[lane] > best_along || (max[lane] == best_along && vertex < best))
      best = vertex, best_along = max[lane];
  }
  return best;
}

template class ConvexCore<2>;
template class ConvexCore<3>;

}  // namespace scree
