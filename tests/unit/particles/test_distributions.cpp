#include <algorithm>
#include <map>

#include "particles/volume.hpp"
#include "unit/particles/make_bodies.hpp"

using namespace scree;

namespace {

template <int D>
std::unique_ptr<RadiusDistribution<D>> read(const std::string& table) {
  Deck deck = Deck::from_text("radius = { " + table + " }", "test.toml");
  std::unique_ptr<RadiusDistribution<D>> radius;
  deck.root().table("radius", {}, [&](Section& section) {
    section.kind("distribution", radius, {.required = true, .doc = ""});
  });
  deck.require_all_read();
  return radius;
}

template <int D>
std::vector<Real> draws(const RadiusDistribution<D>& radius, GlobalId n = 100000) {
  std::vector<Real> values;
  for (GlobalId id = 0; id < n; ++id) {
    RandomStream stream(3, id, purpose::radius);
    values.push_back(radius.draw(stream));
  }
  return values;
}

template <class F>
Real mean(const std::vector<Real>& values, const F& f) {
  Real sum = 0;
  for (const Real value : values) sum += f(value);
  return sum / static_cast<Real>(values.size());
}

template <int D>
void check_volume_and_bounds() {
  for (const std::string table :
       {"distribution = 'constant', value = 0.5", "distribution = 'uniform', min = 0.5, max = 1.5",
        "distribution = 'uniform', min = 0.5, max = 1.5, weight = 'volume'",
        "distribution = 'normal', mean = 1.2, deviation = 0.4, min = 0.5, max = 1.5",
        "distribution = 'lognormal', median = 1, sigma = 0.3, min = 0.5, max = 1.5",
        "distribution = 'lognormal', median = 1, sigma = 0.3, min = 0.5, max = 1.5, "
        "weight = 'volume'",
        "distribution = 'discrete', values = [0.5, 1.5, 1], weights = [1, 2, 5]",
        "distribution = 'discrete', values = [0.5, 1.5], weight = 'volume'"}) {
    INFO(D << "D: " << table);
    const auto radius = read<D>(table);
    const std::vector<Real> values = draws(*radius);
    CHECK(std::ranges::max(values) <= radius->largest());
    CHECK(std::ranges::max(values) > 0.97 * radius->largest());
    CHECK(std::ranges::min(values) >= 0.5);
    CHECK(radius->mean_volume() == Approx(mean(values, body_volume<D>)).epsilon(0.02));
  }
}

}  // namespace

TEST_CASE(
    "distributions: the stated mean volume is that of 100000 draws within 2 percent, none leaves its bounds",
    "[particles]") {
  check_volume_and_bounds<2>();
  check_volume_and_bounds<3>();
}

TEST_CASE("uniform: radii in [1, 3] have mean 2 by number, ln 3 / (2/3) by area and 1.5 by volume",
          "[particles]") {
  const auto self = [](Real r) { return r; };
  CHECK(mean(draws(*read<3>("distribution = 'uniform', min = 1, max = 3")), self) ==
        Approx(2).epsilon(0.005));
  const std::string by_volume = "distribution = 'uniform', min = 1, max = 3, weight = 'volume'";
  CHECK(mean(draws(*read<2>(by_volume)), self) == Approx(std::log(3.0) * 1.5).epsilon(0.005));
  CHECK(mean(draws(*read<3>(by_volume)), self) == Approx(1.5).epsilon(0.005));
}

TEST_CASE("discrete: equal volumes of radii 1 and 2 are 8 small spheres to 1 large", "[particles]") {
  const std::vector<Real> values =
      draws(*read<3>("distribution = 'discrete', values = [1, 2], weights = [3, 3], weight = 'volume'"));
  const auto n_small = static_cast<Real>(std::ranges::count(values, 1.0));
  CHECK(n_small / static_cast<Real>(values.size()) == Approx(8.0 / 9).epsilon(0.005));
}

TEST_CASE("normal: an uncut distribution has the given mean and deviation", "[particles]") {
  const std::vector<Real> values =
      draws(*read<2>("distribution = 'normal', mean = 1, deviation = 0.1, min = 0.4, max = 1.6"));
  CHECK(mean(values, [](Real r) { return r; }) == Approx(1).epsilon(0.002));
  CHECK(mean(values, [](Real r) { return (r - 1) * (r - 1); }) == Approx(0.01).epsilon(0.02));
}

TEST_CASE("lognormal: half of the bodies, or half of the volume, lies below the median", "[particles]") {
  const std::string table = "distribution = 'lognormal', median = 1, sigma = 0.25, min = 0.2, max = 5";
  const auto below = [](Real r) { return r < 1 ? 1.0 : 0.0; };
  CHECK(mean(draws(*read<3>(table)), below) == Approx(0.5).epsilon(0.01));
  const std::vector<Real> values = draws(*read<3>(table + ", weight = 'volume'"));
  CHECK(mean(values, [](Real r) { return r < 1 ? r * r * r : 0; }) ==
        Approx(mean(values, [](Real r) { return r * r * r; }) / 2).epsilon(0.02));
}

TEST_CASE("distributions: radii that cannot be are errors at their place in the deck", "[particles]") {
  const std::map<std::string, std::string> wrong{
      {"distribution = 'constant', value = 0", "test.toml:1:"},
      {"distribution = 'constant', value = '-2 mm'", "test.toml:1:"},
      {"distribution = 'uniform', min = 2, max = 1", "below the smallest"},
      {"distribution = 'normal', mean = 1, deviation = 0.1, min = 2, max = 3", "fewer than 1 in 1000"},
      {"distribution = 'lognormal', median = 1, sigma = 0.1, min = 3, max = 4", "fewer than 1 in 1000"},
      {"distribution = 'discrete', values = []", "at least one radius"},
      {"distribution = 'discrete', values = [1, -1]", "test.toml:1:"},
      {"distribution = 'discrete', values = [1, 2], weights = [1]", "as many weights as values (2)"},
      {"distribution = 'discrete', values = [1, 2], weights = [0, 0]", "sum to 0"}};
  for (const auto& [table, message] : wrong) {
    INFO(table);
    const std::string error = message_of([&] { read<2>(table); });
    CHECK_THAT(error, Catch::Contains(message) && Catch::StartsWith("test.toml:1:"));
  }
}

TEST_CASE(
    "sieve: the mass of 2 million draws between the openings is that of the table within 4 % (three standard "
    "deviations of the coarsest), by both "
    "interpolations, in the plane and in space",
    "[particles]") {
  const std::vector<Real> sizes{0.5, 1, 2, 5}, fractions{0.3, 0.5, 0.2};
  const auto check = [&]<int D>(const std::string& more) {
    CAPTURE(D, more);
    const auto radius =
        read<D>("distribution = 'sieve', sizes = [0.5, 1, 2, 5], fractions = [0.3, 0.5, 0.2]" + more);
    std::vector<Real> mass(3, 0);
    Real total = 0;
    for (const Real r : draws(*radius, 2000000)) {
      const auto above = std::ranges::upper_bound(sizes, 2 * r);
      const auto k = std::clamp<std::ptrdiff_t>(above - sizes.begin() - 1, 0, 2);
      mass[k] += body_volume<D>(r);
      total += body_volume<D>(r);
    }
    for (std::size_t k = 0; k < 3; ++k) CHECK(mass[k] / total == Approx(fractions[k]).epsilon(0.04));
    CHECK(radius->largest() == 2.5);
    CHECK(radius->mean_volume() == Approx(total / 2000000).epsilon(0.02));
  };
  for (const std::string more : {"", ", interpolation = 'linear'"}) {
    check.operator()<2>(more);
    check.operator()<3>(more);
  }
}

TEST_CASE(
    "sieve: with the mass spread evenly over ln d half of it lies below the geometric mean of the openings, "
    "over d below their mean",
    "[particles]") {
  const auto below = [](const std::string& interpolation, Real diameter) {
    const auto radius = read<3>("distribution = 'sieve', sizes = [1, 4], fractions = [1], interpolation = '" +
                                interpolation + "'");
    Real mass = 0, total = 0;
    for (const Real r : draws(*radius, 200000)) {
      total += r * r * r;
      if (2 * r < diameter) mass += r * r * r;
    }
    return mass / total;
  };
  CHECK(below("log", 2) == Approx(0.5).epsilon(0.02));
  CHECK(below("linear", 2.5) == Approx(0.5).epsilon(0.02));
}

TEST_CASE("sieve: openings 1 and 2 with half the mass each side of 2 and 4 have 8 bodies below to 1 above",
          "[particles]") {
  // By log both classes have the same shape, scaled by two.
  const auto radius = read<3>("distribution = 'sieve', sizes = [1, 2, 4], passing = [0, 0.5, 1]");
  Real small = 0, large = 0;
  for (const Real r : draws(*radius, 100000)) (2 * r < 2 ? small : large) += 1;
  CHECK(small / large == Approx(8).epsilon(0.03));
}
