#pragma once
#include <cmath>
#include <cstdint>

#include "core/types.hpp"

namespace scree {

/// Times of people are summed as integer multiples of this [s]: sums do not depend on ranks.
inline constexpr Real micro = 1e-6;

inline std::int64_t in_micro(Real time) {
  return std::llround(time / micro);
}

}  // namespace scree
