#pragma once
#include <cmath>

#include "core/types.hpp"

namespace scree {

/// How many intervals have passed by `time` (both in one unit), the first having begun `phase` intervals
/// before 0. Times are sums of steps: a multiple that is missed by less than 1e-6 of the interval, as by
/// rounding, has been reached.
inline Real beats(Real time, Real interval, Real phase = 0) {
  constexpr Real rounding = 1e-6;
  return std::floor(time / interval + phase + rounding);
}

/// Whether a multiple of the interval lies in the step of length `last_dt` that ended at `time`. Steps one
/// after the other neither miss one nor see it twice.
inline bool beats_in_step(Real time, Real last_dt, Real interval, Real phase = 0) {
  return beats(time, interval, phase) > beats(time - last_dt, interval, phase);
}

}  // namespace scree
