#pragma once
#include <span>

#include "solvers/scaled_problem.hpp"

namespace scree {

/// How far (v, r) is from Coulomb's law, the same for every solver. v is always recomputed from r, so the
/// momentum balance holds to round-off and cannot hide error. Bits do not depend on the number of ranks.
struct Residual {
  /// e_nat = |r - P_K(r - u^)|_2 / sqrt(nc) of scaled r and u (docs/method.md, eq. F.5-F.6), so a share of
  /// v_c: the rms of |H v_free + w| per contact or the velocity floor, whichever is larger.
  Real natural = 0;
  // The worst contact, in physical units.
  Real penetration_rate = 0;   ///< max of -u_N [m/s]
  Real cone_violation = 0;     ///< max of |r_T| - mu r_N and of -r_N [N s]
  Real complementarity = 0;    ///< max of |u_N r_N| [J]
  Real dissipation_error = 0;  ///< max of mu r_N |u_T| + u_T . r_T [J]
  Real implied_overlap = 0;    ///< max of G_N r_N dt [m]: what compliance lets bodies overlap by
};

/// Only Residual::natural. Leaves y = y_free + J^T r, ghosts current. Collective.
template <int D>
Real natural_residual(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<Real> y);
/// All parts. Leaves y = y_free + J^T r, ghosts current. Collective.
template <int D>
Residual evaluate_residual(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<Real> y);

}  // namespace scree
