#include "run/shape_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace scree {
namespace {

/// Extents along the axes of the frame in which the shape was described [m].
template <int D>
std::array<Real, D> extents_of(const BodyShape<D>& shape) {
  Vec<D> min = filled<D>(HUGE_VAL), max = filled<D>(-HUGE_VAL);
  for (const Vec<D>& vertex : shape.core.vertices()) {
    for (int k = 0; k < D; ++k) {
      const Real along = dot(shape.form.described_axes[static_cast<std::size_t>(k)], vertex);
      min[k] = std::min(min[k], along - shape.form.rounding);
      max[k] = std::max(max[k], along + shape.form.rounding);
    }
  }
  std::array<Real, D> extents;
  for (int k = 0; k < D; ++k) extents[static_cast<std::size_t>(k)] = shape.form.radius * (max[k] - min[k]);
  return extents;
}

/// Principal moments over mass [m2].
template <int D>
auto moments_of(const BodyShape<D>& shape) {
  auto moments = shape.moments.component;
  for (Real& moment : moments) moment *= shape.form.radius * shape.form.radius;
  return moments;
}

}  // namespace

template <int D>
Json about_shape(const BodyShape<D>& shape) {
  const Real r = shape.form.radius;
  return {{"name", shape.name},
          {"extents_m", extents_of(shape)},
          {D == 2 ? "area_m2" : "volume_m3", shape.form.volume * std::pow(r, D)},
          {"moments_over_mass_m2", moments_of(shape)},
          {"circumscribed_radius_m", r},
          {"inscribed_radius_m", r * shape.form.inscribed_radius},
          {"rounding_m", r * shape.form.rounding},
          {"corners", shape.core.vertices().size()},
          {"faces", shape.core.n_faces()}};
}

template <int D>
std::string line_about_shape(const BodyShape<D>& shape) {
  const Real r = shape.form.radius;
  return fmt::format(
      "shape \"{}\": {:.4g} m, {} {:.4g} {}, moments over mass {:.4g} m2, {} corners, {} faces, radii {:.4g} "
      "m "
      "(circumscribed) and {:.4g} m (inscribed), rounding {:.3g} m",
      shape.name, fmt::join(extents_of(shape), " x "), D == 2 ? "area" : "volume",
      shape.form.volume * std::pow(r, D), D == 2 ? "m2" : "m3", fmt::join(moments_of(shape), ", "),
      shape.core.vertices().size(), shape.core.n_faces(), r, r * shape.form.inscribed_radius,
      r * shape.form.rounding);
}

template Json about_shape(const BodyShape<2>&);
template Json about_shape(const BodyShape<3>&);
template std::string line_about_shape(const BodyShape<2>&);
template std::string line_about_shape(const BodyShape<3>&);

}  // namespace scree
