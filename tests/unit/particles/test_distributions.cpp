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
