#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "friction/friction_solver.hpp"
#include "friction/newton/proximal_points.hpp"
#include "friction/newton/semismooth_newton.hpp"

namespace scree {

/// Lets methods take turns (deck: solver.type = "auto"; docs/method.md, "Choice of methods: `auto`").
///
/// 1. Sweeps, until the residual is `newton_below`, `first_sweeps` have been run, or they are slow: far from
///    that residual, twice as many have not taken away 30 % of it.
/// 2. Two Newton steps (12 for up to 200 bodies), and more as long as each halves the residual.
/// 3. A turn of a helper from the best impulses, and 2. again. The helpers are sweeps, proximal points and
///    ADMM, in the reverse order where the first sweeps were slow. A turn lasts as long as it pays: while
///    each stretch of it halves the residual. After a turn that did not, the next helper has the word; sweeps
///    that were not slow have three turns to do it.
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
                 {.range = positive, .doc = "Natural residual at which Newton steps replace sweeps"});
    section.integer(
        "first_sweeps", first_sweeps_,
        {.range = positive, .doc = "Most Gauss-Seidel sweeps before the first Newton step, for 1000 bodies"});
    section.integer(
        "max_turns", max_turns_,
        {.range = non_negative, .doc = "Most alternations of other methods and Newton steps after that"});
    newton_settings_.describe(section);
  }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    if (!newton_) {
      newton_.emplace(newton_settings_);
      proximal_.emplace(typename ProximalPoints<D>::Settings{.newton = newton_settings_});
    }
    if (too_large(problem)) {
      monitor.report().decisions.push_back("sweeps alone: too many velocities to factorise (direct_limit)");
      sweeps_->iterate(problem, r, monitor);
      return;
    }
    // What a Newton step costs grows faster than what a sweep does.
    const Real size = std::pow(std::max(1.0, static_cast<Real>(problem.n_bodies_of_all()) / 1000), 0.7);
    const bool slow = run_first_sweeps(static_cast<Real>(first_sweeps_) * size, problem, r, monitor);

    proximal_->restart();
    std::array<Helper, 3> helpers{{{"nsgs", first_sweeps_of_turn * size, 1},
                                   {"proximal", first_rounds_of_turn, 0.5},
                                   {"admm", first_iterations_of_turn, 0.5}}};
    const std::array<std::size_t, 3> order =
        slow ? std::array<std::size_t, 3>{2, 1, 0} : std::array<std::size_t, 3>{0, 1, 2};
    std::size_t turn_of = 0;
    int idle_turns = 0;
    Real to_beat = monitor.best();
    bool newton_works = true;
    for (std::int64_t turn = 1; turn <= max_turns_ && !monitor.done(); ++turn) {
      if (newton_works) newton_works = take_newton_steps(problem, r, monitor);
      if (monitor.done()) return;
      std::copy(monitor.best_impulse().begin(), monitor.best_impulse().end(), r.begin());
      Helper& helper = helpers[order[turn_of]];
      take_turn(helper, problem, r, monitor);
      ++idle_turns;
      if (monitor.best() <= 0.5 * to_beat) {
        to_beat = monitor.best();
        idle_turns = 0;
      }
      if (idle_turns > 0) helper.turn *= growth_of_turn;
      if (idle_turns >= (order[turn_of] == 0 && !slow ? patience : 1)) {
        turn_of = (turn_of + 1) % order.size();
        idle_turns = 0;
      }
    }
  }

 private:
  struct Helper {
    std::string_view name;
    Real turn;     // iterations
    Real stretch;  // by which a turn grows, as a share of it
  };

  static constexpr Real first_sweeps_of_turn = 300, first_rounds_of_turn = 12;
  static constexpr Real first_iterations_of_turn = 1000;  // ADMM needs some hundred to get going
  static constexpr Real growth_of_turn = 1.5;             // after one that did not help
  static constexpr int patience = 3;                      // turns without half the residual
  static constexpr std::int64_t few_steps = 2, few_cheap_steps = 12;
  static constexpr std::int64_t cheap = 200;  // bodies, up to which a Newton step costs less than 50 sweeps
  static constexpr Real fast = 0.5;           // residual after a step over that before
  static constexpr std::int64_t first_verdict = 128;  // sweeps
  static constexpr Real far = 30;         // residual in units of newton_below, where sweeps may be slow
  static constexpr Real slow_fall = 0.7;  // of the residual while their number doubles

  /// Whether Newton's systems are to be factorised unless they are too large, and are.
  bool too_large(const ScaledProblem<D>& problem) const {
    auto unlimited = newton_settings_.linear;
    unlimited.direct_limit = std::numeric_limits<std::int64_t>::max();
    return SchurSystem<D>::will_factorise(unlimited, problem) &&
           !SchurSystem<D>::will_factorise(newton_settings_.linear, problem);
  }

  /// True if they were slow.
  bool run_first_sweeps(Real most, const ScaledProblem<D>& problem, std::span<Real> r,
                        SolveMonitor<D>& monitor) {
    std::int64_t sweeps = 0;
    std::int64_t next = first_verdict / 2;
    Real before = HUGE_VAL;
    bool slow = false;
    monitor.pause_when([&](std::int64_t sweep, Real residual) {
      sweeps = sweep;
      if (sweep >= next) {
        slow = residual > std::max(slow_fall * before, far * newton_below_);
        before = residual;
        next = 2 * sweep;
      }
      return slow || static_cast<Real>(sweep) >= most || residual <= newton_below_;
    });
    sweeps_->iterate(problem, r, monitor);
    monitor.pause_when({});
    tell(monitor, fmt::format("nsgs: {} iterations{}", sweeps, slow ? ", slow" : ""));
    return slow;
  }

  void take_turn(const Helper& helper, const ScaledProblem<D>& problem, std::span<Real> r,
                 SolveMonitor<D>& monitor) {
    run(helper, monitor, [&] {
      if (helper.name == "nsgs")
        sweeps_->iterate(problem, r, monitor);
      else if (helper.name == "admm")
        admm_->iterate(problem, r, monitor);
      else
        proximal_->improve(problem, std::numeric_limits<std::int64_t>::max(), r, monitor);
    });
  }

  /// Runs a turn, and stretches of it more as long as each halves the best residual.
  template <class Iterate>
  static void run(const Helper& helper, SolveMonitor<D>& monitor, const Iterate& iterate) {
    std::int64_t iterations = 0;
    Real next = helper.turn;
    Real to_halve = monitor.best();
    monitor.pause_when([&](std::int64_t iteration, Real) {
      iterations = iteration;
      if (static_cast<Real>(iteration) < next) return false;
      const bool go_on = monitor.best() <= 0.5 * to_halve;
      to_halve = monitor.best();
      next = static_cast<Real>(iteration) + helper.stretch * helper.turn;
      return !go_on;
    });
    iterate();
    monitor.pause_when({});
    tell(monitor, fmt::format("{}: {} iterations", helper.name, iterations));
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
  std::int64_t max_turns_ = 60;
  typename SemismoothNewton<D>::Settings newton_settings_;
  std::unique_ptr<FrictionSolver<D>> sweeps_ = make_solver<D>("nsgs");
  std::unique_ptr<FrictionSolver<D>> admm_ = make_solver<D>("admm");
  std::optional<SemismoothNewton<D>> newton_;
  std::optional<ProximalPoints<D>> proximal_;
};

SCREE_PLUGIN(FrictionSolver, auto, Auto,
             "sweeps, Newton steps, proximal points and ADMM in turn; reports what it used")

}  // namespace scree
