#pragma once
#include <array>

#include "friction/friction_problem.hpp"

namespace scree {

/// Normal and tangents (n, t1[, t2]) of a contact: orthonormal, right-handed, a function of n alone. The
/// first tangent in space lies across the axis with which the normal is least aligned.
template <int D>
std::array<Vec<D>, D> contact_frame(const Vec<D>& normal) {
  if constexpr (D == 2) {
    return {normal, {{-normal[1], normal[0]}}};
  } else {
    // Without branches, which processors guess wrong in one of three contacts.
    const Real x = std::abs(normal[0]), y = std::abs(normal[1]), z = std::abs(normal[2]);
    const bool along_z = z < std::min(x, y), along_y = (y < x) & !along_z;
    const Vec<D> axis{{Real(!along_y & !along_z), Real(along_y), Real(along_z)}};
    Vec<D> tangent = cross(normal, axis);
    tangent *= 1 / norm(tangent);
    return {normal, tangent, cross(normal, tangent)};
  }
}

/// Writes one row of H for one body: sign * f . (v + omega x lever), with `lever` from the body's centre to
/// the contact point [m].
template <int D>
void write_contact_row(const Vec<D>& f, const Vec<D>& lever, Real sign, Real* row) {
  for (int k = 0; k < D; ++k) row[k] = sign * f[k];
  if constexpr (D == 2) {
    row[2] = sign * (lever[0] * f[1] - lever[1] * f[0]);
  } else {
    const Vec<3> turn = cross(lever, f);
    for (int k = 0; k < 3; ++k) row[3 + k] = sign * turn[k];
  }
}

}  // namespace scree
