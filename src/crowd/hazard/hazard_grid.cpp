#include "crowd/hazard/hazard_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/error.hpp"
#include "core/table_reader.hpp"

namespace scree {

namespace {

/// Cell that holds x on a rising axis, and the share of the way to its upper end; the nearest one beyond
/// ends.
struct AxisCell {
  std::size_t lower = 0, upper = 0;
  Real share = 0;
};
AxisCell cell_on(const std::vector<Real>& axis, Real x) {
  if (axis.size() < 2) return {};
  const auto above = std::ranges::upper_bound(axis, x) - axis.begin();
  const auto lower = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(above - 1, 0, std::ssize(axis) - 2));
  const Real share = (x - axis[lower]) / (axis[lower + 1] - axis[lower]);
  return {lower, lower + 1, std::clamp(share, 0.0, 1.0)};
}

/// The values of the rows, each once, rising.
template <class Rows, class Value>
std::vector<Real> distinct(Rows&& rows, const Value& value) {
  std::vector<Real> values;
  for (const auto& row : rows) values.push_back(value(row));
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::size_t place_on(const std::vector<Real>& axis, Real x) {
  return static_cast<std::size_t>(std::ranges::lower_bound(axis, x) - axis.begin());
}

}  // namespace

std::string fault_of_smoke(std::size_t k, Real value) {
  const SmokeLimits& limits = smoke_limits[k];
  if (value < limits.min) return fmt::format("{} = {:g} is less than {:g}", limits.column, value, limits.min);
  if (value > limits.max)
    return fmt::format("{} = {:g} is more than {:g}: {}", limits.column, value, limits.max, limits.if_more);
  return {};
}

/// Reads the file, and which columns it has. Returns the rows of each level; of the first one without a
/// column floor.
std::vector<std::vector<HazardGrid::Row>> HazardGrid::read_rows(const std::string& path,
                                                                const BuildingPlan& building) {
  constexpr std::string_view no_rows =
      "no rows: expected a header such as t,x,y,K,CO and a row for each time and place";
  TableReader reader = TableReader::of_file(path, no_rows);
  Row row;
  int level = 0;
  std::string_view floor;
  std::array<Real, n_smoke> values{};
  reader.real("t", row.time, {.unit = "s"});
  const bool has_x = reader.real("x", row.x[0], {.unit = "m"});
  const bool has_y = reader.real("y", row.x[1], {.unit = "m"});
  has_floor_ = reader.text("floor", floor, {.unit = "-"});
  for (std::size_t k = 0; k < n_smoke; ++k)
    is_given_[k] = reader.real(smoke_limits[k].column, values[k], {.unit = smoke_limits[k].unit});
  reader.refuse_others();
  if (std::ranges::none_of(is_given_, std::identity{}))
    reader.refuse("no column of smoke: one at least of K, CO, CO2, O2 and temperature is needed");
  if (has_x != has_y)
    reader.refuse(fmt::format("no column {}; give both x and y, or none", has_y ? "x" : "y"));
  std::vector<std::vector<Row>> rows(has_floor_ ? static_cast<std::size_t>(building.n_levels()) : 1);
  while (reader.next()) {
    row.line = reader.line();
    if (has_floor_) level = building.level_of(std::string(floor), reader.where());
    for (std::size_t k = 0; k < n_smoke; ++k) {
      if (!is_given_[k]) continue;
      if (const std::string fault = fault_of_smoke(k, values[k]); !fault.empty()) reader.refuse(fault);
      row.values[k] = static_cast<float>(values[k]);
    }
    rows[level].push_back(row);
  }
  if (row.line == 0) throw InputError(fmt::format("{}: {}", path, no_rows));
  return rows;
}

void HazardGrid::read(const std::string& path, const std::string& where, const BuildingPlan& building) {
  const std::vector<std::vector<Row>> rows = read_rows(path, building);
  std::vector<Real> times;
  for (const std::vector<Row>& of_level : rows)
    for (const Row& row : of_level) times.push_back(row.time);
  times_ = distinct(times, [](Real time) { return time; });
  for (const std::vector<Row>& of_level : rows) {
    if (of_level.empty())
      throw InputError(
          fmt::format("{}: no row of {} has the floor \"{}\": give all floors and connectors, or no column "
                      "floor",
                      where, path, building.level(static_cast<int>(levels_.size())).name));
    levels_.push_back(made_of(of_level, path));
  }
  for (int level = 0; level < building.n_levels(); ++level) require_cover(path, where, building, level);
}

HazardGrid::OfLevel HazardGrid::made_of(const std::vector<Row>& rows, const std::string& path) const {
  OfLevel level;
  auto& [xs, ys] = level.axis;
  xs = distinct(rows, [](const Row& row) { return row.x[0]; });
  ys = distinct(rows, [](const Row& row) { return row.x[1]; });
  const std::size_t nx = xs.size(), ny = ys.size(), n = times_.size() * nx * ny;
  for (std::size_t k = 0; k < n_smoke; ++k)
    if (is_given_[k]) level.values[k].resize(n);
  std::vector<std::int64_t> given(n, 0);  // the line that gave each value; 0: none yet
  for (const Row& row : rows) {
    const std::size_t place =
        (place_on(times_, row.time) * ny + place_on(ys, row.x[1])) * nx + place_on(xs, row.x[0]);
    if (given[place] != 0)
      throw InputError(fmt::format("{}:{}: t = {:g} s, x = {:g} m, y = {:g} m is in line {} already", path,
                                   row.line, row.time, row.x[0], row.x[1], given[place]));
    given[place] = row.line;
    for (std::size_t k = 0; k < n_smoke; ++k)
      if (is_given_[k]) level.values[k][place] = row.values[k];
  }
  const std::size_t place = std::ranges::find(given, 0) - given.begin();
  if (place == n) return level;
  throw InputError(
      fmt::format("{}: not a grid: {} times, {} x and {} y need {} rows{}, but there are {}; there is none "
                  "of t = {:g} s, x = {:g} m, y = {:g} m",
                  path, times_.size(), nx, ny, n, has_floor_ ? " of a floor" : "", rows.size(),
                  times_[place / (nx * ny)], xs[place % nx], ys[place / nx % ny]));
}

/// A grid of cell centres ends half a cell before the plan, a coarse one within a cell.
void HazardGrid::require_cover(const std::string& path, const std::string& where,
                               const BuildingPlan& building, int number) const {
  const Box<2> plan = building.plan(number).bounds();
  for (int k = 0; k < 2; ++k) {
    const std::vector<Real>& axis = of(number).axis[k];
    if (axis.size() < 2) continue;
    const Real before = axis[1] - axis[0], after = axis.back() - axis[axis.size() - 2];
    if (axis.front() - before <= plan.lower[k] && axis.back() + after >= plan.upper[k]) continue;
    throw InputError(fmt::format(
        "{}: the fields of {} go from {} = {:g} to {:g} m, the plan{} from {:g} to {:g} m: smoke must be "
        "known "
        "everywhere, to within a cell of the grid",
        where, path, "xy"[k], axis.front(), axis.back(),
        building.n_levels() > 1 ? " of " + building.level(number).name : "", plan.lower[k], plan.upper[k]));
  }
}

Real HazardGrid::at(Smoke quantity, const Vec<2>& x, int level_of_x, Real time) const {
  const OfLevel& level = of(level_of_x);
  const std::vector<float>& values = level.values[static_cast<std::size_t>(quantity)];
  const AxisCell t = cell_on(times_, time), cx = cell_on(level.axis[0], x[0]),
                 cy = cell_on(level.axis[1], x[1]);
  const std::size_t nx = level.axis[0].size(), ny = level.axis[1].size();
  const auto between = [](Real a, Real b, Real share) { return a + share * (b - a); };
  const auto along_x = [&](std::size_t row) {
    return between(values[row * nx + cx.lower], values[row * nx + cx.upper], cx.share);
  };
  const auto in_plane = [&](std::size_t slice) {
    return between(along_x(slice * ny + cy.lower), along_x(slice * ny + cy.upper), cy.share);
  };
  return between(in_plane(t.lower), in_plane(t.upper), t.share);
}

}  // namespace scree
