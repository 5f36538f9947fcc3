#pragma once
#include <algorithm>
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
  /// Corner `bits` of the 2^D: bit k chooses the upper end along axis k.
  Vec<D> corner(unsigned bits) const {
    Vec<D> x;
    for (int k = 0; k < D; ++k) x[k] = (bits >> k & 1U) != 0 ? upper[k] : lower[k];
    return x;
  }
  static constexpr unsigned n_corners = 1U << D;

  /// The box that holds nothing: lower > upper.
  static Box empty() { return {filled<D>(HUGE_VAL), filled<D>(-HUGE_VAL), {}}; }
  bool is_empty() const {
    for (int k = 0; k < D; ++k)
      if (!(lower[k] <= upper[k])) return true;
    return false;
  }
  /// With its faces moved outwards.
  Box grown(const Vec<D>& by) const { return {lower - by, upper + by, periodic}; }
  /// Grows the box until it holds x.
  void include(const Vec<D>& x) {
    for (int k = 0; k < D; ++k) {
      lower[k] = std::min(lower[k], x[k]);
      upper[k] = std::max(upper[k], x[k]);
    }
  }
};

/// Whether they have a point in common; an empty box has none.
template <int D>
bool overlap(const Box<D>& a, const Box<D>& b) {
  for (int k = 0; k < D; ++k)
    if (!(a.lower[k] <= b.upper[k] && b.lower[k] <= a.upper[k])) return false;
  return true;
}

}  // namespace scree
