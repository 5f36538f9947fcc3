#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include "core/section.hpp"

namespace scree {

/// How many intervals have passed by `time` (both in one unit), the first having begun `phase` intervals
/// before 0. Times are sums of steps: a multiple that is missed by less than 1e-6 of the interval, as by
/// rounding, has been reached.
inline Real interval_count(Real time, Real interval, Real phase = 0) {
  return std::floor(time / interval + phase + 1e-6);
}

/// Whether a multiple of the interval lies in the step of length `last_dt` that ended at `time`. Steps one
/// after the other neither miss one nor see it twice.
inline bool interval_ends_in_step(Real time, Real last_dt, Real interval, Real phase = 0) {
  return interval_count(time, interval, phase) > interval_count(time - last_dt, interval, phase);
}

/// When something is due: at multiples of a time, or of a number of steps, and at the start (outputs add the
/// end of the run, see Writers). It keeps no history, so a restarted run does the same things at the same
/// steps as one that was never interrupted.
class OutputInterval {
 public:
  /// Declares `every` and `every_steps`; neither given means every `otherwise` steps, 0: never.
  void describe(Section& section, std::string_view what, std::int64_t otherwise = 0) {
    const std::string by_time = "Time between " + std::string(what);
    const std::string by_steps = "Steps between " + std::string(what) + ", instead of every";
    section.real("every", time_, {.unit = Unit::time, .range = positive, .doc = by_time});
    section.integer("every_steps", steps_, {.range = {.min = 1}, .doc = by_steps});
    if (section.reading() && time_ > 0 && steps_ > 0)
      section.fail("every_steps", "give every or every_steps, not both");
    if (section.reading() && !ever()) steps_ = otherwise;
  }
  /// The time between, 0 if it goes by steps [s].
  Real time() const { return time_; }
  bool ever() const { return time_ > 0 || steps_ > 0; }
  /// Due after the step that took the run from `before` to `time` and is number `step`.
  bool due(std::int64_t step, Real before, Real time) const {
    if (steps_ > 0) return step % steps_ == 0;
    return time_ > 0 && interval_count(time, time_) > interval_count(before, time_);
  }
  /// Expected number of times until `end`, for estimates; `dt` is the usual step.
  Real count(Real end, Real dt) const {
    if (!ever()) return 0;
    return 1 + std::floor(steps_ > 0 ? end / dt / static_cast<Real>(steps_) : end / time_);
  }

 private:
  Real time_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace scree
