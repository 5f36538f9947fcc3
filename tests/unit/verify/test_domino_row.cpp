#include <catch2/catch.hpp>

#include "verify/domino_row.hpp"

using namespace scree;

namespace {

/// Speed of a wave between the impacts on domino n and the next, over sqrt(g h).
Real speed(Real gap, std::size_t n) {
  const DominoRow row{.height = 1, .thickness = 0.15625, .gap = gap, .gravity = 9.81};
  const std::vector<Real> times = row.impact_times(n + 2, std::sqrt(9.81));
  return (gap + row.thickness) / (times[n + 1] - times[n]) / std::sqrt(9.81);
}

}  // namespace

TEST_CASE("waves of dominoes have the speeds 1.808 and 1.694, and 2.009, 2.034 after 25 and 40 close ones",
          "[verify]") {
  CHECK(speed(1.0 / 3, 40) == Approx(1.808).margin(5e-4));
  CHECK(speed(1.0 / 2, 25) == Approx(1.694).margin(5e-4));
  CHECK(speed(1.0 / 6, 24) == Approx(2.009).margin(5e-4));
  CHECK(speed(1.0 / 6, 39) == Approx(2.034).margin(5e-4));
}

TEST_CASE("the first domino falls freely, and loses the momentum of two to one at the first impact",
          "[verify]") {
  const DominoRow row{.height = 1, .thickness = 0.1, .gap = 0.01, .gravity = 9.81};
  constexpr Real push = 100;  // gravity plays no part
  const std::vector<Real> times = row.impact_times(3, push);
  const Real angle = std::asin(0.01);
  CHECK(times[1] == Approx(angle / push).epsilon(1e-4));
  CHECK(times[2] - times[1] == Approx(2 * angle / push).epsilon(1e-3));
}
