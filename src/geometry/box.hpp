#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/types.hpp"

namespace scree {

/// The simulation domain: an axis-aligned box, periodic along some axes.
///
/// A periodic box may be tilted: the image through the upper face across axis `gradient` lies `offset`
/// further along axis `flow`. Its cell is then the parallelogram (in space the parallelepiped) about the
/// centre of the box whose faces across `flow` lean by offset / length(gradient); lower and upper are its
/// faces at the height of the centre.
template <int D>
struct Box {
  Vec<D> lower{};
  Vec<D> upper{};
  std::array<bool, D> periodic{};
  int flow = -1, gradient = -1;  ///< -1: it cannot be tilted
  Real offset = 0;               ///< [m]

  Real length(int axis) const { return upper[axis] - lower[axis]; }
  bool is_periodic(int axis) const { return periodic[axis]; }
  Real volume() const {
    Real v = 1;
    for (int k = 0; k < D; ++k) v *= length(k);
    return v;
  }
  Vec<D> centre() const { return 0.5 * (lower + upper); }
  /// From a point to its image through the upper face across an axis [m].
  Vec<D> period(int axis) const {
    Vec<D> displacement{};
    displacement[axis] = length(axis);
    if (axis == gradient) displacement[flow] = offset;
    return displacement;
  }
  /// From a point to its image `counts` periods along each axis, of which open ones do not count [m].
  template <class Counts>
  Vec<D> shift(const Counts& counts) const {
    Vec<D> displacement{};
    for (int k = 0; k < D; ++k)
      if (is_periodic(k)) displacement[k] = static_cast<Real>(counts[k]) * length(k);
    if (gradient >= 0) displacement[flow] += static_cast<Real>(counts[gradient]) * offset;
    return displacement;
  }
  /// The shortest of the displacements from a point to the images of another, one of which is `displacement`
  /// [m]. Of a box that is not tilted.
  Vec<D> shortest(Vec<D> displacement) const {
    for (int k = 0; k < D; ++k)
      if (is_periodic(k)) displacement[k] -= length(k) * std::round(displacement[k] / length(k));
    return displacement;
  }
  /// How far its faces across `flow` lean per length along `gradient`.
  Real lean() const { return gradient >= 0 ? offset / length(gradient) : 0; }
  /// The place of x in the box as it would be without the tilt: the same shear about the centre undone.
  Vec<D> upright(Vec<D> x) const {
    if (gradient >= 0 && offset != 0)
      x[flow] -= lean() * (x[gradient] - 0.5 * (lower[gradient] + upper[gradient]));
    return x;
  }
  /// Length along an axis that bodies have at any tilt up to half a period: neighbours at a distance r are up
  /// to r length / room apart along it.
  Real room(int axis) const {
    if (gradient < 0 || axis != flow) return length(axis);
    const Real max_lean = 0.5 * length(flow) / length(gradient);
    return length(axis) / std::sqrt(1 + max_lean * max_lean);
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
