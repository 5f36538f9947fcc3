#include "friction/linear/constraints.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/petsc_matrix.hpp"

namespace scree {

namespace {

using KspHandle = PetscHandle<KSP, KSPDestroy>;

constexpr const char* prefix = "scree_constraints_";
constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
/// Iterations without a smaller residual after which the iteration stops: without round-off conjugate
/// gradients end after as many as there are rows, and seldom stagnate this long where there are more.
constexpr PetscInt patience = 200;
/// A residual that stops falling below this share of the right side is round-off; above, c has no solution.
constexpr Real inconsistent = 1e-10;

template <class Object>
PetscObject object(Object of) {
  return reinterpret_cast<PetscObject>(of);
}

std::size_t size_of(const BodyHalo& halo, int width) {
  return static_cast<std::size_t>(halo.n_local()) * static_cast<std::size_t>(width);
}

}  // namespace

std::span<Real> ConstraintRows::add(Index body_a, Index body_b) {
  a.push_back(body_a);
  b.push_back(body_b);
  const auto size = 2 * static_cast<std::size_t>(width);
  jacobian.resize(jacobian.size() + size, 0.0);
  return std::span(jacobian).last(size);
}

void ConstraintRows::clear() {
  a.clear();
  b.clear();
  jacobian.clear();
}

void ConstraintRows::multiply(std::span<const Real> v, std::span<Real> result) const {
  const std::size_t w = width;
  for (std::size_t c = 0; c < n_rows(); ++c) {
    Real sum = 0;
    const Real* row = jacobian.data() + 2 * w * c;
    for (const Index body : {a[c], b[c]}) {
      if (body >= 0) {
        const Real* of_body = v.data() + static_cast<std::size_t>(body) * w;
        for (std::size_t k = 0; k < w; ++k) sum += row[k] * of_body[k];
      }
      row += w;
    }
    result[c] = sum;
  }
}

struct ConstraintSolver::State {
  const ConstraintRows* rows = nullptr;
  MPI_Comm comm = MPI_COMM_NULL;
  PetscInt n_local = -1;
  PetscInt n_all = 0;
  std::vector<Real> velocity;           // n_local * width
  std::vector<Real> rate, multipliers;  // of project_velocity
  MatHandle matrix;
  VecHandle right, solution, best;
  KspHandle cg, lsqr;

  ConstraintTolerance tolerance;
  Real right_norm = 0, best_residual = 0;
  PetscInt best_iteration = 0;
  bool stagnated = false;

  const Comm& ranks() const { return rows->halo->comm(); }

  /// M^-1 G^T lambda in `velocity`, ghosts included.
  void spread(const Real* lambda) {
    const std::size_t w = rows->width;
    velocity.assign(size_of(*rows->halo, rows->width), 0.0);
    for (std::size_t c = 0; c < rows->n_rows(); ++c) {
      const Real* row = rows->jacobian.data() + 2 * w * c;
      for (const Index body : {rows->a[c], rows->b[c]}) {
        if (body >= 0) {
          Real* of_body = velocity.data() + static_cast<std::size_t>(body) * w;
          for (std::size_t k = 0; k < w; ++k) of_body[k] += row[k] * lambda[c];
        }
        row += w;
      }
    }
    rows->halo->add_to_owners(velocity, rows->width);
    const std::size_t n_own = static_cast<std::size_t>(rows->halo->n_owned()) * w;
    for (std::size_t i = 0; i < n_own; ++i) velocity[i] *= rows->inverse_mass[i];
    rows->halo->copy_to_ghosts(velocity, rows->width);
  }

  static PetscErrorCode multiply(Mat shell, ::Vec x, ::Vec y) {
    State* state = nullptr;
    SCREE_PETSC(MatShellGetContext(shell, static_cast<void*>(&state)));
    const Real* lambda = nullptr;
    Real* result = nullptr;
    SCREE_PETSC(VecGetArrayRead(x, &lambda));
    state->spread(lambda);
    SCREE_PETSC(VecRestoreArrayRead(x, &lambda));
    SCREE_PETSC(VecGetArrayWrite(y, &result));
    state->rows->multiply(state->velocity, {result, state->rows->n_rows()});
    SCREE_PETSC(VecRestoreArrayWrite(y, &result));
    return 0;
  }

  static PetscErrorCode diagonal(Mat shell, ::Vec y) {
    State* state = nullptr;
    SCREE_PETSC(MatShellGetContext(shell, static_cast<void*>(&state)));
    const ConstraintRows& rows = *state->rows;
    const std::size_t w = rows.width;
    Real* result = nullptr;
    SCREE_PETSC(VecGetArrayWrite(y, &result));
    for (std::size_t c = 0; c < rows.n_rows(); ++c) {
      const Real* row = rows.jacobian.data() + 2 * w * c;
      result[c] = 0;
      for (const Index body : {rows.a[c], rows.b[c]}) {
        if (body >= 0) {
          const Real* of_body = rows.inverse_mass.data() + static_cast<std::size_t>(body) * w;
          for (std::size_t k = 0; k < w; ++k) result[c] += row[k] * row[k] * of_body[k];
        }
        row += w;
      }
    }
    SCREE_PETSC(VecRestoreArrayWrite(y, &result));
    return 0;
  }

  /// Ends the iteration and keeps the best iterate: conjugate gradients move away from it where c is not in
  /// the range.
  static PetscErrorCode check_convergence(KSP ksp, PetscInt iteration, PetscReal residual,
                                          KSPConvergedReason* reason, void* context) {
    State& state = *static_cast<State*>(context);
    *reason = KSP_CONVERGED_ITERATING;
    if (!std::isfinite(residual)) {
      *reason = KSP_DIVERGED_NANORINF;
      return 0;
    }
    if (iteration == 0 || residual < state.best_residual) {
      state.best_residual = residual;
      state.best_iteration = iteration;
      ::Vec at = nullptr;
      SCREE_PETSC(KSPGetSolution(ksp, &at));
      SCREE_PETSC(VecCopy(at, state.best.get()));
    }
    if (residual <= state.tolerance.relative * state.right_norm)
      *reason = KSP_CONVERGED_RTOL;
    else if (residual <= state.tolerance.absolute)
      *reason = KSP_CONVERGED_ATOL;
    else if (iteration - state.best_iteration > std::min(patience, state.n_all + 10))
      *reason = KSP_CONVERGED_HAPPY_BREAKDOWN;
    else if (iteration >= state.tolerance.max_iterations)
      *reason = KSP_DIVERGED_ITS;
    return 0;
  }

  /// Creates PETSc's objects where the rows of any rank are more or fewer than before.
  void fit(const ConstraintRows& given) {
    rows = &given;
    const auto n = static_cast<PetscInt>(given.n_rows());
    if (!ranks().any(n != n_local || comm != ranks().handle())) return;
    comm = ranks().handle();
    n_local = n;
    n_all = static_cast<PetscInt>(ranks().sum(std::int64_t{n}));
    cg.reset();
    lsqr.reset();
    SCREE_PETSC(MatCreateShell(comm, n, n, PETSC_DETERMINE, PETSC_DETERMINE, this, matrix.address()));
    set_operation(MATOP_MULT, reinterpret_cast<void (*)()>(&State::multiply));
    set_operation(MATOP_MULT_TRANSPOSE, reinterpret_cast<void (*)()>(&State::multiply));
    set_operation(MATOP_GET_DIAGONAL, reinterpret_cast<void (*)()>(&State::diagonal));
    SCREE_PETSC(MatSetOption(matrix.get(), MAT_SYMMETRIC, PETSC_TRUE));
    SCREE_PETSC(VecCreateMPI(comm, n, PETSC_DETERMINE, right.address()));
    SCREE_PETSC(VecDuplicate(right.get(), solution.address()));
    SCREE_PETSC(VecDuplicate(right.get(), best.address()));
  }

  void set_operation(MatOperation operation, void (*function)()) const {
    SCREE_PETSC(MatShellSetOperation(matrix.get(), operation, function));
  }

  void create_cg() {
    SCREE_PETSC(KSPCreate(comm, cg.address()));
    SCREE_PETSC(KSPSetOptionsPrefix(cg.get(), prefix));
    SCREE_PETSC(KSPSetOperators(cg.get(), matrix.get(), matrix.get()));
    SCREE_PETSC(KSPSetType(cg.get(), KSPCG));
    PC pc = nullptr;
    SCREE_PETSC(KSPGetPC(cg.get(), &pc));
    SCREE_PETSC(PCSetType(pc, PCNONE));
    SCREE_PETSC(KSPSetFromOptions(cg.get()));
    // The residual in the metric of the preconditioner comes for free, and without one it is the true
    // residual.
    PetscBool is_cg = PETSC_FALSE, is_plain = PETSC_FALSE;
    SCREE_PETSC(PetscObjectTypeCompare(object(cg.get()), KSPCG, &is_cg));
    SCREE_PETSC(PetscObjectTypeCompare(object(pc), PCNONE, &is_plain));
    SCREE_PETSC(KSPSetNormType(cg.get(), is_cg && is_plain ? KSP_NORM_NATURAL : KSP_NORM_UNPRECONDITIONED));
    SCREE_PETSC(KSPSetConvergenceTest(cg.get(), &State::check_convergence, this, nullptr));
    SCREE_PETSC(KSPSetInitialGuessNonzero(cg.get(), PETSC_TRUE));
  }

  void create_lsqr() {
    SCREE_PETSC(KSPCreate(comm, lsqr.address()));
    SCREE_PETSC(KSPSetOperators(lsqr.get(), matrix.get(), matrix.get()));
    SCREE_PETSC(KSPSetType(lsqr.get(), KSPLSQR));
    PC pc = nullptr;
    SCREE_PETSC(KSPGetPC(lsqr.get(), &pc));
    SCREE_PETSC(PCSetType(pc, PCNONE));
    void* context = nullptr;
    SCREE_PETSC(KSPConvergedDefaultCreate(&context));
    SCREE_PETSC(
        KSPSetConvergenceTest(lsqr.get(), KSPLSQRConvergedDefault, context, KSPConvergedDefaultDestroy));
    SCREE_PETSC(KSPSetInitialGuessNonzero(lsqr.get(), PETSC_TRUE));
  }

  /// `in_range`: c is in the range of A but for round-off.
  ConstraintReport solve(std::span<const Real> c, std::span<Real> lambda, const ConstraintTolerance& wanted,
                         bool in_range) {
    ConstraintReport report;
    if (n_all == 0) return report;
    copy_in(c, right.get());
    SCREE_PETSC(VecNorm(right.get(), NORM_2, &right_norm));
    if (right_norm == 0) {
      std::fill(lambda.begin(), lambda.end(), 0.0);
      return report;
    }
    copy_in(lambda, solution.get());
    tolerance = wanted;
    best_residual = std::numeric_limits<Real>::infinity();
    if (!cg.get()) create_cg();
    SCREE_PETSC(KSPSolve(cg.get(), right.get(), solution.get()));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscInt iterations = 0;
    SCREE_PETSC(KSPGetConvergedReason(cg.get(), &reason));
    SCREE_PETSC(KSPGetIterationNumber(cg.get(), &iterations));
    report.iterations = static_cast<int>(iterations);
    report.residual = best_residual / right_norm;
    const bool reached = reason == KSP_CONVERGED_RTOL || reason == KSP_CONVERGED_ATOL;
    // A search direction in the null space appears indefinite to conjugate gradients.
    const bool stuck = reason == KSP_CONVERGED_HAPPY_BREAKDOWN || reason == KSP_DIVERGED_INDEFINITE_MAT ||
                       reason == KSP_DIVERGED_INDEFINITE_PC;
    if (reached || (stuck && (in_range || report.residual <= inconsistent))) {
      copy_out(best.get(), lambda);
    } else if (stuck) {
      report.consistent = false;
      copy_in(lambda, solution.get());
      find_least_squares(report);
      copy_out(solution.get(), lambda);
    } else {
      report.converged = false;
      if (std::isfinite(best_residual)) copy_out(best.get(), lambda);
    }
    return report;
  }

  /// From the guess in `solution`.
  void find_least_squares(ConstraintReport& report) {
    if (!lsqr.get()) create_lsqr();
    const Real relative = std::max(tolerance.relative, inconsistent);
    SCREE_PETSC(KSPSetTolerances(lsqr.get(), relative, tolerance.absolute, PETSC_DEFAULT,
                                 static_cast<PetscInt>(tolerance.max_iterations)));
    SCREE_PETSC(KSPSolve(lsqr.get(), right.get(), solution.get()));
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscInt iterations = 0;
    Real residual = 0;
    SCREE_PETSC(KSPGetConvergedReason(lsqr.get(), &reason));
    SCREE_PETSC(KSPGetIterationNumber(lsqr.get(), &iterations));
    SCREE_PETSC(KSPGetResidualNorm(lsqr.get(), &residual));
    report.converged = reason > 0;
    report.iterations += static_cast<int>(iterations);
    report.residual = residual / right_norm;
  }

  static void copy_in(std::span<const Real> from, ::Vec to) {
    Real* values = nullptr;
    SCREE_PETSC(VecGetArrayWrite(to, &values));
    std::copy(from.begin(), from.end(), values);
    SCREE_PETSC(VecRestoreArrayWrite(to, &values));
  }
  static void copy_out(::Vec from, std::span<Real> to) {
    const Real* values = nullptr;
    SCREE_PETSC(VecGetArrayRead(from, &values));
    std::copy_n(values, to.size(), to.begin());
    SCREE_PETSC(VecRestoreArrayRead(from, &values));
  }

  void add_impulses(std::span<const Real> lambda, Real factor, std::span<Real> v) {
    spread(lambda.data());
    for (std::size_t i = 0; i < velocity.size(); ++i) v[i] += factor * velocity[i];
  }

  /// Largest rate of all rows, and the round-off of their 2-norm.
  std::pair<Real, Real> find_rates(std::span<const Real> v, std::span<const Real> prescribed) {
    rows->multiply(v, rate);
    const std::size_t w = rows->width;
    Real sums[1] = {0};
    Real largest = 0;
    for (std::size_t c = 0; c < rows->n_rows(); ++c) {
      if (!prescribed.empty()) rate[c] += prescribed[c];
      Real sum = prescribed.empty() ? 0 : std::abs(prescribed[c]);
      const Real* row = rows->jacobian.data() + 2 * w * c;
      for (const Index body : {rows->a[c], rows->b[c]}) {
        if (body >= 0)
          for (std::size_t k = 0; k < w; ++k)
            sum += std::abs(row[k] * v[static_cast<std::size_t>(body) * w + k]);
        row += w;
      }
      sums[0] += sum * sum;
      largest = std::max(largest, std::abs(rate[c]));
    }
    ranks().sum_to_round_off(sums);
    return {ranks().max(largest), epsilon * std::sqrt(sums[0])};
  }
};

ConstraintSolver::ConstraintSolver() : state_(std::make_unique<State>()) {}
ConstraintSolver::~ConstraintSolver() = default;
ConstraintSolver::ConstraintSolver(ConstraintSolver&&) noexcept = default;
ConstraintSolver& ConstraintSolver::operator=(ConstraintSolver&&) noexcept = default;

ConstraintReport ConstraintSolver::solve(const ConstraintRows& rows, std::span<const Real> c,
                                         std::span<Real> lambda, const ConstraintTolerance& tolerance) {
  state_->fit(rows);
  return state_->solve(c, lambda, tolerance, false);
}

void ConstraintSolver::add_impulses(const ConstraintRows& rows, std::span<const Real> lambda, Real factor,
                                    std::span<Real> v) {
  state_->rows = &rows;
  state_->add_impulses(lambda, factor, v);
}

ConstraintSolver::Projection ConstraintSolver::project_velocity(const ConstraintRows& rows, std::span<Real> v,
                                                                std::span<const Real> prescribed) {
  constexpr int passes = 2;
  State& state = *state_;
  state.fit(rows);
  Projection projection;
  if (state.n_all == 0) return projection;
  state.rate.resize(rows.n_rows());
  state.multipliers.resize(rows.n_rows());
  for (int pass = 0; pass <= passes; ++pass) {
    const auto [largest, round_off] = state.find_rates(v, prescribed);
    if (pass == 0) projection.before = largest;
    projection.after = largest;
    if (pass == passes || largest <= round_off / std::sqrt(static_cast<Real>(state.n_all))) break;
    std::fill(state.multipliers.begin(), state.multipliers.end(), 0.0);
    const ConstraintReport report =
        state.solve(state.rate, state.multipliers, {.relative = 1e-14, .absolute = 0.25 * round_off}, true);
    projection.iterations += report.iterations;
    state.add_impulses(state.multipliers, -1, v);
  }
  return projection;
}

}  // namespace scree
