#pragma once
#include <algorithm>

#include "core/random.hpp"
#include "particles/body_store.hpp"

namespace scree {

/// One turn after another: first `first`, then `second`.
template <int D>
Orientation<D> combined(const Orientation<D>& second, const Orientation<D>& first) {
  if constexpr (D == 2) {
    return second + first;
  } else {
    const Orientation<3>&p = second, &q = first;
    return {{p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
             p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
             p[0] * q[2] + p[2] * q[0] + p[3] * q[1] - p[1] * q[3],
             p[0] * q[3] + p[3] * q[0] + p[1] * q[2] - p[2] * q[1]}};
  }
}
/// The turn back.
template <int D>
Orientation<D> reversed(Orientation<D> q) {
  for (int k = D == 2 ? 0 : 1; k < (D == 2 ? 1 : 4); ++k) q[k] = -q[k];
  return q;
}

/// The vector about which, and by whose length [rad], a body has turned the shorter way round; in the plane
/// the angle.
template <int D>
Spin<D> turn_between(const Orientation<D>& from, const Orientation<D>& to) {
  if constexpr (D == 2) {
    return to - from;
  } else {
    const Orientation<3> q = combined<3>(to, reversed<3>(from));
    const Vec<3> imaginary{{q[1], q[2], q[3]}};
    const Real sine = norm(imaginary);
    if (sine == 0) return {};
    const Real half = std::atan2(sine, std::abs(q[0]));
    return std::copysign(2 * half / sine, q[0]) * imaginary;
  }
}

/// The axes of a body in the world: where its own x, y[, z] point.
template <int D>
std::array<Vec<D>, D> axes_of(const Orientation<D>& orientation) {
  if constexpr (D == 2) {
    const Real c = std::cos(orientation[0]), s = std::sin(orientation[0]);
    return {Vec<2>{{c, s}}, Vec<2>{{-s, c}}};
  } else {
    const Real w = orientation[0], x = orientation[1], y = orientation[2], z = orientation[3];
    return {Vec<3>{{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)}},
            Vec<3>{{2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)}},
            Vec<3>{{2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}}};
  }
}

/// The other way round, for axes of a right-handed frame. Source: S. W. Shepperd, J. Guidance Control 1
/// (1978) 223-224.
template <int D>
Orientation<D> orientation_of(const std::array<Vec<D>, D>& axes) {
  if constexpr (D == 2) {
    return {{std::atan2(axes[0][1], axes[0][0])}};
  } else {
    // Entry (row i, column k) of the rotation is axes[k][i]. The largest component comes from a root.
    const auto r = [&](int i, std::size_t k) { return axes[k][i]; };
    const std::array<Real, 4> four_squares{1 + r(0, 0) + r(1, 1) + r(2, 2), 1 + r(0, 0) - r(1, 1) - r(2, 2),
                                           1 - r(0, 0) + r(1, 1) - r(2, 2), 1 - r(0, 0) - r(1, 1) + r(2, 2)};
    const auto largest = std::ranges::max_element(four_squares) - four_squares.begin();
    const Real own = 0.5 * std::sqrt(*std::ranges::max_element(four_squares)), f = 0.25 / own;
    const Real wx = f * (r(2, 1) - r(1, 2)), wy = f * (r(0, 2) - r(2, 0)), wz = f * (r(1, 0) - r(0, 1));
    const Real xy = f * (r(1, 0) + r(0, 1)), xz = f * (r(0, 2) + r(2, 0)), yz = f * (r(2, 1) + r(1, 2));
    Orientation<3> q;
    if (largest == 0) q = {{own, wx, wy, wz}};
    if (largest == 1) q = {{wx, own, xy, xz}};
    if (largest == 2) q = {{wy, xy, own, yz}};
    if (largest == 3) q = {{wz, xz, yz, own}};
    q *= 1 / norm(q);
    return q;
  }
}

/// Evenly distributed over all turns: a point of the unit sphere of quaternions.
template <int D>
Orientation<D> random_orientation(RandomStream& stream) {
  constexpr Real pi = 3.14159265358979323846;
  if constexpr (D == 2) {
    return {{stream.uniform(-pi, pi)}};
  } else {
    Orientation<3> q;
    for (int k = 0; k < 4; ++k) q[k] = stream.normal();
    q *= 1 / norm(q);
    return q;
  }
}

}  // namespace scree
