#pragma once
#include <algorithm>
#include <cmath>

#include "core/types.hpp"

namespace scree {

/// Looks for the zero of a function that never falls, in [-far, far], by Newton's steps; by the secant
/// through the last bounds of both signs where these are astray or slow (D. Dahlquist, A. Bjoerck, Numerical
/// Methods, Prentice-Hall 1974, section 6.4: Illinois). Where the function has no slope it tries the end of
/// the range.
class WallRoot {
 public:
  explicit WallRoot(Real far) : low_{-far, 0, false}, high_{far, 0, false} {}

  /// The function is `value` at x, with about this slope. Returns where to look next; x: there is nothing
  /// better.
  Real next(Real x, Real value, Real slope) {
    const bool is_low = value < 0;
    Bound& here = is_low ? low_ : high_;
    Bound& there = is_low ? high_ : low_;
    if (is_low == was_low_ && n_ > 0) there.weight *= 0.5;
    if (here.x == x && here.is_known) return x;
    here = {x, value, true};
    was_low_ = is_low;
    ++n_;
    const Real step = x - value / slope;
    if (slope > 0 && n_ <= max_newton_steps && step > low_.x && step < high_.x) return step;
    if (!there.is_known) return there.x;
    const Real of_low = low_.value * low_.weight, of_high = high_.value * high_.weight;
    const Real secant = low_.x + (high_.x - low_.x) * (-of_low / (of_high - of_low));
    return secant > low_.x && secant < high_.x ? secant : 0.5 * (low_.x + high_.x);
  }

 private:
  static constexpr int max_newton_steps = 6;
  struct Bound {
    Real x, value;
    bool is_known;
    Real weight = 1;
  };
  Bound low_, high_;
  bool was_low_ = false;
  int n_ = 0;
};

}  // namespace scree
