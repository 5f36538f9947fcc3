#include "crowd/floor_field/floor_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace scree {

namespace {

// Walls that decide about links and sight are looked up among those this near to a tile.
constexpr Real sight_in_cells = 4;

/// Sizes of cells such that whole numbers of them fit along periodic axes.
CellGrid fit_grid(const Box<2>& bounds, const Box<2>& box, Real wanted, const std::string& where) {
  CellGrid grid;
  grid.periodic = box.periodic;
  grid.cell = wanted;
  constexpr Real rounding = 1e-9;
  const auto whole = [&](Real length) {
    const Real cells = length / grid.cell;
    return std::abs(cells - std::round(cells)) <= rounding * cells;
  };
  const int axis = box.periodic[0] ? 0 : 1;
  if (box.periodic[0] || box.periodic[1]) {
    const Real length = box.length(axis);
    Real count = std::ceil(length / wanted * (1 - rounding));
    grid.cell = length / count;
    while (box.periodic[0] && box.periodic[1] && !whole(box.length(1))) {
      grid.cell = length / ++count;
      if (grid.cell < 0.5 * wanted)
        throw InputError(fmt::format(
            "{}: no cell between {} m and {} m fits a whole number of times into both lengths of the "
            "periodic box, {} m and {} m",
            where, 0.5 * wanted, wanted, box.length(0), box.length(1)));
    }
  }
  for (int k = 0; k < 2; ++k) {
    const Box<2>& extent = box.is_periodic(k) ? box : bounds;
    grid.origin[k] = extent.lower[k];
    const Real cells = extent.length(k) / grid.cell;
    const Real count = box.is_periodic(k) ? std::round(cells) : std::ceil(cells * (1 - rounding));
    constexpr Real max_cells = 2e9;
    if (!(count <= max_cells))
      throw InputError(fmt::format("{}: cells of {} m are too small for a plan of {} m", where, grid.cell,
                                   extent.length(k)));
    (k == 0 ? grid.nx : grid.ny) = static_cast<std::int64_t>(count);
  }
  return grid;
}

/// Refuses cells that are too many to be held: of each destination a travel time on each walkable cell, and a
/// list of all tiles on every rank.
void require_room(const CellGrid& grid, const BuildingPlan& building, std::size_t n_destinations, int n_ranks,
                  const std::string& where) {
  Real area = 0;
  for (int level = 0; level < building.n_levels(); ++level)
    for (const PolygonWithHoles& part : building.plan(level).area()) {
      area += signed_area(part.outline);
      for (const Ring& hole : part.holes) area -= signed_area(hole);
    }
  constexpr Real bytes_of_tile = 20;
  constexpr Real cells_of_tile = 1024;
  const Real n_walkable = area / (grid.cell * grid.cell);
  const Real n_tiles =
      building.n_levels() * static_cast<Real>(grid.nx) * static_cast<Real>(grid.ny) / cells_of_tile;
  const Real bytes =
      n_walkable / n_ranks * static_cast<Real>(n_destinations + 1) * sizeof(float) + n_tiles * bytes_of_tile;
  require_memory(bytes,
                 fmt::format("{}: a grid of {:.3g} walkable cells of {:g} m", where, n_walkable, grid.cell));
}

}  // namespace

/// By the cells of the first class: walls more or less change no cell, only links.
void FloorField::share_out_tiles() {
  std::unordered_map<std::int64_t, Terrain::Cells> counted;
  built_->tiling.share_out(built_->comm, [&](std::int64_t tile) {
    Terrain::Cells cells = built_->fields.front().terrain->cells(tile);
    const std::int64_t n_walkable = cells.n_walkable;
    if (n_walkable > 0) counted.emplace(tile, std::move(cells));
    return n_walkable;
  });
  share_errors(built_->comm, [&] {
    for (ClassFields& fields : built_->fields) {
      find_cells(fields, counted);
      counted.clear();
      join_levels(fields);
    }
  });
}

void FloorField::find_cells(ClassFields& fields, std::unordered_map<std::int64_t, Terrain::Cells>& counted) {
  const Tiling& tiling = built_->tiling;
  fields.eikonal.emplace(built_->comm, tiling);
  fields.free_steps.resize(tiling.own().size());
  for (std::size_t k = 0; k < tiling.own().size(); ++k) {
    const std::int64_t tile = tiling.own()[k];
    const auto known = counted.find(tile);
    find_free_steps(fields, k);
    fields.eikonal->set_cells(
        k, known == counted.end() ? fields.terrain->cells(tile).links : known->second.links,
        fields.free_steps[k]);
  }
}

void FloorField::solve() {
  for (ClassFields& fields : built_->fields) solve(fields);
}

void FloorField::solve(ClassFields& fields) const {
  const Tiling& tiling = built_->tiling;
  if (!built_->density.empty()) {
    const int edge = tiling.edge();
    std::vector<float> steps;
    for (std::size_t k = 0; k < tiling.own().size(); ++k) {
      const std::int64_t tile = tiling.own()[k];
      steps = fields.free_steps[k];
      for (int j = 0; j < edge; ++j)
        for (int i = 0; i < edge; ++i) {
          const Vec<2> x = tiling.centre(tile, i, j);
          float& step = steps[i + edge * j];
          step = static_cast<float>(static_cast<Real>(step) * density_factor(x, tiling.level(tile)));
        }
      fields.eikonal->set_steps(k, steps);
    }
  }
  std::vector<std::vector<Eikonal::Start>> starts(built_->destinations.size());
  for (std::size_t d = 0; d < starts.size(); ++d)
    for (Line& line : fields.lines[d]) {
      line.time = time_along(fields, line);
      starts[d].push_back({line.place, line.time});
    }
  fields.eikonal->solve(starts);
}

void FloorField::describe(Section& root) {
  root.table(
      "navigation", {.doc = "Floor fields: travel times to each destination on a grid."},
      [&](Section& section) {
        section.real("cell", settings_.cell,
                     {.unit = Unit::length,
                      .range = positive,
                      .doc = "Size of the cells of the grid; a door should be a few cells wide. A "
                             "little less where the box is periodic, so that whole cells fit."});
        section.real("wall_clearance", settings_.wall_clearance,
                     {.unit = Unit::length,
                      .range = non_negative,
                      .doc = "Distance from walls and columns below which paths cost more."});
        section.real("speed_at_walls", settings_.speed_at_walls,
                     {.range = {.min = 0, .max = 1, .min_open = true},
                      .doc = "Speed factor of the floor fields at a wall; it rises to 1 over wall_clearance. "
                             "It changes routes, not walking speeds."});
        section.boolean("by_width", settings_.by_width,
                        {.doc = "Whether people walk only where they fit through: each class of width has "
                                "floor fields of its own, at most 4 of them. false: one for all"});
        section.optional_table(
            "density_cost",
            {.doc = "Multiplies the cost of paths by 1 + weight * density. Without it floor fields stay "
                    "constant."},
            [&](Section& cost) {
              if (cost.reading()) settings_.counts_density = true;
              // Bodies per area: there is no unit of this kind in a deck.
              cost.real("weight", settings_.weight,
                        {.range = non_negative, .doc = "Weight of the density of people, in m2."});
              cost.real("update", settings_.update,
                        {.unit = Unit::time,
                         .range = positive,
                         .doc = "Time between updates of density and floor fields."});
              cost.real(
                  "cell", settings_.density_cell,
                  {.unit = Unit::length, .range = positive, .doc = "Size of the cells of the density."});
            });
        if (section.reading()) settings_.where = section.where("cell");
      });
}

CellGrid FloorField::grid_for(const BuildingPlan& building, const Box<2>& box) const {
  return fit_grid(building.bounds(), box, settings_.cell, settings_.where);
}

void FloorField::build(const Comm& comm, const BuildingPlan& building, const Box<2>& box,
                       const std::vector<Zone>& zones, const std::vector<Destination>& destinations,
                       std::vector<WidthClass> classes) {
  const CellGrid grid = grid_for(building, box);
  require_room(grid, building, classes.size() * destinations.size(), comm.size(), settings_.where);
  built_.emplace(comm, building, grid);
  Built& built = *built_;
  built.zones = zones;
  built.destinations = destinations;
  const Real reach =
      std::max(settings_.wall_clearance + start_reach_in_cells * grid.cell, sight_in_cells * grid.cell);
  share_errors(comm, [&] {
    for (WidthClass& people : classes) {
      ClassFields& fields = built.fields.emplace_back();
      fields.people = std::move(people);
      fields.terrain.emplace(built.tiling, building, reach, fields.people.shut);
    }
  });
  share_out_tiles();

  if (settings_.counts_density) {
    std::size_t n_cells = building.n_levels();
    for (std::size_t k = 0; k < 2; ++k) {
      const int axis = static_cast<int>(k);
      const Real cells = grid.length(axis) / settings_.density_cell;
      constexpr Real max_cells = 2e9;
      built.density_count[k] = static_cast<std::int64_t>(std::clamp(std::ceil(cells - 1e-9), 1.0, max_cells));
      built.density_cell[axis] = grid.periodic[k]
                                     ? grid.length(axis) / static_cast<Real>(built.density_count[k])
                                     : settings_.density_cell;
      n_cells *= static_cast<std::size_t>(built.density_count[k]);
    }
    require_memory(static_cast<Real>(n_cells) * sizeof(Real),
                   fmt::format("{}: a density on {} cells", settings_.where, n_cells));
    built.density.assign(n_cells, 0);
  }

  find_paces();
  std::vector<std::int64_t> n_starts(destinations.size(), 0);
  for (ClassFields& fields : built.fields) {
    fields.lines.resize(destinations.size());
    fields.line_of.resize(destinations.size());
    for (std::size_t d = 0; d < destinations.size(); ++d) {
      if (!fits(destinations[d].width, fields.people.largest)) continue;
      find_lines(fields, d);
      n_starts[d] += static_cast<std::int64_t>(fields.lines[d].size());
    }
  }
  comm.sum(n_starts);
  const Real smallest = built.fields.front().people.largest;
  for (std::size_t d = 0; d < destinations.size(); ++d)
    if (n_starts[d] == 0 && fits(destinations[d].width, smallest))
      throw InputError(
          fmt::format("{}: no walkable cell of {} m comes near to {}: it lies outside of the walkable "
                      "area, or navigation.cell is too large",
                      destinations[d].where, grid.cell, destinations[d].name));
  solve();
  for (ClassFields& fields : built.fields)
    fields.near.emplace(built.tiling, *fields.terrain, destinations.size());
}

void FloorField::fetch(const PeopleAt& people, Real margin) {
  for (ClassFields& fields : built_->fields) {
    NearFields& near = *fields.near;
    bring(fields, near.missing(near.tiles_near(people, built_->building.map().get(), margin)));
  }
}

Real FloorField::travel_time(int destination, const Vec<2>& x, int level, Real radius) const {
  return fields_of(radius).near->time(static_cast<std::size_t>(destination), x, level);
}

FloorField::Course FloorField::course(int destination, const Vec<2>& x, int level, Real radius) const {
  const std::size_t d = destination;
  const NearFields::Route route = fields_of(radius).near->route(d, x, level);
  if (route.may_be_there) {
    const Built& built = *built_;
    if (built.destinations[d].contains(built.tiling.grid().wrapped(x), level)) return {route.time, {}};
  }
  return {route.time, route.direction};
}

void FloorField::update_density(const PeopleAt& people) {
  Built& built = *built_;
  if (built.density.empty()) return;
  std::vector<std::int64_t> counts(built.density.size(), 0);
  for (std::size_t i = 0; i < people.size(); ++i)
    ++counts[density_cell_of(people.position[i], people.level(i))];
  built.comm.sum(counts);
  const Real area = built.density_cell[0] * built.density_cell[1];
  for (std::size_t i = 0; i < counts.size(); ++i) built.density[i] = static_cast<Real>(counts[i]) / area;
  restore_density();
}

std::span<Real> FloorField::density() {
  return built_ ? std::span<Real>(built_->density) : std::span<Real>();
}

void FloorField::restore_density() {
  solve();
  for (ClassFields& fields : built_->fields) bring(fields, fields.near->present());
}

}  // namespace scree
