#include "friction/linear/schur_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "friction/linear/ksp_solver.hpp"
#include "friction/linear/matrix_free.hpp"

namespace scree {

namespace {

/// Share of the right-hand side that iterative refinement may leave.
constexpr Real max_remainder = 1e-2;
/// Share of the right-hand side below which a Krylov method need not come, however good its first guess.
constexpr Real round_off = 1e-14;
/// A preconditioner of an earlier matrix is kept until a solution takes more iterations than
/// max_growth * (those of the first solutions with it) + max_added.
constexpr Real max_growth = 1.5, max_added = 10;
/// Fewest bodies for which a Krylov method is tried before a factorisation.
constexpr std::int64_t min_tried = 300;
/// Most velocities for which each rank factorises the whole matrix: gathering it takes a few messages,
/// factors of several ranks take dozens.
constexpr std::int64_t max_on_each_rank = 2000;

/// Adds the wall time of a scope to `total`.
struct AddTime {
  Real& total;
  Real start = MPI_Wtime();
  ~AddTime() { total += MPI_Wtime() - start; }
};

}  // namespace

template <int D>
struct SchurSystem<D>::State {
  static constexpr int q = ScaledProblem<D>::q;
  static constexpr int width = ScaledProblem<D>::width;

  Settings settings;
  Kind kind;
  const ScaledProblem<D>* problem = nullptr;
  std::string failure;

  SchurGraph graph;
  bool has_pattern = false;  // that of graph
  bool direct = false, blocked = false, matrix_free = false, on_each_rank = false;
  bool gave_up = false;  // `direct` holds because a Krylov method has used up its iterations

  SchurMatrix<D> matrix;
  MatrixFreeProduct<D> product;    // of matrix_free, when `matrix` holds the diagonal blocks alone
  std::vector<Real> block_values;  // K, where the matrix may have to be assembled again or is never
  Real shift_of_values = 0;
  MatHandle regularised;
  VecHandle right, solution, remainder;
  KspSolver ksp;
  bool factorised = false;  // the preconditioner belongs to the matrix
  bool refining = false;    // with a preconditioner from `regularised`

  /// What is known of solutions by Krylov methods.
  struct Krylov {
    bool kept = false;       // the preconditioner is that of an earlier matrix ...
    bool worn = false;       // ... and no longer good enough
    bool hard = false;       // so many iterations that the next matrix should be factorised
    bool broken = false;     // the last solution, by an error of PETSc
    PetscInt max_taken = 0;  // iterations of a solution, in this solve
    PetscInt first_iterations =
        0;  // most of a solution with the matrix that the preconditioner was made from
  } krylov;

  State(const Settings& given, Kind given_kind) : settings(given), kind(given_kind) {}

  const Comm& comm() const { return problem->comm(); }
  bool symmetric() const { return kind == Kind::symmetric && graph.is_symmetric; }
  /// What is multiplied with.
  Mat system() const { return matrix_free ? product.get() : matrix.get(); }

  /// Whether a Krylov method is tried first and a factorisation comes last.
  bool tries_krylov() const {
    return settings.linear == "auto" && will_factorise(settings, *problem) && symmetric() &&
           !problem->original().is_local() && problem->n_bodies_of_all() >= min_tried;
  }
  /// Iterations per matrix that cost about half as much as its factorisation, measured on piles in space; in
  /// the plane factors have n log n numbers and n^1.5 operations.
  PetscInt max_tried() const {
    const auto n = static_cast<Real>(problem->n_bodies_of_all());
    return static_cast<PetscInt>(D == 3 ? n / 10 : 4 * std::sqrt(n));
  }
  PetscInt max_iterations() const {
    const auto max = static_cast<PetscInt>(std::min<std::int64_t>(settings.max_krylov, PETSC_MAX_INT));
    return tries_krylov() ? std::min(max, max_tried()) : max;
  }

  void set_pattern() {
    SchurGraph found(*problem);
    const bool same = has_pattern && comm().all(found == graph);
    if (same && !gave_up) {
      // What the last solve learned is forgotten, preconditioner included: a restart could not know it.
      krylov.hard = krylov.worn = false;
      krylov.max_taken = 0;
      krylov.first_iterations = 0;
      return;
    }
    if (problem->n_bodies_of_all() > PETSC_MAX_INT / q)
      throw RunError(fmt::format("{} bodies are too many for the matrix of a Newton-type solver: at most {}",
                                 problem->n_bodies_of_all(), PETSC_MAX_INT / q));
    graph = std::move(found);
    gave_up = krylov.hard = false;
    krylov.max_taken = 0;
    choose_method();
    build();
  }

  /// Users who give options to PETSc mean the factors of all ranks. Collective.
  bool is_small() const {
    return comm().size() > 1 && problem->n_bodies_of_all() * q <= max_on_each_rank &&
           !comm().any(petsc_options_given());
  }

  void choose_method() {
    direct = gave_up || (will_factorise(settings, *problem) && !tries_krylov());
    std::array<char, 64> type{};
    PetscBool given = PETSC_FALSE;
    SCREE_PETSC(PetscOptionsGetString(nullptr, petsc_prefix, "-mat_type", type.data(), type.size(), &given));
    const std::string name = type.data();
    if (given == PETSC_TRUE && name != "aij" && name != "baij")
      throw InputError(
          fmt::format("PETSc options: -scree_mat_type {} is not possible; it is aij or baij", name));
    blocked = given == PETSC_TRUE ? name == "baij" : !direct;
    matrix_free = settings.linear == "matrix_free";
    on_each_rank = is_small();
  }

  /// All that follows from graph and method.
  void build() {
    has_pattern = false;
    ksp.reset();
    regularised.reset();
    remainder.reset();
    refining = factorised = krylov.worn = krylov.kept = false;
    krylov.first_iterations = 0;

    SchurPattern pattern(comm(), graph, matrix_free);
    share_errors(comm(), [&] {
      if (pattern.owned.size() > static_cast<std::size_t>(PETSC_MAX_INT / (q * q)))
        throw RunError(fmt::format(
            "{} contacts are too many for the matrix of a Newton-type solver: at most {} numbers per rank",
            problem->n_contacts_of_all(), PETSC_MAX_INT));
    });
    matrix.build(
        comm(), graph,
        {.blocked = blocked, .diagonal_only = matrix_free, .positive_definite = symmetric() && !blocked},
        std::move(pattern));
    SCREE_PETSC(MatCreateVecs(matrix.get(), solution.address(), right.address()));
    if (matrix_free) product.create(comm(), graph.n_owned);
    has_pattern = true;
  }

  void assemble(std::span<const Real> K, Real shift) {
    if (matrix_free || tries_krylov()) {
      block_values.assign(K.begin(), K.end());
      shift_of_values = shift;
    }
    if (matrix_free) product.set(*problem, block_values, shift);
    fill(K, shift);
  }
  void fill(std::span<const Real> K, Real shift) {
    matrix.fill(*problem, K, shift);
    factorised = false;
  }

  /// Makes the preconditioner. False with `failure` set on this rank.
  bool set_up() {
    failure = ksp.set_up(comm(),
                         {.direct = direct,
                          .symmetric = symmetric(),
                          .on_each_rank = direct && on_each_rank,
                          .matrix_free = matrix_free,
                          .refining = refining,
                          .relative_tolerance = settings.relative_tolerance,
                          .max_iterations = max_iterations()},
                         system(), refining ? regularised.get() : matrix.get());
    return failure.empty();
  }

  /// Adds 1e-12 of the diagonal, which is 1e-12 once the diagonal is scaled to ones: enough to factorise what
  /// round-off made indefinite. Iterative refinement then takes back what that changed, as far as a matrix of
  /// that condition allows (docs/method.md, eq. S.3).
  void regularise() {
    SCREE_PETSC(MatDuplicate(matrix.get(), MAT_COPY_VALUES, regularised.address()));
    declare_positive_definite(regularised.get());
    SCREE_PETSC(MatGetDiagonal(matrix.get(), right.get()));
    SCREE_PETSC(VecScale(right.get(), 1e-12));
    SCREE_PETSC(MatDiagonalSet(regularised.get(), right.get(), ADD_VALUES));
    if (!remainder.get()) SCREE_PETSC(VecDuplicate(right.get(), remainder.address()));
  }

  bool factorise(SolveReport& report) {
    Scope timer("factorise");
    const AddTime time{report.factor_seconds};
    if (!comm().all(matrix.is_finite())) {
      failure = "the matrix has entries that are not finite";
      return false;
    }
    if (refining) {
      refining = false;
      ksp.reset();
    }
    ++report.factorizations;
    bool done = comm().all(set_up());
    if (!done) {
      share_failure();
      ksp.reset();
      if (direct && symmetric()) {
        const std::string first = failure;
        refining = true;
        regularise();
        ++report.factorizations;
        done = comm().all(set_up());
        share_failure();
        if (!done) {
          failure = fmt::format("{}; with 1e-12 of the diagonal added: {}", first, failure);
          ksp.reset();
        }
      }
    }
    factorised = done;
    return done;
  }

  /// The message of one of the ranks that failed, on all.
  void share_failure() { failure = message_of_smallest(comm(), comm().rank(), failure); }

  bool solve(std::span<const Real> b, std::span<Real> x, SolveReport& report, Real tolerance,
             bool x_is_guess) {
    const auto attempt = [&] { return run_ksp(b, x, report, tolerance, x_is_guess); };
    failure.clear();
    if (!prepare(report)) return false;
    bool solved = attempt();
    if (!solved && krylov.kept) {
      krylov.worn = true;
      factorised = false;
      failure.clear();
      if (!prepare(report)) return false;
      solved = attempt();
    }
    if (!solved && tries_krylov() && !gave_up && !krylov.broken) {
      give_up(report);
      if (!prepare(report)) return false;
      solved = attempt();
    }
    if (!solved) {
      failure = fmt::format("the linear system of {} velocities could not be solved: {}",
                            problem->n_bodies_of_all() * q, failure);
      if (krylov.broken) {
        ksp.reset();
        factorised = false;
      }
      return false;
    }
    ++report.linear_solutions;
    problem->make_ghosts_current(x);
    return true;
  }

  /// Factorises from now on, until the next set_pattern().
  void give_up(SolveReport& report) {
    report.decisions.push_back(fmt::format(
        "linear systems: factorised from here, a Krylov method took {} iterations", krylov.max_taken));
    failure.clear();
    gave_up = direct = true;
    blocked = false;
    build();
    fill(block_values, shift_of_values);
  }

  /// Makes the preconditioner, or keeps that of an earlier matrix as long as it is good enough
  /// (docs/method.md, "The Schur system"). False if there is none.
  bool prepare(SolveReport& report) {
    if (factorised) return true;
    if (tries_krylov() && !gave_up && krylov.hard) give_up(report);
    const bool has_one = ksp.exists() && krylov.first_iterations > 0 && !direct && !refining;
    krylov.kept = has_one && settings.keep && !krylov.worn && comm().all(matrix.is_finite());
    if (krylov.kept) {
      ksp.keep_preconditioner(system(), matrix.get());
      return factorised = true;
    }
    if (ksp.exists()) ksp.renew_preconditioner();
    krylov.worn = false;
    krylov.first_iterations = 0;
    if (factorise(report)) return true;
    failure = fmt::format("the matrix of {} velocities could not be factorised: {}",
                          problem->n_bodies_of_all() * q, failure);
    return false;
  }

  /// One solution with the preconditioner there is. False with `failure` set on all ranks.
  bool run_ksp(std::span<const Real> b, std::span<Real> x, SolveReport& report, Real tolerance,
               bool x_is_guess) {
    Scope timer("linear solve");
    const AddTime time{report.krylov_seconds};
    const bool iterative = ksp.is_iterative();
    copy_in<D>(b, graph.n_owned, right.get());
    Real size = 0;
    if (iterative && !refining) {
      SCREE_PETSC(VecNorm(right.get(), NORM_2, &size));
      ksp.set_tolerances(tolerance > 0 ? tolerance : settings.relative_tolerance,
                         std::isfinite(size) ? round_off * size : 0, x_is_guess);
      if (x_is_guess) copy_in<D>(x, graph.n_owned, solution.get());
    }
    const KspSolver::Solution found = ksp.solve(right.get(), solution.get());
    if (iterative) {
      report.krylov_iterations += found.iterations;
      if (size > 0) report.linear_residual = found.residual / size;
      record_effort(found.iterations);
    }
    krylov.broken = comm().any(found.is_broken);
    failure = found.failure;
    share_failure();
    if (refining && failure.empty()) check_refinement();
    if (!failure.empty()) return false;  // x may be the guess of another attempt
    copy_out<D>(solution.get(), graph.n_owned, x);
    return true;
  }

  /// Decides whether the preconditioner is worth keeping, and the method worth trying on the next matrix.
  void record_effort(PetscInt iterations) {
    krylov.max_taken = std::max(krylov.max_taken, iterations);
    if (!krylov.kept)
      krylov.first_iterations = std::max(krylov.first_iterations, iterations);
    else if (static_cast<Real>(iterations) >
             max_growth * static_cast<Real>(krylov.first_iterations) + max_added)
      krylov.worn = true;
    if (2 * krylov.max_taken > max_tried()) krylov.hard = true;
  }

  /// What the corrections cannot take back is no solution of A x = b.
  void check_refinement() {
    SCREE_PETSC(MatResidual(matrix.get(), right.get(), solution.get(), remainder.get()));
    Real remaining = 0, whole = 0;
    SCREE_PETSC(VecNorm(remainder.get(), NORM_2, &remaining));
    SCREE_PETSC(VecNorm(right.get(), NORM_2, &whole));
    if (!(remaining <= max_remainder * whole))
      failure = fmt::format("iterative refinement leaves {:.1e} of the right-hand side", remaining / whole);
  }
};

template <int D>
void SchurSystem<D>::Settings::describe(Section& section) {
  section.choice(
      "linear", linear, {"auto", "direct", "iterative", "matrix_free"},
      {.doc = "How linear systems are solved: factorisation, Krylov method with or without a matrix, "
              "or by size"});
  section.integer(
      "direct_limit", direct_limit,
      {.range = non_negative, .doc = "Largest number of velocities for which linear = \"auto\" factorises"});
  section.real("krylov_tolerance", relative_tolerance,
               {.range = {.min = 0, .max = 1, .min_open = true, .max_open = true},
                .doc = "Reduction of the residual at which a Krylov method ends"});
  section.boolean(
      "keep", keep,
      {.doc = "Krylov methods: keep the preconditioner from matrix to matrix while it is good enough"});
  section.integer("max_krylov", max_krylov, {.range = positive, .doc = "Most iterations of a Krylov method"});
}

template <int D>
bool SchurSystem<D>::will_factorise(const Settings& settings, const ScaledProblem<D>& problem) {
  if (settings.linear != "auto") return settings.linear == "direct";
  return is_within_limit(settings, problem) && !petsc_option_given("-ksp_type") &&
         !petsc_option_given("-pc_type");
}

template <int D>
bool SchurSystem<D>::is_within_limit(const Settings& settings, const ScaledProblem<D>& problem) {
  return problem.n_bodies_of_all() * State::q <= settings.direct_limit;
}

template <int D>
SchurSystem<D>::SchurSystem(const Settings& settings, Kind kind)
    : state_(std::make_unique<State>(settings, kind)) {}
template <int D>
SchurSystem<D>::~SchurSystem() = default;
template <int D>
SchurSystem<D>::SchurSystem(SchurSystem&&) noexcept = default;
template <int D>
SchurSystem<D>& SchurSystem<D>::operator=(SchurSystem&&) noexcept = default;

template <int D>
void SchurSystem<D>::set_pattern(const ScaledProblem<D>& problem, SolveReport& report) {
  const AddTime time{report.assembly_seconds};
  state_->problem = &problem;
  state_->set_pattern();
}

template <int D>
void SchurSystem<D>::assemble(std::span<const Real> K, Real shift, SolveReport& report) {
  Scope timer("assemble");
  const AddTime time{report.assembly_seconds};
  state_->assemble(K, shift);
}

template <int D>
bool SchurSystem<D>::solve(std::span<const Real> b, std::span<Real> x, SolveReport& report, Real tolerance,
                           bool x_is_guess) {
  return state_->solve(b, x, report, tolerance, x_is_guess);
}

template <int D>
const std::string& SchurSystem<D>::failure() const {
  return state_->failure;
}

template class SchurSystem<2>;
template class SchurSystem<3>;

}  // namespace scree
