#include "replay/performance_profile.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace scree {

TEST_CASE("performance_profile: shares of all problems within tau of the fastest", "[app]") {
  constexpr Real never = HUGE_VAL;
  const PerformanceProfile profile = performance_profile({
      {1, 2, never},
      {3, 1.5, 6},
      {never, never, never},
      {0.1, never, 0.1},
  });
  CHECK(profile.tau == std::vector<Real>{1, 2, 4});
  REQUIRE(profile.share.size() == 3);
  CHECK(profile.share[0] == std::vector<Real>{0.5, 0.75, 0.75});
  CHECK(profile.share[1] == std::vector<Real>{0.25, 0.5, 0.5});
  CHECK(profile.share[2] == std::vector<Real>{0.25, 0.25, 0.5});
}

TEST_CASE("performance_profile: times that are hardly measurable are equal", "[app]") {
  const PerformanceProfile profile = performance_profile({{1e-6, 9e-4, 3e-3}});
  CHECK(profile.tau == std::vector<Real>{1, 3});
  CHECK(profile.share[0] == profile.share[1]);
  CHECK(profile.share[2] == std::vector<Real>{0, 1});
}

TEST_CASE("performance_profile: no problems, and none that is solved", "[app]") {
  CHECK(performance_profile({}).tau == std::vector<Real>{1});
  CHECK(performance_profile({{HUGE_VAL}}).share == std::vector<std::vector<Real>>{{0}});
}

}  // namespace scree
