#pragma once
#include <chrono>
#include <cstdint>
#include <string>

#include "core/types.hpp"
#include "state/state.hpp"

namespace scree {

using WallClock = std::chrono::steady_clock;
inline Real seconds_since(WallClock::time_point start) {
  return std::chrono::duration<Real>(WallClock::now() - start).count();
}

/// A line on how far the run is, every two seconds: rewritten in place on a terminal, a new line each time
/// elsewhere. Rank 0 only; local.
class Progress {
 public:
  Progress(bool shown, Real start_time, Real end_time);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void step_done(const Clock& clock);

 private:
  bool shown_;
  bool terminal_;
  bool line_open_ = false;
  Real end_time_;
  Real last_time_;
  std::int64_t steps_since_ = 0;
  Real rate_ = 0;  // simulated seconds per second, moving average
  WallClock::time_point last_;
};

/// "3:07" or "1:02:33".
std::string format_duration(Real seconds);

}  // namespace scree
