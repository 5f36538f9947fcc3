#pragma once
#include <cmath>
#include <cstdint>
#include <string>

#include "core/section.hpp"

namespace scree {

/// When something is due: at multiples of a time, or of a number of steps, and at the start (outputs add the
/// end of the run, see Writers). It keeps no history, so a restarted run does the same things at the same
/// steps as one that was never interrupted.
class Every {
 public:
  /// Declares `every` and `every_steps`; neither given means every `otherwise` steps, 0: never.
  void describe(Section& section, std::string_view what, std::int64_t otherwise = 0) {
    const std::string by_time = "Time between " + std::string(what);
    const std::string by_steps = "Steps between " + std::string(what) + ", instead of every";
    section.real("every", time_, {.unit = Unit::time, .range = positive, .doc = by_time});
    section.integer("every_steps", steps_, {.range = {.least = 1}, .doc = by_steps});
    if (section.reading() && time_ > 0 && steps_ > 0)
      section.fail("every_steps", "give every or every_steps, not both");
    if (section.reading() && !ever()) steps_ = otherwise;
  }
  bool ever() const { return time_ > 0 || steps_ > 0; }
  /// Due after the step that took the run from `before` to `time` and is number `step`.
  bool due(std::int64_t step, Real before, Real time) const {
    if (steps_ > 0) return step % steps_ == 0;
    return time_ > 0 && periods(time) > periods(before);
  }
  /// Expected number of times until `end`, for estimates; `dt` is the usual step.
  Real count(Real end, Real dt) const {
    if (!ever()) return 0;
    return 1 + std::floor(steps_ > 0 ? end / dt / static_cast<Real>(steps_) : end / time_);
  }

 private:
  // Times are sums of steps: a multiple may be missed by rounding alone, hence the small share of a period.
  Real periods(Real time) const { return std::floor(time / time_ + 1e-6); }

  Real time_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace scree
