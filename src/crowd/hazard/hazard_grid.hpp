#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crowd/plan/building_plan.hpp"

namespace scree {

/// What a fire does to the air.
enum class Smoke : std::uint8_t { extinction, carbon_monoxide, carbon_dioxide, oxygen, temperature };
inline constexpr std::size_t n_smoke = 5;

/// What is known of each Smoke: its column, its key in a deck, its unit, and what it may be.
struct SmokeLimits {
  std::string_view column, key, unit;
  Real min, max;
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
std::string fault_of_smoke(std::size_t k, Real value);

/// Fields of smoke over time on a rectangular grid of each level, from a table: columns t, x, y, floor, any
/// of which may be left out (then nothing depends on it), and K [1/m], CO, CO2, O2 (volume fractions),
/// temperature [deg C], one of these at least. Names may carry units: K[1/m], x[m].
///
/// Between the values of the grid fields are linear in t, x and y; beyond its ends they stay as there. Held
/// by every rank: 4 bytes per number.
class HazardGrid {
 public:
  /// Reads the file. Throws InputError with file and line: it cannot be read, a value is out of range
  /// (negative; ppm or percent in place of a fraction), the rows are no grid, or a grid does not cover the
  /// plan of its level. Local, alike on all ranks; O(file log file).
  void read(const std::string& path, const std::string& where, const BuildingPlan& building);

  bool has(Smoke quantity) const { return is_given_[static_cast<std::size_t>(quantity)]; }
  /// Of a quantity that it has. Local, O(log of the grid), no allocation.
  Real at(Smoke quantity, const Vec<2>& x, int level, Real time) const;
  /// The times of the grid, one at least.
  const std::vector<Real>& times() const { return times_; }

 private:
  struct Row {
    std::int64_t line = 0;
    Real time = 0;  // [s]
    Vec<2> x{};     // [m]
    std::array<float, n_smoke> values{};
  };
  struct OfLevel {
    std::array<std::vector<Real>, 2> axis;           // rising; one value: nothing depends on it
    std::array<std::vector<float>, n_smoke> values;  // time by time, row by row
  };

  std::vector<std::vector<Row>> read_rows(const std::string& path, const BuildingPlan& building);
  OfLevel made_of(const std::vector<Row>& rows, const std::string& path) const;
  void require_cover(const std::string& path, const std::string& where, const BuildingPlan& building,
                     int level) const;
  const OfLevel& of(int level) const {
    return levels_[levels_.size() == 1 ? 0 : static_cast<std::size_t>(level)];
  }

  std::array<bool, n_smoke> is_given_{};
  bool has_floor_ = false;  // a column
  std::vector<Real> times_;
  std::vector<OfLevel> levels_;  // one for all, or by level
};

}  // namespace scree
