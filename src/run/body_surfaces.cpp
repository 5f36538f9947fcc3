#include "run/body_surfaces.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry/convex/core.hpp"
#include "particles/orientation.hpp"

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

/// Of the points within `rounding` of the core, in its frame. Edges and corners are cut off flat where the
/// rounding is too small to be seen, and of facets along arcs of 15 degrees where it is not. Local.
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

}  // namespace

template <int D>
void BodySurfaces<D>::write(const State<D>& state) {
  while (static_cast<std::int32_t>(drawn_.size()) < state.shapes.size()) {
    const ConvexShape<D>& form = state.shapes[static_cast<std::int32_t>(drawn_.size())].form;
    drawn_.push_back(drawn_surface(form.core, form.rounding));
  }
  const BodyStore<D>& bodies = state.bodies;
  std::vector<double> points, speed;
  std::vector<std::int64_t> triangles, id;
  std::vector<std::int32_t> type, shape;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const std::int32_t number = bodies.carries_shapes() ? bodies.shape()[i] : 0;
    const DrawnSurface<D>& surface = drawn_[number];
    const Orientation<D> turn = number == 0 ? upright<D>() : bodies.orientation()[i];
    const BodyPose<D> pose{bodies.position()[i], axes_of<D>(turn), bodies.radius()[i]};
    const auto first = static_cast<std::int64_t>(points.size() / 3);
    for (const Vec<D>& point : surface.points) {
      const Vec<D> x = pose.place(point);
      for (int k = 0; k < 3; ++k) points.push_back(k < D ? x[k] : 0);
    }
    for (const auto& triangle : surface.triangles)
      for (const int corner : triangle) triangles.push_back(first + corner);
    const std::size_t n = triangles.size() / 3;
    id.resize(n, bodies.id()[i]);
    type.resize(n, bodies.type()[i]);
    shape.resize(n, number);
    speed.resize(n, norm(bodies.velocity()[i]));
  }
  Geometry geometry;
  geometry.points = points;
  geometry.triangles = triangles;
  geometry.cell_columns = {{"id", "-", 1, std::span<const std::int64_t>(id)},
                           {"type", "-", 1, std::span<const std::int32_t>(type)},
                           {"shape", "-", 1, std::span<const std::int32_t>(shape)},
                           {"speed", "m/s", 1, std::span<const double>(speed)}};
  series_->write(state.clock.step, state.clock.time, geometry);
}

template class BodySurfaces<2>;
template class BodySurfaces<3>;

}  // namespace scree
