#pragma once
#include <cmath>

#include "friction/cone.hpp"

/// The Lorentz cone L = {x_0 >= |x_1|} and the Nesterov-Todd scaling of two of its points (docs/method.md,
/// eq. I.3, I.4).
namespace scree {

/// A point strictly inside L. The distance x_0 - |x_1| is kept by itself: where contacts slide it falls far
/// below the round-off of x_0.
template <int D>
struct LorentzPoint {
  Real x[D];
  Real inside;  ///< x_0 - |x_1| > 0

  /// Takes x_1 from `from`, whose component 0 is not read.
  void set(const Real* from, Real distance) {
    for (int k = 1; k < D; ++k) x[k] = from[k];
    inside = distance;
    x[0] = tangential_norm<D>(x) + inside;
  }

  void move(const Real* step, Real length) {
    const Real before = tangential_norm<D>(x);
    Real growth = 0;  // of |x_1|^2
    for (int k = 1; k < D; ++k) {
      growth += length * step[k] * (2 * x[k] + length * step[k]);
      x[k] += length * step[k];
    }
    const Real after = tangential_norm<D>(x);
    inside += length * step[0] - (growth == 0 ? 0 : growth / (before + after));
    x[0] = after + inside;
  }

  /// x_0^2 - |x_1|^2.
  Real norm2() const { return inside * (inside + 2 * tangential_norm<D>(x)); }

  /// Largest a with x + a step in L. Found in the frame in which x is the unit element.
  Real longest_step(const Real* step) const {
    const Real size = std::sqrt(norm2());
    Real across = 0;
    for (int k = 1; k < D; ++k) across += x[k] * step[k];
    const Real along = (x[0] * step[0] - across) / size;
    const Real factor = (step[0] + along) / (x[0] + size);
    Real square = 0;
    for (int k = 1; k < D; ++k) {
      const Real t = step[k] - factor * x[k];
      square += t * t;
    }
    // The change keeps step_0^2 - |step_1|^2, which is a difference of two large numbers.
    const Real outwards = tangential_norm<D>(step);
    const Real rate = along > 0 ? (outwards - step[0]) * (outwards + step[0]) / (std::sqrt(square) + along)
                                : std::sqrt(square) - along;
    return rate > 0 ? size / rate : HUGE_VAL;
  }
};

/// a . b as a sum of positive terms: tangential parts that oppose each other cancel beforehand.
template <int D>
Real dot(const LorentzPoint<D>& a, const LorentzPoint<D>& b) {
  const Real lengths = tangential_norm<D>(a.x) * tangential_norm<D>(b.x);
  Real tangential = 0;
  for (int k = 1; k < D; ++k) tangential += a.x[k] * b.x[k];
  Real together = lengths + tangential;
  if (tangential < 0) {
    const Real cross = D == 3 ? a.x[1] * b.x[D - 1] - a.x[D - 1] * b.x[1] : 0;
    together = cross * cross / (lengths - tangential);
  }
  return a.inside * b.x[0] + b.inside * tangential_norm<D>(a.x) + together;
}

/// The symmetric T = eta [w_0, w_1^T; w_1, I + w_1 w_1^T/(1 + w_0)] that maps L to itself and two points to
/// one, T Z = T^-1 X = lambda.
template <int D>
struct NesterovToddScaling {
  Real eta, w[D];
  Real lambda[D];

  void set(const LorentzPoint<D>& X, const LorentzPoint<D>& Z) {
    const Real size_X = std::sqrt(X.norm2());
    const Real size_Z = std::sqrt(Z.norm2());
    const Real gamma = std::sqrt(0.5 * (1 + dot(X, Z) / (size_X * size_Z)));
    Real x[D], z[D];  // of norm 1
    for (int k = 0; k < D; ++k) {
      x[k] = X.x[k] / size_X;
      z[k] = Z.x[k] / size_Z;
    }
    eta = std::sqrt(size_X / size_Z);
    const Real size = std::sqrt(size_X * size_Z);
    w[0] = (x[0] + z[0]) / (2 * gamma);
    lambda[0] = size * gamma;
    for (int k = 1; k < D; ++k) {
      w[k] = (x[k] - z[k]) / (2 * gamma);
      lambda[k] = size * ((gamma + z[0]) * x[k] + (gamma + x[0]) * z[k]) / (x[0] + z[0] + 2 * gamma);
    }
  }

  /// out = T x.
  void apply(const Real* x, Real* out) const { multiply(eta, 1, x, out); }
  /// out = T^-1 x.
  void apply_inverse(const Real* x, Real* out) const { multiply(1 / eta, -1, x, out); }

 private:
  void multiply(Real factor, Real sign, const Real* x, Real* out) const {
    Real across = 0;
    for (int k = 1; k < D; ++k) across += w[k] * x[k];
    const Real along = sign * x[0] + across / (1 + w[0]);
    out[0] = factor * (w[0] * x[0] + sign * across);
    for (int k = 1; k < D; ++k) out[k] = factor * (x[k] + along * w[k]);
  }
};

/// Jordan product a o b = (a . b, a_0 b_1 + b_0 a_1).
template <int D>
Vec<D> jordan_product(const Real* a, const Real* b) {
  Vec<D> product;
  for (int k = 0; k < D; ++k) product[0] += a[k] * b[k];
  for (int k = 1; k < D; ++k) product[k] = a[0] * b[k] + b[0] * a[k];
  return product;
}

/// The x with a o x = b, for a inside L.
template <int D>
Vec<D> jordan_quotient(const Vec<D>& b, const Real* a) {
  const Real t = tangential_norm<D>(a);
  Real across = 0;
  for (int k = 1; k < D; ++k) across += a[k] * b[k];
  Vec<D> x;
  x[0] = (a[0] * b[0] - across) / ((a[0] - t) * (a[0] + t));
  for (int k = 1; k < D; ++k) x[k] = (b[k] - x[0] * a[k]) / a[0];
  return x;
}

}  // namespace scree
