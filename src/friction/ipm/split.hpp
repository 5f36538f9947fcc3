#pragma once
#include <vector>

#include "friction/linear/schur_system.hpp"

namespace scree {

/// The published interior-point method with separate multipliers of the normal and the friction constraint
/// (docs/method.md, eq. I.10-I.18). Unknowns y, r and two multipliers lambda >= 0 per contact, of
///
///     c_N = -r_N <= 0,   c_T = sqrt(|r_T|^2 + eps_p^2) - mu r_N - eps_p - eps_s <= 0. (I.10)
///
/// c_T is differentiated by r_T alone: the bound mu r_N counts as given, so friction has no normal part and
/// the law is Coulomb's, in a cone that is wider by eps_p + eps_s at most.
///
/// Shapes  as ScaledProblem. Works in the published scales (published_scales); the monitor sees impulses
///         in the scales of the problem given, so its residual is that of every other solver.
/// Cost    a step: one factorisation, one solve and as many evaluations, each with three exchanges, as the
///         line search tries (one, mostly).
/// Ranks   collective; agrees between numbers of ranks to the tolerance only.
/// Weak at tolerances below 1e-6 or so with more than a few contacts: contacts are clipped one by one,
/// and the balance of momentum stops improving.
/// Source  Y.-L. Chen, M. Ly, C. Wojtan, "Primal-Dual Non-Smooth Friction for Rigid Body Animation",
///         SIGGRAPH 2024, with its supplement.
template <int D>
class SplitInteriorPoint {
 public:
  struct Settings {
    std::int64_t max_steps = 200;
    Real eps_p = 1e-8;  ///< smooths |r_T| at zero
    Real eps_s = 1e-8;  ///< widens the friction disc
    Real eps_T = 1e-9;  ///< of the published stopping test
  };

  /// As FrictionSolver::iterate, for a whole problem; also ends when the published test (I.18) holds.
  void iterate(const ScaledProblem<D>& problem, const Settings& settings, SchurSystem<D>& system,
               std::span<Real> r, SolveMonitor<D>& monitor);

  /// m_c: mean of tr(M)/q over bodies. v_c: mean, weighted by mass, of the largest |u| at the contacts of a
  /// body, with velocities at the start of the step; at least a quarter of the velocity floor. Without
  /// FrictionProblem::start_velocity the free velocities take their place, and v_c is not the published one.
  /// Collective. A local form has no bodies: it gets the scales of ScaledProblem.
  static typename ScaledProblem<D>::Scales published_scales(const FrictionProblem<D>& problem);

 private:
  /// An iterate and how far it is from a solution.
  struct Iterate {
    std::vector<Real> r, y;          ///< impulses, velocities
    std::vector<Real> lambda;        ///< N and T of each contact
    std::vector<Real> c;             ///< constraints N and T of each contact
    std::vector<Real> momentum;      ///< velocities: y - y_free - J^T r
    std::vector<Real> stationarity;  ///< per contact: -u + lambda_N e_N - lambda_T grad c_T
    Real gap = 0;                    ///< mean of -lambda c
    /// Sums of squares over all ranks: momentum, weighted stationarity, lambda c, and Alart and Curnier's
    /// form of the law.
    Real momentum2 = 0, stationarity2 = 0, product2 = 0, law2 = 0;

    void resize(const ScaledProblem<D>& problem);
  };

  enum class End { max_steps, published_test, natural_residual, out_of_time, no_direction, no_progress };

  End run(const ScaledProblem<D>& problem, SchurSystem<D>& system, std::span<Real> r,
          SolveMonitor<D>& monitor);
  void show(const ScaledProblem<D>& problem, std::int64_t step, std::span<Real> r, SolveMonitor<D>& monitor,
            bool keep);
  void start(const ScaledProblem<D>& problem);
  void evaluate(const ScaledProblem<D>& problem, Iterate& at) const;
  bool find_newton_step(const ScaledProblem<D>& problem, SchurSystem<D>& system, Real tau, Real epsilon,
                        SolveReport& report);
  void find_gradient_step(Real tau);
  bool search(const ScaledProblem<D>& problem, Real tau, int halvings, Real& length);
  void set_trial(const ScaledProblem<D>& problem, Real length);
  Real constraint(const Real* r, Real mu) const;
  /// Sum of (lambda c + tau)^2.
  Real barrier2(const ScaledProblem<D>& problem, const Iterate& at, Real tau) const;

  Settings settings_;
  ScaledProblem<D> scaled_;  // in the published scales
  Iterate at_, trial_;
  std::vector<Real> dr_, dy_, dlambda_;
  std::vector<Real> blocks_, x_, rhs_, y_;
  Real first_ = 0, second_ = 0;  // E1, E2 of at_
};

}  // namespace scree
