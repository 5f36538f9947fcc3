#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "core/timing.hpp"
#include "schemes/nonsmooth/contact_laws.hpp"
#include "schemes/nonsmooth/move.hpp"

namespace scree {

/// Takes remaining overlap out of positions alone (docs/method.md, eq. D.12): solves the problem of the step
/// once more for velocities that do so, by a few sweeps from the impulses found. Contacts obey friction in
/// it: what sticks goes on to. Contacts at rest keep a small overlap: any motion of what rests mobilises all
/// friction of rigid contact. The arguments of the constructor must outlive it.
template <int D>
class PositionCorrection {
 public:
  PositionCorrection(State<D>& state, const NonsmoothSettings<D>& settings, ContactLaws<D>& laws,
                     ContactSolve<D>& solve)
      : state_(state), settings_(settings), laws_(laws), solve_(solve) {}

  /// After bodies have moved with the velocities of the solve: moves those and driven walls on, if rigid
  /// bodies overlap by more than a small share of `radius`, the smallest of the bodies [m]. Returns the
  /// deepest overlap that it takes on [m]. The problem holds another bias from here on. Collective.
  Real apply(Real radius) {
    if (settings_.correction != NonsmoothSettings<D>::Correction::projection ||
        !state_.materials.has_rigid_pairs())
      return 0;
    Scope timer("correction");
    // A pile whose overlaps are all below `worth_it` is left alone. More than `max` in one step would throw
    // other bodies about; what is thin and turns overlaps by more, and is taken apart at once.
    const Real worth_it = 5e-3 * radius;
    const Overlaps overlaps{.negligible = 1e-3 * radius,
                            .at_rest = 0.02 * radius,
                            .max = (state_.bodies.carries_shapes() ? 0.3 : 0.03) * radius};
    const StepContacts<D> step = laws_.step();
    const Real deepest = change_bias(step, overlaps);
    acts_ = deepest > worth_it;
    if (acts_) {
      solve(step.problem);
      limit(step.law.dt, 2 * overlaps.max);
      if (laws_.walls()) {
        laws_.walls()->correct(solve_.walls_with_bias(), step.law.dt, 2 * overlaps.max);
        state_.obstacles.place(state_.clock.time + step.law.dt);
      }
    }
    separate_centres(state_, solve_.velocity(), velocity(), step.law.dt);
    return acts_ ? deepest : 0;
  }
  /// n_local * n_velocities<D>: with which positions have moved in the step, corrected [m/s, rad/s].
  std::span<const Real> velocity() const {
    return acts_ ? std::span<const Real>(velocity_) : solve_.velocity();
  }

 private:
  struct Overlaps {
    Real negligible;  ///< a contact with less is left alone [m]
    Real at_rest;     ///< what a contact at rest keeps [m]
    Real max;         ///< the largest that a step takes out [m]
  };

  /// Lets contacts of rigid bodies that overlap part, by at most `overlaps.max` in the step. Returns the
  /// deepest overlap, less what is kept at rest [m]. Collective.
  Real change_bias(const StepContacts<D>& step, const Overlaps& overlaps) {
    const WallUnknowns<D>* walls = laws_.walls();
    Real deepest = 0;
    for (std::size_t c = 0; c < step.contacts.size(); ++c) {
      Real overlap = -(step.contacts.gap[c] + step.allowed_overlap(c));
      if (overlap <= overlaps.negligible || !step.is_rigid(c)) continue;
      if (is_at_rest(step, c)) overlap -= overlaps.at_rest;
      if (overlap <= overlaps.negligible) continue;
      deepest = std::max(deepest, overlap);
      Real& bias = step.problem.bias[c * D];
      const Real of_obstacle = step.obstacle_velocity[c * D] - (walls ? walls->normal_velocity(c) : 0);
      bias = std::min(bias, of_obstacle - std::min(overlap, overlaps.max) / step.law.dt);
    }
    return state_.comm.max(deepest);
  }
  /// Whether the surfaces of contact c move against each other by less than free fall gives in the step.
  bool is_at_rest(const StepContacts<D>& step, std::size_t c) const {
    return norm(surface_velocity<D>(step.problem, step.obstacle_velocity, c, solve_.velocity())) <
           step.law.fall_speed;
  }
  void solve(const FrictionProblem<D>& problem) {
    const std::span<const Real> found = solve_.impulse();
    impulse_.resize(found.size());
    std::ranges::copy(found, impulse_.begin());
    velocity_.resize(solve_.velocity().size());
    StopRule stop = settings_.solver.stop_rule();
    stop.tolerance *= 0.01;  // few contacts overlap, and the residual is that of all
    stop.max_iterations = settings_.correction_sweeps;
    stop.takes_last = true;
    solve_.run_with_bias(problem, *sweeps_, stop, impulse_, velocity_);
  }
  /// Where bodies have no room, impulses grow without end: none moves on by more than `max` [m].
  void limit(Real dt, Real max) {
    constexpr std::size_t q = n_velocities<D>;
    const std::span<const Real> uncorrected = solve_.velocity();
    for (std::size_t i = 0; i < velocity_.size(); i += q) {
      Real squared = 0;
      for (std::size_t k = i; k < i + D; ++k)
        squared += (velocity_[k] - uncorrected[k]) * (velocity_[k] - uncorrected[k]);
      const Real moved = dt * std::sqrt(squared);
      if (moved <= max) continue;
      for (std::size_t k = i; k < i + q; ++k)
        velocity_[k] = uncorrected[k] + max / moved * (velocity_[k] - uncorrected[k]);
    }
  }

  State<D>& state_;
  const NonsmoothSettings<D>& settings_;
  ContactLaws<D>& laws_;
  ContactSolve<D>& solve_;
  std::unique_ptr<FrictionSolver<D>> sweeps_ = make_solver<D>("nsgs");
  bool acts_ = false;
  std::vector<Real> impulse_, velocity_;
};

}  // namespace scree
