#pragma once
#include <cmath>

#include "friction/cone.hpp"

namespace scree {

/// Numbers of one contact, for LocalSolution. Kernels have the same for several contacts side by side.
struct OneByOne {
  using Number = Real;
  using Mask = bool;
  static bool any(bool mask) { return mask; }
  static Real root(Real x) { return std::sqrt(x); }
};

/// The impulse r that makes one contact obey Coulomb's law while all others stay (docs/method.md, eq. N.2):
///     u = W r + q,  0 <= u_N, r_N >= 0, u_N r_N = 0,  |r_T| <= mu r_N,  on the cone u_T = -c r_T, c >= 0.
/// W is symmetric positive definite, compliance included. `alpha` [units of W] is the slip multiplier: on
/// entry a guess (0 or what the last call left), on return u_T = -alpha r_T (an open contact leaves it as it
/// was). Exact to round-off; open, stick or slip are found by trying them in this order. Each contact
/// gets the same bits whichever contacts lie beside it. Cost: about 60 operations to stick, 40 more with a
/// square root and two divisions per Newton step to slip (one or two with a good guess).
template <class Kind>
struct LocalSolution {
  using Number = typename Kind::Number;
  using Mask = typename Kind::Mask;

  static void find(const Number (&W)[2][2], const Number (&q)[2], Number mu, Number& alpha, Number (&r)[2]);
  static void find(const Number (&W)[3][3], const Number (&q)[3], Number mu, Number& alpha, Number (&r)[3]);

 private:
  static Mask is_not(Mask mask) { return mask ^ (Number{} == Number{}); }
  static Number size(Number x) { return x < Number{} ? -x : x; }
  static Number larger(Number a, Number b) { return a > b ? a : b; }
};

template <class Kind>
void LocalSolution<Kind>::find(const Number (&W)[2][2], const Number (&q)[2], Number mu, Number& alpha,
                               Number (&r)[2]) {
  const Number zero{}, one = zero + 1;
  const Mask closed = is_not(q[0] >= zero);
  const Number determinant = W[0][0] * W[1][1] - W[0][1] * W[1][0];
  r[0] = (W[0][1] * q[1] - W[1][1] * q[0]) / determinant;
  r[1] = (W[1][0] * q[0] - W[0][0] * q[1]) / determinant;
  const Mask sticks = (r[0] >= zero) & (size(r[1]) <= mu * r[0]);
  // Slip towards the side on which sticking would break the cone; if that side's solution does not slip
  // against its friction, it is the other side.
  Number side = r[1] > zero ? one : -one;
  Mask done = sticks;
  Number slip_alpha = zero;
  // Where neither is found, by rounding only, both are within round-off of sticking.
  Number slips[2] = {larger(r[0], zero), r[1]};
  for (int trial = 0; trial < 2; ++trial, side = -side) {
    const Number stiffness = W[0][0] + side * mu * W[0][1];
    const Number normal = -q[0] / stiffness;
    const Number slip = q[1] + (W[1][0] + side * mu * W[1][1]) * normal;
    const Mask found = is_not(done) & (stiffness > zero) & ((side * slip <= zero) | (mu == zero));
    const Number limit = mu * normal;
    slips[0] = found ? normal : slips[0];
    slips[1] = found ? side * limit : slips[1];
    slip_alpha = found ? (limit > zero ? larger(-side * slip / (limit > zero ? limit : one), zero) : zero)
                       : slip_alpha;
    done = done | found;
  }
  const Number max = mu * slips[0];
  slips[1] = slips[1] > max ? max : slips[1] < -max ? -max : slips[1];
  alpha = closed ? (sticks ? zero : slip_alpha) : alpha;
  for (int i = 0; i < 2; ++i) r[i] = closed ? (sticks ? r[i] : slips[i]) : zero;
}

template <class Kind>
void LocalSolution<Kind>::find(const Number (&W)[3][3], const Number (&q)[3], Number mu, Number& alpha,
                               Number (&r)[3]) {
  const Number zero{}, one = zero + 1;
  const Mask closed = is_not(q[0] >= zero);
  if (!Kind::any(closed)) {
    for (Number& part : r) part = zero;
    return;
  }
  // Eliminate r_N: S r_T + alpha r_T = b is what remains of u_T = -alpha r_T.
  const Number inverse_n = 1 / W[0][0];
  const Number t1 = W[1][0] * inverse_n, t2 = W[2][0] * inverse_n, free = q[0] * inverse_n;
  const Number s11 = W[1][1] - W[1][0] * t1;
  const Number s12 = W[1][2] - W[1][0] * t2;
  const Number s22 = W[2][2] - W[2][0] * t2;
  const Number b1 = W[1][0] * free - q[1];
  const Number b2 = W[2][0] * free - q[2];
  // r_T(alpha) = (S + alpha I)^-1 b, r_N(alpha) = -(q_N + W_NT r_T) / W_NN; slip is where |r_T| = mu r_N.
  Number a11, a22, inverse, square, length;
  const auto set = [&](Number at) {
    a11 = s11 + at;
    a22 = s22 + at;
    inverse = 1 / (a11 * a22 - s12 * s12);
    r[1] = (a22 * b1 - s12 * b2) * inverse;
    r[2] = (a11 * b2 - s12 * b1) * inverse;
    r[0] = -(free + t1 * r[1] + t2 * r[2]);
    square = r[1] * r[1] + r[2] * r[2];
    length = Kind::root(square);
  };
  // Newton's step for mu r_N / |r_T| = 1, whose left side is linear in alpha where S is a multiple of I.
  const auto step = [&] {
    // d r_T / d alpha = -(S + alpha I)^-1 r_T.
    const Number d1 = (s12 * r[2] - a22 * r[1]) * inverse;
    const Number d2 = (s12 * r[1] - a11 * r[2]) * inverse;
    const Number turn = r[1] * d1 + r[2] * d2;
    const Number normal = -(t1 * d1 + t2 * d2);
    return (length - mu * r[0]) * square / (mu * (normal * square - r[0] * turn));
  };
  set(zero);
  const Mask beyond = is_not((length <= mu * r[0]) & (r[0] >= zero));
  const Mask slips = closed & beyond & is_not(mu == zero);
  Number at = zero;
  if (Kind::any(slips)) {
    const Number stuck[3] = {r[0], r[1], r[2]};
    // |r_T| > mu r_N at 0 and less for large alpha: bracket the root, then Newton kept inside the bracket.
    const Number unit = s11 + s22;
    Number low = zero, high = zero + HUGE_VAL;
    at = alpha;
    if (Kind::any(slips & is_not(alpha > zero))) {
      const Number first = step();
      at = alpha > zero ? alpha : ((first > zero) & (first < high)) ? first : unit;
    }
    // The square of it is round-off, and so is the error after a step as small as that.
    constexpr Real small = 1e-8;
    Mask active = slips;
    for (int iteration = 0; iteration < 200; ++iteration) {
      set(at);
      if (!Kind::any(active)) break;
      // The cone is only reached with r_N > 0.
      const Mask is_low = length > mu * r[0];
      low = is_low ? at : low;
      high = is_low ? high : at;
      const Number by = step(), next = at + by;
      const Mask is_last = size(by) <= small * at;
      const Number middle = high < HUGE_VAL ? 0.5 * (low + high) : 4 * larger(at, unit);
      const Number better = is_last | ((next > low) & (next < high)) ? next : middle;
      at = active ? better : at;
      active = active & is_not(is_last);
    }
    for (int i = 0; i < 3; ++i) r[i] = slips ? r[i] : stuck[i];
    at = slips ? at : zero;
  }
  alpha = closed ? at : alpha;
  // Without friction sticking is not asked for.
  const Mask slides = beyond & (mu == zero);
  r[0] = slides ? -free : larger(r[0], zero);
  // Not beyond the cone, whatever rounding left.
  const Number max = mu * r[0];
  const Number factor = slides ? zero : (slips & (length > max)) ? max / length : one;
  r[0] = closed ? r[0] : zero;
  r[1] = closed ? r[1] * factor : zero;
  r[2] = closed ? r[2] * factor : zero;
}

/// The same for one contact.
template <int D>
Vec<D> solve_one_contact(const Real (&W)[D][D], const Real* q, Real mu, Real& alpha) {
  Real known[D], r[D];
  for (int i = 0; i < D; ++i) known[i] = q[i];
  LocalSolution<OneByOne>::find(W, known, mu, alpha, r);
  Vec<D> result;
  for (int i = 0; i < D; ++i) result[i] = r[i];
  return result;
}

}  // namespace scree
