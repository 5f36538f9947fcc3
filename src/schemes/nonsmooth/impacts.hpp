#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "schemes/common/assembler.hpp"
#include "schemes/common/contact_law.hpp"

namespace scree {

/// What impacts did at a contact in a step.
template <int D>
struct ImpactWork {
  std::array<Real, D> impulse{};    ///< along N, T1[, T2] [N s]
  Real normal = 0, tangential = 0;  ///< dissipated [J]
};

/// v += M^-1 H^T r of contact c of round bodies.
template <int D>
void add_impulse(const FrictionProblem<D>& problem, std::size_t c, const std::array<Real, D>& r,
                 std::span<Real> v) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  const Index ends[2] = {problem.a[c], problem.b[c]};
  Real rows[D * q];
  for (std::size_t side = 0; side < 2; ++side) {
    if (ends[side] < 0) continue;
    problem.find_rows(c, side, rows);
    const auto body = static_cast<std::size_t>(ends[side]);
    const Real* block = &problem.mass[body * q * q];
    for (std::size_t i = 0; i < D; ++i)
      for (std::size_t k = 0; k < q; ++k) v[body * q + k] += rows[i * q + k] * r[i] / block[k * q + k];
  }
}

/// Impacts of pairs of round bodies one after the other, each as if nothing else was there (docs/method.md,
/// eq. D.13): with u the velocity of the surfaces, W and W_T what a unit impulse does to it,
///     r_N = -(1 + e) u_N / W,   r_T = -u_T / W_T, at most mu r_N.
/// Sweeps over the contacts for which `impacts(c, u)` says e (negative: no impact), until none is left, at
/// most `most_sweeps` times, in the order of a sweep: the same bits on any number of ranks. Changes
/// problem.start_velocity, ghosts included, and adds to `work`. Collective, n_colours + 1 transfers and a
/// reduction per sweep.
template <int D, class Impacts>
void collide_one_by_one(FrictionProblem<D>& problem, const Comm& comm, std::span<const Real> of_obstacle,
                        int most_sweeps, Impacts&& impacts, std::span<ImpactWork<D>> work) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  BodyHalo& halo = *problem.halo;
  const std::span<Real> v(problem.start_velocity);
  std::int64_t n_impacts = 0;
  const auto visit = [&](Index first, Index last) {
    for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c) {
      const Vec<D> u = surface_velocity(problem, of_obstacle, c, v);
      const Real e = impacts(c, u);
      if (e < 0) continue;
      ++n_impacts;
      const Index ends[2] = {problem.a[c], problem.b[c]};
      Real along_normal = 0, along_tangents = 0;
      for (std::size_t side = 0; side < 2; ++side) {
        if (ends[side] < 0) continue;
        const Real* block = &problem.mass[static_cast<std::size_t>(ends[side]) * q * q];
        const Real arm = problem.arm[2 * c + side];
        along_normal += 1 / block[0];
        along_tangents += 1 / block[0] + arm * arm / block[q * q - 1];
      }
      std::array<Real, D> r{};
      r[0] = -(1 + e) * u[0] / along_normal;
      Real slip = 0;
      for (int i = 1; i < D; ++i) slip = std::hypot(slip, u[i]);
      if (slip > 0) {
        const Real size = std::min(slip / along_tangents, problem.mu[c] * r[0]);
        for (std::size_t i = 1; i < D; ++i) r[i] = -size * u[static_cast<int>(i)] / slip;
        work[c].tangential += size * (slip - 0.5 * size * along_tangents);
      }
      work[c].normal -= r[0] * (u[0] + 0.5 * r[0] * along_normal);
      for (std::size_t i = 0; i < D; ++i) work[c].impulse[i] += r[i];
      add_impulse<D>(problem, c, r, v);
    }
  };
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    n_impacts = 0;
    run_sweep_colours(halo, problem.colour_first, problem.interior_first, v, q, visit);
    halo.copy_to_ghosts(v, q);
    if (comm.sum(n_impacts) == 0) break;
  }
}

}  // namespace scree
