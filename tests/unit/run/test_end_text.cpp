#include <catch2/catch.hpp>

#include <vector>

#include "run/end_text.hpp"

using namespace scree;

TEST_CASE("end of a run: the worst values of steps beside their limits", "[run]") {
  const WorstOfSteps solved{.name = "steps_not_solved", .unit = "-", .is_success = true};
  const WorstOfSteps missed{.name = "steps_not_solved", .unit = "-", .value = 3, .is_success = true};
  const WorstOfSteps residual{.name = "residual", .unit = "-", .value = 0.0095, .limit = 0.01};
  const WorstOfSteps overlap{.name = "max_overlap", .unit = "m", .value = 2e-3, .limit = 1.5e-3};
  const WorstOfSteps sweeps{.name = "sweeps", .unit = "-", .value = 12};
  CHECK(certificate_text(std::vector{residual, solved, sweeps}, 500) ==
        "every step solved, worst residual 0.0095 (limit 0.01)");
  CHECK(certificate_text(std::vector{missed}, 500) == "3 of 500 steps missed the tolerance");
  CHECK(certificate_text(std::vector{overlap}, 1) == "worst max_overlap 0.002 m (above the limit 0.0015 m)");
  CHECK(certificate_text(std::vector{sweeps}, 500).empty());
  CHECK(certificate_text(std::vector{solved, residual}, 0).empty());
}
