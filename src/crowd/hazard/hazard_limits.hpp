#pragma once
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "crowd/hazard/hazard_grid.hpp"

namespace scree {

/// What is known of each Smoke: its column, its key in a deck, its unit, and what it may be.
struct SmokeLimits {
  std::string_view column, key, unit;
  Real least, most;
  std::string_view if_more;  ///< what somebody may have meant
};
inline constexpr std::array<SmokeLimits, n_smoke> smoke_limits{
    {{"K", "extinction", "1/m", 0, 100, "is it an extinction coefficient in 1/m?"},
     {"CO", "carbon_monoxide", "-", 0, 0.1,
      "ppm or percent? CO is read as a volume fraction, 5000 ppm are 0.005"},
     {"CO2", "carbon_dioxide", "-", 0, 0.5, "percent? CO2 is read as a volume fraction, 2 % are 0.02"},
     {"O2", "oxygen", "-", 0, 0.5, "percent? O2 is read as a volume fraction, 18 % are 0.18"},
     {"temperature", "temperature", "degC", -100, 2000, "is it a temperature in degrees Celsius?"}}};

/// What is wrong with a value of quantity k; empty: nothing.
inline std::string fault_of_smoke(std::size_t k, Real value) {
  const SmokeLimits& limits = smoke_limits[k];
  if (value < limits.least)
    return fmt::format("{} = {:g} is less than {:g}", limits.column, value, limits.least);
  if (value > limits.most)
    return fmt::format("{} = {:g} is more than {:g}: {}", limits.column, value, limits.most, limits.if_more);
  return {};
}

}  // namespace scree
