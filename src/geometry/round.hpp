#pragma once
#include "geometry/box.hpp"
#include "geometry/direction.hpp"

namespace scree {

/// The part of `d` across the unit vector `axis`, as unit direction and length. Near the axis, where the
/// difference d - (d . axis) axis is mostly rounding, the direction still is across the axis to rounding (the
/// component along it is removed twice); on the axis it is `otherwise`.
inline Direction<3> direction_across(const Vec<3>& d, const Vec<3>& axis, const Vec<3>& otherwise) {
  constexpr Real noise = 1e-15;  // [-] of |d|: what rounding leaves of a vector along the axis
  const Vec<3> once = d - dot(axis, d) * axis;
  const Vec<3> twice = once - dot(axis, once) * axis;
  Direction<3> across = direction(twice, otherwise);
  if (across.length <= noise * norm(d)) across.unit = otherwise;
  return across;
}

/// Grows `box` until it holds the disk of `radius` about `center` across the unit vector `axis`.
inline void include_disk(Box<3>& box, const Vec<3>& center, const Vec<3>& axis, Real radius) {
  Vec<3> reach;
  for (int k = 0; k < 3; ++k) reach[k] = radius * norm(cross(axis, unit_vector<3>(k)));
  box.include(center - reach);
  box.include(center + reach);
}

}  // namespace scree
