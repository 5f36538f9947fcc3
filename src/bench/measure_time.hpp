#pragma once
#include <functional>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "core/timing.hpp"

namespace scree {

struct Timing {
  Real median = 0;  ///< seconds per call
  Real spread = 0;  ///< (largest - least) / median
};

/// What is counted: processor time (of this process: other programs on the machine do not count, waiting
/// for messages does), or the time that passes, which alone shows what disks take.
enum class TimeKind { processor, wall };

/// Median and spread of some times; they must not be empty.
Timing timing_of(std::vector<Real> seconds);

/// Seconds that `work` takes on the slowest rank; all begin together. Collective.
Real seconds_of_call(const Comm& comm, TimeKind kind, const std::function<void()>& work);

/// Calls `work` so often that a repetition takes at least `seconds`, on the slowest rank. `after`, if given,
/// follows each call while the clock stands. Collective.
Timing measure_time(const Comm& comm, int repetitions, Real seconds, const std::function<void()>& work,
                    TimeKind kind = TimeKind::processor, const std::function<void()>& after = {});

/// The seconds of a step: median and spread over windows of `steps` steps each; `after` as above. Collective.
Timing measure_windows(const Comm& comm, int windows, int steps, const std::function<void()>& step,
                       const std::function<void()>& after = {});

/// Seconds of a timer by name, mean over ranks; the same name may occur in several places.
Real seconds_of(const std::vector<TimerRow>& rows, std::string_view name);

/// Rate of a(i) = b(i) + s c(i) on arrays far beyond the cache, all ranks at once: bytes per second per rank
/// (three arrays counted, McCalpin's STREAM). Collective.
Real triad_rate(const Comm& comm);

}  // namespace scree
