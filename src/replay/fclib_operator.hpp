#pragma once
#include <memory>
#include <span>

#include "io/fclib_file.hpp"

namespace scree {

/// How far impulses are from a solution, by the measures of the FCLIB collection, with
/// u~ = u + mu |u_T| e_N and P_K the projection on the friction cones, r in N s and u in m/s as they are.
struct FclibResidual {
  Real absolute = 0;  ///< |r - P_K(r - u~)|_2 / max(1, |q|_2)
  Real relative = 0;  ///< |r - P_K(r - u~)|_2 / max(|q|_2, |r|_2, |u|_2)
  Real larger() const { return absolute > relative ? absolute : relative; }
};

/// u as a function of r, from the matrices of a file: for a residual check that shares neither code nor
/// scaling with the solvers, and for the elimination of all unknowns but r.
///
/// Global problems take the form
///     A x = B r + g,   u = B^T x + C r + c
/// with x = v, A = M, B = H, g = f, c = w; bilateral constraints make it x = (v, l), A = [M, -G; G^T, 0],
/// B = [H; 0], g = (f, -b). A local problem with constraints has x = l, A = R, B = -V^T, g = -s, C = W, c = q
/// and -B^T in place of B^T; one without has no x. C of a global problem is the compliance, if any.
/// A is factorised once, by MUMPS, and every solution is refined once.
///
/// Vectors are distributed as those of the problem. All members are collective over the ranks of `comm`
/// unless they say otherwise.
class FclibOperator {
 public:
  /// Throws InputError on all ranks if A is singular to working precision; `problem` must outlive this.
  FclibOperator(const Comm& comm, const FclibProblem& problem);
  ~FclibOperator();
  FclibOperator(const FclibOperator&) = delete;
  FclibOperator& operator=(const FclibOperator&) = delete;

  /// Velocities (of a global file) and relative velocities that follow from the impulses r, and the impulses
  /// of bilateral constraints; with r itself.
  FclibSolution solution(std::span<const Real> r);
  FclibResidual residual(std::span<const Real> r);

  /// The same problem with r as its only unknown: W = B^T A^-1 B + C and q = u(0), of one rank, which must
  /// hold all of the problem. Columns of B that touch no common block of A share one solution with A; of W
  /// only what is exactly zero is left out.
  FclibProblem local_problem();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace scree
