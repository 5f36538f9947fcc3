#pragma once
#include <cstddef>
#include <string>

namespace scree {

/// Number of different components of a symmetric tensor: xx, xy, yy in the plane; xx, xy, xz, yy, yz, zz in
/// space.
template <int D>
inline constexpr std::size_t n_symmetric = D*(D + 1) / 2;

/// Calls f(i, j) for these components, in this order.
template <int D, class F>
void for_each_symmetric(F&& f) {
  for (int i = 0; i < D; ++i)
    for (int j = i; j < D; ++j) f(i, j);
}

/// "xy" of (0, 1).
inline std::string axes(int i, int j) {
  return {"xyz"[i], "xyz"[j]};
}

}  // namespace scree
