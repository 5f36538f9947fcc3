// Multiples of an interval that steps pass: each once, however times are rounded.
#include <catch2/catch.hpp>
#include <vector>

#include "core/output_interval.hpp"

using namespace scree;

TEST_CASE("each multiple of an interval is passed by one step, the one that ends at it", "[core]") {
  // Sums of such steps fall short of multiples as well as beyond them.
  for (const Real dt : {0.05, 0.1, 0.01, 1.0 / 3, 0.07}) {
    for (const int steps_per_interval : {1, 2, 3, 4, 10}) {
      const Real interval = dt * steps_per_interval;
      Real time = 0;
      std::vector<int> wrong;
      for (int step = 1; step <= 20000; ++step) {
        time += dt;
        if (interval_ends_in_step(time, dt, interval) != (step % steps_per_interval == 0))
          wrong.push_back(step);
      }
      CAPTURE(dt, steps_per_interval);
      CHECK(wrong.empty());
    }
  }
}

TEST_CASE("a phase moves the multiples, steps of any length pass them in turn", "[core]") {
  const Real interval = 0.3, phase = 0.4;
  Real time = 0, n = 0;
  for (int step = 0; step < 1000; ++step) {
    const Real dt = step % 2 == 0 ? 0.05 : 0.013;
    time += dt;
    n += interval_ends_in_step(time, dt, interval, phase) ? 1 : 0;
  }
  CHECK(n == interval_count(time, interval, phase) - interval_count(0, interval, phase));
  CHECK(interval_count(0.18, interval, phase) == 1);
  CHECK(interval_count(0.17, interval, phase) == 0);
}
