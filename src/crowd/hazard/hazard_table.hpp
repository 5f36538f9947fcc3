#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "crowd/hazard/hazard_grid.hpp"

namespace scree {

/// A row of a table of smoke.
struct HazardRow {
  std::int64_t line = 0;
  Real time = 0;  ///< [s]
  Vec<2> x{};     ///< [m]
  int level = 0;
  std::array<float, n_smoke> values{};
};

/// A table of smoke as its file has it.
struct HazardTable {
  bool has_time = false, has_place = false, has_floor = false;
  std::array<bool, n_smoke> has{};
  std::vector<HazardRow> rows;
};

/// Reads a CSV file with the columns of HazardGrid. Throws InputError with file and line. Local.
HazardTable read_hazard_table(const std::string& path, const BuildingPlan& building);

}  // namespace scree
