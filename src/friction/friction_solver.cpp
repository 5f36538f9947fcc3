#include "friction/friction_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/error.hpp"
#include "core/reset.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {
Real now() {
  return std::chrono::duration<Real>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
}  // namespace

template <int D>
SolveMonitor<D>::SolveMonitor(const ScaledProblem<D>& problem, const StopRule& stop, SolveReport& report,
                              Real seconds_before, std::vector<Real> storage)
    : problem_(problem),
      stop_(stop),
      report_(&report),
      start_(now() - seconds_before),
      best_impulse_(std::move(storage)) {
  // The caller's impulses, scaled once more, have a residual that differs by round-off: it has to be met too.
  constexpr Real of_scaling = 16 * std::numeric_limits<Real>::epsilon();
  if (stop_.norm == ResidualNorm::natural) stop_.tolerance -= std::min(of_scaling, 0.5 * stop_.tolerance);
  reset(best_impulse_, problem.impulse_size());
}

template <int D>
Real SolveMonitor<D>::seconds() const {
  return now() - start_;
}

template <int D>
Real SolveMonitor<D>::check(std::int64_t iteration, std::span<const Real> r, std::span<Real> y) {
  return record(iteration, r, residual_as_reported(r, y));
}

template <int D>
bool SolveMonitor<D>::is_doubtful(Real residual) const {
  // In scaled units, more than the round-off of updates; the norms of FCLIB have other units.
  constexpr Real round_off = 1e-9;
  const Real clearly_met = stop_.norm == ResidualNorm::natural ? stop_.tolerance - round_off : -1;
  return residual <= stop_.tolerance && residual > clearly_met;
}

template <int D>
Real SolveMonitor<D>::residual_as_reported(std::span<const Real> r, std::span<Real> y) {
  const Real residual = find_residual(problem_, stop_.norm, r, y);
  if (!is_doubtful(residual)) return residual;
  // The report is about the caller's impulses, which are these but for the round-off of their units.
  in_units_.resize(problem_.original().n_impulses());
  scaled_again_.resize(r.size());
  problem_.unscale_impulse(r, in_units_);
  problem_.scale_impulse(in_units_, scaled_again_);
  return std::max(residual, find_residual(problem_, stop_.norm, std::span<const Real>(scaled_again_), y));
}

template <int D>
Real SolveMonitor<D>::check_known(Real known_residual, std::int64_t iteration, std::span<const Real> r,
                                  std::span<Real> y) {
  return record(iteration, r, is_doubtful(known_residual) ? residual_as_reported(r, y) : known_residual);
}

template <int D>
Real SolveMonitor<D>::record(std::int64_t iteration, std::span<const Real> r, Real residual) {
  if (!std::isfinite(residual)) residual = HUGE_VAL;
  report_->trace.push_back({first_iteration_ + iteration, seconds(), residual});
  if (residual < best_ || stop_.takes_last) {
    best_ = residual;
    problem_.walls().keep_best();
    std::copy(r.begin(), r.end(), best_impulse_.begin());
  }
  done_ = std::min(best_, residual) <= stop_.tolerance || iteration >= stop_.max_iterations;
  // Clocks differ between ranks: all take the answer of the slowest.
  if (!done_ && std::isfinite(stop_.max_seconds)) done_ = problem_.comm().any(seconds() > stop_.max_seconds);
  if (rule_ && rule_(iteration, residual)) paused_ = true;
  return residual;
}

template <int D>
void SolverSettings<D>::describe(Section& section, const std::string& automatic) {
  const std::string otherwise = "nsgs";
  section.kind("type", solver,
               {.doc = "Solver of the contact problem of a step; \"" + otherwise + "\" if not given"});
  if (section.reading() && !solver) {
    solver = make_solver<D>(otherwise);
    solver->describe(section);
  }
  const std::string meaning = "Natural residual at which a solve ends (docs/method.md, eq. F.6)";
  if (automatic.empty()) {
    section.real("tolerance", tolerance, {.range = positive, .doc = meaning});
  } else {
    tolerance_word = "auto";
    const std::string with_auto = meaning + "; \"auto\": " + automatic;
    section.real_or_word("tolerance", tolerance, tolerance_word, {"auto"},
                         {.range = positive, .doc = with_auto});
  }
  section.real(
      "max_time", max_seconds,
      {.unit = Unit::time,
       .range = positive,
       .doc =
           "Wall-clock time after which the best iterate is returned; makes results depend on the machine"});
  section.text("petsc", petsc_options,
               {.doc = "Options of the linear solver, such as \"-scree_ksp_type cg -scree_pc_type jacobi\"",
                .audience = Audience::laboratory});
}

template <int D>
const SolveReport& FrictionSolve<D>::run(const FrictionProblem<D>& problem, FrictionSolver<D>& solver,
                                         const StopRule& stop, std::span<Real> r, std::span<Real> v,
                                         Change change) {
  SCREE_ASSERT(r.size() == problem.n_impulses());
  SCREE_ASSERT(!problem.rolls() || solver.takes_rolling());
  SCREE_ASSERT(problem.walls.empty() || solver.takes_walls());
  SCREE_ASSERT(v.size() == static_cast<std::size_t>(problem.n_local()) * FrictionProblem<D>::q);
  Scope timer("friction");
  const Real start = now();
  SolveReport& report = report_;
  report.clear();
#ifdef SCREE_ASSERTS
  problem.validate();
#endif
  if (!problem.halo->comm().all(std::all_of(r.begin(), r.end(), [](Real x) { return std::isfinite(x); })))
    throw InputError("friction problem: the impulses to start from are not finite");
  if (change == Change::bias)
    scaled_.rebuild_bias();
  else
    scaled_.rebuild(problem);
  impulse_.resize(scaled_.impulse_size());
  scaled_.scale_impulse(r, impulse_);
  report.setup_seconds = now() - start;

  SolveMonitor<D> monitor(scaled_, stop, report, report.setup_seconds, std::move(best_impulse_));
  if (scaled_.n_contacts_of_all() > 0)
    solver.iterate(scaled_, impulse_, monitor);
  else
    scaled_.release_walls();

  best_impulse_ = monitor.take_best_impulse();
  scaled_.unscale_impulse(best_impulse_, r);
  if (scaled_.n_contacts_of_all() > 0) scaled_.restore_walls();
  // The residual is that of what the caller gets, to the last bit.
  scaled_.scale_impulse(r, impulse_);
  y_.resize(scaled_.velocity_size());
  report.residual = evaluate_residual<D>(scaled_, impulse_, y_, stop.norm);
  scaled_.unscale_velocity(y_, v);
  report.converged = value_of(report.residual, stop.norm) <= stop.tolerance;
  report.seconds = now() - start;
  return report;
}

template <int D>
SolveReport solve_friction(const FrictionProblem<D>& problem, FrictionSolver<D>& solver, const StopRule& stop,
                           std::span<Real> r, std::span<Real> v) {
  problem.validate();
  return FrictionSolve<D>().run(problem, solver, stop, r, v);
}

template <int D>
std::unique_ptr<FrictionSolver<D>> make_solver(std::string_view name) {
  std::string names;
  for (const auto& entry : registry<FrictionSolver<D>>()) {
    if (entry.name == name) return entry.make();
    names += fmt::format("{}{}", names.empty() ? "" : ", ", entry.name);
  }
  throw InputError(fmt::format("there is no solver \"{}\"; the solvers are {}", name, names));
}

template class SolveMonitor<2>;
template class SolveMonitor<3>;
template class FrictionSolve<2>;
template class FrictionSolve<3>;
template struct SolverSettings<2>;
template struct SolverSettings<3>;
template SolveReport solve_friction<2>(const FrictionProblem<2>&, FrictionSolver<2>&, const StopRule&,
                                       std::span<Real>, std::span<Real>);
template SolveReport solve_friction<3>(const FrictionProblem<3>&, FrictionSolver<3>&, const StopRule&,
                                       std::span<Real>, std::span<Real>);
template std::unique_ptr<FrictionSolver<2>> make_solver<2>(std::string_view);
template std::unique_ptr<FrictionSolver<3>> make_solver<3>(std::string_view);

}  // namespace scree
