#pragma once
#include "schemes/common/assembler.hpp"

namespace scree {

/// Resistance of contacts to rolling and spinning (docs/method.md, eq. D.5): each contact gives its two
/// bodies opposite angular impulses s against their relative spin w = omega_b - omega_a,
///     s = -min(J |w|, mu_r R r_N) w / |w|,   1/J = 1/J_a + 1/J_b,
/// so w never changes its sign. R [m] is the effective radius and r_N [N s] the normal impulse of the contact
/// in the step before. Acts on the free velocities, contact after contact in the order of a sweep: the same
/// bits on any number of ranks.
///
/// `bound(c)` returns mu_r R r_N of contact c [N m s]; ends that do not turn are static. Returns the
/// dissipated energy of each contact in `dissipated` [J]. Collective, n_colours + 1 transfers and a copy.
template <int D, class Bound>
void resist_rolling(FrictionProblem<D>& problem, Bound&& bound, std::span<Real> dissipated) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  BodyHalo& halo = *problem.halo;
  const std::span<Real> v(problem.free_velocity);
  const auto visit = [&](Index first, Index last) {
    for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c) {
      dissipated[c] = 0;
      const Real most = bound(c);
      if (!(most > 0)) continue;
      const Index ends[2] = {problem.a[c], problem.b[c]};
      Spin<D> w;
      Real inverse_inertia[2] = {0, 0};
      for (std::size_t side = 0; side < 2; ++side) {
        if (ends[side] < 0) continue;
        const auto body = static_cast<std::size_t>(ends[side]);
        if (problem.arm[2 * c + side] > 0)
          inverse_inertia[side] = 1 / problem.mass[(body * q + q - 1) * q + q - 1];
        for (int k = 0; k < n_spins<D>; ++k)
          w[k] += (side == 1 ? 1 : -1) * v[body * q + D + static_cast<std::size_t>(k)];
      }
      const Real speed = norm(w);
      const Real inverse = inverse_inertia[0] + inverse_inertia[1];
      if (speed == 0 || inverse == 0) continue;
      const Real size = std::min(speed / inverse, most);
      const Spin<D> impulse = w * (-size / speed);
      dissipated[c] = size * (speed - 0.5 * size * inverse);
      for (std::size_t side = 0; side < 2; ++side) {
        if (ends[side] < 0) continue;
        const auto body = static_cast<std::size_t>(ends[side]);
        for (int k = 0; k < n_spins<D>; ++k)
          v[body * q + D + static_cast<std::size_t>(k)] +=
              (side == 1 ? 1 : -1) * inverse_inertia[side] * impulse[k];
      }
    }
  };
  run_sweep_colours(halo, problem.colour_first, problem.interior_first, v, q, visit);
  halo.copy_to_ghosts(v, q);
}

}  // namespace scree
