#include "crowd/output/crowd_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/sparse_all_to_all.hpp"
#include "core/timing.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/output/evacuation.hpp"

namespace scree {

namespace {

/// Of the disk of area 1 m2 [m].
const Real disk_radius = std::sqrt(1 / M_PI);

/// Numbers are summed as multiples of these: finer than the rounding of what they measure.
constexpr Real share_unit = 0x1p-40;  // of persons [-], and of persons times speed [m/s]
constexpr Real load_unit = 0x1p-24;   // [N m]

std::int64_t in_units(Real value, Real unit) {
  return std::llround(value / unit);
}

/// Densities from which classes B to F begin [1/m2] (J. J. Fruin, Pedestrian Planning and Design, 1971,
/// walkways: 35, 25, 15, 10 and 5 square feet per person).
constexpr std::array<Real, 5> walkway_bounds{0.31, 0.43, 0.72, 1.08, 2.15};

std::int32_t level_of_service(Real density) {
  return 1 + static_cast<std::int32_t>(std::ranges::upper_bound(walkway_bounds, density) -
                                       walkway_bounds.begin());
}

/// Cells along one axis: those of a periodic axis fill it, others have the length asked for, stand at
/// multiples of it and reach as far as somebody at the face is spread.
void divide(const Box<2>& box, int axis, Real cell, Real& origin, Real& length, std::int64_t& n) {
  if (box.is_periodic(axis)) {
    n = std::max<std::int64_t>(1, std::llround(box.length(axis) / cell));
    origin = box.lower[axis];
    length = box.length(axis) / static_cast<Real>(n);
    return;
  }
  const Real first = std::floor((box.lower[axis] - disk_radius) / cell);
  const Real end = std::ceil((box.upper[axis] + disk_radius) / cell);
  origin = first * cell;
  length = cell;
  n = static_cast<std::int64_t>(end - first);
}

/// Sums of one cell on their way to the rank that holds it.
template <class Sums>
struct CellSums {
  std::int64_t cell = 0;
  Sums sums;
};

}  // namespace

std::vector<Real> disk_shares(const std::vector<Real>& x, const std::vector<Real>& y) {
  const Real r = disk_radius;
  const auto half_chord = [&](Real u) { return std::sqrt(std::max<Real>(r * r - u * u, 0)); };
  /// Integral of the half chord from 0 to u.
  const auto primitive = [&](Real u) {
    return 0.5 * (u * half_chord(u) + r * r * std::asin(std::clamp(u / r, -1.0, 1.0)));
  };
  std::vector<Real> cut(x.size()), primitive_at(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    cut[i] = std::clamp(x[i], -r, r);
    primitive_at[i] = primitive(cut[i]);
  }
  // The part of the disk between lines x = a and b below y, less that above -y, has the area
  // 2 H = 2 int_a^b clamp(y, -s(x), s(x)) dx with the half chord s; cells are differences of H.
  const std::size_t n = x.size() - 1;
  std::vector<Real> shares(n * (y.size() - 1));
  std::vector<Real> below(n), above(n);
  for (std::size_t j = 0; j < y.size(); ++j) {
    const Real height = std::min(std::abs(y[j]), r);
    const Real corner = half_chord(height);  // beyond it the disk is lower than y
    const Real at_corner = primitive(corner);
    for (std::size_t i = 0; i < n; ++i) {
      const Real a = cut[i], b = cut[i + 1];
      Real integral = height * std::max<Real>(std::min(b, corner) - std::max(a, -corner), 0);
      if (a < -corner) integral += (b < -corner ? primitive_at[i + 1] : -at_corner) - primitive_at[i];
      if (b > corner) integral += primitive_at[i + 1] - (a > corner ? primitive_at[i] : at_corner);
      above[i] = std::copysign(integral, y[j]);
    }
    if (j > 0)
      for (std::size_t i = 0; i < n; ++i) shares[i + (j - 1) * n] = std::max<Real>(above[i] - below[i], 0);
    std::swap(below, above);
  }
  return shares;
}

/// Calls f(cell, share) for all cells within reach of somebody at `at`.
template <class F>
static void for_each_cell_near(const ImageGrid& grid, const std::array<bool, 2>& periodic, const Vec<2>& at,
                               const F& f) {
  std::array<std::int64_t, 2> first{}, end{};
  std::array<std::vector<Real>, 2> lines;
  for (std::size_t k = 0; k < 2; ++k) {
    const Real place = at[static_cast<int>(k)] - grid.origin[k];
    first[k] = static_cast<std::int64_t>(std::floor((place - disk_radius) / grid.cell[k]));
    end[k] = static_cast<std::int64_t>(std::floor((place + disk_radius) / grid.cell[k])) + 1;
    for (std::int64_t i = first[k]; i <= end[k]; ++i)
      lines[k].push_back(static_cast<Real>(i) * grid.cell[k] - place);
  }
  const std::vector<Real> shares = disk_shares(lines[0], lines[1]);
  const auto place = [](std::int64_t index, std::int64_t n, bool is_periodic) {
    return is_periodic ? (index % n + n) % n : index;
  };
  for (std::int64_t j = first[1]; j < end[1]; ++j)
    for (std::int64_t i = first[0]; i < end[0]; ++i) {
      const std::int64_t column = place(i, grid.nx, periodic[0]), row = place(j, grid.ny, periodic[1]);
      const Real share = shares[i - first[0] + (j - first[1]) * (end[0] - first[0])];
      if (share == 0 || column < 0 || column >= grid.nx || row < 0 || row >= grid.ny) continue;
      f(row * grid.nx + column, share);
    }
}

CrowdFields::CrowdFields(const OutputContext<2>& context, const CrowdOutputSettings& output,
                         const CrowdEnvironment& environment, int level)
    : comm_(context.comm), output_(output), environment_(environment), level_(level) {
  const State<2>& state = context.state;
  const std::string folder = context.files.folder + "/vtk";
  std::optional<Clock> resume_after;
  if (context.resume) resume_after = context.resume->last_of("fields");
  ImageGrid grid;
  divide(state.box, 0, output.cell, grid.origin[0], grid.cell[0], grid.nx);
  divide(state.box, 1, output.cell, grid.origin[1], grid.cell[1], grid.ny);
  for (int axis = 0; axis < 2; ++axis) periodic_[axis] = state.box.is_periodic(axis);
  const ImageSeries::Options options{
      .vtk = {.writers = context.vtk_writers, .single_precision = context.single_precision, .compress = true},
      .exact = {"exposure_density", "exposure_load"}};
  series_ = std::make_unique<ImageSeries>(comm_, folder, context.files.name,
                                          series_name(environment.building(), level), grid, options);
  if (resume_after) series_->resume(resume_after->step);

  const std::int64_t first = grid.first_row(comm_), end = grid.end_row(comm_);
  const std::size_t n = (end - first) * grid.nx;
  is_free_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto [row, column] = std::lldiv(static_cast<std::int64_t>(i), grid.nx);
    const auto centre = grid.centre(column, first + row);
    is_free_[i] = environment.building().plan(level).contains({{centre[0], centre[1]}});
  }
  if (!has("exposure")) return;
  exposure_density_.assign(n, 0);
  exposure_load_.assign(n, 0);
  if (!resume_after) return;
  if (series_->has_frames()) {
    exposure_density_ = series_->read_last("exposure_density");
    exposure_load_ = series_->read_last("exposure_load");
  } else {
    log::warn("exposure counts from t = {:g} s on: {} has no earlier frames of fields", resume_after->time,
              folder);
  }
}

std::string CrowdFields::series_name(const BuildingPlan& building, int level) {
  return building.n_levels() == 1 ? "fields" : "fields_" + column_name(building.level(level).name);
}

bool CrowdFields::has(const std::string& name) const {
  return std::ranges::find(output_.fields, name) != output_.fields.end();
}

void CrowdFields::sum_up(const State<2>& state, const ContactGraph<2>& contacts,
                         std::vector<Sums>& mine) const {
  const ImageGrid& grid = series_->grid();
  std::unordered_map<std::int64_t, Sums> touched;
  const auto spread = [&](const Vec<2>& at, const auto& add) {
    for_each_cell_near(grid, periodic_, at,
                       [&](std::int64_t cell, Real share) { add(touched[cell], share); });
  };

  const BodyStore<2>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    if (level_of(bodies, i) != level_) continue;
    const Vec<2>& v = bodies.velocity()[i];
    spread(bodies.position()[i], [&](Sums& sums, Real share) {
      sums.persons += in_units(share, share_unit);
      sums.speed += in_units(share * norm(v), share_unit);
      sums.flux_x += in_units(share * v[0], share_unit);
      sums.flux_y += in_units(share * v[1], share_unit);
    });
  }
  if (needs_contacts())
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (!(contacts.force[c] > 0) || level_of(bodies, static_cast<std::size_t>(contacts.a[c])) != level_)
        continue;
      const Real length = norm(contacts.branch[c]);
      const Real virial = output_.force_per_speed * contacts.force[c] * length;
      const bool with_wall = contacts.b[c] < 0;
      const Vec<2> at = bodies.position()[contacts.a[c]] + (with_wall ? 1.0 : 0.5) * contacts.branch[c];
      spread(at, [&](Sums& sums, Real share) { sums.load += in_units(share * virial, load_unit); });
    }

  Outgoing outgoing;
  for (const auto& [cell, sums] : touched)
    outgoing.to(grid.rank_of(comm_, cell / grid.nx)).put(CellSums<Sums>{cell, sums});
  const std::int64_t first_cell = grid.first_row(comm_) * grid.nx;
  mine.assign(is_free_.size(), {});
  for (const CellSums<Sums>& arrived : exchange_values<CellSums<Sums>>(comm_, outgoing)) {
    Sums& sums = mine[arrived.cell - first_cell];
    sums.persons += arrived.sums.persons;
    sums.speed += arrived.sums.speed;
    sums.flux_x += arrived.sums.flux_x;
    sums.flux_y += arrived.sums.flux_y;
    sums.load += arrived.sums.load;
  }
}

void CrowdFields::find_travel_times() {
  const FloorField& routes = environment_.floor_field();
  if (!travel_times_.empty() && !routes.counts_density() && routes.n_closed() == n_closed_) return;
  n_closed_ = routes.n_closed();
  const ImageGrid& grid = series_->grid();
  const CellGrid& floor_field = environment_.floor_field().grid();
  const auto floor_cell = [&](Real x, int axis, std::int64_t n) {
    const auto index =
        static_cast<std::int64_t>(std::floor((x - floor_field.origin[axis]) / floor_field.cell));
    return index < 0 || index >= n ? -1 : index;
  };
  const std::int64_t first = grid.first_row(comm_), end = grid.end_row(comm_);
  std::vector<std::int64_t> rows, columns;
  for (std::int64_t row = first; row < end; ++row)
    rows.push_back(floor_cell(grid.centre(0, row)[1], 1, floor_field.ny));
  for (std::int64_t column = 0; column < grid.nx; ++column)
    columns.push_back(floor_cell(grid.centre(column, 0)[0], 0, floor_field.nx));
  std::int64_t lowest = 0, above = 0;  // rows of the routes that are asked for
  for (const std::int64_t row : rows) {
    if (row < 0) continue;
    if (above == 0) lowest = row;
    above = row + 1;
  }
  travel_times_.assign(environment_.journey_plan().exits().size(), {});
  for (std::size_t exit = 0; exit < travel_times_.size(); ++exit) {
    const std::vector<Real> values =
        environment_.floor_field().rows(static_cast<int>(exit), level_, lowest, above);
    for (const std::int64_t row : rows)
      for (const std::int64_t column : columns)
        travel_times_[exit].push_back(row < 0 || column < 0
                                          ? std::numeric_limits<Real>::quiet_NaN()
                                          : values[(row - lowest) * floor_field.nx + column]);
  }
}

void CrowdFields::write(const State<2>& state, const ContactGraph<2>& contacts) {
  Scope timer("fields");
  const ImageGrid& grid = series_->grid();
  const Real cell_area = grid.cell[0] * grid.cell[1];
  std::vector<Sums> sums;
  sum_up(state, contacts, sums);
  const std::size_t n = sums.size();
  std::vector<Real> density(n), speed(n), flux, load(n);
  std::vector<std::int32_t> level(n);
  flux.reserve(3 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const Sums& s = sums[i];
    const auto persons = static_cast<Real>(s.persons);
    density[i] = persons * share_unit / cell_area;
    speed[i] = s.persons > 0 ? static_cast<Real>(s.speed) / persons : std::numeric_limits<Real>::quiet_NaN();
    for (const std::int64_t sum : {s.flux_x, s.flux_y})
      flux.push_back(static_cast<Real>(sum) * share_unit / cell_area);
    flux.push_back(0);
    load[i] = static_cast<Real>(s.load) * load_unit / cell_area;
    level[i] = is_free_[i] ? level_of_service(density[i]) : 0;
  }

  std::vector<Column> columns;
  if (has("density")) columns.push_back({"density", "1/m2", 1, std::span<const double>(density)});
  if (has("speed")) columns.push_back({"speed", "m/s", 1, std::span<const double>(speed)});
  if (has("flux")) columns.push_back({"flux", "1/(m s)", 3, std::span<const double>(flux)});
  if (has("level_of_service"))
    columns.push_back({"level_of_service", "-", 1, std::span<const std::int32_t>(level)});
  if (has("load")) columns.push_back({"load", "N/m", 1, std::span<const double>(load)});
  if (has("exposure")) {
    const Real interval = series_->has_frames() ? state.clock.time - series_->last_time() : 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (density[i] > output_.density_limit) exposure_density_[i] += interval;
      if (load[i] > output_.load_limit) exposure_load_[i] += interval;
    }
    columns.push_back({"exposure_density", "s", 1, std::span<const double>(exposure_density_)});
    columns.push_back({"exposure_load", "s", 1, std::span<const double>(exposure_load_)});
  }
  if (has("travel_time")) {
    find_travel_times();
    for (std::size_t exit = 0; exit < travel_times_.size(); ++exit)
      columns.push_back({"travel_time_" + column_name(environment_.journey_plan().exits()[exit].name), "s", 1,
                         std::span<const double>(travel_times_[exit])});
  }
  series_->write(state.clock.step, state.clock.time, columns);
}

}  // namespace scree
