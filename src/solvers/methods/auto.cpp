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
/// - A Newton attempt starts from the best impulses seen. Where it ends worse it never happened; the next one
///   waits for 0.3 of the residual or twice the work.
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
    std::int64_t turn = 4 * newton_step_work;  // work of the next turn
    Real newton_at = newton_below_;
    while (!monitor.done() && work < max_work_) {
      const Real before = monitor.best();
      const std::int64_t most = std::max<std::int64_t>(1, std::min(turn, max_work_ - work) / method->work);
      const std::int64_t done = run(*method, most, newton_at, problem, r, monitor);
      work += done * method->work;
      if (monitor.done()) return;
      const Real reached = monitor.best();

      work += try_newton(problem, r, monitor) * newton_step_work;
      if (monitor.done()) return;
      newton_at = std::min(0.3 * monitor.best(), newton_below_);
      turn *= 2;
      if (reached > 0.5 * before) method = method == &sweeps_ ? &admm_ : &sweeps_;
    }
    if (!monitor.done())
      monitor.report().decisions.push_back(fmt::format(
          "the limit of {} sweeps' work is used up; best residual {:.2g}", max_work_, monitor.best()));
  }

 private:
  struct Method {
    std::string_view name;
    std::string_view unit;
    std::unique_ptr<FrictionSolver<D>> solver;
    std::int64_t work;  // of an iteration, in sweeps
  };

  /// Up to `most` iterations, or until the residual is `target`. r holds the best impulses seen, before and
  /// afterwards. Returns how many there were.
  std::int64_t run(Method& method, std::int64_t most, Real target, const ScaledProblem<D>& problem,
                   std::span<Real> r, SolveMonitor<D>& monitor) {
    std::int64_t done = 0;
    monitor.pause_when([&](std::int64_t iteration, Real residual) {
      done = iteration;
      return iteration >= most || residual <= target;
    });
    method.solver->iterate(problem, r, monitor);
    monitor.pause_when({});
    std::copy(monitor.best_impulse().begin(), monitor.best_impulse().end(), r.begin());
    monitor.report().decisions.push_back(
        fmt::format("{}: {} {}, residual {:.2g}", method.name, done, method.unit, monitor.best()));
    return done;
  }

  /// A Newton attempt; r as in run(). Returns the number of steps.
  std::int64_t try_newton(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) {
    SolveReport& report = monitor.report();
    const Real before = monitor.best();
    const std::int64_t steps_before = report.newton_steps;
    monitor.pause_when({});
    const std::string end = newton_->improve(problem, r, monitor);
    const std::int64_t steps = report.newton_steps - steps_before;
    std::copy(monitor.best_impulse().begin(), monitor.best_impulse().end(), r.begin());
    std::string line = fmt::format("newton: {} steps, residual {:.2g}", steps, monitor.best());
    if (monitor.best() >= before) line += " as before";
    if (!monitor.done()) line += "; " + end;
    report.decisions.push_back(line);
    return steps;
  }

  Real newton_below_ = 1e-4;
  std::int64_t max_work_ = 50'000;
  typename SemismoothNewton<D>::Settings newton_settings_;
  Method sweeps_{"nsgs", "sweeps", make_solver<D>("nsgs"), 1};
  Method admm_{"admm", "iterations", make_solver<D>("admm"), 5};
  std::unique_ptr<SemismoothNewton<D>> newton_;
};

SCREE_PLUGIN(FrictionSolver, auto, Auto,
             "sweeps or ADMM first, Newton as soon as it pays; says what it did and why")

}  // namespace scree
