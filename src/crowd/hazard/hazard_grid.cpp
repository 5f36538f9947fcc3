#include "crowd/hazard/hazard_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "crowd/hazard/hazard_table.hpp"

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

std::vector<Real> distinct(std::vector<Real> values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

std::size_t place_on(const std::vector<Real>& axis, Real x) {
  return axis.empty() ? 0 : static_cast<std::size_t>(std::ranges::lower_bound(axis, x) - axis.begin());
}

std::size_t count_of(const std::vector<Real>& axis) {
  return std::max<std::size_t>(axis.size(), 1);
}

}  // namespace

void HazardGrid::read(const std::string& path, const std::string& where, const BuildingPlan& building) {
  const HazardTable table = read_hazard_table(path, building);
  is_given_ = table.has;
  if (table.has_time) {
    std::vector<Real> times;
    for (const HazardRow& row : table.rows) times.push_back(row.time);
    times_ = distinct(std::move(times));
  }
  levels_.resize(table.has_floor ? static_cast<std::size_t>(building.n_levels()) : 1);
  for (int level = 0; level < static_cast<int>(levels_.size()); ++level) {
    if (std::ranges::none_of(table.rows, [&](const HazardRow& row) { return row.level == level; }))
      throw InputError(
          fmt::format("{}: no row of {} has the floor \"{}\": give all floors and connectors, or no column "
                      "floor",
                      where, path, building.level(level).name));
    build(path, table, level);
  }
  for (int level = 0; level < building.n_levels(); ++level) require_cover(path, where, building, level);
}

void HazardGrid::build(const std::string& path, const HazardTable& table, int number) {
  OfLevel& level = levels_[static_cast<std::size_t>(number)];
  for (int k = 0; k < 2 && table.has_place; ++k) {
    std::vector<Real> values;
    for (const HazardRow& row : table.rows)
      if (row.level == number) values.push_back(row.x[k]);
    level.axis[static_cast<std::size_t>(k)] = distinct(std::move(values));
  }
  const std::size_t nx = count_of(level.axis[0]), ny = count_of(level.axis[1]);
  const std::size_t n = count_of(times_) * nx * ny;
  for (std::size_t k = 0; k < n_smoke; ++k)
    if (is_given_[k]) level.values[k].resize(n);
  std::vector<std::int64_t> given(n, 0);  // the line that gave each value; 0: none yet
  std::size_t n_rows = 0;
  for (const HazardRow& row : table.rows) {
    if (row.level != number) continue;
    ++n_rows;
    const std::size_t place = (place_on(times_, row.time) * ny + place_on(level.axis[1], row.x[1])) * nx +
                              place_on(level.axis[0], row.x[0]);
    if (given[place] != 0)
      throw InputError(fmt::format("{}:{}: t = {:g} s, x = {:g} m, y = {:g} m is in line {} already", path,
                                   row.line, row.time, row.x[0], row.x[1], given[place]));
    given[place] = row.line;
    for (std::size_t k = 0; k < n_smoke; ++k)
      if (is_given_[k]) level.values[k][place] = row.values[k];
  }
  const auto missing = std::ranges::find(given, 0);
  if (missing == given.end()) return;
  const auto place = static_cast<std::size_t>(missing - given.begin());
  const auto value = [](const std::vector<Real>& axis, std::size_t i) { return axis.empty() ? 0 : axis[i]; };
  throw InputError(
      fmt::format("{}: not a grid: {} times, {} x and {} y need {} rows{}, but there are {}; there is none "
                  "of t = {:g} s, "
                  "x = {:g} m, y = {:g} m",
                  path, count_of(times_), nx, ny, n, table.has_floor ? " of a floor" : "", n_rows,
                  value(times_, place / (nx * ny)), value(level.axis[0], place % nx),
                  value(level.axis[1], place / nx % ny)));
}

/// A grid of cell centres ends half a cell before the plan, a coarse one within a cell.
void HazardGrid::require_cover(const std::string& path, const std::string& where,
                               const BuildingPlan& building, int number) const {
  const Box<2> plan = building.plan(number).bounds();
  for (int k = 0; k < 2; ++k) {
    const std::vector<Real>& axis = of(number).axis[static_cast<std::size_t>(k)];
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
  const std::size_t nx = count_of(level.axis[0]), ny = count_of(level.axis[1]);
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
