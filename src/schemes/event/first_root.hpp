#pragma once
#include <span>

#include "core/types.hpp"

namespace scree {

/// The first t in [0, end] from which on p falls while it is not positive: where a gap that is open closes,
/// or one that is closed already begins to close further. HUGE_VAL if there is none. `coefficients`: of 1, t,
/// t^2, ..., 5 at most. Roots are bracketed between those of the derivative and bisected to the last bit, so
/// none is missed and multiple roots do no harm. The time returned is the last with p >= 0.
Real first_root(std::span<const Real> coefficients, Real end);

}  // namespace scree
