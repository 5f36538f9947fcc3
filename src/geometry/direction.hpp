#pragma once
#include "core/types.hpp"

namespace scree {

/// A vector as unit direction and length.
template <int D>
struct Direction {
  Vec<D> unit;
  Real length = 0;
};

/// Splits `v`; where it is too short to have a direction, the unit vector `otherwise` stands in.
template <int D>
Direction<D> direction(const Vec<D>& v, const Vec<D>& otherwise) {
  constexpr Real shortest =
      1e-150;  // [m] below it the square loses digits and v / length would not be a unit vector
  const Real length = norm(v);
  return {length > shortest ? v * (1 / length) : otherwise, length};
}

/// A unit vector perpendicular to the unit vector `axis`, the same for the same bits.
inline Vec<3> perpendicular(const Vec<3>& axis) {
  int min = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(axis[k]) < std::abs(axis[min])) min = k;
  const Vec<3> across = cross(axis, unit_vector<3>(min));
  return across * (1 / norm(across));
}

/// Whether two heights over a surface are on the same side of it; 0 is on none.
constexpr bool same_side(Real s, Real t) {
  return (s > 0 && t > 0) || (s < 0 && t < 0);
}

/// The direction a quarter turn to the left of `v`.
constexpr Vec<2> left_of(const Vec<2>& v) {
  return {{-v[1], v[0]}};
}

}  // namespace scree
