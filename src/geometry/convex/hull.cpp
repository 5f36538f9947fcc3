#include "geometry/convex/hull.hpp"

#include <libqhull_r/libqhull_r.h>
#include <libqhull_r/poly_r.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>

#include "core/error.hpp"

namespace scree {
namespace {

/// A place where qhull may write messages to: it needs one.
std::unique_ptr<FILE, int (*)(FILE*)> nowhere() {
  return {std::fopen("/dev/null", "w"), &std::fclose};
}

/// One run of qhull; frees what it holds.
class Qhull {
 public:
  template <int D>
  explicit Qhull(std::vector<Vec<D>>& points) {
    qh_zero(&qh_, messages_.get());
    // No joggle: faces in one plane to round-off are merged.
    char command[] = "qhull Pp";
    failed_ = qh_new_qhull(&qh_, D, static_cast<int>(points.size()), points.front().component.data(), False,
                           command, nullptr, messages_.get()) != 0;
  }
  Qhull(const Qhull&) = delete;
  Qhull& operator=(const Qhull&) = delete;
  ~Qhull() {
    qh_freeqhull(&qh_, !qh_ALL);
    int remaining = 0, total = 0;
    qh_memfreeshort(&qh_, &remaining, &total);
  }
  bool failed() const { return failed_; }

  /// Places of the corners of each face; in space counter-clockwise from outside.
  template <int D>
  std::vector<std::vector<int>> faces() {
    std::vector<std::vector<int>> all;
    for (facetT* facet = qh_.facet_list; facet != nullptr && facet->next != nullptr; facet = facet->next) {
      setT* corners = D == 3 ? qh_facet3vertex(&qh_, facet) : facet->vertices;
      std::vector<int> face;
      const int n = qh_setsize(&qh_, corners);
      for (int i = 0; i < n; ++i)
        face.push_back(qh_pointid(&qh_, static_cast<vertexT*>(corners->e[i].p)->point));
      if (D == 3) {
        qh_settempfree(&qh_, &corners);
        std::ranges::reverse(face);  // it has them clockwise
      }
      all.push_back(std::move(face));
    }
    return all;
  }

 private:
  std::unique_ptr<FILE, int (*)(FILE*)> messages_ = nowhere();
  qhT qh_{};
  bool failed_ = false;
};

/// The points with those left out that have an earlier one within `near`.
template <int D>
std::vector<Vec<D>> without_copies(std::span<const Vec<D>> points, Real near) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(points[i][0], i); });
  std::vector<bool> is_copy(points.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    for (std::size_t l = k + 1; l < order.size() && points[order[l]][0] - points[order[k]][0] <= near; ++l)
      if (norm(points[order[l]] - points[order[k]]) <= near) is_copy[std::max(order[k], order[l])] = true;
  std::vector<Vec<D>> kept;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!is_copy[i]) kept.push_back(points[i]);
  return kept;
}

/// Sides of a polygon become its corners, counter-clockwise from the first one.
std::vector<int> in_turn(const std::vector<Vec<2>>& points, const std::vector<std::vector<int>>& sides) {
  std::vector<int> corners;
  for (const auto& side : sides) corners.insert(corners.end(), side.begin(), side.end());
  std::ranges::sort(corners);
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  Vec<2> inside;
  for (const int i : corners) inside += points[i];
  inside *= 1 / static_cast<Real>(corners.size());
  std::ranges::sort(corners, {}, [&](int i) {
    const Vec<2> arm = points[i] - inside;
    return std::atan2(arm[1], arm[0]);
  });
  std::rotate(corners.begin(), std::ranges::min_element(corners), corners.end());
  return corners;
}

}  // namespace

template <int D>
ConvexHull<D> hull_of(std::span<const Vec<D>> given) {
  Vec<D> lower = filled<D>(HUGE_VAL), upper = filled<D>(-HUGE_VAL);
  for (const Vec<D>& point : given)
    for (int k = 0; k < D; ++k) {
      if (!std::isfinite(point[k])) throw InputError("has a coordinate that is not a number");
      lower[k] = std::min(lower[k], point[k]);
      upper[k] = std::max(upper[k], point[k]);
    }
  const Real extent = given.empty() ? 0 : std::ranges::max((upper - lower).component);
  const std::vector<Vec<D>> points = without_copies<D>(given, 1e-9 * extent);
  if (points.size() < D + 1)
    throw InputError("has " + std::to_string(points.size()) + " different points; a body needs at least " +
                     std::to_string(D + 1));
  // About the middle and with extent 1, so that what qhull takes for round-off is.
  std::vector<Vec<D>> scaled;
  for (const Vec<D>& point : points) scaled.push_back(1 / extent * (point - 0.5 * (lower + upper)));
  Qhull qhull(scaled);
  if (qhull.failed())
    throw InputError(D == 2 ? "has all its points on one line" : "has all its points in one plane");

  std::vector<std::vector<int>> faces = qhull.template faces<D>();
  if constexpr (D == 2) {
    ConvexHull<2> hull;
    for (const int i : in_turn(scaled, faces)) hull.vertices.push_back(points[i]);
    return hull;
  } else {
    std::vector<int> place(points.size(), -1);
    for (const auto& face : faces)
      for (const int i : face) place[i] = 0;
    ConvexHull<3> hull;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (place[i] < 0) continue;
      place[i] = static_cast<int>(hull.vertices.size());
      hull.vertices.push_back(points[i]);
    }
    for (auto& face : faces) {
      for (int& i : face) i = place[i];
      std::rotate(face.begin(), std::ranges::min_element(face), face.end());
    }
    std::ranges::sort(faces);
    hull.faces = std::move(faces);
    return hull;
  }
}

template <int D>
std::vector<Plane<D>> planes_of(const ConvexHull<D>& hull) {
  std::vector<Plane<D>> planes;
  const auto vertex = [&](int i) { return hull.vertices[i]; };
  if constexpr (D == 2) {
    const int n = static_cast<int>(hull.vertices.size());
    for (int i = 0; i < n; ++i) {
      const Vec<2> side = vertex((i + 1) % n) - vertex(i);
      const Vec<2> normal = 1 / norm(side) * Vec<2>{{side[1], -side[0]}};
      planes.push_back({normal, dot(normal, 0.5 * (vertex(i) + vertex((i + 1) % n)))});
    }
  } else {
    for (const std::vector<int>& face : hull.faces) {
      // Newell's sum: the mean plane of corners that lie in one but for round-off.
      Vec<3> area, mean;
      for (std::size_t k = 0; k < face.size(); ++k) {
        const Vec<3> from = vertex(face[k]) - vertex(face[0]);
        area += cross(from, vertex(face[(k + 1) % face.size()]) - vertex(face[0]));
        mean += vertex(face[k]);
      }
      const Vec<3> normal = 1 / norm(area) * area;
      planes.push_back({normal, dot(normal, mean) / static_cast<Real>(face.size())});
    }
  }
  return planes;
}

template <int D>
ConvexHull<D> inset(const ConvexHull<D>& hull, Real depth) {
  // A corner of the inset is a plane of the hull of the points n / offset, and the other way round.
  const auto polar = [](const std::vector<Plane<D>>& planes, Real moved) {
    std::vector<Vec<D>> points;
    for (const Plane<D>& plane : planes) points.push_back(1 / (plane.offset - moved) * plane.normal);
    return points;
  };
  const std::vector<Vec<D>> dual = polar(planes_of(hull), depth);
  const std::vector<Vec<D>> corners = polar(planes_of(hull_of<D>(dual)), 0);
  return hull_of<D>(corners);
}

template ConvexHull<2> hull_of(std::span<const Vec<2>>);
template ConvexHull<3> hull_of(std::span<const Vec<3>>);
template std::vector<Plane<2>> planes_of(const ConvexHull<2>&);
template std::vector<Plane<3>> planes_of(const ConvexHull<3>&);
template ConvexHull<2> inset(const ConvexHull<2>&, Real);
template ConvexHull<3> inset(const ConvexHull<3>&, Real);

}  // namespace scree
