#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/section.hpp"

namespace scree {

/// All kinds of number, in the order of the enumeration.
std::vector<Unit> all_units();
/// What is measured, in words: "length", "angular speed"; "number" for Unit::none.
std::string_view quantity(Unit unit);
/// The unit names a string may carry for this kind, SI first: "m, km, cm". Empty for Unit::none.
std::string unit_names(Unit unit);
/// A string such as "4 mm" in SI, or nothing if it is not a finite number followed by a unit of this kind.
/// Powers may be written "m/s2" or "m/s^2". A decimal prefix costs at most one rounding: "4 mm" is exactly
/// the number 0.004.
std::optional<Real> to_si(std::string_view text, Unit unit);

}  // namespace scree
