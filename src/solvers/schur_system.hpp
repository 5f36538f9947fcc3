#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/petsc.hpp"
#include "solvers/friction_solver.hpp"

namespace scree {

/// The Schur-complement system of Newton-type solvers (docs/method.md, eq. S.1)
///     A x = b,   A = s I + J^T K J,
/// in the scaled velocities of a problem: one D x D block K_c per contact, not necessarily symmetric, one
/// q x q block of A per pair of touching bodies. PETSc's KSP solves it; options "-scree_ksp_type ...",
/// "-scree_pc_type ..." (insert_petsc_options) replace any default.
///
/// By default the matrix is factorised (CHOLMOD or MUMPS) up to direct_limit velocities of all bodies, beyond
/// that conjugate gradients (GMRES if not symmetric) with block Jacobi and ILU(0) on each rank.
template <int D>
class SchurSystem {
 public:
  enum class Kind { symmetric, general };
  struct Settings {
    std::string linear = "auto";         ///< direct, iterative or auto
    std::int64_t direct_limit = 60'000;  ///< auto: most velocities (rows) for a factorisation
    Real relative_tolerance = 1e-8;      ///< of Krylov methods, on the residual
    std::int64_t max_krylov = 1000;
    void describe(Section& section);  ///< keys linear, direct_limit, krylov_tolerance, max_krylov
  };

  SchurSystem(const Settings& settings, Kind kind);
  ~SchurSystem();
  SchurSystem(SchurSystem&&) noexcept;
  SchurSystem& operator=(SchurSystem&&) noexcept;

  /// Finds the pattern of A: once per problem (kept if the pattern is the one it already has). Collective.
  void set_pattern(const ScaledProblem<D>& problem, SolveReport& report);
  /// A = shift I + J^T K J with K[n_contacts * D * D], row by row. Collective.
  void assemble(std::span<const Real> K, Real shift, SolveReport& report);
  /// Solves A x = b for owned bodies: arrays of ScaledProblem::velocity_size() with its width; ghosts of b
  /// are ignored, those of x are current afterwards. The first call after assemble() factorises. `tolerance`
  /// > 0 replaces Settings::relative_tolerance in a Krylov method. Returns false on all ranks if the
  /// factorisation or iteration failed (x is then unusable); says why in failure(). Collective.
  bool solve(std::span<const Real> b, std::span<Real> x, SolveReport& report, Real tolerance = 0);
  const std::string& failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace scree
