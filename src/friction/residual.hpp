#pragma once
#include <cmath>
#include <span>

#include "friction/scaled_problem.hpp"

namespace scree {

/// The stopping criterion of a solve. `fclib` is the larger one of its two: the absolute one alone holds for
/// r = 0 if the data are small, the relative one is what Siconos prints.
enum class ResidualNorm { natural, fclib };

/// How far (v, r) is from Coulomb's law, the same for every solver. v is always recomputed from r, so the
/// momentum balance holds to round-off and cannot hide error. Bits do not depend on the number of ranks.
struct Residual {
  /// e_nat = |r - P_K(r - u^)|_2 / sqrt(nc) of scaled r and u (docs/method.md, eq. F.5-F.6), so a share of
  /// v_c: the rms of |H v_free + w| per contact or the velocity floor, whichever is larger. Of contacts with
  /// a scale of their own the error is another (eq. F.8); the larger one of the two is the residual.
  Real natural = 0;
  /// So many times the tolerance is what the error of a single contact with a scale of its own may be.
  static constexpr Real max_of_one = 30;
  Real own_error = 0;  ///< the largest of (F.8), a share of what the contact changes; 0 without such contacts
  // Only for ResidualNorm::fclib, else NaN: the measures of the FCLIB collection, |r - P_K(r - u^)|_2 of r in
  // N s and u in m/s as they are, over
  Real fclib_absolute = NAN;  ///< max(1, |q|_2), q = H v_free + w
  Real fclib_relative = NAN;  ///< max(|q|_2, |r|_2, |u|_2)
  // The worst contact, in physical units.
  Real penetration_rate = 0;   ///< max of -u_N [m/s]
  Real cone_violation = 0;     ///< max of |r_T| - mu r_N and of -r_N [N s]
  Real complementarity = 0;    ///< max of |u_N r_N| [J]
  Real dissipation_error = 0;  ///< max of mu r_N |u_T| + u_T . r_T [J]
  Real implied_overlap = 0;    ///< max of G_N r_N dt [m]: what compliance lets bodies overlap by
};

Real value_of(const Residual& residual, ResidualNorm norm);

/// Only value_of(residual, norm). Leaves y = y_free + J^T r, ghosts current. Collective.
template <int D>
Real find_residual(const ScaledProblem<D>& problem, ResidualNorm norm, std::span<const Real> r,
                   std::span<Real> y);
/// The same for velocities that the caller updated with r: y = y_free + J^T r at owned bodies, but for the
/// round-off of its updates. Leaves ghosts current. Collective, at the cost of one copy to ghosts.
template <int D>
Real find_residual_of_velocities(const ScaledProblem<D>& problem, ResidualNorm norm, std::span<const Real> r,
                                 std::span<Real> y);
/// Residual::natural of impulses in groups of ScaledProblem::spheres() or general(), with ghosts current in
/// y. The same bits as of others, and as collective.
template <int D>
Real natural_residual_of_packed(const ScaledProblem<D>& problem, std::span<const GroupImpulses<D>> r,
                                std::span<const Real> y, RollingSweep<D> rolling);
/// All parts, those of FCLIB if they are the norm. Leaves y = y_free + J^T r, ghosts current. Collective.
template <int D>
Residual evaluate_residual(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<Real> y,
                           ResidualNorm norm = ResidualNorm::natural);

}  // namespace scree
