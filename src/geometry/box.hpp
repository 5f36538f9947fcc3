#pragma once
#include <array>

#include "core/types.hpp"

namespace scree {

/// The simulation domain: an axis-aligned box, periodic along some axes.
template <int D>
struct Box {
  Vec<D> lower{};
  Vec<D> upper{};
  std::array<bool, D> periodic{};

  Real length(int axis) const { return upper[axis] - lower[axis]; }
  bool is_periodic(int axis) const { return periodic[static_cast<std::size_t>(axis)]; }
  Real volume() const {
    Real v = 1;
    for (int k = 0; k < D; ++k) v *= length(k);
    return v;
  }
  bool contains(const Vec<D>& x) const {
    for (int k = 0; k < D; ++k)
      if (!(x[k] >= lower[k] && x[k] <= upper[k])) return false;
    return true;
  }
};

}  // namespace scree
