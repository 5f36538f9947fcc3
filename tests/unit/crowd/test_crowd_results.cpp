#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/json.hpp"
#include "crowd/output/crowd_fields.hpp"
#include "crowd/output/departure_curve.hpp"
#include "crowd/output/evacuation.hpp"
#include "run/ensemble.hpp"

using namespace scree;

namespace {

/// The share of the disk in a cell by the midpoint rule along x, the height being exact.
Real share_by_rule(Real x0, Real x1, Real y0, Real y1) {
  const Real r2 = 1 / M_PI;
  constexpr int n = 20000;
  Real sum = 0;
  for (int i = 0; i < n; ++i) {
    const Real x = x0 + (x1 - x0) * (i + 0.5) / n;
    if (x * x >= r2) continue;
    const Real s = std::sqrt(r2 - x * x);
    sum += std::max<Real>(std::clamp(y1, -s, s) - std::clamp(y0, -s, s), 0);
  }
  return sum * (x1 - x0) / n;
}

}  // namespace

TEST_CASE("fields: shares of the disk of 1 m2 in cells, against a rule, and all of it together", "[crowd]") {
  const std::vector<Real> x{-0.7, -0.5, -0.1, 0.05, 0.3, 0.6};
  const std::vector<Real> y{-0.9, -0.3, 0, 0.2, 0.55, 0.57};
  const std::vector<Real> shares = disk_shares(x, y);
  REQUIRE(shares.size() == 25);
  for (std::size_t j = 0; j < 5; ++j)
    for (std::size_t i = 0; i < 5; ++i) {
      CAPTURE(i, j);
      CHECK(shares[i + 5 * j] == Approx(share_by_rule(x[i], x[i + 1], y[j], y[j + 1])).margin(1e-6));
    }
  CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == Approx(1).epsilon(1e-12));
  CHECK(disk_shares({-5, 5}, {-5, 5})[0] == Approx(1).epsilon(1e-14));
  CHECK(disk_shares({0.6, 5}, {-5, 5})[0] == 0);
  CHECK(disk_shares({-0.01, 0.01}, {0.2, 0.21})[0] == Approx(0.02 * 0.01).epsilon(1e-12));
}

TEST_CASE("departures: quantiles, mean and flow of N(t)", "[crowd]") {
  DepartureCurve curve(2);
  CHECK_FALSE(curve.time_of(1));
  CHECK_FALSE(curve.mean_time());
  curve.add(0, {0, 0});
  for (std::int64_t k = 1; k <= 10; ++k) curve.add(2.0 * static_cast<Real>(k), {k, k > 4 ? 1 : 0});
  CHECK(curve.n_left() == 11);
  CHECK(curve.n_left(0) == 10);
  CHECK(curve.time_of(1) == 2.0);
  CHECK(curve.time_of(5) == 10.0);  // the fifth and the sixth at once
  CHECK(curve.time_of(6) == 10.0);
  CHECK(curve.time_of(11) == 20.0);
  CHECK_FALSE(curve.time_of(12));
  CHECK_FALSE(curve.time_of(0));
  CHECK(curve.time_of(1, 1) == 10.0);
  CHECK(*curve.mean_time() == Approx((110.0 + 10.0) / 11));
  CHECK(*curve.mean_flow(0) == Approx((9.0 - 1.0) / (18.0 - 2.0)));
  CHECK_FALSE(curve.mean_flow(1));  // one person makes no flow

  DepartureCurve later(1);  // begins when three had left
  later.add(7, {3});
  later.add(8, {4});
  CHECK_FALSE(later.time_of(3));
  CHECK(later.time_of(4) == 8.0);
  CHECK(later.mean_time() == 8.0);
}

TEST_CASE("ensemble: mean, deviation and the interval of Student's t", "[crowd]") {
  constexpr Real none = std::numeric_limits<Real>::quiet_NaN();
  const SampleStatistics s = statistics_of({4, none, 6, 5, 9});
  CHECK(s.n == 4);
  CHECK(s.mean == 6);
  CHECK(s.standard_deviation == Approx(std::sqrt(14.0 / 3)));
  // t of 3 degrees of freedom, 97.5 %: 3.182446 (any table of the distribution).
  CHECK(s.upper - s.mean == Approx(3.182446 * std::sqrt(14.0 / 3) / 2).epsilon(1e-6));
  CHECK(s.mean - s.lower == Approx(s.upper - s.mean));
  CHECK(statistics_of({3}).mean == 3);
  CHECK(std::isnan(statistics_of({3}).upper));
  CHECK(std::isnan(statistics_of({none}).mean));

  const auto evacuation = [](Real t, int persons) {
    return Json{{"t50_s", t},
                {"t100_s", nullptr},
                {"exits", {{"east", {{"persons", persons}, {"flow_per_s", 0.5 * persons}}}}}};
  };
  const auto quantities =
      evacuation_quantities(std::vector{evacuation(1, 3).dump(), evacuation(2, 5).dump()});
  REQUIRE(quantities.size() == 7);
  CHECK(quantities[0].name == "t50");
  CHECK(quantities[0].values == std::vector<Real>{1, 2});
  CHECK(std::isnan(quantities[3].values[0]));
  CHECK(quantities[6].name == "flow_east");
  CHECK(quantities[6].values == std::vector<Real>{1.5, 2.5});
}
