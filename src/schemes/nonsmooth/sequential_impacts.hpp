#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "schemes/nonsmooth/contact_work.hpp"

namespace scree {

/// Impacts of pairs of round bodies one after the other, but for walls under load, whose contacts are solved
/// together; each as if nothing else was there (docs/method.md,
/// eq. D.13): with u the velocity of the surfaces, W and W_T what a unit impulse does to it,
///     r_N = -(1 + e) u_N / W,   r_T = -u_T / W_T, at most mu r_N.
template <int D>
class SequentialImpacts {
 public:
  /// Sweeps over the contacts until no impact is left, in the order of a sweep: the same bits on any number
  /// of ranks. `restitution(c, u_N)` tells e. Changes the velocities that the step starts with, ghosts
  /// included, and those without contacts alike. Collective, n_colours + 1 transfers and a reduction per
  /// sweep.
  template <class Restitution>
  void add_to(const StepContacts<D>& step, const Restitution& restitution) {
    constexpr int q = FrictionProblem<D>::q, max_sweeps = 100;
    FrictionProblem<D>& problem = step.problem;
    copy_into(problem.start_velocity, start_velocity_);
    reset(done_, step.contacts.size());
    const std::span<Real> v(problem.start_velocity);
    std::int64_t n_impacts = 0;
    const auto visit = [&](Index first, Index last) {
      for (auto c = static_cast<std::size_t>(first); c < static_cast<std::size_t>(last); ++c) {
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
    for (std::size_t i = 0; i < start_velocity_.size(); ++i)
      problem.free_velocity[i] += problem.start_velocity[i] - start_velocity_[i];
  }
  /// Of contact c along N, T1[, T2] [N s], beside that of the solve.
  const std::array<Real, D>& impulse(std::size_t c) const { return done_[c].impulse; }
  void add_work(const StepContacts<D>& step, ContactWork& work) const {
    for (std::size_t c = 0; c < done_.size(); ++c) {
      work.normal[c] += done_[c].normal;
      work.tangential[c] += done_[c].tangential;
      for (std::size_t i = 0; i < D; ++i)
        work.obstacle[c] -= done_[c].impulse[i] * step.obstacle_velocity[c * D + i];
    }
  }

 private:
  /// What impacts did at a contact.
  struct Done {
    std::array<Real, D> impulse{};    ///< along N, T1[, T2] [N s]
    Real normal = 0, tangential = 0;  ///< dissipated [J]
  };

  static bool is_impact(const StepContacts<D>& step, std::size_t c, Real speed) {
    return step.is_rigid(c) && step.problem.wall_of(c) < 0 && step.pair[c]->restitution > 0 &&
           speed < -step.law.rest_speed && step.contacts.gap[c] + step.law.dt * speed <= step.slop(c);
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

  std::vector<Done> done_;            // of each contact
  std::vector<Real> start_velocity_;  // before them
};

}  // namespace scree
