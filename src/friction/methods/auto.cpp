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
/// 1. Sweeps, as long as they pay: at least as many as cost as much as a factorisation, and on while half as
///    many more halve the residual.
/// 2. Two Newton steps (12 for up to 200 bodies), and more as long as each halves the residual.
/// 3. A turn of a helper from the best impulses, and 2. again. The helpers are proximal points, ADMM and
///    sweeps. A turn lasts as long as it pays, as sweeps do; after one that did not, the next helper has the
///    word.
/// A problem too large to factorise gets sweeps alone, unless a Krylov method is asked for. Each turn is a
/// line of SolveReport::decisions; none depends on a clock.
/// Collective; agrees to the tolerance on different numbers of ranks, bitwise as long as sweeps alone were
/// enough.
template <int D>
class Auto final : public FrictionSolver<D> {
 public:
  void describe(Section& section) override {
    section.for_laboratory([&](Section& keys) {
      keys.integer(
          "max_turns", max_turns_,
          {.range = non_negative, .doc = "Most alternations of other methods and Newton steps after sweeps"});
      newton_settings_.describe(keys);
    });
  }

  bool takes_walls() const override { return true; }

  void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) override {
    if (!newton_) {
      newton_.emplace(newton_settings_);
      proximal_.emplace(typename ProximalPoints<D>::Settings{.newton = newton_settings_});
    }
    if (!problem.walls().empty()) {
      monitor.report().decisions.push_back("sweeps alone: loads move walls");
      sweeps_->iterate(problem, r, monitor);
      return;
    }
    if (too_large(problem)) {
      monitor.report().decisions.push_back("sweeps alone: too many velocities to factorise (direct_limit)");
      sweeps_->iterate(problem, r, monitor);
      return;
    }
    // What a Newton step costs grows faster than what a sweep does.
    const auto n_bodies = static_cast<Real>(problem.n_bodies_of_all());
    const Real sweeps_of_factorization = std::max(sweeps_of_root_of_bodies * std::sqrt(n_bodies), n_bodies);
    std::array<Helper, 3> helpers{{{"proximal", first_rounds_of_turn},
                                   {"admm", first_iterations_of_turn},
                                   {"nsgs", std::max(min_sweeps, sweeps_of_factorization)}}};
    take_turn(helpers.back(), problem, r, monitor);
    proximal_->start_over();
    std::size_t turn_of = 0;
    bool newton_works = true;
    for (std::int64_t turn = 1; turn <= max_turns_ && !monitor.done(); ++turn) {
      const Real to_beat = monitor.best();
      if (newton_works) newton_works = take_newton_steps(problem, r, monitor);
      if (monitor.done()) return;
      std::copy(monitor.best_impulse().begin(), monitor.best_impulse().end(), r.begin());
      Helper& helper = helpers[turn_of];
      take_turn(helper, problem, r, monitor);
      if (monitor.best() <= 0.5 * to_beat) continue;
      helper.turn *= growth_of_turn;
      turn_of = (turn_of + 1) % helpers.size();
    }
  }

 private:
  struct Helper {
    std::string_view name;
    Real turn;  // iterations
  };

  // Measured on piles of 1000 and 5000 spheres: an LU costs 1000 to 6000 sweeps.
  static constexpr Real sweeps_of_root_of_bodies = 30, min_sweeps = 100;
  static constexpr Real first_rounds_of_turn = 12;
  static constexpr Real first_iterations_of_turn = 1000;  // ADMM needs some hundred to get going
  static constexpr Real growth_of_turn = 1.5;             // after one that did not help
  static constexpr Real stretch = 0.5;                    // of a turn that pays, as a share of it
  static constexpr std::int64_t few_steps = 2, few_cheap_steps = 12;
  static constexpr std::int64_t cheap = 200;  // bodies, up to which a Newton step costs less than 50 sweeps
  static constexpr Real fast = 0.5;           // residual after a step over that before

  /// Whether Newton's systems are to be factorised unless they are too large, and are.
  bool too_large(const ScaledProblem<D>& problem) const {
    // The rest asks PETSc's options, and what sweeps solve shall not wait for its libraries.
    if (SchurSystem<D>::is_within_limit(newton_settings_.linear, problem)) return false;
    auto unlimited = newton_settings_.linear;
    unlimited.direct_limit = std::numeric_limits<std::int64_t>::max();
    return SchurSystem<D>::will_factorise(unlimited, problem) &&
           !SchurSystem<D>::will_factorise(newton_settings_.linear, problem);
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
      next = static_cast<Real>(iteration) + stretch * helper.turn;
      return !go_on;
    });
    iterate();
    monitor.pause_when({});
    record(monitor, fmt::format("{}: {} iterations", helper.name, iterations));
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
    record(monitor, fmt::format("newton: {} steps{}", monitor.report().newton_steps - steps_before,
                                newton_->failed() ? ", and no more: " + end : ""));
    return !newton_->failed();
  }

  static void record(SolveMonitor<D>& monitor, const std::string& what) {
    SolveReport& report = monitor.report();
    report.decisions.push_back(fmt::format("{}, residual {:.2g}", what, report.trace.back().residual));
  }

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
