#include <catch2/catch.hpp>
#include <numbers>

#include "core/units.hpp"

using scree::to_si;
using scree::Unit;

TEST_CASE("units: strings become SI numbers, exactly where the factor is a power of ten", "[core]") {
  CHECK(to_si("4 mm", Unit::length) == 0.004);
  CHECK(to_si("  -7mm ", Unit::length) == -0.007);
  CHECK(to_si("+1.5 h", Unit::time) == 5400);
  CHECK(to_si("200 us", Unit::time) == 2e-4);
  CHECK(to_si("72 km/h", Unit::speed) == 20);
  CHECK(to_si("1 kPa", Unit::pressure) == 1000);
  CHECK(to_si("2.5 g/cm3", Unit::density) == 2500);
  CHECK(to_si("2.5 g/cm^3", Unit::density) == 2500);
  CHECK(to_si("10 1/s", Unit::rate) == 10);
  CHECK(to_si("2 kHz", Unit::frequency) == 2000);
  CHECK(to_si("3 t", Unit::mass) == 3000);
  CHECK(to_si("9.81 m/s^2", Unit::acceleration) == 9.81);
  CHECK(to_si("5 mN", Unit::force) == 0.005);
  CHECK(to_si("2 rad/s", Unit::angular_speed) == 2);
  CHECK(*to_si("60 rpm", Unit::angular_speed) == Approx(2 * std::numbers::pi).epsilon(1e-15));
  CHECK(*to_si("30 deg", Unit::angle) == Approx(std::numbers::pi / 6).epsilon(1e-15));
}

TEST_CASE("units: a unit of another kind, none, or a number that is not one gives nothing", "[core]") {
  CHECK_FALSE(to_si("4 kg", Unit::length));
  CHECK_FALSE(to_si("4", Unit::length));
  CHECK_FALSE(to_si("mm", Unit::length));
  CHECK_FALSE(to_si("", Unit::length));
  CHECK_FALSE(to_si("4 mm mm", Unit::length));
  CHECK_FALSE(to_si("inf m", Unit::length));
  CHECK_FALSE(to_si("nan m", Unit::length));
  CHECK_FALSE(to_si("1e308 km", Unit::length));
  CHECK_FALSE(to_si("4 MM", Unit::length));
  CHECK_FALSE(to_si("4 -", Unit::none));
}

TEST_CASE("units: each kind but plain numbers lists its SI unit first and reads it with factor 1", "[core]") {
  for (const Unit unit : scree::all_units()) {
    if (unit == Unit::none) continue;
    const std::string si(scree::symbol(unit));
    CHECK(scree::unit_names(unit).starts_with(si));
    CHECK(to_si("3 " + si, unit) == 3);
  }
}
