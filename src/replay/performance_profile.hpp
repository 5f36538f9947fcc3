#pragma once
#include <vector>

#include "core/types.hpp"

namespace scree {

/// Times below this count as this [s]: on smaller problems one measures the clock.
inline constexpr Real least_profile_seconds = 1e-3;

/// Performance profile (Dolan and More, Math. Program. 91, 201-213, 2002): of all problems, the share that a
/// solver solves within tau times the time of the fastest solver of that problem.
struct PerformanceProfile {
  std::vector<Real> tau;                 ///< where a share changes, from 1 on, ascending
  std::vector<std::vector<Real>> share;  ///< of each solver, at each tau
};

/// `seconds[problem][solver]`, infinite if not solved. A problem that no solver solves counts in every share.
/// Cost O(problems * solvers * log). Local.
PerformanceProfile performance_profile(const std::vector<std::vector<Real>>& seconds);

}  // namespace scree
