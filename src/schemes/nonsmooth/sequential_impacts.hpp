#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "schemes/nonsmooth/impact_record.hpp"

namespace scree {

/// Impacts of pairs of round bodies one after the other, but for driven walls, whose contacts are solved
/// together; each as if nothing else was there (docs/method.md,
/// eq. D.13): with u the velocity of the surfaces, W and W_T what a unit impulse does to it,
///     r_N = -(1 + e) u_N / W,   r_T = -u_T / W_T, at most mu r_N.
template <int D>
class SequentialImpacts : public ImpactRecord<D> {
 public:
  /// Sweeps over the contacts until no impact is left, in the order of a sweep: the same bits on any number
  /// of ranks. `restitution(c, u_N)` is e. Changes the velocities that the step starts with, ghosts
  /// included, and those without contacts alike. Collective, n_colours + 1 transfers and a reduction per
  /// sweep.
  template <class Restitution>
  void add_to(const StepContacts<D>& step, const Restitution& restitution) {
    constexpr int q = FrictionProblem<D>::q, max_sweeps = 100;
    FrictionProblem<D>& problem = step.problem;
    this->begin(step);
    const std::span<Real> v(problem.start_velocity);
    std::int64_t n_impacts = 0;
    const auto visit = [&](Index first, Index last) {
      for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c) {
        const Vec<D> u = surface_velocity<D>(problem, step.obstacle_velocity, c, v);
        if (!is_impact(step, c, u[0])) continue;
        ++n_impacts;
        collide(problem, c, u, restitution(c, u[0]));
      }
    };
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
      n_impacts = 0;
      run_sweep_colours(*problem.halo, problem.colour_first, problem.interior_first, v, q, visit);
      problem.halo->copy_to_ghosts(v, q);
      if (step.state.comm.sum(n_impacts) == 0) break;
    }
    this->end(step);
  }

 private:
  using ImpactRecord<D>::done_;

  static bool is_impact(const StepContacts<D>& step, std::size_t c, Real speed) {
    return step.is_rigid(c) && step.problem.wall_of(c) < 0 && step.pair[c]->restitution > 0 &&
           speed < -step.law.rest_speed && ImpactRecord<D>::closes(step, c, speed);
  }
  void collide(FrictionProblem<D>& problem, std::size_t c, const Vec<D>& u, Real e) {
    constexpr std::size_t q = FrictionProblem<D>::q;
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
      done_[c].tangential += size * (slip - 0.5 * size * along_tangents);
    }
    done_[c].normal -= r[0] * (u[0] + 0.5 * r[0] * along_normal);
    for (std::size_t i = 0; i < D; ++i) done_[c].impulse[i] += r[i];
    add_impulse<D>(problem, c, r, problem.start_velocity);
  }
};

}  // namespace scree
