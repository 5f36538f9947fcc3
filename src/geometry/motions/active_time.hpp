#pragma once
#include <algorithm>

#include "core/section.hpp"

namespace scree {

/// The time span in which a motion runs; before and after it the obstacle rests.
class ActiveTime {
 public:
  void describe(Section& section) {
    section.real("start", start_, {.unit = Unit::time, .doc = "time at which the motion starts"});
    std::string word = "never";
    section.real_or_word("stop", stop_, word, {"never"},
                         {.unit = Unit::time, .doc = "time at which it stops"});
    if (!section.reading()) return;
    if (word == "never") stop_ = HUGE_VAL;
    if (!(start_ <= stop_)) section.fail("stop", "must not be before start");
  }

  bool contains(Real time) const { return time >= start_ && time < stop_; }
  /// Time moved so far [s].
  Real elapsed(Real time) const { return std::clamp(time, start_, stop_) - start_; }

 private:
  Real start_ = 0;
  Real stop_ = HUGE_VAL;
};

}  // namespace scree
