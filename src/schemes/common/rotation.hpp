#pragma once
#include "particles/body_store.hpp"

namespace scree {

/// A turn by a small angle of the orientations of bodies, one (T = Real) or several at once (T = lanes):
/// quaternion q, angular velocity `spin`, h_squared = |dt spin / 2|^2 below small_turn. Sine and cosine by
/// their series, to the last bit.
inline constexpr Real small_turn = 1e-4;
template <class T>
[[gnu::always_inline]] inline std::array<T, 4> turned_a_little(const std::array<T, 4>& q,
                                                               const std::array<T, 3>& spin, T h_squared,
                                                               Real dt) {
  const T w = 1 - h_squared * (0.5 - h_squared * (1.0 / 24 - h_squared * (1.0 / 720)));
  const T share = 0.5 * dt * (1 - h_squared * (1.0 / 6 - h_squared * (1.0 / 120 - h_squared * (1.0 / 5040))));
  const T x = share * spin[0];
  const T y = share * spin[1];
  const T z = share * spin[2];
  std::array<T, 4> next{w * q[0] - x * q[1] - y * q[2] - z * q[3], w * q[1] + x * q[0] + y * q[3] - z * q[2],
                        w * q[2] + y * q[0] + z * q[1] - x * q[3], w * q[3] + z * q[0] + x * q[2] - y * q[1]};
  // Round-off makes the length drift; one step of Newton's method for the inverse root takes it out.
  const T excess = next[0] * next[0] + next[1] * next[1] + next[2] * next[2] + next[3] * next[3] - 1;
  for (T& component : next) component = component * (1 - 0.5 * excess);
  return next;
}

/// The orientation after turning for dt with the angular velocity `spin` (world axes), exact for constant
/// spin: q(t + dt) = exp(dt spin / 2) q(t).
template <int D>
Orientation<D> turned(const Orientation<D>& orientation, const Spin<D>& spin, Real dt) {
  if constexpr (D == 2) {
    return orientation + dt * spin;
  } else {
    const Real h_squared = 0.25 * dt * dt * dot(spin, spin);
    if (h_squared < small_turn)
      return {turned_a_little<Real>(orientation.component, spin.component, h_squared, dt)};
    const Real h = std::sqrt(h_squared);
    const Real w = std::cos(h);
    const Vec<3> axis = spin * (0.5 * dt * std::sin(h) / h);
    const auto& q = orientation;
    const Vec<3> imaginary{{q[1], q[2], q[3]}};
    const Vec<3> turn = w * imaginary + q[0] * axis + cross(axis, imaginary);
    Orientation<3> next{{w * q[0] - dot(axis, imaginary), turn[0], turn[1], turn[2]}};
    next *= 1 / norm(next);
    return next;
  }
}

}  // namespace scree
