#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/types.hpp"

namespace scree {

/// Looks for the zero of a function that never falls: by the secant through the last two places where that is
/// between the bounds found so far and these close fast enough, else in their middle; beyond the only bound
/// by steps that grow. A jump is closed in on. Values may be off by a little.
class MonotoneRoot {
 public:
  /// The function is `value` at x.
  void note(Real x, Real value) {
    last_ = now_;
    now_ = {x, value};
    n_same_ = (value < 0) == (last_.value < 0) ? n_same_ + 1 : 0;
    if (value < 0)
      low_ = x;
    else
      high_ = x;
  }
  /// Where to look next. `steepest`: no slope is above it, > 0.
  Real next(Real steepest) {
    const Real secant = (now_.value - last_.value) / (now_.x - last_.x);
    Real step = -now_.value / (secant > 0 ? std::min(secant, steepest) : steepest);
    if (std::isinf(width())) return now_.x + std::ldexp(step, std::clamp(n_same_ - 1, 0, max_doublings));
    const bool is_slow = width() > 0.5 * width_before_;
    width_before_ = std::exchange(last_width_, width());
    const Real x = now_.x + step;
    return x > low_ && x < high_ && !is_slow ? x : 0.5 * (low_ + high_);
  }
  /// Of what is between the bounds.
  Real width() const { return high_ - low_; }

 private:
  static constexpr int max_doublings = 60;
  struct Place {
    Real x = NAN, value = NAN;
  };
  Place now_, last_;
  Real low_ = -HUGE_VAL, high_ = HUGE_VAL;
  Real last_width_ = HUGE_VAL, width_before_ = HUGE_VAL;  // one look ago, two looks ago
  int n_same_ = 0;                                        // looks in a row with values of one sign
};

}  // namespace scree
