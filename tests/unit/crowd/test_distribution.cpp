// Distributions of people: mean, deviation and the whole distribution function of many draws.
#include "crowd/people/distribution.hpp"

#include <algorithm>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/lognormal.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/weibull.hpp>
#include <functional>

#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

std::shared_ptr<const Distribution> read(const std::string& table) {
  Deck deck = Deck::from_text("it = { " + table + " }", "test.toml");
  std::shared_ptr<const Distribution> distribution;
  describe_distribution(deck.root(), "it", Unit::time, distribution, "It.");
  deck.require_all_read();
  return distribution;
}

std::vector<Real> sorted_draws(const Distribution& distribution, GlobalId n = 20000) {
  std::vector<Real> values;
  for (GlobalId id = 0; id < n; ++id) {
    RandomStream stream(3, id, purpose::premovement);
    values.push_back(distribution.draw(stream));
  }
  std::ranges::sort(values);
  return values;
}

/// Largest distance of the share of `sorted` values below x from cdf(x).
Real ks_distance(const std::vector<Real>& sorted, const std::function<Real(Real)>& cdf) {
  Real distance = 0;
  const auto n = static_cast<Real>(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Real expected = cdf(sorted[i]);
    distance = std::max({distance, std::abs(expected - static_cast<Real>(i) / n),
                         std::abs(expected - static_cast<Real>(i + 1) / n)});
  }
  return distance;
}

void check(const std::string& table, Real mean, Real deviation, const std::function<Real(Real)>& cdf) {
  INFO(table);
  const auto distribution = read(table);
  const std::vector<Real> values = sorted_draws(*distribution);
  const auto n = static_cast<Real>(values.size());
  Real sum = 0, squares = 0;
  for (const Real x : values) sum += x;
  for (const Real x : values) squares += (x - sum / n) * (x - sum / n);
  // Five standard errors; squares of heavy tails scatter more.
  CHECK(std::abs(sum / n - mean) <= 5 * deviation / std::sqrt(n));
  CHECK(std::sqrt(squares / n) == Approx(deviation).epsilon(0.06));
  CHECK(ks_distance(values, cdf) < 1.63 / std::sqrt(n));  // 99 %
  CHECK(values.front() >= distribution->min());
  CHECK(values.back() <= distribution->max());
  CHECK(distribution->mean_of([](Real x) { return x; }) == Approx(mean).epsilon(0.01));
}

template <class Law>
std::function<Real(Real)> cut(const Law& law, Real min, Real max) {
  const Real below = boost::math::cdf(law, min), above = boost::math::cdf(law, max);
  return [law, below, above](Real x) { return (boost::math::cdf(law, x) - below) / (above - below); };
}

}  // namespace

TEST_CASE("draws follow the distributions of the deck", "[crowd]") {
  using namespace boost::math;
  check("distribution = 'uniform', min = 10, max = 100", 55, 90 / std::sqrt(12.0),
        [](Real x) { return (x - 10) / 90; });
  // Published sets of premovement times: gamma, lognormal, Weibull (Ronchi and others, NIST TN 1822,
  // test 1.1).
  const gamma_distribution<Real> gamma(1.291, 103.901);
  check("distribution = 'gamma', shape = 1.291, scale = 103.901", mean(gamma), standard_deviation(gamma),
        [&](Real x) { return cdf(gamma, x); });
  const weibull_distribution<Real> weibull(1.195, 139.285);
  check("distribution = 'weibull', shape = 1.195, scale = 139.285", mean(weibull),
        standard_deviation(weibull), [&](Real x) { return cdf(weibull, x); });
  const lognormal_distribution<Real> lognormal(std::log(20.0), 0.4);
  check("distribution = 'lognormal', median = 20, sigma = 0.4", mean(lognormal),
        standard_deviation(lognormal), [&](Real x) { return cdf(lognormal, x); });
}

TEST_CASE("a normal distribution is cut to its interval", "[crowd]") {
  const boost::math::normal_distribution<Real> law(1.34, 0.26);
  const Real a = (0.5 - 1.34) / 0.26, b = (1.6 - 1.34) / 0.26;
  const boost::math::normal_distribution<Real> unit(0, 1);
  const Real share = cdf(unit, b) - cdf(unit, a);
  const Real shift = (pdf(unit, a) - pdf(unit, b)) / share;
  const Real variance = 1 + (a * pdf(unit, a) - b * pdf(unit, b)) / share - shift * shift;
  check("distribution = 'normal', mean = 1.34, deviation = 0.26, min = 0.5, max = 1.6", 1.34 + 0.26 * shift,
        0.26 * std::sqrt(variance), cut(law, 0.5, 1.6));
}

TEST_CASE("quantiles rise from the least to the most", "[crowd]") {
  for (const std::string table :
       {"distribution = 'constant', value = 3", "distribution = 'uniform', min = 1, max = 3",
        "distribution = 'normal', mean = 2, deviation = 5, min = 1, max = 3",
        "distribution = 'lognormal', median = 2, sigma = 1, max = 3",
        "distribution = 'gamma', shape = 2, scale = 1, min = 0.5",
        "distribution = 'weibull', shape = 2, scale = 1"}) {
    INFO(table);
    const auto distribution = read(table);
    Real before = distribution->quantile(0);
    CHECK(before >= distribution->min());
    for (const Real share : {0.1, 0.5, 0.9, 0.999999, 1 - 0x1p-53}) {
      const Real value = distribution->quantile(share);
      CHECK(value >= before);
      CHECK(std::isfinite(value));
      CHECK(value <= distribution->max());
      before = value;
    }
  }
}

TEST_CASE("distributions that make no sense are refused with their place", "[crowd]") {
  const auto message = [](const std::string& table) { return message_of([&] { read(table); }); };
  CHECK_THAT(message("distribution = 'uniform', min = 3, max = 1"), Catch::Contains("below the smallest"));
  CHECK_THAT(message("distribution = 'normal', mean = 9, deviation = 0.1, max = 1"),
             Catch::Contains("1 in 1000"));
  CHECK_THAT(message("distribution = 'gama', shape = 1, scale = 1"), Catch::Contains("gamma"));
  CHECK_THAT(message("distribution = 'weibull', shape = 1"), Catch::Contains("scale"));
  CHECK_THAT(message("distribution = 'constant', value = '2 m'"), Catch::Contains("test.toml:1:"));
}
