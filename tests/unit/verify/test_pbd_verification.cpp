#include <catch2/catch.hpp>
#include <cmath>

#include "verify/verify.hpp"

namespace scree {

namespace {
constexpr Real start_angle = M_PI / 16;
constexpr Real leaves = 2.31778601017461;  // -ln tan(start_angle / 2)
}  // namespace

TEST_CASE("sliding_exact: starts at (sin a, cos a, 0), a = pi/16, and turns with theta' = sin theta",
          "[app]") {
  CHECK(norm(sliding_exact(0) - Vec<3>{{std::sin(start_angle), std::cos(start_angle), 0}}) < 1e-15);
  for (const Real t : {0.1, 1.0, 2.0, 2.3}) {
    constexpr Real dt = 1e-5;
    const auto angle = [](Real at) { return std::atan2(sliding_exact(at)[0], sliding_exact(at)[1]); };
    CHECK(norm(sliding_exact(t)) == Approx(1).epsilon(1e-15));
    CHECK(sliding_exact(t)[2] == 0);
    CHECK((angle(t + dt) - angle(t - dt)) / (2 * dt) == Approx(std::sin(angle(t))).epsilon(1e-9));
  }
}

TEST_CASE("sliding_exact: leaves the circle at (1, 0, 0), t = 2.31779 s, and falls at 1 m/s", "[app]") {
  CHECK(norm(sliding_exact(leaves) - Vec<3>{{1, 0, 0}}) < 1e-13);
  CHECK(norm(sliding_exact(leaves - 1e-9) - sliding_exact(leaves + 1e-9)) < 2.1e-9);
  CHECK(norm(sliding_exact(3) - Vec<3>{{1, leaves - 3, 0}}) < 1e-13);
}

}  // namespace scree
