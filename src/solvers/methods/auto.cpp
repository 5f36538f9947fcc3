#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "solvers/friction_solver.hpp"
#include "solvers/semismooth_newton.hpp"

namespace scree {

/// Lets methods take turns (deck: solver.type = "auto"; docs/method.md, "Choice of methods: `auto`").
///
/// 1. Sweeps, until the residual is `newton_below` or `first_sweeps` have been run.
/// 2. Two Newton steps, and more as long as each halves the residual.
/// 3. Some sweeps from where they ended, each time more, and 2. again. Where neither helps, ADMM (with its
///    defaults) takes the place of the sweeps, and the other way round.
/// Numbers of sweeps are for 1000 bodies and grow like bodies^0.7, as a factorisation does against a sweep. A
/// problem too large to factorise gets sweeps alone, unless a Krylov method is asked for. Each turn and each
/// choice is a line of SolveReport::decisions; none depends on a clock.
/// Collective; agrees to the tolerance on different numbers of ranks, bitwise as long as sweeps alone were
/// enough.
template <int D>
class Auto final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.real("newton_below", newton_below_,
                 {.range = positive, .doc = "Natural residual at which sweeps give way to Newton steps"});
    section.integer(
        "first_sweeps", first_sweeps_,
        {.range = positive, .doc = "Most Gauss-Seidel sweeps before the first Newton step, for 1000 bodies"});
    section.integer("max_cycles", max_cycles_,
                    {.range = non_negative, .doc = "Most turns of Newton steps and sweeps after that"});
    newton_settings_.describe(section);
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    if (!newton_) newton_ = std::make_unique<SemismoothNewton<D>>(newton_settings_);
    Method* method = &sweeps_;
    if (too_large(problem)) {
      monitor.report().decisions.push_back("sweeps alone: too many velocities to factorise (direct_limit)");
      sweeps_.solver->iterate(problem, r, monitor);
      return;
    }
    // What a Newton step costs grows faster than what a sweep does.
    const Real size = std::pow(std::max(1.0, static_cast<Real>(problem.n_bodies_of_all()) / 1000), 0.7);
    const auto first = static_cast<std::int64_t>(static_cast<Real>(first_sweeps_) * size);
    run(*method, first, newton_below_, problem, r, monitor);
    Real turn = sweeps_of_turn * size;
    Real to_beat = monitor.best();
    int idle_cycles = 0;
    for (std::int64_t cycle = 1; cycle <= max_cycles_ && !monitor.done(); ++cycle) {
      if (!newton_->failed()) take_newton_steps(problem, r, monitor);
      if (monitor.done()) return;
      run(*method, static_cast<std::int64_t>(turn) / method->work, 0, problem, r, monitor);
      turn *= growth_of_turn;
      if (monitor.best() <= 0.5 * to_beat) {
        to_beat = monitor.best();
        idle_cycles = 0;
      } else if (++idle_cycles == patience) {
        method = method == &sweeps_ ? &admm_ : &sweeps_;
        monitor.report().decisions.push_back(
            fmt::format("{} turns have not halved the residual: {} takes over", patience, method->name));
        idle_cycles = 0;
      }
    }
  }

 private:
  struct Method {
    std::string_view name;
    std::string_view unit;
    std::unique_ptr<FrictionSolver<D>> solver;
    std::int64_t work;  // of an iteration, in sweeps
  };
  static constexpr Real sweeps_of_turn = 300, growth_of_turn = 1.2;
  static constexpr int patience = 5;  // cycles without half the residual
  static constexpr std::int64_t few_steps = 2;
  static constexpr Real fast = 0.5;  // residual after a step over that before

  /// Whether Newton's systems are to be factorised unless they are too large, and are.
  bool too_large(const ScaledProblem<D>& problem) const {
    auto unlimited = newton_settings_.linear;
    unlimited.direct_limit = std::numeric_limits<std::int64_t>::max();
    return SchurSystem<D>::will_factorise(unlimited, problem) &&
           !SchurSystem<D>::will_factorise(newton_settings_.linear, problem);
  }

  /// Up to `most` iterations, or until the residual is `target`.
  static void run(Method& method, std::int64_t most, Real target, const ScaledProblem<D>& problem,
                  std::span<Real> r, SolveMonitor<D>& monitor) {
    std::int64_t iterations = 0;
    monitor.pause_when([&](std::int64_t iteration, Real residual) {
      iterations = iteration;
      return iteration >= most || residual <= target;
    });
    method.solver->iterate(problem, r, monitor);
    monitor.pause_when({});
    tell(monitor, fmt::format("{}: {} {}", method.name, iterations, method.unit));
  }

  void take_newton_steps(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) {
    const std::int64_t steps_before = monitor.report().newton_steps;
    Real before = HUGE_VAL;
    monitor.pause_when([&](std::int64_t step, Real residual) {
      const bool go_on = step < few_steps || residual <= fast * before;
      before = residual;
      return !go_on;
    });
    const std::string end = newton_->improve(problem, r, monitor);
    monitor.pause_when({});
    tell(monitor, fmt::format("newton: {} steps{}", monitor.report().newton_steps - steps_before,
                              newton_->failed() ? ", and no more: " + end : ""));
  }

  static void tell(SolveMonitor<D>& monitor, const std::string& what) {
    SolveReport& report = monitor.report();
    report.decisions.push_back(fmt::format("{}, residual {:.2g}", what, report.trace.back().residual));
  }

  Real newton_below_ = 1e-4;
  std::int64_t first_sweeps_ = 1500;
  std::int64_t max_cycles_ = 15;
  typename SemismoothNewton<D>::Settings newton_settings_;
  Method sweeps_{"nsgs", "sweeps", make_solver<D>("nsgs"), 1};
  Method admm_{"admm", "iterations", make_solver<D>("admm"), 5};
  std::unique_ptr<SemismoothNewton<D>> newton_;
};

SCREE_PLUGIN(FrictionSolver, auto, Auto,
             "sweeps and Newton steps in turns, or ADMM for the sweeps; says what it did")

}  // namespace scree
