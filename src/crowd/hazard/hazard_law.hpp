#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/types.hpp"

namespace scree {

/// Volume fractions [-] of what people breathe; not given: not counted.
struct Gases {
  std::optional<Real> carbon_monoxide, carbon_dioxide, oxygen;
};

/// Rate of the fractional effective dose [1/s], with c in percent and C_CO in ppm:
///
///     4.607e-7 C_CO^1.036 exp(0.1930 c_CO2 + 2.0004) / 7.1  +  1 / (60 exp(8.13 - 0.54 (20.9 - c_O2)))
///
/// At a dose of 1 a person is incapacitated. The factor of carbon dioxide (people breathe faster) counts
/// where there is any, lack of oxygen below 20 %. Source: T. Korhonen, S. Hostikka, Fire Dynamics Simulator
/// with Evacuation: FDS+Evac, Technical Reference and User's Guide, VTT Working Papers 119 (2009), eq. 11-14,
/// after D. A. Purser, SFPE Handbook of Fire Protection Engineering. The program FDS (Source/func.f90) has
/// 0.1903 in place of 0.1930: with 2 % carbon dioxide its doses are 0.5 % less.
inline Real dose_rate(const Gases& gases) {
  constexpr Real ppm = 1e6, percent = 100, enough_oxygen = 20;
  Real rate = 0;
  if (gases.carbon_monoxide) rate = 4.607e-7 * std::pow(ppm * *gases.carbon_monoxide, 1.036);
  if (gases.carbon_dioxide && *gases.carbon_dioxide > 0)
    rate *= std::exp(0.1930 * percent * *gases.carbon_dioxide + 2.0004) / 7.1;
  if (gases.oxygen && percent * *gases.oxygen < enough_oxygen)
    rate += 1 / (60 * std::exp(8.13 - 0.54 * (20.9 - percent * *gases.oxygen)));
  return rate;
}

/// Walking speed in smoke over that in clear air: max(least, 1 + b K / a), K the extinction coefficient
/// [1/m]. Source of a and b: H. Frantzich, D. Nilsson, Utrymning genom taet roek, Lund University, report
/// 3126 (2003).
struct SmokeSpeed {
  Real at_zero = 0.706;  ///< a [m/s]
  Real slope = -0.057;   ///< b [m2/s]
  Real min = 0.1;        ///< as in FDS+Evac
  Real factor(Real extinction) const { return std::clamp(1 + slope * extinction / at_zero, min, 1.0); }
};

}  // namespace scree
