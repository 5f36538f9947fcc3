#include "friction/linear/ksp_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "friction/linear/schur_matrix.hpp"

namespace scree {

namespace {

/// Solutions with a regularised factor: the first and the corrections.
constexpr PetscInt n_refinements = 3;
/// An option that is set here, not by the user.
constexpr const char* quiet_cholmod = "-mat_cholmod_print";

/// What factorises: within a preconditioner by which each rank has the whole matrix, that of this rank.
PC factors_of(PC pc) {
  PetscBool on_each_rank = PETSC_FALSE;
  SCREE_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCREDUNDANT, &on_each_rank));
  if (!on_each_rank) return pc;
  KSP of_rank = nullptr;
  SCREE_PETSC(PCRedundantGetKSP(pc, &of_rank));
  SCREE_PETSC(KSPGetPC(of_rank, &pc));
  return pc;
}

/// The factor that MUMPS made; null if another package did.
Mat mumps_factor(PC pc) {
  MatSolverType type = nullptr;
  Mat factor = nullptr;
  const bool found = PCFactorGetMatSolverType(pc, &type) == 0 && type &&
                     std::string_view(type) == MATSOLVERMUMPS && PCFactorGetMatrix(pc, &factor) == 0;
  return found ? factor : nullptr;
}

/// Of a Cholesky factor by MUMPS, which goes on past them; other packages stop.
PetscInt negative_pivots(PC pc) {
  const Mat factor = mumps_factor(pc);
  MatFactorType type = MAT_FACTOR_NONE;
  if (factor) SCREE_PETSC(MatGetFactorType(factor, &type));
  PetscInt n = 0;
  if (type == MAT_FACTOR_CHOLESKY) SCREE_PETSC(MatMumpsGetInfog(factor, 12, &n));
  return n;
}

std::string words_of(PetscErrorCode code) {
  const char* general = nullptr;
  char* specific = nullptr;
  PetscErrorMessage(code, &general, &specific);
  return specific && *specific ? specific
         : general             ? general
                               : fmt::format("PETSc error {}", static_cast<int>(code));
}

std::string words_of(PC pc, PCFailedReason reason) {
  std::string text = petsc_variable<decltype(::PCFailedReasons)>("PCFailedReasons")[reason];
  if (const Mat factor = mumps_factor(pc)) {
    PetscInt code = 0, detail = 0;
    SCREE_PETSC(MatMumpsGetInfog(factor, 1, &code));
    SCREE_PETSC(MatMumpsGetInfog(factor, 2, &detail));
    constexpr std::array<PetscInt, 10> of_memory{-5, -7, -8, -9, -11, -13, -14, -17, -19, -20};
    text += fmt::format(", MUMPS INFOG(1) = {}, INFOG(2) = {}", code, detail);
    if (std::find(of_memory.begin(), of_memory.end(), code) != of_memory.end()) text += ": too little memory";
  }
  return text;
}

/// Whether the numbers of this rank are finite.
bool is_finite(::Vec numbers) {
  const Real* values = nullptr;
  PetscInt n = 0;
  Real check = 0;
  SCREE_PETSC(VecGetLocalSize(numbers, &n));
  SCREE_PETSC(VecGetArrayRead(numbers, &values));
  for (PetscInt i = 0; i < n; ++i) check += 0 * values[i];
  SCREE_PETSC(VecRestoreArrayRead(numbers, &values));
  return check == 0;
}

}  // namespace

bool petsc_option_given(const char* name) {
  PetscBool given = PETSC_FALSE;
  SCREE_PETSC(PetscOptionsHasName(nullptr, petsc_prefix, name, &given));
  return given == PETSC_TRUE;
}

bool petsc_options_given() {
  char* all = nullptr;
  SCREE_PETSC(PetscOptionsGetAll(nullptr, &all));
  std::istringstream words(all);
  SCREE_PETSC(petsc_variable<decltype(::PetscTrFree)>("PetscTrFree")(all, __LINE__, __func__, __FILE__));
  const std::string start = std::string("-") + petsc_prefix;
  for (std::string word; words >> word;)
    if (word.starts_with(start) && !word.ends_with(quiet_cholmod + 1)) return true;
  return false;
}

void KspSolver::reset() {
  ksp_.reset();
  is_set_up_ = false;
}

void KspSolver::create(const Comm& comm, const Method& method) {
  SCREE_PETSC(KSPCreate(comm.handle(), ksp_.address()));
  const KSP ksp = ksp_.get();
  SCREE_PETSC(KSPSetOptionsPrefix(ksp, petsc_prefix));
  PC pc = nullptr;
  SCREE_PETSC(KSPGetPC(ksp, &pc));
  if (method.direct) {
    if (method.on_each_rank) SCREE_PETSC(PCSetType(pc, PCREDUNDANT));
    pc = factors_of(pc);
    // Measured on packs of spheres: CHOLMOD solves faster than MUMPS with equal factorisation times, but is
    // for one rank; UMFPACK is three to ten times slower than MUMPS.
    SCREE_PETSC(PCSetType(pc, method.symmetric ? PCCHOLESKY : PCLU));
    const bool cholmod = method.symmetric && (comm.size() == 1 || method.on_each_rank);
    SCREE_PETSC(PCFactorSetMatSolverType(pc, cholmod ? MATSOLVERCHOLMOD : MATSOLVERMUMPS));
    // CHOLMOD would print a line of its own for a matrix that it cannot factorise.
    if (cholmod && !petsc_option_given(quiet_cholmod))
      SCREE_PETSC(PetscOptionsSetValue(
          nullptr,
          fmt::format("-{}{}{}", petsc_prefix, method.on_each_rank ? "redundant_" : "", quiet_cholmod + 1)
              .c_str(),
          "0"));
  } else {
    SCREE_PETSC(PCSetType(pc, method.matrix_free ? PCPBJACOBI : PCBJACOBI));
  }
  if (method.refining) {
    SCREE_PETSC(KSPSetType(ksp, KSPRICHARDSON));
    SCREE_PETSC(KSPSetNormType(ksp, KSP_NORM_NONE));
  } else if (method.direct) {
    SCREE_PETSC(KSPSetType(ksp, KSPPREONLY));
  } else {
    SCREE_PETSC(KSPSetType(ksp, method.symmetric ? KSPCG : KSPGMRES));
    SCREE_PETSC(KSPGMRESSetRestart(ksp, 100));
    // The true residual is tested, where the method is ours: not all methods can.
    if (!petsc_option_given("-ksp_type")) {
      SCREE_PETSC(KSPSetPCSide(ksp, method.symmetric ? PC_LEFT : PC_RIGHT));
      SCREE_PETSC(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    }
  }
  SCREE_PETSC(KSPSetTolerances(ksp, method.relative_tolerance, 0, PETSC_DEFAULT,
                               method.refining ? n_refinements : method.max_iterations));
  // With a first guess, its own residual is what has to fall.
  if (!method.direct) SCREE_PETSC(KSPConvergedDefaultSetUMIRNorm(ksp));
  // What PETSc does not know here is what the user wrote, the same on all ranks.
  if (const PetscErrorCode code = KSPSetFromOptions(ksp); code != 0) refuse_options(code);
}

void KspSolver::refuse_options(PetscErrorCode code) {
  const std::string words = words_of(code);
  reset();
  throw InputError("PETSc options: " + words);
}

std::string KspSolver::set_up(const Comm& comm, const Method& method, Mat A, Mat matrix) {
  if (!exists()) create(comm, method);
  // Named again each time: after a solve, KSPSetUp does nothing otherwise.
  SCREE_PETSC(KSPSetOperators(ksp_.get(), A, matrix));
  PetscErrorCode code = KSPSetUp(ksp_.get());
  if (code == 0) code = KSPSetUpOnBlocks(ksp_.get());
  if (code == PETSC_ERR_MISSING_FACTOR && petsc_option_given("-pc_factor_mat_solver_type"))
    refuse_options(code);
  PC pc = nullptr;
  PCFailedReason reason = PC_NOERROR;
  SCREE_PETSC(KSPGetPC(ksp_.get(), &pc));
  pc = factors_of(pc);
  if (code == 0) SCREE_PETSC(PCGetFailedReason(pc, &reason));
  if (code != 0) return words_of(code);
  if (reason != PC_NOERROR) return words_of(pc, reason);
  if (const PetscInt n = negative_pivots(pc); n > 0)
    return fmt::format("not positive definite, {} negative pivots", n);
  is_set_up_ = true;
  return "";
}

void KspSolver::keep_preconditioner(Mat A, Mat matrix) {
  reuse_preconditioner(PETSC_TRUE);
  SCREE_PETSC(KSPSetOperators(ksp_.get(), A, matrix));
}

/// Of the whole and of each block of block Jacobi, which does not pass it on.
void KspSolver::reuse_preconditioner(PetscBool reuse) {
  SCREE_PETSC(KSPSetReusePreconditioner(ksp_.get(), reuse));
  PC pc = nullptr;
  PetscBool by_blocks = PETSC_FALSE;
  SCREE_PETSC(KSPGetPC(ksp_.get(), &pc));
  SCREE_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCBJACOBI, &by_blocks));
  if (!by_blocks || !is_set_up_) return;
  PetscInt n = 0;
  KSP* of_block = nullptr;
  SCREE_PETSC(PCBJacobiGetSubKSP(pc, &n, nullptr, &of_block));
  for (PetscInt k = 0; k < n; ++k) SCREE_PETSC(KSPSetReusePreconditioner(of_block[k], reuse));
}

bool KspSolver::is_iterative() const {
  KSPType type = nullptr;
  SCREE_PETSC(KSPGetType(ksp_.get(), &type));
  return std::string_view(type) != KSPPREONLY;
}

void KspSolver::set_tolerances(Real relative, Real absolute, bool has_guess) {
  // PETSC_DEFAULT leaves what an option has set.
  SCREE_PETSC(KSPSetTolerances(ksp_.get(), petsc_option_given("-ksp_rtol") ? PETSC_DEFAULT : relative,
                               petsc_option_given("-ksp_atol") ? PETSC_DEFAULT : absolute, PETSC_DEFAULT,
                               PETSC_DEFAULT));
  SCREE_PETSC(KSPSetInitialGuessNonzero(ksp_.get(), has_guess ? PETSC_TRUE : PETSC_FALSE));
}

KspSolver::Solution KspSolver::solve(::Vec right, ::Vec solution) {
  const PetscErrorCode code = KSPSolve(ksp_.get(), right, solution);
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  Solution found;
  found.is_broken = code != 0;
  SCREE_PETSC(KSPGetConvergedReason(ksp_.get(), &reason));
  SCREE_PETSC(KSPGetIterationNumber(ksp_.get(), &found.iterations));
  SCREE_PETSC(KSPGetResidualNorm(ksp_.get(), &found.residual));
  if (code != 0)
    found.failure = words_of(code);
  else if (reason < 0)
    found.failure =
        fmt::format("{} after {} iterations, residual {:.3g}",
                    petsc_variable<decltype(::KSPConvergedReasons)>("KSPConvergedReasons")[reason],
                    found.iterations, found.residual);
  else if (!is_finite(solution))
    found.failure = "the solution has entries that are not finite";
  return found;
}

}  // namespace scree
