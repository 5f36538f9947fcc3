#include "core/units.hpp"

#include <algorithm>
#include <charconv>
#include <numbers>
#include <span>

namespace scree {

namespace {

/// value in SI = number * factor / divisor: two exact integers, since 0.001 itself is not exact.
struct Name {
  std::string_view name;
  Real factor = 1;
  Real divisor = 1;
};

constexpr Real pi = std::numbers::pi;
constexpr Name lengths[] = {{"m"},          {"km", 1e3},    {"cm", 1, 1e2},
                            {"mm", 1, 1e3}, {"um", 1, 1e6}, {"nm", 1, 1e9}};
constexpr Name times[] = {{"s"},       {"ms", 1, 1e3}, {"us", 1, 1e6}, {"ns", 1, 1e9},
                          {"min", 60}, {"h", 3600},    {"d", 86400}};
constexpr Name masses[] = {{"kg"}, {"g", 1, 1e3}, {"mg", 1, 1e6}, {"t", 1e3}};
constexpr Name speeds[] = {
    {"m/s"}, {"km/h", 1e3, 3600}, {"cm/s", 1, 1e2}, {"mm/s", 1, 1e3}, {"um/s", 1, 1e6}};
constexpr Name accelerations[] = {{"m/s2"}, {"cm/s2", 1, 1e2}, {"mm/s2", 1, 1e3}};
constexpr Name angles[] = {{"rad"}, {"mrad", 1, 1e3}, {"deg", pi, 180}, {"turn", 2 * pi}};
constexpr Name angular_speeds[] = {{"rad/s"}, {"deg/s", pi, 180}, {"rpm", 2 * pi, 60}};
constexpr Name rates[] = {{"1/s"}, {"1/ms", 1e3}, {"1/min", 1, 60}, {"1/h", 1, 3600}};
constexpr Name frequencies[] = {{"1/s"}, {"Hz"}, {"kHz", 1e3}, {"1/min", 1, 60}};
constexpr Name forces[] = {{"N"}, {"kN", 1e3}, {"MN", 1e6}, {"mN", 1, 1e3}, {"uN", 1, 1e6}};
constexpr Name pressures[] = {{"Pa"}, {"hPa", 1e2}, {"kPa", 1e3}, {"MPa", 1e6}, {"GPa", 1e9}, {"bar", 1e5}};
constexpr Name stiffnesses[] = {{"N/m"}, {"kN/m", 1e3}, {"MN/m", 1e6}, {"N/mm", 1e3}};
constexpr Name energies[] = {{"J"}, {"kJ", 1e3}, {"mJ", 1, 1e3}, {"uJ", 1, 1e6}, {"nJ", 1, 1e9}};
constexpr Name mass_rates[] = {{"kg/s"}, {"g/s", 1, 1e3}, {"kg/h", 1, 3600}, {"t/h", 1e3, 3600}};
constexpr Name densities[] = {{"kg/m3"}, {"g/cm3", 1e3}, {"kg/l", 1e3}, {"t/m3", 1e3}};

constexpr Name torques[] = {{"N m"}, {"kN m", 1e3}, {"mN m", 1, 1e3}, {"uN m", 1, 1e6}};
constexpr Name areas[] = {{"m2"}, {"cm2", 1, 1e4}, {"mm2", 1, 1e6}};
constexpr Name moments_of_inertia[] = {{"kg m2"}, {"g cm2", 1, 1e7}, {"g mm2", 1, 1e9}};

struct Kind {
  Unit unit;
  std::string_view quantity;
  std::string_view symbol;
  std::span<const Name> names;  // SI first
};
constexpr Kind kinds[] = {
    {Unit::none, "number", "-", {}},
    {Unit::length, "length", "m", lengths},
    {Unit::time, "time", "s", times},
    {Unit::mass, "mass", "kg", masses},
    {Unit::speed, "speed", "m/s", speeds},
    {Unit::acceleration, "acceleration", "m/s2", accelerations},
    {Unit::angle, "angle", "rad", angles},
    {Unit::angular_speed, "angular speed", "rad/s", angular_speeds},
    {Unit::rate, "rate", "1/s", rates},
    {Unit::frequency, "frequency", "1/s", frequencies},
    {Unit::force, "force", "N", forces},
    {Unit::pressure, "pressure", "Pa", pressures},
    {Unit::density, "density", "kg/m3", densities},
    {Unit::stiffness, "stiffness", "N/m", stiffnesses},
    {Unit::energy, "energy", "J", energies},
    {Unit::mass_rate, "mass rate", "kg/s", mass_rates},
    {Unit::torque, "torque", "N m", torques},
    {Unit::area, "area", "m2", areas},
    {Unit::moment_of_inertia, "moment of inertia", "kg m2", moments_of_inertia},
};

const Kind& kind_of(Unit unit) {
  return *std::find_if(std::begin(kinds), std::end(kinds),
                       [&](const Kind& kind) { return kind.unit == unit; });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace

std::string_view symbol(Unit unit) {
  return kind_of(unit).symbol;
}
std::string_view quantity(Unit unit) {
  return kind_of(unit).quantity;
}

std::vector<Unit> all_units() {
  std::vector<Unit> units;
  for (const Kind& kind : kinds) units.push_back(kind.unit);
  return units;
}

std::string unit_names(Unit unit) {
  std::string names;
  for (const Name& name : kind_of(unit).names) names += (names.empty() ? "" : ", ") + std::string(name.name);
  return names;
}

std::optional<Real> to_si(std::string_view text, Unit unit) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  Real number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return {};
  std::string name(trimmed(text.substr(static_cast<std::size_t>(end - text.data()))));
  std::erase(name, '^');
  for (const Name& known : kind_of(unit).names)
    if (known.name == name) {
      const Real value = number * known.factor / known.divisor;
      return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
  return {};
}

}  // namespace scree
