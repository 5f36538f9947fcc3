#include <catch2/catch.hpp>
#include <cmath>

#include "core/error.hpp"
#include "verify/flow_cases.hpp"

using namespace scree;

TEST_CASE("Flows: mean, deviation and error over seeds") {
  const FlowMean mean = mean_of_seeds({1, 2, 6});
  CHECK(mean.value == Approx(3).epsilon(1e-15));
  CHECK(mean.deviation == Approx(std::sqrt(7.0)).epsilon(1e-15));  // (4 + 1 + 9) / 2
  CHECK(mean.error() == Approx(std::sqrt(7.0 / 3)).epsilon(1e-15));
  CHECK(mean_of_seeds({4}).value == 4);
  CHECK(mean_of_seeds({4}).error() == 0);
  CHECK_THROWS_AS(mean_of_seeds({}), InputError);
}

TEST_CASE("Flows: a straight line over the duration of contacts is found again") {
  const auto value = [](Real k) { return 0.25 + 0.1 / std::sqrt(k); };
  CHECK(at_infinite_stiffness({1, 4, 16}, {value(1), value(4), value(16)}) == Approx(0.25).epsilon(1e-13));
  CHECK(at_infinite_stiffness({1, 4}, {2, 2}) == Approx(2).epsilon(1e-13));
}

TEST_CASE("Flows: agreement is 3 % or twice the scatter of seeds") {
  const auto mean = [](Real value, Real deviation, std::size_t n = 3) {
    return FlowMean{value, deviation, n};
  };
  CHECK(agree(mean(1.029, 0), mean(1, 0)));
  CHECK_FALSE(agree(mean(1.031, 0), mean(1, 0)));
  CHECK_FALSE(agree(mean(-1, 0), mean(1, 0)));
  CHECK(agree(mean(1.099, 0.03), mean(1, 0.04)));  // 2 * 0.05
  CHECK_FALSE(agree(mean(1.101, 0.03), mean(1, 0.04)));
  // One run is as scattered as those of the other.
  CHECK(agree(mean(1.11, 0, 1), mean(1, 0.04)));
  CHECK_FALSE(agree(mean(1.12, 0, 1), mean(1, 0.04)));
  CHECK_FALSE(agree(mean(std::nan(""), 0), mean(1, 0)));
}
