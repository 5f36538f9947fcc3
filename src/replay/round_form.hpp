#pragma once
#include "friction/friction_problem.hpp"

namespace scree {

/// Replaces the Jacobian by frames and levers if all contacts of all ranks are, to round-off, those of round
/// bodies: solvers are faster then, and results differ in the last bits only. Returns whether they are.
/// Collective.
template <int D>
bool take_round_form(FrictionProblem<D>& problem);

}  // namespace scree
