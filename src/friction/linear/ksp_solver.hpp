#pragma once

#include <string>

#include "core/parallel.hpp"
#include "core/petsc.hpp"
#include "core/types.hpp"

namespace scree {

/// PETSc's linear solver for a matrix A: direct, or a Krylov method with its preconditioner. Options
/// "-scree_ksp_...", "-scree_pc_..." replace the defaults.
class KspSolver {
 public:
  struct Method {
    bool direct = false;        ///< by factors, else a Krylov method
    bool symmetric = false;     ///< positive definite as well
    bool on_each_rank = false;  ///< direct: each rank factorises the whole matrix
    bool matrix_free = false;   ///< block Jacobi of bodies in place of block ILU of ranks
    bool refining = false;      ///< direct: corrects solutions with factors of a nearby matrix
    Real relative_tolerance = 0;
    PetscInt max_iterations = 0;
  };
  struct Solution {
    PetscInt iterations = 0;
    Real residual = 0;
    bool is_broken = false;  ///< an error of PETSc
    std::string failure;     ///< on this rank; empty if there is none
  };

  bool exists() const { return ksp_.get() != nullptr; }
  void reset();

  /// Makes the preconditioner from `matrix` for systems with A; creates the solver if there is none. Returns
  /// why it failed on this rank; empty if it did not. Throws InputError for options that name nothing.
  /// Collective.
  std::string set_up(const Comm& comm, const Method& method, Mat A, Mat matrix);
  /// Keeps the preconditioner of an earlier matrix for systems with A. Collective.
  void keep_preconditioner(Mat A, Mat matrix);
  /// Lets the next set_up() make a new one.
  void renew_preconditioner() { reuse_preconditioner(PETSC_FALSE); }

  /// Whether the method iterates; of an existing solver.
  bool is_iterative() const;
  /// For the next solutions; options of the user win.
  void set_tolerances(Real relative, Real absolute, bool has_guess);
  /// Collective.
  Solution solve(::Vec right, ::Vec solution);

 private:
  void create(const Comm& comm, const Method& method);
  [[noreturn]] void refuse_options(PetscErrorCode code);
  void reuse_preconditioner(PetscBool reuse);

  PetscHandle<KSP, KSPDestroy> ksp_;
  bool is_set_up_ = false;  // once at least
};

/// Whether the user gave the option "-scree..." that ends so.
bool petsc_option_given(const char* name);
/// Whether the user gave any that begins so. Local: environments may differ.
bool petsc_options_given();

}  // namespace scree
