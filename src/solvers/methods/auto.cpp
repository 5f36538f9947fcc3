#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "solvers/friction_solver.hpp"
#include "solvers/semismooth_newton.hpp"

namespace scree {

/// Lets methods take turns (deck: solver.type = "auto"; docs/method.md, "Choice of methods: `auto`").
///
/// 1. Sweeps, until the residual is `newton_below` or `first_sweeps` have been run.
/// 2. Two Newton steps (12 for up to 200 bodies), and more as long as each halves the residual.
/// 3. Some sweeps from where they ended, each time more, and 2. again. Where that does not help, ADMM with
///    its defaults takes the place of the sweeps for a turn.
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
    section.integer("max_turns", max_turns_,
                    {.range = non_negative, .doc = "Most turns of Newton steps and sweeps after that"});
    newton_settings_.describe(section);
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    if (!newton_) newton_ = std::make_unique<SemismoothNewton<D>>(newton_settings_);
    if (too_large(problem)) {
      monitor.report().decisions.push_back("sweeps alone: too many velocities to factorise (direct_limit)");
      sweeps_->iterate(problem, r, monitor);
      return;
    }
    // What a Newton step costs grows faster than what a sweep does.
    const Real size = std::pow(std::max(1.0, static_cast<Real>(problem.n_bodies_of_all()) / 1000), 0.7);
    run("nsgs", *sweeps_, static_cast<Real>(first_sweeps_) * size, newton_below_, problem, r, monitor);
    Real turn = sweeps_of_turn * size;
    Real to_beat = monitor.best();
    int idle_turns = 0;
    bool newton_works = true;
    for (std::int64_t i = 1; i <= max_turns_ && !monitor.done(); ++i) {
      if (newton_works) newton_works = take_newton_steps(problem, r, monitor);
      if (monitor.done()) return;
      if (idle_turns < patience) {
        run("nsgs", *sweeps_, turn, 0, problem, r, monitor);
        turn *= growth_of_turn;
      } else {
        run("admm", *admm_, iterations_of_admm, 0, problem, r, monitor);
        idle_turns = 0;
      }
      ++idle_turns;
      if (monitor.best() <= 0.5 * to_beat) {
        to_beat = monitor.best();
        idle_turns = 0;
      }
    }
  }

 private:
  static constexpr Real sweeps_of_turn = 300, growth_of_turn = 1.2;
  static constexpr int patience = 5;                // turns without half the residual
  static constexpr Real iterations_of_admm = 1500;  // it needs some hundred to get going
  static constexpr std::int64_t few_steps = 2, few_cheap_steps = 12;
  static constexpr std::int64_t cheap = 200;  // bodies, up to which a Newton step costs less than 50 sweeps
  static constexpr Real fast = 0.5;           // residual after a step over that before

  /// Whether Newton's systems are to be factorised unless they are too large, and are.
  bool too_large(const ScaledProblem<D>& problem) const {
    auto unlimited = newton_settings_.linear;
    unlimited.direct_limit = std::numeric_limits<std::int64_t>::max();
    return SchurSystem<D>::will_factorise(unlimited, problem) &&
           !SchurSystem<D>::will_factorise(newton_settings_.linear, problem);
  }

  /// Up to `most` iterations, or until the residual is `target`.
  static void run(std::string_view name, FrictionSolver<D>& solver, Real most, Real target,
                  const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) {
    std::int64_t iterations = 0;
    monitor.pause_when([&](std::int64_t iteration, Real residual) {
      iterations = iteration;
      return static_cast<Real>(iteration) >= most || residual <= target;
    });
    solver.iterate(problem, r, monitor);
    monitor.pause_when({});
    tell(monitor, fmt::format("{}: {} iterations", name, iterations));
  }

  /// False if Newton's linear systems cannot be solved.
  bool take_newton_steps(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) {
    const std::int64_t steps_before = monitor.report().newton_steps;
    const std::int64_t few = problem.n_bodies_of_all() <= cheap ? few_cheap_steps : few_steps;
    Real before = HUGE_VAL;
    monitor.pause_when([&](std::int64_t step, Real residual) {
      const bool go_on = step < few || residual <= fast * before;
      before = residual;
      return !go_on;
    });
    const std::string end = newton_->improve(problem, r, monitor);
    monitor.pause_when({});
    tell(monitor, fmt::format("newton: {} steps{}", monitor.report().newton_steps - steps_before,
                              newton_->failed() ? ", and no more: " + end : ""));
    return !newton_->failed();
  }

  static void tell(SolveMonitor<D>& monitor, const std::string& what) {
    SolveReport& report = monitor.report();
    report.decisions.push_back(fmt::format("{}, residual {:.2g}", what, report.trace.back().residual));
  }

  Real newton_below_ = 1e-4;
  std::int64_t first_sweeps_ = 2000;
  std::int64_t max_turns_ = 15;
  typename SemismoothNewton<D>::Settings newton_settings_;
  std::unique_ptr<FrictionSolver<D>> sweeps_ = make_solver<D>("nsgs");
  std::unique_ptr<FrictionSolver<D>> admm_ = make_solver<D>("admm");
  std::unique_ptr<SemismoothNewton<D>> newton_;
};

SCREE_PLUGIN(FrictionSolver, auto, Auto,
             "sweeps and Newton steps in turns, or ADMM for the sweeps; says what it did")

}  // namespace scree
