#pragma once

#include "core/plugin.hpp"
#include "core/section.hpp"
#include "core/types.hpp"

namespace scree {

/// The weight W of continuum fields: a bump of integral 1 about a point, in D dimensions, and its integral
/// over all axes but one, for profiles. Local.
template <int D>
class SmoothingKernel {
 public:
  virtual ~SmoothingKernel() = default;
  /// Declares and reads the keys of the kernel.
  virtual void describe(Section& section) = 0;
  /// W is 0 where any component of r is larger than this [m].
  virtual Real reach() const = 0;
  /// The length called width in the deck [m].
  virtual Real width() const = 0;
  /// Mean of x^2 under W along one axis [m2].
  virtual Real variance() const = 0;
  /// W(r) [m^-D].
  virtual Real weight(const Vec<D>& r) const = 0;
  /// The mean of W over the segment from r to r - l: int_0^1 W(r - s l) ds [m^-D].
  virtual Real line(const Vec<D>& r, const Vec<D>& l) const = 0;
  /// The same of W integrated over the other axes [1/m].
  virtual Real weight_along(Real x) const = 0;
  virtual Real line_along(Real x, Real l) const = 0;
};

/// A segment is a point if it is shorter than this share of the width: the error is its square.
inline constexpr Real shortest_segment = 1e-7;

/// A segment from r to r - l as a kernel that depends on the distance only sees it: the part of its straight
/// line from `from` to `to`, at the distance sqrt(across2) from the centre.
struct RadialSegment {
  Real from, to, across2, length;
};

template <int D>
RadialSegment radial_segment(const Vec<D>& r, const Vec<D>& l) {
  const Real length = norm(l);
  const Real along = dot(r, l) / length;
  return {along - length, along, std::max<Real>(dot(r, r) - along * along, 0), length};
}

template <>
std::span<const Entry<SmoothingKernel<2>>> registry<SmoothingKernel<2>>();
template <>
std::span<const Entry<SmoothingKernel<3>>> registry<SmoothingKernel<3>>();

}  // namespace scree
