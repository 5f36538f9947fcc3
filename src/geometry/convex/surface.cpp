#include "geometry/convex/surface.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace scree {
namespace {

/// Directions of round corners, evenly spaced.
template <int D>
std::vector<Vec<D>> directions_around() {
  constexpr int n_around = 24, n_bands = D == 2 ? 1 : 12;
  std::vector<Vec<D>> all;
  for (int band = 0; band <= n_bands; ++band)
    for (int i = 0; i < n_around; ++i) {
      const Real around = 2 * std::numbers::pi * i / n_around;
      if constexpr (D == 2) {
        if (band == 0) all.push_back({{std::cos(around), std::sin(around)}});
      } else {
        const Real down = std::numbers::pi * band / n_bands, r = std::sin(down);
        const bool is_pole = band == 0 || band == n_bands;
        if (!is_pole || i == 0) all.push_back({{std::cos(down), r * std::cos(around), r * std::sin(around)}});
      }
    }
  return all;
}

}  // namespace

template <int D>
DrawnSurface<D> drawn_surface(const ConvexHull<D>& core, Real rounding) {
  constexpr Real visible = 0.03;  // of the size
  Real size = rounding;
  for (const Vec<D>& vertex : core.vertices) size = std::max(size, norm(vertex) + rounding);
  std::vector<Vec<D>> points;
  if (rounding > visible * size || core.vertices.size() <= D) {
    for (const Vec<D>& vertex : core.vertices)
      for (const Vec<D>& direction : directions_around<D>()) points.push_back(vertex + rounding * direction);
  }
  if (core.vertices.size() > D) {
    // Corners of faces, moved out with them.
    const auto planes = planes_of(core);
    for (std::size_t f = 0; f < planes.size(); ++f) {
      const auto add = [&](std::size_t vertex) {
        points.push_back(core.vertices[vertex] + rounding * planes[f].normal);
      };
      if constexpr (D == 2) {
        add(f);
        add((f + 1) % core.vertices.size());
      } else {
        for (const int vertex : core.faces[f]) add(static_cast<std::size_t>(vertex));
      }
    }
  }
  const ConvexHull<D> hull = hull_of<D>(points);
  DrawnSurface<D> surface{hull.vertices, {}};
  const auto add_fan = [&](const std::vector<int>& corners) {
    for (std::size_t k = 2; k < corners.size(); ++k)
      surface.triangles.push_back({corners[0], corners[k - 1], corners[k]});
  };
  if constexpr (D == 2) {
    std::vector<int> ring(hull.vertices.size());
    for (std::size_t i = 0; i < ring.size(); ++i) ring[i] = static_cast<int>(i);
    add_fan(ring);
  } else {
    for (const auto& face : hull.faces) add_fan(face);
  }
  return surface;
}

template DrawnSurface<2> drawn_surface(const ConvexHull<2>&, Real);
template DrawnSurface<3> drawn_surface(const ConvexHull<3>&, Real);

}  // namespace scree
