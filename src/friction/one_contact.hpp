#pragma once
#include <algorithm>
#include <cmath>

#include "friction/cone.hpp"

namespace scree {

/// The impulse r that makes one contact obey Coulomb's law while all others stay (docs/method.md, eq. N.2):
///     u = W r + q,  0 <= u_N, r_N >= 0, u_N r_N = 0,  |r_T| <= mu r_N,  on the cone u_T = -c r_T, c >= 0.
/// W is symmetric positive definite, compliance included. `alpha` [units of W] is the slip multiplier: on
/// entry a guess (0 or what the last call left), on return u_T = -alpha r_T (an open contact leaves it as it
/// was). Exact to round-off; open, stick or slip are told apart by trying them in this order. Cost: about 60
/// operations to stick, 30 more and one square root per Newton step to slip (one to three with a good guess).
template <int D>
Vec<D> solve_one_contact(const Real (&W)[D][D], const Real* q, Real mu, Real& alpha);

template <>
inline Vec<2> solve_one_contact<2>(const Real (&W)[2][2], const Real* q, Real mu, Real& alpha) {
  if (q[0] >= 0) return {};
  const Real determinant = W[0][0] * W[1][1] - W[0][1] * W[1][0];
  Vec<2> r{
      {(W[0][1] * q[1] - W[1][1] * q[0]) / determinant, (W[1][0] * q[0] - W[0][0] * q[1]) / determinant}};
  alpha = 0;
  if (r[0] >= 0 && std::abs(r[1]) <= mu * r[0]) return r;
  // Slip towards the side on which sticking would break the cone; if that side's solution does not slip
  // against its friction, it is the other side.
  const Real first = r[1] > 0 ? 1 : -1;
  for (const Real side : {first, -first}) {
    const Real stiffness = W[0][0] + side * mu * W[0][1];
    const Real normal = -q[0] / stiffness;
    if (stiffness <= 0) continue;
    const Real slip = q[1] + (W[1][0] + side * mu * W[1][1]) * normal;
    if (side * slip <= 0 || mu == 0) {
      r = {{normal, side * mu * normal}};
      alpha = mu * normal > 0 ? std::max(-side * slip / (mu * normal), 0.0) : 0;
      return r;
    }
  }
  // Reached by rounding only: both sides are within round-off of sticking.
  r[0] = std::max(r[0], 0.0);
  r[1] = std::clamp(r[1], -mu * r[0], mu * r[0]);
  return r;
}

template <>
inline Vec<3> solve_one_contact<3>(const Real (&W)[3][3], const Real* q, Real mu, Real& alpha) {
  if (q[0] >= 0) return {};
  // Eliminate r_N: S r_T + alpha r_T = b is what remains of u_T = -alpha r_T.
  const Real inverse_n = 1 / W[0][0];
  const Real s11 = W[1][1] - W[1][0] * W[1][0] * inverse_n;
  const Real s12 = W[1][2] - W[1][0] * W[2][0] * inverse_n;
  const Real s22 = W[2][2] - W[2][0] * W[2][0] * inverse_n;
  const Real b1 = -(q[1] - W[1][0] * q[0] * inverse_n);
  const Real b2 = -(q[2] - W[2][0] * q[0] * inverse_n);
  Vec<3> r;
  // r_T(alpha) = (S + alpha I)^-1 b, r_N(alpha) = -(q_N + W_NT r_T) / W_NN; f = |r_T| - mu r_N.
  const auto evaluate = [&](Real at, Real& slope) {
    const Real a11 = s11 + at;
    const Real a22 = s22 + at;
    const Real inverse = 1 / (a11 * a22 - s12 * s12);
    r[1] = (a22 * b1 - s12 * b2) * inverse;
    r[2] = (a11 * b2 - s12 * b1) * inverse;
    r[0] = -(q[0] + W[1][0] * r[1] + W[2][0] * r[2]) * inverse_n;
    const Real length = std::sqrt(r[1] * r[1] + r[2] * r[2]);
    // d r_T / d alpha = -(S + alpha I)^-1 r_T.
    const Real d1 = -(a22 * r[1] - s12 * r[2]) * inverse;
    const Real d2 = -(a11 * r[2] - s12 * r[1]) * inverse;
    slope =
        (length > 0 ? (r[1] * d1 + r[2] * d2) / length : 0) + mu * (W[1][0] * d1 + W[2][0] * d2) * inverse_n;
    return length - mu * r[0];
  };
  Real slope = 0;
  const Real guess = alpha;
  const Real at_stick = evaluate(0, slope);
  alpha = 0;
  if (at_stick <= 0 && r[0] >= 0) return r;
  if (mu == 0) return {{-q[0] * inverse_n, 0, 0}};

  // f(0) > 0 and f < 0 for large alpha: bracket the root, then Newton kept inside the bracket.
  const Real unit = s11 + s22;
  Real low = 0;
  Real high = HUGE_VAL;
  Real at = guess > 0 ? guess : at_stick > 0 && slope < 0 ? -at_stick / slope : unit;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const Real f = evaluate(at, slope);
    // The cone f <= 0 is only reached with r_N > 0.
    if (f > 0)
      low = at;
    else
      high = at;
    if (std::abs(f) <= 4e-16 * mu * std::abs(r[0])) break;
    Real next = at - f / slope;
    if (!(next > low && next < high)) next = high < HUGE_VAL ? 0.5 * (low + high) : 4 * std::max(at, unit);
    if (std::abs(next - at) <= 2e-16 * at) break;
    at = next;
  }
  alpha = at;
  // Exactly on the cone, whatever rounding left.
  const Real length = std::sqrt(r[1] * r[1] + r[2] * r[2]);
  r[0] = std::max(r[0], 0.0);
  if (length > 0) {
    r[1] *= mu * r[0] / length;
    r[2] *= mu * r[0] / length;
  }
  return r;
}

}  // namespace scree
