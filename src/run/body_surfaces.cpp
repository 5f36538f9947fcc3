#include "run/body_surfaces.hpp"

#include "geometry/convex/core.hpp"
#include "particles/orientation.hpp"

namespace scree {

template <int D>
void BodySurfaces<D>::write(const State<D>& state) {
  while (static_cast<std::int32_t>(drawn_.size()) < state.shapes.size()) {
    const ConvexShape<D>& form = state.shapes[static_cast<std::int32_t>(drawn_.size())].form;
    drawn_.push_back(drawn_surface(form.core, form.rounding));
  }
  const BodyStore<D>& bodies = state.bodies;
  std::vector<double> points, speed;
  std::vector<std::int64_t> triangles, id;
  std::vector<std::int32_t> group, shape;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    const std::int32_t number = bodies.carries_shapes() ? bodies.shape()[i] : 0;
    const DrawnSurface<D>& surface = drawn_[static_cast<std::size_t>(number)];
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
    group.resize(n, bodies.group()[i]);
    shape.resize(n, number);
    speed.resize(n, norm(bodies.velocity()[i]));
  }
  Geometry geometry;
  geometry.points = points;
  geometry.triangles = triangles;
  geometry.cell_columns = {{"id", "-", 1, std::span<const std::int64_t>(id)},
                           {"group", "-", 1, std::span<const std::int32_t>(group)},
                           {"shape", "-", 1, std::span<const std::int32_t>(shape)},
                           {"speed", "m/s", 1, std::span<const double>(speed)}};
  series_->write(state.clock.step, state.clock.time, geometry);
}

template class BodySurfaces<2>;
template class BodySurfaces<3>;

}  // namespace scree
