#include <fmt/format.h>

#include <algorithm>

#include "solvers/friction_solver.hpp"
#include "solvers/semismooth_newton.hpp"

namespace scree {

/// Picks and switches (deck: solver.type = "auto"): Gauss-Seidel or ADMM first, semismooth Newton as soon as
/// it pays (docs/method.md, "Choice of methods: `auto`").
///
/// Work is counted in sweeps, so that decisions do not depend on clocks: an ADMM iteration counts as 5, and a
/// Newton step as 300 (bodies / 1000)^0.7, which is how factorisations of packs grow against sweeps.
/// - Sweeps go on until the residual is `newton_below`, or as many have been run as 4 Newton steps cost.
/// - A Newton attempt that does not reach the tolerance never happened, but for the best impulses seen; the
///   next one waits for 0.3 of the residual or twice the work.
/// - Where the method in use has not halved the residual between two attempts, the other one gets the next
///   turn.
/// Each decision is a line of SolveReport::decisions. Collective; agrees to the tolerance on different
/// numbers of ranks, bitwise as long as sweeps alone were enough.
template <int D>
class Auto final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.real("newton_below", newton_below_,
                 {.range = positive, .doc = "Natural residual from which Newton's method is always tried"});
    section.integer("max_work", max_work_,
                    {.range = positive, .doc = "Most work of a solve, counted in Gauss-Seidel sweeps"});
    newton_settings_.describe(section);
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    if (!newton_) newton_ = std::make_unique<SemismoothNewton<D>>(newton_settings_);
    const Real thousands = static_cast<Real>(problem.n_bodies_of_all()) / 1000;
    const auto newton_step_work = static_cast<std::int64_t>(300 * std::pow(std::max(thousands, 0.1), 0.7));
    Method* method = &sweeps_;
    std::int64_t work = 0;
    std::int64_t turn = 4 * newton_step_work;
    Real newton_at = newton_below_;
    Real before = HUGE_VAL;
    while (work < max_work_) {
      const std::int64_t most = std::max<std::int64_t>(1, std::min(turn, max_work_ - work) / method->work);
      const auto [iterations, residual] = run(*method, most, newton_at, problem, r, monitor);
      work += iterations * method->work;
      if (monitor.done()) return;
      work += try_newton(problem, r, monitor) * newton_step_work;
      if (monitor.done()) return;
      newton_at = std::min(0.3 * residual, newton_below_);
      turn *= 2;
      if (residual > 0.5 * before) method = method == &sweeps_ ? &admm_ : &sweeps_;
      before = residual;
    }
    monitor.report().decisions.push_back(fmt::format("stopped: the work of {} sweeps is used up", max_work_));
  }

 private:
  struct Method {
    std::string_view name;
    std::string_view unit;
    std::unique_ptr<FrictionSolver<D>> solver;
    std::int64_t work;  // of an iteration, in sweeps
  };
  struct Progress {
    std::int64_t iterations;
    Real residual;  // of the last of them
  };

  /// Up to `most` iterations, or until the residual is `target`.
  static Progress run(Method& method, std::int64_t most, Real target, const ScaledProblem<D>& problem,
                      std::span<Real> r, SolveMonitor<D>& monitor) {
    Progress progress{};
    monitor.pause_when([&](std::int64_t iteration, Real residual) {
      progress = {iteration, residual};
      return iteration >= most || residual <= target;
    });
    method.solver->iterate(problem, r, monitor);
    monitor.pause_when({});
    monitor.report().decisions.push_back(fmt::format("{}: {} {}, residual {:.2g}", method.name,
                                                     progress.iterations, method.unit, progress.residual));
    return progress;
  }

  /// A Newton attempt from r, which it leaves as it is. Returns the number of steps.
  std::int64_t try_newton(const ScaledProblem<D>& problem, std::span<const Real> r,
                          SolveMonitor<D>& monitor) {
    attempt_.assign(r.begin(), r.end());
    SolveReport& report = monitor.report();
    const std::int64_t steps_before = report.newton_steps;
    monitor.pause_when({});
    const std::string end = newton_->improve(problem, attempt_, monitor);
    const std::int64_t steps = report.newton_steps - steps_before;
    report.decisions.push_back(fmt::format("newton: {} steps, residual {:.2g}{}", steps,
                                           report.trace.back().residual,
                                           monitor.done() ? "" : ", given up: " + end));
    return steps;
  }

  Real newton_below_ = 1e-4;
  std::int64_t max_work_ = 50'000;
  typename SemismoothNewton<D>::Settings newton_settings_;
  Method sweeps_{"nsgs", "sweeps", make_solver<D>("nsgs"), 1};
  Method admm_{"admm", "iterations", make_solver<D>("admm"), 5};
  std::unique_ptr<SemismoothNewton<D>> newton_;
  std::vector<Real> attempt_;  // impulses
};

SCREE_PLUGIN(FrictionSolver, auto, Auto,
             "sweeps or ADMM first, Newton as soon as it pays; says what it did and why")

}  // namespace scree
