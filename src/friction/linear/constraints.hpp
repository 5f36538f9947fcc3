#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/body_halo.hpp"

namespace scree {

/// Linear conditions G v = 0 on the velocities of bodies: row c says
///     J_a v_a + J_b v_b = 0,
/// `width` numbers per body. Each row is on exactly one rank, which holds both bodies; rows may repeat or
/// depend on each other. With the masses, A = G M^-1 G^T is positive semidefinite.
struct ConstraintRows {
  BodyHalo* halo = nullptr;
  int width = 0;
  std::vector<Index> a, b;         ///< local bodies; -1: none
  std::vector<Real> jacobian;      ///< n_rows * 2 * width: J_a, then J_b
  std::vector<Real> inverse_mass;  ///< n_local * width: the diagonal of M^-1; 0 holds a velocity fixed

  std::size_t n_rows() const { return a.size(); }
  /// Appends a row of zeros and returns its 2 * width numbers, valid until the next call.
  std::span<Real> add(Index body_a, Index body_b);
  /// Drops the rows, keeps the memory.
  void clear();
  /// result[c] = (G v)_c for v[n_local * width] with current ghosts. Local.
  void multiply(std::span<const Real> v, std::span<Real> result) const;
};

/// When an iteration ends: the residual (2-norm over all rows) is at most `relative` times that of the right
/// side, or at most `absolute`.
struct ConstraintTolerance {
  Real relative = 1e-10;
  Real absolute = 0;
  int max_iterations = 10'000;
};

struct ConstraintReport {
  int iterations = 0;
  Real residual = 0;      ///< |c - A lambda| over |c|; 0 for c = 0
  bool converged = true;  ///< to the tolerance, to round-off, or to the least squares of what has no solution
  bool consistent = true;  ///< c is in the range of A
};

/// Multipliers of ConstraintRows: A lambda = c, A = G M^-1 G^T, in the least-squares and least-norm sense
/// (docs/method.md, "Constraints"): |c - A lambda| is least and, of all those lambda, the one that differs
/// least from the guess in the 2-norm; with guess 0 that is lambda = A^+ c.
///
/// Conjugate gradients (PETSc's KSP on a matrix that is never formed) stay in guess + range(A) and so need no
/// regularisation of dependent rows, as long as no preconditioner changes the metric: there is none by
/// default
/// (-scree_constraints_pc_type jacobi takes the metric of diag A). For a c that no lambda satisfies, the
/// residual stops falling; LSQR then finds the least squares. Only dot products depend on the number of
/// ranks: results agree to the tolerance, not bit by bit. PETSc objects and work arrays are kept while sizes
/// stay.
class ConstraintSolver {
 public:
  ConstraintSolver();
  ~ConstraintSolver();
  ConstraintSolver(ConstraintSolver&&) noexcept;
  ConstraintSolver& operator=(ConstraintSolver&&) noexcept;

  /// Solves A lambda = c from the guess in `lambda`; c and lambda have the rows of this rank, which may be
  /// none. Never throws because rows depend on each other. One product with A per iteration: two exchanges of
  /// the halo and two reductions. Collective.
  ConstraintReport solve(const ConstraintRows& rows, std::span<const Real> c, std::span<Real> lambda,
                         const ConstraintTolerance& tolerance = {});
  /// v <- v + factor M^-1 G^T lambda on all local bodies; v[n_local * width] with current ghosts on entry has
  /// current ghosts on return. Collective.
  void add_impulses(const ConstraintRows& rows, std::span<const Real> lambda, Real factor, std::span<Real> v);

  struct Projection {
    Real before = 0;     ///< largest rate of all rows on entry
    Real after = 0;      ///< the same on return
    int iterations = 0;  ///< of all passes
  };
  /// v <- v - M^-1 G^T A^+ (G v + prescribed), twice at most: the second time takes what the tolerance of the
  /// first, 1e-14, left. Ends where the rates G v + prescribed are round-off of the sums they consist of.
  /// `prescribed`: what surfaces that move by themselves add, one number per row, or empty for 0. v as in
  /// add_impulses. Collective.
  Projection project_velocity(const ConstraintRows& rows, std::span<Real> v,
                              std::span<const Real> prescribed = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace scree
