#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "geometry/box.hpp"

namespace scree {

/// Volume of the part of a sphere that lies below a plane `height` above its centre. Volumes of disks are
/// areas.
template <int D>
Real volume_below(Real radius, Real height) {
  const Real h = std::clamp(height, -radius, radius);
  if constexpr (D == 2) {
    const Real half_chord = std::sqrt(std::max(0.0, radius * radius - h * h));
    return radius * radius * (std::numbers::pi / 2 + std::asin(h / radius)) + h * half_chord;
  } else {
    const Real cap = radius + h;  // height of the cap from the lowest point
    return std::numbers::pi * cap * cap * (3 * radius - cap) / 3;
  }
}

/// Volume of the part between two planes across an axis; x: coordinate of the centre along the axis.
template <int D>
Real volume_between(Real x, Real radius, Real lower, Real upper) {
  return volume_below<D>(radius, upper - x) - volume_below<D>(radius, lower - x);
}

/// A corner between planes at distances >= 0 from the centre cuts a piece out of a circle or of the unit
/// sphere, if it lies inside. Green's theorem: twice its area, or three times its volume, is the arc, or the
/// piece of the sphere, less the sum of planes' distances times what lies in them.
struct CornerOfCircle {
  Real angle = 0;  ///< of the arc
  Real area = 0;
};
inline CornerOfCircle corner_of_circle(Real square_of_radius, Real a, Real b) {
  if (!(a * a + b * b < square_of_radius)) return {};
  const Real along_a = std::sqrt(square_of_radius - a * a), along_b = std::sqrt(square_of_radius - b * b);
  const Real angle = std::atan2(along_a, a) - std::atan2(b, along_b);
  return {angle, 0.5 * (square_of_radius * angle - a * (along_a - b) - b * (along_b - a))};
}
/// The piece of the sphere, by Gauss and Bonnet: 2 pi less the angles at its corners and the curvature of its
/// sides.
inline Real corner_of_sphere(Real a, Real b, Real c) {
  if (!(a * a + b * b + c * c < 1)) return 0;
  const Real distance[] = {a, b, c};
  Real piece = std::numbers::pi / 2, cone = 0;
  for (int k = 0; k < 3; ++k) {
    const Real h = distance[k], next = distance[(k + 1) % 3], last = distance[(k + 2) % 3];
    const CornerOfCircle in_plane = corner_of_circle(1 - h * h, next, last);
    piece -= std::asin(h * next / std::sqrt((1 - h * h) * (1 - next * next))) + h * in_plane.angle;
    cone += h * in_plane.area;
  }
  return (piece - cone) / 3;
}

/// Volume of the part of the unit sphere that lies beyond all of `n` planes across the first axes, at
/// `distance` from its centre, towards which negative ones lie.
template <int D>
Real volume_beyond(std::array<Real, D> distance, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    if (distance[k] >= 0) continue;
    // All but what lies on this side of the plane, which has a mirror image.
    std::array<Real, D> mirrored = distance, others = distance;
    mirrored[k] = -distance[k];
    std::copy(distance.begin() + static_cast<std::ptrdiff_t>(k) + 1, distance.end(),
              others.begin() + static_cast<std::ptrdiff_t>(k));
    return volume_beyond<D>(others, n - 1) - volume_beyond<D>(mirrored, n);
  }
  if (n == 0) return volume_below<D>(1, 1);
  if (n == 1) return volume_below<D>(1, -distance[0]);
  if constexpr (D == 2) return corner_of_circle(1, distance[0], distance[1]).area;
  return n == 2 ? 2 * corner_of_sphere(distance[0], distance[1], 0)
                : corner_of_sphere(distance[0], distance[1], distance[D - 1]);
}

/// Volume of the part of a sphere that lies in a box, exact to round-off; faces may be at infinity.
template <int D>
Real volume_in_box(const Vec<D>& centre, Real radius, const Box<D>& box) {
  // How far the planes are that something lies beyond: the lower one, seen from the other side, and the
  // upper.
  std::array<std::array<Real, 2>, D> planes;
  int n_cut = 0, axis = D - 1;
  for (int k = 0; k < D; ++k) {
    const Real lower = (centre[k] - box.lower[k]) / radius, upper = (box.upper[k] - centre[k]) / radius;
    if (lower <= -1 || upper <= -1) return 0;
    planes[k] = {lower, upper};
    if (lower >= 1 && upper >= 1) continue;
    ++n_cut;
    axis = k;
  }
  if (n_cut <= 1) return volume_between<D>(centre[axis], radius, box.lower[axis], box.upper[axis]);
  // What is in the box is in none of the parts beyond; digits of a code: which plane of each axis, or none.
  Real volume = 0;
  for (int code = 0; code < (D == 2 ? 9 : 27); ++code) {
    std::array<Real, D> beyond{};
    std::size_t n = 0;
    bool is_there = true;
    for (int k = 0, digits = code; k < D; ++k, digits /= 3) {
      if (digits % 3 == 0) continue;
      beyond[n] = planes[k][digits % 3 - 1];
      is_there = is_there && beyond[n++] < 1;
    }
    if (is_there) volume += (n % 2 == 0 ? 1 : -1) * volume_beyond<D>(beyond, n);
  }
  Real cube = radius;
  for (int k = 1; k < D; ++k) cube *= radius;
  return cube * std::max(0.0, volume);
}

}  // namespace scree
