#include "run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "core/log.hpp"

namespace scree {

namespace {
constexpr Real seconds_between_lines = 2;
}

Progress::Progress(bool shown, Real start_time, Real end_time)
    : shown_(shown),
      terminal_(isatty(STDERR_FILENO) == 1),
      end_time_(end_time),
      last_time_(start_time),
      last_(WallClock::now()) {}

Progress::~Progress() {
  if (line_open_) std::fputc('\n', stderr);
}

void Progress::step_done(const Clock& clock) {
  if (!shown_) return;
  ++steps_since_;
  const Real elapsed = seconds_since(last_);
  if (elapsed < seconds_between_lines) return;
  const Real rate = (clock.time - last_time_) / elapsed;
  rate_ = rate_ == 0 ? rate : 0.5 * (rate_ + rate);
  const Real left = rate_ > 0 ? (end_time_ - clock.time) / rate_ : 0;
  const std::string line = fmt::format("{:5.1f} %   step {}   t = {:.6g} s   {:.4g} steps/s   {} left",
                                       100 * clock.time / end_time_, clock.step, clock.time,
                                       static_cast<Real>(steps_since_) / elapsed, format_duration(left));
  if (terminal_) {
    fmt::print(stderr, "\r{:<78}", line);
    std::fflush(stderr);
    line_open_ = true;
  } else {
    log::info(line);
  }
  last_ = WallClock::now();
  last_time_ = clock.time;
  steps_since_ = 0;
}

std::string format_duration(Real seconds) {
  const long long whole = std::llround(seconds);
  const long long hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace scree
