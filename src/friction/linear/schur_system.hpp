#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "friction/friction_solver.hpp"

namespace scree {

/// The Schur-complement system of Newton-type solvers (docs/method.md, eq. S.1)
///     A x = b,   A = s I + J^T K J,
/// in the scaled velocities of a problem: one D x D block K_c per contact, not necessarily symmetric, one
/// q x q block of A per pair of touching bodies. PETSc's KSP solves it; options "-scree_ksp_type ...",
/// "-scree_pc_type ..." (insert_petsc_options) replace any default.
///
/// Settings::linear says how (docs/method.md, "The Schur system"): factors; conjugate gradients (GMRES if not
/// symmetric) with block Jacobi over ranks and block ILU(0) on each, until the true residual has fallen; the
/// same contact by contact, without the matrix. "auto" factorises up to direct_limit velocities of all
/// bodies, symmetric systems only once a Krylov method takes longer than that would. An option
/// -scree_ksp_type or -scree_pc_type turns auto into iterative. The matrix is of type AIJ for factorisations,
/// BAIJ for Krylov methods unless -scree_mat_type says aij.
template <int D>
class SchurSystem {
 public:
  enum class Kind { symmetric, general };  ///< symmetric: positive definite as well
  struct Settings {
    std::string linear = "auto";          ///< direct, iterative, matrix_free or auto
    std::int64_t direct_limit = 150'000;  ///< auto: most velocities (rows) for a factorisation
    Real relative_tolerance = 1e-8;       ///< of Krylov methods, on the residual
    std::int64_t max_krylov = 1000;
    bool keep = true;                 ///< preconditioners of Krylov methods, while they are good enough
    void describe(Section& section);  ///< keys linear, direct_limit, krylov_tolerance, keep, max_krylov
  };

  /// Whether the matrix of `problem` may be factorised: by `settings`, and by size where they say auto; an
  /// option -scree_ksp_type or -scree_pc_type turns auto into iterative, whatever it names. Local; the same
  /// on all ranks.
  static bool will_factorise(const Settings& settings, const ScaledProblem<D>& problem);
  /// Whether the velocities are no more than `direct_limit`. Local.
  static bool is_within_limit(const Settings& settings, const ScaledProblem<D>& problem);

  SchurSystem(const Settings& settings, Kind kind);
  ~SchurSystem();
  SchurSystem(SchurSystem&&) noexcept;
  SchurSystem& operator=(SchurSystem&&) noexcept;

  /// Finds the pattern of A: once per problem, which must live until the last solve. A pattern like the last
  /// one is kept, with what factorisations learnt from it. Throws RunError for more velocities than PETSc can
  /// number. Collective.
  void set_pattern(const ScaledProblem<D>& problem, SolveReport& report);
  /// A = shift I + J^T K J with K[n_contacts * D * D], row by row. Allocates nothing after the first time.
  /// Collective.
  void assemble(std::span<const Real> K, Real shift, SolveReport& report);
  /// Solves A x = b for owned bodies: arrays of ScaledProblem::velocity_size() with its width; ghosts of b
  /// are ignored, those of x are current afterwards. The first call after assemble() factorises, or
  /// checks whether the preconditioner still serves. In a Krylov method `tolerance` > 0 replaces
  /// Settings::relative_tolerance (the option -scree_ksp_rtol both); if `x_is_guess`, x on entry is the first
  /// guess, and the tolerance is relative to its residual. Returns false on all ranks if the factorisation or
  /// iteration failed (x is then unusable); says why in failure(). Throws InputError for values of PETSc
  /// options that name nothing. Collective.
  bool solve(std::span<const Real> b, std::span<Real> x, SolveReport& report, Real tolerance = 0,
             bool x_is_guess = false);
  /// Why the last solve() returned false; the same on all ranks.
  const std::string& failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace scree
