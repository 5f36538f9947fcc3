#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "core/timing.hpp"

using scree::Scope;
using scree::TimerRow;
using scree::Waiting;

namespace {

void wait_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
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
  CHECK(scree::timer_table(scree::Comm()).front().most >= 0.005);
  scree::reset_timers();
  const std::vector<TimerRow> rows = scree::timer_table(scree::Comm());
  REQUIRE(rows.size() == 1);
  CHECK(rows.front().calls == 1);
  CHECK(rows.front().most < 0.005);
}

TEST_CASE("timers: waiting is told from computing, in all scopes around it, and nested waits count once",
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
  CHECK(rows[0].work_most == Approx(rows[0].work_mean));
  CHECK(rows[1].mean >= 0.008);
  CHECK(rows[1].mean - rows[1].work_mean >= 0.008 * (1 - 1e-9));
  scree::reset_timers();
  CHECK(scree::timer_table(scree::Comm()).empty());
}

TEST_CASE("work clock: counts what this thread computes, neither sleep nor what it does while waiting",
          "[core]") {
  volatile double sum = 0;
  const auto compute = [&sum] {
    const scree::WorkClock clock;
    while (clock.seconds() < 0.003)
      for (int i = 0; i < 1000; ++i) sum = sum + 1;
  };
  compute();
  const scree::WorkClock clock;
  wait_ms(20);
  CHECK(clock.seconds() < 0.01);
  {
    const Waiting waiting;
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(20)) sum = sum + 1;
  }
  CHECK(clock.seconds() < 0.01);
  const scree::Real before = clock.seconds();
  for (int i = 0; i < 100'000; ++i) sum = sum + 1;
  CHECK(clock.seconds() > before);
  CHECK(sum > 0);
}

TEST_CASE("timers: the table indents inner timers and shares add to 100 % at the outermost depth", "[core]") {
  const std::string text = scree::format_timer_table(
      {{"run", 0, 1, 1.0, 2.0, 3.0, 1.5, 2.25}, {"sweeps", 1, 10, 0.5, 0.5, 0.5, 0.0, 0.0}});
  CHECK(text ==
        "timer          calls     min [s]    mean [s]     max [s]   share   waits  uneven\n"
        "run                1       1.000       2.000       3.000  100.0%   25.0%    1.50\n"
        "  sweeps          10       0.500       0.500       0.500   25.0%  100.0%    1.00\n");
}
