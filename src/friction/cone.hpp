#pragma once
#include <algorithm>
#include <cmath>

#include "core/types.hpp"

/// The Coulomb cone K_mu = {|r_T| <= mu r_N} of one contact, components (N, T1[, T2]).
namespace scree {

/// Length of the tangential part.
template <int D>
Real tangential_norm(const Real* x) {
  if constexpr (D == 2)
    return std::abs(x[1]);
  else
    return std::sqrt(x[1] * x[1] + x[2] * x[2]);
}

/// The nearest point of K_mu (docs/method.md, eq. F.7).
template <int D>
Vec<D> project_on_cone(const Real* x, Real mu) {
  const Real t = tangential_norm<D>(x);
  Vec<D> p;
  // The sign of x_N is asked for since 0 <= 0 holds without friction on either side.
  if (x[0] >= 0 && t <= mu * x[0]) {
    for (int k = 0; k < D; ++k) p[k] = x[k];
  } else if (mu * t > -x[0]) {
    const Real n = (x[0] + mu * t) / (1 + mu * mu);
    p[0] = n;
    for (int k = 1; k < D; ++k) p[k] = mu * n * (x[k] / t);
  }
  return p;
}

/// The nearest point of the disc |x_T| <= radius to the tangential part of x, written over it.
template <int D>
void project_on_disc(Real* x, Real radius) {
  const Real t = tangential_norm<D>(x);
  if (t <= radius) return;
  for (int k = 1; k < D; ++k) x[k] *= radius / t;
}

/// Natural map r - P_K(r - (u + mu |u_T| e_N)), zero exactly at Coulomb's law (docs/method.md, eq. F.6).
template <int D>
Vec<D> natural_map(const Real* r, const Real* u, Real mu) {
  if (u[0] >= 0 && std::all_of(r, r + D, [](Real part) { return part == 0; })) return {};  // open, and opens
  Real x[D];
  for (int k = 0; k < D; ++k) x[k] = r[k] - u[k];
  x[0] -= mu * tangential_norm<D>(u);
  Vec<D> e = project_on_cone<D>(x, mu);
  for (int k = 0; k < D; ++k) e[k] = r[k] - e[k];
  return e;
}

}  // namespace scree
