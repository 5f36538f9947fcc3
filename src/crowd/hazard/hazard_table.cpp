#include "crowd/hazard/hazard_table.hpp"

#include <algorithm>
#include <functional>

#include "core/error.hpp"
#include "core/table_reader.hpp"
#include "crowd/hazard/hazard_limits.hpp"

namespace scree {

HazardTable read_hazard_table(const std::string& path, const BuildingPlan& building) {
  constexpr std::string_view no_rows =
      "no rows: expected a header such as t,x,y,K,CO and a row for each time and place";
  TableReader reader = TableReader::of_file(path, no_rows);
  HazardTable table;
  HazardRow row;
  std::string_view floor;
  std::array<Real, n_smoke> values{};
  table.has_time = reader.real("t", row.time, {.unit = "s"});
  table.has_place = reader.real("x", row.x[0], {.unit = "m"});
  const bool has_y = reader.real("y", row.x[1], {.unit = "m"});
  table.has_floor = reader.text("floor", floor, {.unit = "-"});
  for (std::size_t k = 0; k < n_smoke; ++k)
    table.has[k] = reader.real(smoke_limits[k].column, values[k], {.unit = smoke_limits[k].unit});
  reader.refuse_others();
  if (std::ranges::none_of(table.has, std::identity{}))
    reader.refuse("no column of smoke: one at least of K, CO, CO2, O2 and temperature is needed");
  if (table.has_place != has_y)
    reader.refuse(fmt::format("no column {}; give both x and y, or none", has_y ? "x" : "y"));
  while (reader.next()) {
    row.line = reader.line();
    if (table.has_floor) row.level = building.level_of(std::string(floor), reader.where());
    for (std::size_t k = 0; k < n_smoke; ++k) {
      if (!table.has[k]) continue;
      if (const std::string fault = fault_of_smoke(k, values[k]); !fault.empty()) reader.refuse(fault);
      row.values[k] = static_cast<float>(values[k]);
    }
    table.rows.push_back(row);
  }
  if (table.rows.empty()) throw InputError(fmt::format("{}: {}", path, no_rows));
  return table;
}

}  // namespace scree
