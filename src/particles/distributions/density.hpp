#pragma once
#include "particles/volume.hpp"

namespace scree {

/// Mean body volume of radii distributed on [least, most] with a density proportional to `density(r)`, by
/// Simpson's rule on 2000 intervals. `density` need not be normalised.
template <int D, class Density>
Real mean_volume_of(Real min, Real max, const Density& density) {
  constexpr int n_intervals = 2000;
  Real weight = 0, volume = 0;
  for (int i = 0; i <= n_intervals; ++i) {
    const Real r = min + (max - min) * i / n_intervals;
    const Real share = (i == 0 || i == n_intervals ? 1 : i % 2 == 1 ? 4 : 2) * density(r);
    weight += share;
    volume += share * body_volume<D>(r);
  }
  return weight > 0 ? volume / weight : body_volume<D>(min);
}

/// Smallest share of an untruncated distribution that may lie in [min, max]: draws outside are repeated.
inline constexpr Real min_share = 1e-3;

}  // namespace scree
