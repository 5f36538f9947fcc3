#include "contact/compliance.hpp"

#include <catch2/catch.hpp>

#include "core/deck.hpp"
#include "support/message_of.hpp"

using namespace scree;

namespace {

template <int D>
ContactElasticity<D> read(const std::string& text) {
  Deck deck = Deck::from_text(text, "grains.toml");
  ContactElasticity<D> elasticity;
  elasticity.describe(deck.root());
  deck.require_all_read();
  return elasticity;
}

template <int D>
std::string complaint(const std::string& text) {
  return message_of<InputError>([&] { read<D>(text); });
}

/// Overlap of two spheres under a load, by bisection of Hertz's law.
Real hertz_overlap(Real modulus, Real radius, Real load) {
  Real low = 0, high = radius;
  for (int i = 0; i < 200; ++i) {
    const Real d = (low + high) / 2;
    (4.0 / 3 * modulus * std::sqrt(radius) * std::pow(d, 1.5) < load ? low : high) = d;
  }
  return low;
}

}  // namespace

TEST_CASE("elasticity: a stiffness is taken as given, 2/7 of it along the tangents", "[contact]") {
  const auto k = read<3>("stiffness = '6.5 kN/m'").stiffness(0.0025);
  CHECK(k.normal == 6500);
  CHECK(k.tangential == Approx(6500 * 2.0 / 7));
  CHECK(read<2>("stiffness = '2 N/mm'").stiffness(1).normal == 2000);
  CHECK(read<2>("stiffness = '3 MN/m'").stiffness(1).normal == 3e6);
  const auto sticks = read<3>("stiffness = 10\ntangential_ratio = 'rigid'").stiffness(0.0025);
  CHECK(sticks.normal == 10);
  CHECK(sticks.tangential == HUGE_VAL);
}

TEST_CASE("elasticity: rigid is the default, and can be said", "[contact]") {
  for (const std::string text : {"", "stiffness = 'rigid'", "tangential_ratio = 'rigid'"}) {
    const auto elasticity = read<3>(text);
    CHECK(elasticity.rigid());
    CHECK(elasticity.stiffness(0.01).normal == HUGE_VAL);
    CHECK(elasticity.stiffness(0.01).tangential == HUGE_VAL);
  }
}

TEST_CASE("elasticity: the secant overlaps as Hertz says at the load, the tangent is its slope",
          "[contact]") {
  const std::string keys = "young_modulus = '10 MPa'\npoisson_ratio = 0.3\nreference_load = '20 mN'\n";
  const Real modulus = 1e7 / (2 * 0.91);
  const Real radius = effective_radius(0.004, 0.006);
  CHECK(radius == Approx(0.0024));
  const Real overlap = hertz_overlap(modulus, radius, 0.02);
  CHECK(read<3>(keys).stiffness(radius).normal == Approx(0.02 / overlap).epsilon(1e-10));
  const Real h = 1e-4;
  const Real slope =
      2 * h * 0.02 /
      (hertz_overlap(modulus, radius, 0.02 * (1 + h)) - hertz_overlap(modulus, radius, 0.02 * (1 - h)));
  CHECK(read<3>(keys + "linearization = 'tangent'").stiffness(radius).normal == Approx(slope).epsilon(1e-6));
}

TEST_CASE("elasticity: parallel cylinders are as stiff as pi/4 E* per metre, whatever their radius",
          "[contact]") {
  const auto elasticity = read<2>("young_modulus = 2e6\npoisson_ratio = 0.5");
  CHECK(elasticity.stiffness(0.1).normal == Approx(M_PI / 4 * 2e6 / 1.5));
  CHECK(elasticity.stiffness(7).normal == elasticity.stiffness(0.1).normal);
}

TEST_CASE("elasticity: along T by a ratio, or Mindlin's 14/17 at a Poisson ratio of 0.3", "[contact]") {
  const auto by_ratio = read<3>("stiffness = 1000\ntangential_ratio = 0.25").stiffness(1);
  CHECK(by_ratio.normal == 1000);
  CHECK(by_ratio.tangential == 250);
  for (const std::string ratio : {"", "tangential_ratio = 'mindlin'"}) {
    const auto mindlin = read<2>("young_modulus = 1e6\npoisson_ratio = 0.3\n" + ratio).stiffness(1);
    CHECK(mindlin.tangential / mindlin.normal == Approx(14.0 / 17).epsilon(1e-14));
  }
}

TEST_CASE("compliance: the stiffness of a compliance is the one that it came from; none is rigid",
          "[contact]") {
  CHECK(compliance_of_stiffness(6500, 5e-3) == Approx(1 / 0.1625));
  CHECK(stiffness_of_compliance(compliance_of_stiffness(6500, 5e-3), 5e-3) == Approx(6500).epsilon(1e-14));
  CHECK(stiffness_of_compliance(0, 5e-3) == HUGE_VAL);
}

TEST_CASE("compliance: what does not go together is named with what would", "[contact]") {
  const std::string elastic = "young_modulus = 1e6\npoisson_ratio = 0.3\nreference_load = 1\n";
  const auto names = [](const std::string& message, std::initializer_list<std::string> words) {
    INFO(message);
    for (const std::string& word : words) CHECK(message.find(word) != std::string::npos);
  };
  names(complaint<3>(elastic + "stiffness = 100"), {"grains.toml:4:1", "young_modulus both"});
  names(complaint<3>(elastic + "stiffness = 'rigid'"), {"grains.toml:4:1", "young_modulus both"});
  names(complaint<3>("young_modulus = 1e6\nreference_load = 1"), {"grains.toml:1:1", "poisson_ratio"});
  names(complaint<3>("young_modulus = 1e6\npoisson_ratio = 0.3"), {"grains.toml:1:1", "reference_load"});
  names(complaint<3>("poisson_ratio = 0.3"), {"grains.toml:1:1", "young_modulus"});
  names(complaint<3>("stiffness = 1\nreference_load = 1"), {"grains.toml:2:1", "no effect"});
  names(complaint<3>("stiffness = 1\nlinearization = 'tangent'"), {"grains.toml:2:1", "no effect"});
  names(complaint<3>("stiffness = 1\ntangential_ratio = 'mindlin'"), {"grains.toml:2:1", "poisson_ratio"});
  names(complaint<3>("tangential_ratio = 0.3"), {"grains.toml:1:1", "rigid contact"});
  names(complaint<2>("young_modulus = 1e6\npoisson_ratio = 0.3\nreference_load = 1"),
        {"grains.toml:3:1", "reference_load"});
  names(complaint<3>("stiffness = 0"), {"> 0"});
  names(complaint<3>("stiffness = '3 kPa'"), {"kN/m"});
  names(complaint<3>("stiffness = 'soft'"), {"rigid"});
  names(complaint<3>(elastic.substr(0, 20) + "poisson_ratio = 0.6\nreference_load = 1"),
        {"poisson_ratio", "0.5"});
  names(complaint<3>("tangential_ratio = -1"), {"> 0"});
}
