#pragma once
#include <algorithm>
#include <cmath>

#include "schemes/common/rotation.hpp"

namespace scree {

/// A vector in body axes, seen in world axes: q x q*.
inline Vec<3> to_world(const Orientation<3>& q, const Vec<3>& in_body) {
  const Vec<3> imaginary{{q[1], q[2], q[3]}};
  const Vec<3> twice = 2.0 * cross(imaginary, in_body);
  return in_body + q[0] * twice + cross(imaginary, twice);
}
/// The other way round: q* x q.
inline Vec<3> to_body(const Orientation<3>& q, const Vec<3>& in_world) {
  return to_world({{q[0], -q[1], -q[2], -q[3]}}, in_world);
}

struct Rotation {
  Orientation<3> orientation;
  Spin<3> spin;  ///< world axes [rad/s]
};

/// R m R^T x with the principal moments m [kg m2] along the body axes, or its inverse.
inline Vec<3> times_inertia(const Orientation<3>& q, const Vec<3>& moments, const Vec<3>& x) {
  Vec<3> in_body = to_body(q, x);
  for (int k = 0; k < 3; ++k) in_body[k] *= moments[k];
  return to_world(q, in_body);
}
inline Vec<3> over_inertia(const Orientation<3>& q, const Vec<3>& moments, const Vec<3>& x) {
  Vec<3> in_body = to_body(q, x);
  for (int k = 0; k < 3; ++k) in_body[k] /= moments[k];
  return to_world(q, in_body);
}

/// A body of principal moments m (`moments`, of any unit: only their ratios count) after dt without torque,
/// in body axes:
///
///     P = m omega,   omega_m = (P + P') / (2 m),   P' = exp(-dt omega_m) P,   q' = q exp(dt omega_m / 2)
///
/// The turn keeps |P|, and P' - P is normal to omega_m, which keeps the energy; q' P' = q P keeps the angular
/// momentum in space: all to round-off. Second order in dt, exact for equal moments, where it is turned(). An
/// explicit gyroscopic term gains energy, an implicit one loses it. Steps that turn the body by more than 0.2
/// rad are taken in parts, so that the fixed point is found.
inline Rotation rotated_freely(Rotation body, const Vec<3>& moments, Real dt) {
  if (moments[0] == moments[1] && moments[1] == moments[2])
    return {turned<3>(body.orientation, body.spin, dt), body.spin};
  constexpr Real largest_turn = 0.2, round_off = 1e-15;
  constexpr int max_rounds = 50;
  const Vec<3> momentum = times_inertia(body.orientation, moments, body.spin);
  const Real fastest = norm(momentum) / std::min({moments[0], moments[1], moments[2]});
  const auto n_parts = static_cast<int>(std::ceil(std::abs(dt) * fastest / largest_turn));
  for (int i = 0; i < n_parts; ++i) {
    Orientation<3> next;
    Vec<3> middle = body.spin;
    for (int round = 0; round < max_rounds; ++round) {
      next = turned<3>(body.orientation, middle, dt / n_parts);
      Vec<3> mean = 0.5 * (to_body(body.orientation, momentum) + to_body(next, momentum));
      for (int k = 0; k < 3; ++k) mean[k] /= moments[k];
      mean = to_world(body.orientation, mean);
      const Real change = norm(mean - middle);
      middle = mean;
      if (change <= round_off * norm(middle)) break;
    }
    body.orientation = next;
    body.spin = over_inertia(body.orientation, moments, momentum);
  }
  return body;
}

}  // namespace scree
