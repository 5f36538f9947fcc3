#pragma once
#include <string>
#include <vector>

#include "friction/friction_solver.hpp"
#include "friction/linear/schur_system.hpp"

namespace scree {

/// Semismooth Newton method on Coulomb's law in the form of Alart and Curnier (docs/method.md, eq. W.1-W.6),
/// with R = penalty * m_c per contact, m_c = D / tr W_cc:
///
///     z = r - R u,   p_N = max(z_N, 0),   p_T = z_T cut to the disc |x| <= mu p_N,   find r = p        (W.1)
///     p + p'(z) (dr - R du) = r + dr,   du = J dy + (G + eps / m_c) dr,   dy = J^T dr                  (W.2)
///     contact by contact dr = x - K J dy, so that (I + J^T K J) dy = J^T x                             (W.3)
///     r <- r + a dr,   a = 1, 1/2, ...: the first with |r - p| less than before                        (W.5)
///
/// y is always recomputed from r, so momentum is exact. eps is a proximal term: it keeps K finite for rigid
/// contacts and non-unique impulses, and falls to zero as steps succeed.
///
/// Shapes  r, p, x: n_contacts * D; K: n_contacts * D * D, not symmetric where contacts slip; y: velocities.
/// Units   scaled (ScaledProblem), none.
/// Cost    a step is one assembly and factorisation (or Krylov solution) of the Schur system and a pass over
///         the contacts per trial of a.
/// Ranks   collective; agrees to round-off of the sums on different numbers of ranks.
/// Fast where it starts close: from a natural residual of 1e-4 it takes 4 to 10 steps to round-off. Farther
/// away it descends slowly or stops where |r - p| has a kink.
/// Source  P. Alart, A. Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991) 353-375; V. Acary, M. Bremond,
///         O. Huber, in: Advanced Topics in Nonsmooth Dynamics, Springer (2018) 375-457.
template <int D>
class SemismoothNewton {
 public:
  struct Settings {
    Real penalty = 10;
    std::int64_t max_steps = 60;
    /// A linear solution need not be better than the linearisation.
    typename SchurSystem<D>::Settings linear{.relative_tolerance = 1e-4};
    void describe(Section& section);  ///< keys penalty, max_steps and those of SchurSystem
  };

  explicit SemismoothNewton(const Settings& settings = {});

  /// Improves r until monitor.done(), max_steps, or no step lowers the error; the monitor checks each
  /// iterate. Returns why it ended, in a few words. Collective.
  std::string improve(const ScaledProblem<D>& problem, std::span<Real> r, SolveMonitor<D>& monitor);
  /// Solves the proximal problem around r, with the term alpha / m_c (r - r_before) in u, to `share` of the
  /// error |r - p| of r_before. Returns the number of steps; -1 on failure, and r is unusable then. No checks
  /// by a monitor. Collective.
  int solve_proximal(const ScaledProblem<D>& problem, Real alpha, Real share, int max_steps,
                     std::span<Real> r, SolveReport& report);
  /// Whether the last improve() or solve_proximal() ended because no linear system could be solved.
  bool failed() const { return failed_; }

 private:
  Real find_projection(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<const Real> y);
  void linearise(const ScaledProblem<D>& problem, std::span<const Real> r, Real eps);
  bool find_direction(const ScaledProblem<D>& problem, SolveReport& report);

  void start(const ScaledProblem<D>& problem, Real alpha, std::span<const Real> centre, SolveReport& report);
  /// y that follows from r, then as above.
  Real find_error(const ScaledProblem<D>& problem, std::span<const Real> r);
  /// Tries shorter and shorter steps from r along change_: leaves in trial_ the first that lowers the error
  /// enough, or the shortest. Returns its error, and the length of the step in `length`.
  Real search_line(const ScaledProblem<D>& problem, std::span<const Real> r, Real error, Real& length);

  Settings settings_;
  SchurSystem<D> system_;
  bool failed_ = false;
  std::vector<Real> effective_mass_;       // m_c
  Real alpha_ = 0;                         // of the proximal problem, else zero
  std::vector<Real> centre_;               // its r_before
  std::vector<Real> u_;                    // of the last find_projection()
  std::vector<Real> blocks_, x_, change_;  // of the last linearise(), find_direction()
  std::vector<Real> y_, dy_, right_, trial_;
};

}  // namespace scree
