#pragma once
#include <vector>

#include "friction/ipm/lorentz.hpp"
#include "friction/linear/schur_system.hpp"

namespace scree {

/// Interior point with Nesterov-Todd scaling on the shifted Coulomb cone (docs/method.md, eq. I.1-I.9).
///
///     X = P r,  Z = P^-1 (u + s e_N),  P = diag(mu, 1[, 1]),  s = mu |u_T| of the iterate             (I.1)
///
/// X and Z lie in the Lorentz cone L = {x_0 >= |x_1|}, and Coulomb's law is X . Z = 0. Each step solves the
/// linearised law twice with one factorisation of I + J^T K J: once aiming at X . Z = 0 (predictor), once at
/// a target that the success of the first sets (corrector). r determines y, so the balance of momentum holds
/// to round-off at every iterate. A proximal term eps / m_c resists changes of r alone: between rigid walls,
/// forces that balance each other would grow without it.
///
/// Shapes  as ScaledProblem; the work arrays hold D numbers per contact.
/// Cost    a step: one factorisation, two solves, one check, O(contacts) work of about 1000 operations each.
/// Ranks   collective; agrees between numbers of ranks to the tolerance only.
/// Weak where many contacts slide: s lags, so convergence is linear there (0.8 to 0.95 per step). On a
/// settled pile of 1000 rigid spheres whose gaps may close (`--case settled-gaps` of scree_bench) 200 steps
/// lead to 2e-4.
/// Source  Y. E. Nesterov, M. J. Todd, SIAM J. Optim. 8 (1998) 324-364; predictor-corrector as in
///         L. Vandenberghe, "The CVXOPT linear and quadratic cone program solvers" (2010).
template <int D>
class NesterovTodd {
 public:
  struct Settings {
    std::int64_t max_steps = 200;
    Real start = 10;  ///< impulse r_N' of a cold start
  };

  /// As FrictionSolver::iterate.
  void iterate(const ScaledProblem<D>& problem, const Settings& settings, SchurSystem<D>& system,
               std::span<Real> r, SolveMonitor<D>& monitor);

 private:
  struct Contact {
    LorentzPoint<D> X, Z;
    NesterovToddScaling<D> T;
    Real defect[D];  ///< P^-1 (u + s e_N) - Z
    Real soft[2];    ///< diagonal of P^-1 (G + eps / m_c) P^-1
    Real B[D][D];    ///< (I + T P^-1 (G + eps / m_c) P^-1 T)^-1
    Real dX[D], dZ[D];
    Real p[2];  ///< diagonal of P^-1, N and T; without friction 1 and 0, which leaves a scalar cone
  };

  bool start(const ScaledProblem<D>& problem, const Settings& settings, std::span<Real> r,
             SolveMonitor<D>& monitor, Real* residual);
  void linearise(const ScaledProblem<D>& problem, std::span<const Real> r);
  template <class Target>
  bool solve(const ScaledProblem<D>& problem, SchurSystem<D>& system, SolveReport& report,
             const Target& target);
  Real longest_step(const Comm& comm) const;
  Real corrector_target(const ScaledProblem<D>& problem, Real residual) const;
  void move(Real alpha, std::span<Real> r);

  std::vector<Contact> contacts_;
  std::vector<Real> y_, rhs_, dy_;          // velocities
  std::vector<Real> blocks_, impulse_, b_;  // per contact
};

}  // namespace scree
