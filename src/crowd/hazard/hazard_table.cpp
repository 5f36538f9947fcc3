#include "crowd/hazard/hazard_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/error.hpp"
#include "core/input_file.hpp"
#include "core/suggestion.hpp"
#include "crowd/hazard/hazard_limits.hpp"

namespace scree {

namespace {

struct AxisName {
  std::string_view name, unit;
};
constexpr std::array<AxisName, 4> axis_names{{{"t", "s"}, {"x", "m"}, {"y", "m"}, {"floor", "-"}}};

/// The columns of a header: for each what it holds, axes first, then quantities.
std::vector<std::size_t> smoke_columns(std::string_view header, const std::string& where) {
  std::vector<std::string> known;
  for (const AxisName& axis : axis_names) known.emplace_back(axis.name);
  for (const SmokeLimits& limits : smoke_limits) known.emplace_back(limits.column);
  std::vector<std::size_t> columns;
  for (const std::string_view field : fields_of(header)) {
    std::string_view name = field, unit;
    if (const auto bracket = name.find('['); bracket != name.npos && name.ends_with(']')) {
      unit = name.substr(bracket + 1, name.size() - bracket - 2);
      name = trimmed(name.substr(0, bracket));
    }
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      throw InputError(fmt::format("{}: there is no column \"{}\"{}; valid: {}", where, name,
                                   suggestion(name, known), fmt::join(known, ", ")));
    const auto k = static_cast<std::size_t>(found - known.begin());
    if (std::ranges::count(columns, k) > 0)
      throw InputError(fmt::format("{}: two columns are called {}", where, name));
    columns.push_back(k);
    const std::string_view right =
        k < axis_names.size() ? axis_names[k].unit : smoke_limits[k - axis_names.size()].unit;
    if (!unit.empty() && unit != right)
      throw InputError(
          fmt::format("{}: the column {} is in {}, but is read in {}", where, name, unit, right));
  }
  if (std::ranges::none_of(columns, [](std::size_t k) { return k >= axis_names.size(); }))
    throw InputError(where +
                     ": no column of smoke: one at least of K, CO, CO2, O2 and temperature is needed");
  const bool has_x = std::ranges::count(columns, 1) > 0, has_y = std::ranges::count(columns, 2) > 0;
  if (has_x != has_y)
    throw InputError(fmt::format("{}: no column {}; give both x and y, or none", where, has_x ? "y" : "x"));
  return columns;
}

HazardRow smoke_row(std::string_view line, const std::vector<std::size_t>& columns, const std::string& where,
                    const BuildingPlan& building) {
  const std::vector<std::string_view> fields = fields_of(line);
  if (fields.size() != columns.size())
    throw InputError(
        fmt::format("{}: {} values, but the header names {} columns", where, fields.size(), columns.size()));
  HazardRow row;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::size_t k = columns[c];
    if (k == 3) {
      row.level = building.level_of(std::string(fields[c]), where);
      continue;
    }
    Real value = 0;
    if (!parse(fields[c], value) || !std::isfinite(value))
      throw InputError(fmt::format("{}: '{}' is not a number", where, fields[c]));
    if (k == 0) row.time = value;
    if (k == 1 || k == 2) row.x[static_cast<int>(k) - 1] = value;
    if (k < axis_names.size()) continue;
    const std::size_t quantity = k - axis_names.size();
    if (const std::string fault = fault_of_smoke(quantity, value); !fault.empty())
      throw InputError(where + ": " + fault);
    row.values[quantity] = static_cast<float>(value);
  }
  return row;
}

}  // namespace

HazardTable read_hazard_table(const std::string& path, const BuildingPlan& building) {
  std::ifstream file(path, std::ios::binary);
  HazardTable table;
  std::vector<std::size_t> columns;
  std::string line;
  for (std::int64_t number = 1; std::getline(file, line); ++number) {
    if (is_comment(line)) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    if (columns.empty()) {
      columns = smoke_columns(line, where);
      continue;
    }
    table.rows.push_back(smoke_row(line, columns, where, building));
    table.rows.back().line = number;
  }
  if (table.rows.empty())
    throw InputError(path +
                     ": no rows: expected a header such as t,x,y,K,CO and a row for each time and place");
  const auto has = [&](std::size_t k) { return std::ranges::count(columns, k) > 0; };
  table.has_time = has(0);
  table.has_place = has(1);
  table.has_floor = has(3);
  for (std::size_t k = 0; k < n_smoke; ++k) table.has[k] = has(axis_names.size() + k);
  return table;
}

}  // namespace scree
