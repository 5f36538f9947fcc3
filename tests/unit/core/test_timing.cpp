#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <thread>

#include "core/timing.hpp"

using scree::Scope;
using scree::TimerRow;
using scree::Waiting;

namespace {

void wait_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Of this thread.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void compute_for(double seconds) {
  const double start = processor_seconds();
  while (processor_seconds() - start < seconds) {
  }
}

}  // namespace

TEST_CASE("timers: nested scopes give nested rows with calls and wall time", "[core]") {
  scree::reset_timers();
  for (int i = 0; i < 3; ++i) {
    const Scope step("test step");
    wait_ms(2);
    {
      const Scope sweeps("sweeps");
      wait_ms(4);
    }
  }
  const Scope sweeps("sweeps");  // the same name at another depth is another timer
  const std::vector<TimerRow> rows = scree::timer_table(scree::Comm());
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].name == "test step");
  CHECK(rows[0].depth == 0);
  CHECK(rows[0].calls == 3);
  CHECK(rows[0].mean >= 0.018);
  CHECK(rows[1].name == "sweeps");
  CHECK(rows[1].depth == 1);
  CHECK(rows[1].calls == 3);
  CHECK(rows[1].mean >= 0.012);
  CHECK(rows[1].mean <= rows[0].mean - 0.006);
  CHECK(rows[2].name == "sweeps");
  CHECK(rows[2].depth == 0);
  CHECK(rows[2].calls == 1);
}

TEST_CASE("timers: an open scope counts up to now and starts again with a reset", "[core]") {
  scree::reset_timers();
  const Scope open("test open");
  wait_ms(5);
  CHECK(scree::timer_table(scree::Comm()).front().max >= 0.005);
  const auto before = std::chrono::steady_clock::now();
  scree::reset_timers();
  const std::vector<TimerRow> rows = scree::timer_table(scree::Comm());
  const std::chrono::duration<scree::Real> since = std::chrono::steady_clock::now() - before;
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().calls == 1);
  CHECK(rows.front().max <= since.count());
}

TEST_CASE(
    "timers: waiting is distinguished from computing, in all scopes around it, and nested waits count once",
    "[core]") {
  scree::reset_timers();
  {
    const Scope step("test step");
    wait_ms(4);
    {
      const Scope exchange("exchange");
      const Waiting outer;
      wait_ms(4);
      const Waiting inner;
      wait_ms(4);
    }
  }
  const std::vector<TimerRow> rows = scree::timer_table(scree::Comm());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].mean >= 0.012);
  CHECK(rows[0].work_mean >= 0.004);
  CHECK(rows[0].mean - rows[0].work_mean >= 0.008 * (1 - 1e-9));
  CHECK(rows[0].work_max == Approx(rows[0].work_mean));
  CHECK(rows[1].mean >= 0.008);
  CHECK(rows[1].mean - rows[1].work_mean >= 0.008 * (1 - 1e-9));
  scree::reset_timers();
  CHECK(scree::timer_table(scree::Comm()).empty());
}

TEST_CASE("work clock: counts what this thread computes, neither sleep nor what it does while waiting",
          "[core]") {
  // All bounds are in processor time of this thread, so a busy machine does not move them.
  const double start = processor_seconds();
  const scree::WorkClock clock;
  wait_ms(20);
  const double slept = clock.seconds();
  CHECK(slept <= processor_seconds() - start);
  compute_for(0.003);
  CHECK(clock.seconds() >= 0.003);
  {
    const Waiting waiting;
    const scree::Real before = clock.seconds();
    const Waiting inner;
    compute_for(0.02);
    CHECK(clock.seconds() == before);
  }
  const scree::Real before = clock.seconds();
  CHECK(before <= processor_seconds() - start - 0.02);
  compute_for(0.003);
  CHECK(clock.seconds() >= before + 0.003 * (1 - 1e-9));
}

TEST_CASE("work clock: several at once count each by itself, also from within a wait", "[core]") {
  const scree::WorkClock outer;
  compute_for(0.003);
  const scree::Real before = outer.seconds();
  {
    const scree::WorkClock inner;
    CHECK(outer.seconds() >= before);
    compute_for(0.001);
    CHECK(inner.seconds() >= 0.001);
  }
  // The end of one does not stop the other, and it leaves out what is waited.
  const double start = processor_seconds();
  const scree::Real at_start = outer.seconds();
  {
    const Waiting waiting;
    compute_for(0.003);
    const scree::WorkClock within;
    compute_for(0.003);
    CHECK(within.seconds() == 0);
  }
  compute_for(0.001);
  const scree::Real worked = outer.seconds() - at_start;
  CHECK(worked >= 0.001 * (1 - 1e-9));
  CHECK(worked <= processor_seconds() - start - 0.006);
}

TEST_CASE("timers: the table indents inner timers and shares add to 100 % at the outermost depth", "[core]") {
  const std::string text = scree::format_timer_table(
      {{"run", 0, 1, 1.0, 2.0, 3.0, 1.5, 2.25}, {"sweeps", 1, 10, 0.5, 0.5, 0.5, 0.0, 0.0}});
  CHECK(text ==
        "timer          calls     min [s]    mean [s]     max [s]   share   waits  uneven\n"
        "run                1       1.000       2.000       3.000  100.0%   25.0%    1.50\n"
        "  sweeps          10       0.500       0.500       0.500   25.0%  100.0%    1.00\n");
}
