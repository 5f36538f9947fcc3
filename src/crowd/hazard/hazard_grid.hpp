#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "crowd/plan/building_plan.hpp"

namespace scree {

struct HazardTable;

/// What a fire does to the air.
enum class Smoke : std::uint8_t { extinction, carbon_monoxide, carbon_dioxide, oxygen, temperature };
inline constexpr std::size_t n_smoke = 5;

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
  /// The times of the grid; empty: nothing changes.
  const std::vector<Real>& times() const { return times_; }

 private:
  struct OfLevel {
    std::array<std::vector<Real>, 2> axis;           // rising; empty: nothing depends on it
    std::array<std::vector<float>, n_smoke> values;  // time by time, row by row
  };

  void build(const std::string& path, const HazardTable& table, int level);
  void require_cover(const std::string& path, const std::string& where, const BuildingPlan& building,
                     int level) const;
  const OfLevel& of(int level) const {
    return levels_[levels_.size() == 1 ? 0 : static_cast<std::size_t>(level)];
  }

  std::array<bool, n_smoke> is_given_{};
  std::vector<Real> times_;
  std::vector<OfLevel> levels_;  // one for all, or by level
};

}  // namespace scree
