#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/plugin.hpp"
#include "core/section.hpp"
#include "friction/residual.hpp"

namespace scree {

/// A residual seen on the way, for the study of convergence.
struct ResidualSample {
  std::int64_t iteration;  ///< the solver's own count; of all kinds together if it runs others
  Real seconds;            ///< wall time since the start of the solve
  Real residual;           ///< in the norm of the solve
};

/// What a solve did. Never decides to stop a run.
struct SolveReport {
  bool converged = false;  ///< residual within the tolerance, found after the solve by evaluate_residual
  Residual residual;
  std::int64_t sweeps = 0;        ///< Gauss-Seidel sweeps
  std::int64_t iterations = 0;    ///< of ADMM
  std::int64_t newton_steps = 0;  ///< of semismooth Newton or interior point
  std::int64_t krylov_iterations = 0;
  std::int64_t factorizations = 0;
  std::int64_t linear_solutions = 0;  ///< right-hand sides
  /// Of the last of them by a Krylov method: its residual over the size of the right-hand side.
  Real linear_residual = 0;
  // Wall seconds on this rank.
  Real seconds = 0;           ///< all
  Real setup_seconds = 0;     ///< validation and scaling
  Real assembly_seconds = 0;  ///< of matrices
  Real factor_seconds = 0;    ///< set-up of preconditioners and factorisations
  Real krylov_seconds = 0;    ///< triangular solves included
  std::vector<ResidualSample> trace;
  std::vector<std::string> decisions;  ///< what a solver that switches did, and why; one line each

  /// As newly made, with the memory that it has.
  void clear() {
    std::vector<ResidualSample> samples = std::move(trace);
    samples.clear();
    *this = {};
    trace = std::move(samples);
  }
};

/// Calls f(name, value) with what a solve counted, integers, and how long its parts took [s].
template <class F>
void for_each_effort(const SolveReport& report, F&& f) {
  f("sweeps", report.sweeps);
  f("iterations", report.iterations);
  f("newton_steps", report.newton_steps);
  f("krylov_iterations", report.krylov_iterations);
  f("factorizations", report.factorizations);
  f("seconds", report.seconds);
  f("setup_seconds", report.setup_seconds);
  f("matrix_seconds", report.assembly_seconds);
  f("factor_seconds", report.factor_seconds);
  f("krylov_seconds", report.krylov_seconds);
}

/// When a solve is to end.
struct StopRule {
  Real tolerance = 1e-4;
  Real max_seconds = HUGE_VAL;  ///< wall time, after which the best iterate counts
  /// In the solver's own count, seen when it checks the residual.
  std::int64_t max_iterations = std::numeric_limits<std::int64_t>::max();
  bool takes_last = false;  ///< the last iterate counts, not the best
  /// A part of a sequence: the first guess is what earlier solves have found and counts, however far from its
  /// problem, and nsgs makes all iterations.
  bool keeps_guess = false;
  ResidualNorm norm = ResidualNorm::natural;
};

/// Follows the residual of a solve: keeps the best iterate and says when to stop.
template <int D>
class SolveMonitor {
 public:
  /// `seconds_before`: what has passed of the solve already; the trace and max_seconds count it. `storage`:
  /// memory for the best iterate, from take_best_impulse() of another monitor.
  SolveMonitor(const ScaledProblem<D>& problem, const StopRule& stop, SolveReport& report,
               Real seconds_before = 0, std::vector<Real> storage = {});

  /// Computes the residual of r in the norm of the solve (infinite if r is not finite), appends it to the
  /// trace and keeps r if it is the best so far; `y` becomes y_free + J^T r.
  /// Collective.
  Real check(std::int64_t iteration, std::span<const Real> r, std::span<Real> y);
  /// The same for a residual known from velocities that were updated with r: cheaper. Where round-off could
  /// decide whether the solve is done, y is recomputed. Collective.
  Real check_known(Real known_residual, std::int64_t iteration, std::span<const Real> r, std::span<Real> y);
  /// True on all ranks when the tolerance is met, the time is up or a pause was asked for, as of the last
  /// check().
  bool done() const { return done_ || paused_; }
  /// For solvers that run others: asks the next one to stop after its first check() for which
  /// `rule(iteration, residual)` is true, with its own count of iterations; an empty rule asks for none. Ends
  /// the last pause. Counts in the trace go on from the last check(). The rule must be the same on all ranks.
  void pause_when(std::function<bool(std::int64_t iteration, Real residual)> rule) {
    rule_ = std::move(rule);
    paused_ = false;
    if (!report_->trace.empty()) first_iteration_ = report_->trace.back().iteration;
  }
  bool converged() const { return best_ <= stop_.tolerance; }
  Real tolerance() const { return stop_.tolerance; }
  std::int64_t max_iterations() const { return stop_.max_iterations; }
  ResidualNorm norm() const { return stop_.norm; }
  bool keeps_guess() const { return stop_.keeps_guess; }
  Real best() const { return best_; }
  const std::vector<Real>& best_impulse() const { return best_impulse_; }
  std::vector<Real> take_best_impulse() { return std::move(best_impulse_); }
  SolveReport& report() { return *report_; }
  /// Wall seconds since the start of the solve. Local.
  Real seconds() const;

 private:
  Real record(std::int64_t iteration, std::span<const Real> r, Real residual);
  /// Whether round-off decides if the tolerance is met.
  bool is_doubtful(Real residual) const;
  /// From recomputed velocities; in doubt not less than the residual that the report will have. Collective.
  Real residual_as_reported(std::span<const Real> r, std::span<Real> y);

  const ScaledProblem<D>& problem_;
  StopRule stop_;
  SolveReport* report_;
  Real start_;
  Real best_ = HUGE_VAL;
  bool done_ = false, paused_ = false;
  std::int64_t first_iteration_ = 0;
  std::function<bool(std::int64_t, Real)> rule_;
  std::vector<Real> best_impulse_;
  std::vector<Real> in_units_, scaled_again_;  // only in doubt
};

/// A method for FrictionProblems; friction/methods has the kinds. A solver owns its work arrays and
/// may be used again and again; it writes r only.
template <int D>
class FrictionSolver {
 public:
  virtual ~FrictionSolver() = default;
  /// Keys of this solver in [solver].
  virtual void describe(Section&) {}
  /// Whether results have the same bits on any number of ranks, whoever holds which contact.
  virtual bool same_on_any_ranks() const { return false; }
  /// Whether it solves problems with FrictionProblem::rolling.
  virtual bool takes_rolling() const { return false; }
  /// Whether it solves problems with FrictionProblem::walls.
  virtual bool takes_walls() const { return false; }
  /// Improves the scaled impulses r (a first guess on entry, of any quality) until monitor.done() or the
  /// solver's own limit. The caller takes monitor.best_impulse(), so each iterate worth keeping must be shown
  /// to monitor.check(). Collective.
  virtual void iterate(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor) = 0;
};

/// Keys of [solver]: the kind with its own keys, and what all kinds share.
template <int D>
struct SolverSettings {
  std::unique_ptr<FrictionSolver<D>> solver;
  Real tolerance = 1e-4;
  std::string tolerance_word;  ///< "auto": whoever poses the problems chooses
  Real max_seconds = HUGE_VAL;
  std::string petsc_options;

  /// `automatic`: what tolerance = "auto" stands for, in words; empty: the tolerance is a number.
  void describe(Section& section, const std::string& automatic = "");
  StopRule stop_rule() const { return {.tolerance = tolerance, .max_seconds = max_seconds}; }
};

/// Solves friction problems one after the other and keeps its arrays in between.
template <int D>
class FrictionSolve {
 public:
  /// What has changed since the last run.
  enum class Change { all, bias };
  /// As solve_friction(), but takes the problem to be valid. The report is good until the next run.
  const SolveReport& run(const FrictionProblem<D>& problem, FrictionSolver<D>& solver, const StopRule& stop,
                         std::span<Real> r, std::span<Real> v, Change change = Change::all);
  /// What came of the walls in the last run.
  const WallRows<D>& walls() const { return scaled_.walls(); }

 private:
  ScaledProblem<D> scaled_;
  SolveReport report_;
  std::vector<Real> impulse_, y_, best_impulse_;
};

/// Validates and scales the problem, runs the solver from the impulses `r` (n_contacts * D [N s]), and
/// returns in r the best impulses seen and in v (n_local * q) the velocities that follow from them (of a
/// local form those due to W r, contact by contact), with a report computed independently of the solver. An r
/// on entry that is no better than zero is still used: it is the caller's choice. Throws InputError for a
/// problem that is not one (FrictionProblem::validate) and for an r that is not finite. Collective.
template <int D>
SolveReport solve_friction(const FrictionProblem<D>& problem, FrictionSolver<D>& solver, const StopRule& stop,
                           std::span<Real> r, std::span<Real> v);

/// The solver called `name` with default settings. Throws InputError if there is none.
template <int D>
std::unique_ptr<FrictionSolver<D>> make_solver(std::string_view name);

}  // namespace scree
