#pragma once
#include "particles/body_store.hpp"

namespace scree {

/// The orientation after turning for dt with the angular velocity `spin` (world axes), exact for constant
/// spin: q(t + dt) = exp(dt spin / 2) q(t).
template <int D>
Orientation<D> turned(const Orientation<D>& orientation, const Spin<D>& spin, Real dt) {
  if constexpr (D == 2) {
    return orientation + dt * spin;
  } else {
    const Real speed = norm(spin);
    if (speed == 0) return orientation;
    const Real half = 0.5 * dt * speed;
    // cos and sin; of small turns by their series, to the last bit and much faster.
    const Real s = half * half;
    const bool small = s < 1e-4;
    const Real w = small ? 1 - s / 2 * (1 - s / 12 * (1 - s / 30)) : std::cos(half);
    const Real sine_share =
        small ? 0.5 * dt * (1 - s / 6 * (1 - s / 20 * (1 - s / 42))) : std::sin(half) / speed;
    const Vec<3> axis = spin * sine_share;
    const auto& q = orientation;
    const Vec<3> imaginary{{q[1], q[2], q[3]}};
    const Vec<3> turn = w * imaginary + q[0] * axis + cross(axis, imaginary);
    Orientation<3> next{{w * q[0] - dot(axis, imaginary), turn[0], turn[1], turn[2]}};
    next *= 1 / norm(next);
    return next;
  }
}

}  // namespace scree
