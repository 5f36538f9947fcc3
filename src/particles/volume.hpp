#pragma once
#include <numbers>

#include "core/types.hpp"

namespace scree {

/// Volume of a body: pi r^2 (a disk's area, 2D) [m2] or 4/3 pi r^3 (a sphere, 3D) [m3].
template <int D>
constexpr Real body_volume(Real radius) {
  if constexpr (D == 2) return std::numbers::pi * radius * radius;
  return 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
}

}  // namespace scree
