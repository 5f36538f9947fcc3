#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/reset.hpp"
#include "friction/friction_solver.hpp"

namespace scree {

/// Solves the friction problems of a step (docs/method.md, eq. F.1-F.4), each from a first guess, and keeps
/// what came of the last one. `settings` must outlive it. Collective, but where it only returns what is
/// there.
template <int D>
class ContactSolve {
 public:
  explicit ContactSolve(SolverSettings<D>& settings) : settings_(settings) {}

  /// All impulses 0. What they are when run() is called is its first guess. Local.
  std::vector<Real>& start_over(const FrictionProblem<D>& problem) {
    reset(impulse_, problem.n_impulses());
    return impulse_;
  }
  /// From the present impulses. `keeps_guess`: guess() will be asked for.
  void run(const FrictionProblem<D>& problem, bool keeps_guess) {
    run(problem, keeps_guess, settings_.stop_rule());
  }
  /// The same with this many sweeps, if so many are needed, the last of which count.
  void run(const FrictionProblem<D>& problem, bool keeps_guess, std::int64_t sweeps) {
    run(problem, keeps_guess, only(sweeps));
  }
  /// Goes on with this many more after the bias alone has changed.
  void run_on(const FrictionProblem<D>& problem, std::int64_t sweeps) {
    const std::int64_t before = report_.sweeps;
    report_ = solve_.run(problem, *settings_.solver, only(sweeps), impulse_, velocity_,
                         FrictionSolve<D>::Change::bias);
    report_.sweeps += before;
  }
  /// The same from the impulses found, after contacts of the problem changed. False: with bodies that bounce
  /// and friction there may be no solution (docs/method.md), and what it was before is kept.
  bool run_again(const FrictionProblem<D>& problem, bool keeps_guess) {
    copy_into(impulse_, impulse_before_);
    copy_into(velocity_, velocity_before_);
    copy_into(walls_, walls_before_);
    std::swap(report_, report_before_);
    run(problem, keeps_guess);
    report_.sweeps += report_before_.sweeps;
    report_.iterations += report_before_.iterations;
    report_.newton_steps += report_before_.newton_steps;
    report_.krylov_iterations += report_before_.krylov_iterations;
    if (report_.converged || !report_before_.converged) return true;
    impulse_.swap(impulse_before_);
    velocity_.swap(velocity_before_);
    walls_.swap(walls_before_);
    report_.converged = true;
    report_.residual = report_before_.residual;
    return false;
  }
  /// Another solve after the bias alone has changed, which leaves what came of the last one.
  void run_with_bias(const FrictionProblem<D>& problem, FrictionSolver<D>& solver, const StopRule& stop,
                     std::span<Real> impulse, std::span<Real> velocity) {
    solve_.run(problem, solver, stop, impulse, velocity, FrictionSolve<D>::Change::bias);
  }

  /// Puts impulses where their contacts are now, contact c was origin[c] before; those of new ones are 0.
  /// Local.
  void spread(const FrictionProblem<D>& problem, std::span<const Index> origin) {
    const std::size_t n_turning = problem.rolls() ? n_turns<D> : 0;
    const std::size_t n = origin.size(), n_before = impulse_.size() / (D + n_turning);
    impulse_before_.swap(impulse_);
    reset(impulse_, problem.n_impulses());
    for (std::size_t c = 0; c < n; ++c) {
      if (origin[c] < 0) continue;
      const std::size_t from = origin[c];
      std::copy_n(&impulse_before_[from * D], D, &impulse_[c * D]);
      std::copy_n(impulse_before_.data() + n_before * D + from * n_turning, n_turning,
                  impulse_.data() + n * D + c * n_turning);
    }
  }

  const SolverSettings<D>& settings() const { return settings_; }
  const SolveReport& report() const { return report_; }
  /// n_contacts * D, along N, T1[, T2] of each contact: what the solve started from and what it got to [N s];
  /// then what resists rolling (FrictionProblem::rolling).
  std::span<const Real> guess() const { return guess_; }
  std::span<const Real> impulse() const { return impulse_; }
  std::span<Real> impulse() { return impulse_; }
  /// n_local * n_velocities<D>: at the end of the step [m/s, rad/s].
  std::span<const Real> velocity() const { return velocity_; }
  /// Of FrictionProblem::walls; and what came of them in the last run_with_bias().
  std::span<const typename WallRows<D>::Direction> walls() const { return walls_; }
  std::span<const typename WallRows<D>::Direction> walls_with_bias() const { return solve_.walls().all(); }

 private:
  StopRule only(std::int64_t sweeps) const {
    StopRule stop = settings_.stop_rule();
    stop.max_iterations = sweeps;
    stop.takes_last = stop.keeps_guess = true;
    return stop;
  }
  void run(const FrictionProblem<D>& problem, bool keeps_guess, const StopRule& stop) {
    if (keeps_guess) copy_into(impulse_, guess_);
    velocity_.resize(problem.free_velocity.size());
    report_ = solve_.run(problem, *settings_.solver, stop, impulse_, velocity_);
    walls_.assign(solve_.walls().all().begin(), solve_.walls().all().end());
  }

  SolverSettings<D>& settings_;
  FrictionSolve<D> solve_;
  SolveReport report_, report_before_;
  std::vector<Real> impulse_, guess_, velocity_;
  std::vector<Real> impulse_before_, velocity_before_;
  std::vector<typename WallRows<D>::Direction> walls_, walls_before_;
};

}  // namespace scree
