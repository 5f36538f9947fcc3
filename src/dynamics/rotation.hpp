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
    // cos and sin of half the angle h; of small turns by their series, to the last bit and much faster.
    const Real h_squared = 0.25 * dt * dt * dot(spin, spin);
    Real w = 0, axis_share = 0;
    if (h_squared < 1e-4) {
      w = 1 - h_squared * (0.5 - h_squared * (1.0 / 24 - h_squared * (1.0 / 720)));
      axis_share =
          0.5 * dt * (1 - h_squared * (1.0 / 6 - h_squared * (1.0 / 120 - h_squared * (1.0 / 5040))));
    } else {
      const Real h = std::sqrt(h_squared);
      w = std::cos(h);
      axis_share = 0.5 * dt * std::sin(h) / h;
    }
    const Vec<3> axis = spin * axis_share;
    const auto& q = orientation;
    const Vec<3> imaginary{{q[1], q[2], q[3]}};
    const Vec<3> turn = w * imaginary + q[0] * axis + cross(axis, imaginary);
    Orientation<3> next{{w * q[0] - dot(axis, imaginary), turn[0], turn[1], turn[2]}};
    // Round-off makes its length drift: 1/sqrt(1 + e) = 1 - e/2 to the last bit while e is round-off.
    const Real excess = dot(next, next) - 1;
    next *= std::abs(excess) < 1e-8 ? 1 - 0.5 * excess : 1 / std::sqrt(1 + excess);
    return next;
  }
}

}  // namespace scree
