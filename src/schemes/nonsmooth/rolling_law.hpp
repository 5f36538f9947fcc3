#pragma once
#include <span>
#include <vector>

#include "schemes/nonsmooth/contact_work.hpp"
#include "schemes/nonsmooth/impulse_memory.hpp"

namespace scree {

/// Resistance to rolling and spinning of round bodies (docs/method.md, eq. D.5). Local, but where it says
/// collective.
template <int D>
struct RollingLaw {
  /// Adds rows against the spin of bodies and of the wall.
  static void add_to(const StepContacts<D>& step) {
    FrictionProblem<D>& problem = step.problem;
    const std::size_t n = step.contacts.size();
    reset(problem.rolling, n * 2);
    reset(problem.spin_bias, n * n_turns<D>);
    for (std::size_t c = 0; c < n; ++c) {
      problem.rolling[2 * c] = step.pair[c]->rolling_friction;
      problem.rolling[2 * c + 1] = step.effective_radius(c);
      if (step.contacts.b[c] >= 0 || step.pair[c]->rolling_friction == 0) continue;
      const auto spin =
          step.state.obstacles.spin(step.contacts.wall[c], step.state.clock.time + step.law.dt / 2);
      const auto axes = turning_frame<D>(problem.frame[c]);
      for (std::size_t k = 0; k < axes.size(); ++k)
        problem.spin_bias[c * n_turns<D> + k] = dot(axes[k], spin);
    }
  }
  /// `factor` times what contacts remember, in a first guess that has the impulses: only of what presses.
  static void guess(const StepContacts<D>& step, const ImpulseMemory<D>& memory, Real factor,
                    std::span<Real> impulse) {
    const std::size_t n = step.contacts.size();
    for (std::size_t c = 0; c < n; ++c) {
      if (impulse[c * D] <= 0) continue;
      const auto axes = turning_frame<D>(step.problem.frame[c]);
      for (std::size_t k = 0; k < axes.size(); ++k)
        impulse[n * D + c * n_turns<D> + k] = factor * dot(axes[k], memory.turning(step.contacts, c));
    }
  }
  static void store(const StepContacts<D>& step, const ContactSolution<D>& solution,
                    ImpulseMemory<D>& memory) {
    for (std::size_t c = 0; c < step.contacts.size(); ++c) {
      const auto axes = turning_frame<D>(step.problem.frame[c]);
      const Vec<n_turns<D>> s = solution.turning_impulse(c);
      Vec<n_turns<D>> in_world;
      for (std::size_t k = 0; k < axes.size(); ++k) in_world += s[static_cast<int>(k)] * axes[k];
      memory.set_turning(step.contacts, c, in_world);
    }
  }
  static void add_work(const StepContacts<D>& step, const ContactSolution<D>& solution, ContactWork& work) {
    reset(work.rolling, step.contacts.size());
    for (std::size_t c = 0; c < work.rolling.size(); ++c) {
      const Vec<n_turns<D>> s = solution.turning_impulse(c);
      work.rolling[c] = -dot(s, step.problem.relative_spin(c, solution.mean_velocity));
      for (int k = 0; k < n_turns<D>; ++k)
        work.obstacle[c] -= s[k] * step.problem.spin_bias[c * n_turns<D> + static_cast<std::size_t>(k)];
    }
  }
  /// The problem for programs that know no resistance to rolling: with what it did as part of free motion.
  /// Collective.
  static FrictionProblem<D> problem_without(const FrictionProblem<D>& problem,
                                            const ContactSolution<D>& solution) {
    constexpr std::size_t q = FrictionProblem<D>::q;
    FrictionProblem<D> without = problem;
    const std::span<Real> v(without.free_velocity);
    const auto turn = [&](std::size_t c, std::size_t side, Index body) {
      if (body < 0 || without.arm[2 * c + side] == 0) return;
      const std::size_t at = static_cast<std::size_t>(body) * q;
      const Vec<n_turns<D>> s = solution.turning_impulse(c);
      const auto axes = turning_frame<D>(without.frame[c]);
      for (std::size_t k = 0; k < axes.size(); ++k)
        for (std::size_t i = 0; i < axes.size(); ++i)
          v[at + D + i] += (side == 0 ? -1 : 1) * s[static_cast<int>(k)] * axes[k][static_cast<int>(i)] /
                           without.mass[at * q + q * q - 1];
    };
    const auto visit = [&](Index first, Index last) {
      for (std::size_t c = first; c < static_cast<std::size_t>(last); ++c) {
        turn(c, 0, without.a[c]);
        turn(c, 1, without.b[c]);
      }
    };
    run_sweep_colours(*without.halo, without.colour_first, without.interior_first, v, static_cast<int>(q),
                      visit);
    without.halo->copy_to_ghosts(v, static_cast<int>(q));
    without.rolling.clear();
    without.spin_bias.clear();
    return without;
  }
};

}  // namespace scree
