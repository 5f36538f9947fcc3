#include "geometry/convex/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.hpp"

namespace scree {
namespace {

constexpr Real max_slender = 1000;

/// Extents across each pair of a face and the corners opposite to it: least and largest.
template <int D>
std::array<Real, 2> widths_of(const ConvexHull<D>& hull) {
  std::array<Real, 2> width{HUGE_VAL, 0};
  for (const Plane<D>& plane : planes_of(hull)) {
    Real lowest = HUGE_VAL;
    for (const Vec<D>& vertex : hull.vertices) lowest = std::min(lowest, dot(plane.normal, vertex));
    width = {std::min(width[0], plane.offset - lowest), std::max(width[1], plane.offset - lowest)};
  }
  return width;
}

/// Coordinates of x along `axes`.
template <int D>
Vec<D> along(const std::array<Vec<D>, D>& axes, const Vec<D>& x) {
  Vec<D> result;
  for (std::size_t k = 0; k < D; ++k) result[static_cast<int>(k)] = dot(axes[k], x);
  return result;
}

template <int D>
std::array<Vec<D>, D> world_axes() {
  std::array<Vec<D>, D> axes;
  for (int k = 0; k < D; ++k) axes[k] = unit_vector<D>(k);
  return axes;
}

/// The shape in lengths of its circumscribed radius.
template <int D>
void scale_to_one(ConvexShape<D>& shape) {
  Real radius = 0;
  for (const Vec<D>& vertex : shape.core.vertices) radius = std::max(radius, norm(vertex));
  radius += shape.rounding;
  for (Vec<D>& vertex : shape.core.vertices) vertex *= 1 / radius;
  shape.rounding /= radius;
  shape.inscribed_radius /= radius;
  shape.volume /= D == 2 ? radius * radius : radius * radius * radius;
  for (Real& moment : shape.moments) moment /= std::pow(radius, D + 2);
  shape.radius = radius;
}

/// A corner where more than D faces meet becomes several when these move in by `rounding`, all of them nearer
/// to each other than that: one of them stays, or contacts would cost much more and say no more.
template <int D>
ConvexHull<D> without_split_corners(const ConvexHull<D>& core, Real rounding) {
  std::vector<Vec<D>> kept;
  for (const Vec<D>& vertex : core.vertices)
    if (std::ranges::none_of(kept, [&](const Vec<D>& other) { return norm(vertex - other) < rounding; }))
      kept.push_back(vertex);
  return kept.size() < core.vertices.size() && kept.size() > D ? hull_of<D>(kept) : core;
}

/// A box gets its corners in the order that ConvexCore knows boxes by, exactly at +-half along each axis.
template <int D>
ConvexHull<D> with_corners_of_box(const ConvexHull<D>& core) {
  constexpr std::size_t n = std::size_t{1} << D;
  if (core.vertices.size() != n) return core;
  Vec<D> half;
  for (int k = 0; k < D; ++k) half[k] = std::abs(core.vertices[0][k]);
  std::vector<int> number;  // of each vertex in that order
  for (const Vec<D>& vertex : core.vertices) {
    int bits = 0;
    for (int k = 0; k < D; ++k) {
      constexpr Real round_off = 1e-12;
      if (!(std::abs(std::abs(vertex[k]) - half[k]) <= round_off * norm(half)) || half[k] == 0) return core;
      if (vertex[k] > 0) bits |= 1 << k;
    }
    number.push_back(bits);
  }
  ConvexHull<D> box;
  for (std::size_t i = 0; i < n; ++i) {
    Vec<D>& corner = box.vertices.emplace_back(half);
    for (int k = 0; k < D; ++k)
      if ((i >> k & 1U) == 0) corner[k] = -corner[k];
  }
  for (auto face : core.faces) {
    for (int& corner : face) corner = number[corner];
    std::rotate(face.begin(), std::ranges::min_element(face), face.end());
    box.faces.push_back(std::move(face));
  }
  std::ranges::sort(box.faces);
  return box;
}

template <int D>
ConvexShape<D> shape_of(const ConvexHull<D>& sharp, std::optional<Real> wanted) {
  const auto [min, largest] = widths_of(sharp);
  if (!(min > 0) || largest > max_slender * min)
    throw InputError(fmt::format("is {:.3g} m by {:.3g} m, more than 1 to {:g}", min, largest, max_slender));
  const Real rounding = wanted.value_or(usual_rounding * min);
  if (!(rounding > 0) || rounding >= 0.5 * min)
    throw InputError(fmt::format(
        "has a rounding_radius of {:g} m; it must be above 0 and below half of the smallest extent, {:g} m",
        rounding, 0.5 * min));

  const MassProperties<D> mass = mass_properties(sharp);
  ConvexShape<D> shape;
  shape.volume = mass.volume;
  shape.described_centre = mass.centre;
  std::array<Vec<D>, D> axes = world_axes<D>();
  if constexpr (D == 2) {
    shape.moments = mass.inertia;
  } else {
    const PrincipalAxes principal = principal_axes(mass.inertia);
    shape.moments = principal.moments.component;
    axes = principal.axes;
  }
  for (std::size_t k = 0; k < D; ++k)
    shape.described_axes[k] = along<D>(axes, unit_vector<D>(static_cast<int>(k)));

  ConvexHull<D> centred = sharp;
  for (Vec<D>& vertex : centred.vertices) vertex = along<D>(axes, vertex - mass.centre);
  shape.inscribed_radius = HUGE_VAL;
  for (const Plane<D>& plane : planes_of(centred))
    shape.inscribed_radius = std::min(shape.inscribed_radius, plane.offset);
  if (rounding >= shape.inscribed_radius)
    throw InputError(fmt::format(
        "has a rounding_radius of {:g} m; it must be below the radius of its inscribed sphere, {:g} m",
        rounding, shape.inscribed_radius));
  shape.core = without_split_corners(inset(centred, rounding), rounding);
  if (D == 3) shape.core = with_corners_of_box(shape.core);
  shape.rounding = rounding;
  scale_to_one(shape);
  return shape;
}

}  // namespace

template <int D>
ConvexShape<D> box_shape(const Vec<D>& size, std::optional<Real> rounding) {
  for (int k = 0; k < D; ++k)
    if (!(size[k] > 0) || !std::isfinite(size[k])) throw InputError("has an extent that is not positive");
  std::vector<Vec<D>> corners;
  for (int i = 0; i < (1 << D); ++i) {
    Vec<D> corner;
    for (int k = 0; k < D; ++k) corner[k] = (i >> k & 1 ? 0.5 : -0.5) * size[k];
    corners.push_back(corner);
  }
  return shape_of(hull_of<D>(corners), rounding);
}

template <int D>
ConvexShape<D> capsule_shape(Real length, Real radius) {
  if (!(length > 0) || !(radius > 0) || !std::isfinite(length + radius))
    throw InputError("has an extent that is not positive");
  if (length > 2 * max_slender * radius)
    throw InputError(
        fmt::format("is {:.3g} m by {:.3g} m, more than 1 to {:g}", 2 * radius, length, max_slender));
  constexpr Real pi = std::numbers::pi;
  const Real r2 = radius * radius, half = 0.5 * length;
  ConvexShape<D> shape;
  shape.core.vertices = {unit_vector<D>(0, -half), unit_vector<D>(0, half)};
  shape.rounding = shape.inscribed_radius = radius;
  shape.described_axes = world_axes<D>();
  // A hemisphere (disk) has its centre of mass 3 r / 8 (4 r / 3 pi) from its flat side.
  if constexpr (D == 2) {
    const Real middle = 2 * radius * length, ends = pi * r2, off = 4 * radius / (3 * pi);
    shape.volume = middle + ends;
    shape.moments = {middle * (length * length + 4 * r2) / 12 +
                     ends * (r2 / 2 - off * off + (half + off) * (half + off))};
  } else {
    const Real middle = pi * r2 * length, ends = 4.0 / 3.0 * pi * r2 * radius, off = 3 * radius / 8;
    shape.volume = middle + ends;
    const Real across = middle * (length * length / 12 + r2 / 4) +
                        ends * (0.4 * r2 - off * off + (half + off) * (half + off));
    shape.moments = {middle * r2 / 2 + ends * 0.4 * r2, across, across};
  }
  scale_to_one(shape);
  return shape;
}

template <int D>
ConvexShape<D> sphere_shape() {
  ConvexShape<D> shape;
  shape.core.vertices = {Vec<D>{}};
  shape.rounding = shape.inscribed_radius = 1;
  shape.volume = D == 2 ? std::numbers::pi : 4.0 / 3.0 * std::numbers::pi;
  shape.moments.fill((D == 2 ? 0.5 : 0.4) * shape.volume);
  shape.described_axes = world_axes<D>();
  return shape;
}

template <int D>
ConvexShape<D> hull_shape(std::span<const Vec<D>> points, std::optional<Real> rounding) {
  return shape_of(hull_of<D>(points), rounding);
}

template ConvexShape<2> box_shape(const Vec<2>&, std::optional<Real>);
template ConvexShape<3> box_shape(const Vec<3>&, std::optional<Real>);
template ConvexShape<2> sphere_shape();
template ConvexShape<3> sphere_shape();
template ConvexShape<2> capsule_shape(Real, Real);
template ConvexShape<3> capsule_shape(Real, Real);
template ConvexShape<2> hull_shape(std::span<const Vec<2>>, std::optional<Real>);
template ConvexShape<3> hull_shape(std::span<const Vec<3>>, std::optional<Real>);

}  // namespace scree
