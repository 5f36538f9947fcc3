#include "crowd/navigation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/sparse_all_to_all.hpp"
#include "crowd/ways/eikonal.hpp"
#include "crowd/ways/near_fields.hpp"
#include "crowd/ways/terrain.hpp"

namespace scree {

namespace {

// Cells this near to a destination that see it start from the time along the straight line, which is exact on
// free ground; the scheme alone is at its worst where fronts are strongly curved.
constexpr Real start_reach_in_cells = 5;
// Walls that decide about links and sight are looked up among those this near to a tile.
constexpr Real sight_in_cells = 4;

struct Rows {
  std::int64_t first;
  std::int64_t last;
};

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
    constexpr Real most_cells = 2e9;
    if (!(count <= most_cells))
      throw InputError(fmt::format("{}: cells of {} m are too small for a plan of {} m", where, grid.cell,
                                   extent.length(k)));
    (k == 0 ? grid.nx : grid.ny) = static_cast<std::int64_t>(count);
  }
  return grid;
}

Real area_of(const Ring& ring) {
  Real doubled = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Vec<2> p = ring[i] - ring[0], q = ring[(i + 1) % ring.size()] - ring[0];
    doubled += p[0] * q[1] - p[1] * q[0];
  }
  return std::abs(doubled) / 2;
}

/// Refuses cells that are too many to be held: of each destination a travel time on each walkable cell, and a
/// list of all tiles on every rank.
void require_room(const CellGrid& grid, const FloorPlan& plan, std::size_t n_destinations, int n_ranks,
                  const std::string& where) {
  Real area = 0;
  for (const PolygonWithHoles& part : plan.area()) {
    area += area_of(part.outline);
    for (const Ring& hole : part.holes) area -= area_of(hole);
  }
  constexpr Real bytes_of_tile = 20;
  constexpr Real cells_of_tile = 1024;
  const Real n_walkable = area / (grid.cell * grid.cell);
  const Real n_tiles = static_cast<Real>(grid.nx) * static_cast<Real>(grid.ny) / cells_of_tile;
  const Real bytes =
      n_walkable / n_ranks * static_cast<Real>(n_destinations + 1) * sizeof(float) + n_tiles * bytes_of_tile;
  require_memory(bytes,
                 fmt::format("{}: a grid of {:.3g} walkable cells of {:g} m", where, n_walkable, grid.cell));
}

struct Segment {
  Vec<2> a, b;
};

Vec<2> nearest_on(const Segment& segment, const Vec<2>& x) {
  const Vec<2> along = segment.b - segment.a;
  const Real length2 = dot(along, along);
  const Real part = length2 > 0 ? std::clamp(dot(along, x - segment.a) / length2, 0.0, 1.0) : 0.0;
  return segment.a + part * along;
}

}  // namespace

struct Navigation::Content {
  struct Settings {
    Real cell = 0.1;
    Real wall_clearance = 0.25;
    Real speed_at_walls = 0.2;
    bool counts_density = false;
    Real weight = 1;
    Real update = 1;
    Real density_cell = 1;
    std::string where;
  };
  Settings settings;

  /// A cell of this rank that starts from a straight line to the destination.
  struct Line {
    std::uint32_t place;
    std::size_t own;  // its tile
    Vec<2> from, to;  // equal in the destination
    Real time;        // along it, at the last solve() [s]
  };
  /// What is made by build(); members refer to those above.
  struct Built {
    Built(const Comm& world, const CellGrid& grid) : comm(world), tiling(grid) {}
    Comm comm;
    Tiling tiling;
    std::vector<Zone> zones;
    std::vector<Destination> destinations;
    std::optional<Terrain> terrain;
    std::optional<Eikonal> eikonal;
    std::optional<NearFields> near;
    std::vector<std::vector<float>> free_steps;  // of own tiles: cell / F without density [s]
    std::vector<std::vector<Line>> lines;        // by destination
    std::vector<std::unordered_map<std::uint32_t, std::size_t>> line_of;  // by destination and place
    std::vector<Real> density;                                            // [1/m2], row by row
    std::array<std::int64_t, 2> density_count{};
    Vec<2> density_cell{};
  };
  std::optional<Built> built;

  Real zone_factor(const Vec<2>& x) const;
  Real clearance_factor(Real distance) const;
  Real density_factor(const Vec<2>& x) const;
  std::int64_t density_cell_of(const Vec<2>& x) const;

  void share_out_tiles();
  void find_free_steps(std::size_t own);
  void find_lines(std::size_t destination);
  Real time_along(const Line& line) const;
  void solve();
  void fill(std::int64_t tile, std::span<NearFields::Cell> cells) const;
  void bring(std::span<const std::int64_t> tiles);
};

// ---- cost
// -----------------------------------------------------------------------------------------------------

Real Navigation::Content::zone_factor(const Vec<2>& x) const {
  Real factor = 1;
  for (const Zone& zone : built->zones)
    if (ring_contains(zone.region, x)) factor *= zone.speed_factor;
  return factor;
}

Real Navigation::Content::clearance_factor(Real distance) const {
  if (distance >= settings.wall_clearance) return 1;
  return settings.speed_at_walls + (1 - settings.speed_at_walls) * distance / settings.wall_clearance;
}

/// 1 + weight * density, the density interpolated between the middles of its cells.
Real Navigation::Content::density_factor(const Vec<2>& x) const {
  if (built->density.empty()) return 1;
  const CellGrid& grid = built->tiling.grid();
  std::array<std::array<std::int64_t, 2>, 2> index{};
  std::array<Real, 2> part{};
  for (std::size_t k = 0; k < 2; ++k) {
    const int axis = static_cast<int>(k);
    const std::int64_t count = built->density_count[k];
    const Real at = (x[axis] - grid.origin[axis]) / built->density_cell[axis] - 0.5;
    const Real low = std::floor(at);
    part[k] = at - low;
    for (std::size_t n = 0; n < 2; ++n) {
      const std::int64_t i = static_cast<std::int64_t>(low) + static_cast<std::int64_t>(n);
      index[k][n] =
          grid.periodic[k] ? (i % count + count) % count : std::clamp<std::int64_t>(i, 0, count - 1);
    }
  }
  const auto value = [&](std::size_t i, std::size_t j) {
    return built->density[static_cast<std::size_t>(index[0][i] + built->density_count[0] * index[1][j])];
  };
  const Real lower = (1 - part[0]) * value(0, 0) + part[0] * value(1, 0);
  const Real upper = (1 - part[0]) * value(0, 1) + part[0] * value(1, 1);
  return 1 + settings.weight * ((1 - part[1]) * lower + part[1] * upper);
}

std::int64_t Navigation::Content::density_cell_of(const Vec<2>& position) const {
  const CellGrid& grid = built->tiling.grid();
  const Vec<2> x = grid.wrapped(position);
  std::array<std::int64_t, 2> index{};
  for (std::size_t k = 0; k < 2; ++k) {
    const int axis = static_cast<int>(k);
    const Real at = std::floor((x[axis] - grid.origin[axis]) / built->density_cell[axis]);
    index[k] = static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<Real>(built->density_count[k] - 1)));
  }
  return index[0] + built->density_count[0] * index[1];
}

void Navigation::Content::find_free_steps(std::size_t own) {
  const Tiling& tiling = built->tiling;
  const CellGrid& grid = tiling.grid();
  const std::int64_t tile = tiling.own()[own];
  std::vector<float> steps = built->terrain->distances(tile, settings.wall_clearance);
  const int edge = tiling.edge();
  for (int j = 0; j < edge; ++j)
    for (int i = 0; i < edge; ++i) {
      float& step = steps[static_cast<std::size_t>(i + edge * j)];
      const Real factor = clearance_factor(static_cast<Real>(step)) *
                          zone_factor(grid.centre(tiling.first_column(tile) + i, tiling.first_row(tile) + j));
      step = static_cast<float>(grid.cell / factor);
    }
  built->free_steps[own] = std::move(steps);
}

// ---- starts
// ---------------------------------------------------------------------------------------------------

void Navigation::Content::find_lines(std::size_t destination) {
  const Tiling& tiling = built->tiling;
  const CellGrid& grid = tiling.grid();
  const Real reach = start_reach_in_cells * grid.cell;
  std::vector<Line>& lines = built->lines[destination];
  const auto own = tiling.own();
  for (std::size_t k = 0; k < own.size(); ++k) {
    const Vec<2> lower = grid.centre(tiling.first_column(own[k]), tiling.first_row(own[k]));
    const Vec<2> upper = grid.centre(tiling.first_column(own[k]) + tiling.width(own[k]),
                                     tiling.first_row(own[k]) + tiling.height(own[k]));
    const auto is_near = [&](const Vec<2>& low, const Vec<2>& high) {
      for (int axis = 0; axis < 2; ++axis)
        if (low[axis] > upper[axis] + reach || high[axis] < lower[axis] - reach) return false;
      return true;
    };
    for (const Ring& ring : built->destinations[destination].regions) {
      Box<2> bounds = Box<2>::empty();
      for (const Vec<2>& corner : ring) bounds.include(corner);
      if (!is_near(bounds.lower, bounds.upper)) continue;
      std::vector<Segment> rim;
      for (std::size_t n = 0; n < ring.size(); ++n) {
        const Segment side{ring[n], ring[(n + 1) % ring.size()]};
        Box<2> box = Box<2>::empty();
        box.include(side.a);
        box.include(side.b);
        if (is_near(box.lower, box.upper)) rim.push_back(side);
      }
      for (int j = 0; j < tiling.height(own[k]); ++j) {
        bool was_inside = false;
        for (int i = 0; i < tiling.width(own[k]); ++i) {
          const Vec<2> x = grid.centre(tiling.first_column(own[k]) + i, tiling.first_row(own[k]) + j);
          Real least = HUGE_VAL;
          Vec<2> to;
          for (const Segment& side : rim) {
            const Vec<2> foot = nearest_on(side, x);
            const Real distance = norm(foot - x);
            if (distance < least) {
              least = distance;
              to = foot;
            }
          }
          // Only near the rim can a cell be inside and the one before it not.
          const bool inside = (i > 0 && least > 1.5 * grid.cell) ? was_inside : ring_contains(ring, x);
          was_inside = inside;
          const std::uint32_t place = built->eikonal->place(k, i, j);
          if ((built->eikonal->links(place) & walkable_bit) == 0) continue;
          if (inside || least == 0)
            lines.push_back({place, k, x, x, 0});
          else if (least < reach && !built->terrain->is_cut(own[k], x, to))
            lines.push_back({place, k, x, to, 0});
        }
      }
    }
  }
  // Regions of one destination may overlap, or be near to the same cell: the nearest counts.
  std::ranges::sort(lines, {}, [](const Line& line) {
    return std::pair{line.place, norm(line.to - line.from)};
  });
  const auto same_place = [](const Line& a, const Line& b) { return a.place == b.place; };
  lines.erase(std::unique(lines.begin(), lines.end(), same_place), lines.end());
  auto& line_of = built->line_of[destination];
  for (std::size_t n = 0; n < lines.size(); ++n) line_of.emplace(lines[n].place, n);
}

/// Midpoint rule along the line.
Real Navigation::Content::time_along(const Line& line) const {
  const Real length = norm(line.to - line.from);
  if (length == 0) return 0;
  const std::int64_t tile = built->tiling.own()[line.own];
  const Real count = std::ceil(2 * length / built->tiling.grid().cell);
  Real sum = 0;
  for (Real n = 0.5; n < count; ++n) {
    const Vec<2> x = line.from + (n / count) * (line.to - line.from);
    const Real distance = built->terrain->distance(tile, x, settings.wall_clearance);
    sum += density_factor(x) / (zone_factor(x) * clearance_factor(distance));
  }
  return sum * length / count;
}

// ---- fields
// ---------------------------------------------------------------------------------------------------

void Navigation::Content::share_out_tiles() {
  Tiling& tiling = built->tiling;
  std::unordered_map<std::int64_t, Terrain::Cells> counted;
  tiling.share_out(built->comm, [&](std::int64_t tile) {
    Terrain::Cells cells = built->terrain->cells(tile);
    const std::int64_t n_walkable = cells.n_walkable;
    if (n_walkable > 0) counted.emplace(tile, std::move(cells));
    return n_walkable;
  });
  share_errors(built->comm, [&] {
    built->eikonal.emplace(built->comm, tiling);
    built->free_steps.resize(tiling.own().size());
    for (std::size_t k = 0; k < tiling.own().size(); ++k) {
      const std::int64_t tile = tiling.own()[k];
      const auto known = counted.find(tile);
      find_free_steps(k);
      if (known != counted.end())
        built->eikonal->set_cells(k, known->second.links, built->free_steps[k]);
      else
        built->eikonal->set_cells(k, built->terrain->cells(tile).links, built->free_steps[k]);
    }
  });
}

void Navigation::Content::solve() {
  const Tiling& tiling = built->tiling;
  const CellGrid& grid = tiling.grid();
  if (!built->density.empty()) {
    const int edge = tiling.edge();
    std::vector<float> steps;
    for (std::size_t k = 0; k < tiling.own().size(); ++k) {
      const std::int64_t tile = tiling.own()[k];
      steps = built->free_steps[k];
      for (int j = 0; j < edge; ++j)
        for (int i = 0; i < edge; ++i) {
          const Vec<2> x = grid.centre(tiling.first_column(tile) + i, tiling.first_row(tile) + j);
          float& step = steps[static_cast<std::size_t>(i + edge * j)];
          step = static_cast<float>(static_cast<Real>(step) * density_factor(x));
        }
      built->eikonal->set_steps(k, steps);
    }
  }
  std::vector<std::vector<Eikonal::Start>> starts(built->destinations.size());
  for (std::size_t d = 0; d < starts.size(); ++d)
    for (Line& line : built->lines[d]) {
      line.time = time_along(line);
      starts[d].push_back({line.place, line.time});
    }
  built->eikonal->solve(starts);
}

/// What others need of an own tile: all fields, ready to be asked.
void Navigation::Content::fill(std::int64_t tile, std::span<NearFields::Cell> cells) const {
  const Tiling& tiling = built->tiling;
  const Eikonal& eikonal = *built->eikonal;
  const auto own = static_cast<std::size_t>(eikonal.own_number(tile));
  const int edge = tiling.edge();
  const Real reaches_into = 0.75 * tiling.grid().cell;  // half a diagonal, and a little
  std::size_t at = 0;
  for (std::size_t d = 0; d < built->destinations.size(); ++d)
    for (int j = 0; j < edge; ++j)
      for (int i = 0; i < edge; ++i) {
        const std::uint32_t place = eikonal.place(own, i, j);
        const Real time = eikonal.time(d, place);
        Vec<2> down = eikonal.descent(d, place);
        bool is_there = false;
        if (const auto found = built->line_of[d].find(place); found != built->line_of[d].end()) {
          const Line& line = built->lines[d][found->second];
          const Vec<2> straight = line.to - line.from;
          is_there = norm(straight) < reaches_into;
          if (time == line.time) down = straight;
        }
        cells[at++] = NearFields::Cell(time, is_there, down);
      }
}

/// Gets these tiles from their owners. Collective.
void Navigation::Content::bring(std::span<const std::int64_t> tiles) {
  const Comm& comm = built->comm;
  NearFields& near = *built->near;
  Outgoing requests;
  for (const std::int64_t tile : tiles) {
    const int owner = built->tiling.owner(tile);
    if (owner == comm.rank())
      fill(tile, near.room(tile));
    else
      requests.to(owner).put(tile);
  }
  Outgoing replies;
  std::vector<NearFields::Cell> cells(built->destinations.size() *
                                      static_cast<std::size_t>(built->tiling.edge() * built->tiling.edge()));
  for (const PackedMessage& message : requests.exchange(comm)) {
    Unpacker request(message.bytes);
    Packer reply = replies.to(message.rank);
    while (!request.empty()) {
      const auto tile = request.take<std::int64_t>();
      fill(tile, cells);
      reply.put(tile);
      reply.put(std::span<const NearFields::Cell>(cells));
    }
  }
  for (const PackedMessage& message : replies.exchange(comm)) {
    Unpacker reply(message.bytes);
    while (!reply.empty()) {
      const auto tile = reply.take<std::int64_t>();
      reply.take(near.room(tile));
    }
  }
}

// ---- Navigation
// -----------------------------------------------------------------------------------------------

Navigation::Navigation() : content_(std::make_unique<Content>()) {}
Navigation::~Navigation() = default;

void Navigation::describe(Section& root) {
  Content::Settings& settings = content_->settings;
  root.table(
      "navigation", {.doc = "How people find their ways: travel times on a grid, one per destination."},
      [&](Section& section) {
        section.real("cell", settings.cell,
                     {.unit = Unit::length,
                      .range = positive,
                      .doc = "Size of the cells of the grid; a door should be a few cells wide. A "
                             "little less where the box is periodic, so that whole cells fit."});
        section.real("wall_clearance", settings.wall_clearance,
                     {.unit = Unit::length,
                      .range = non_negative,
                      .doc = "Nearer to walls and columns than this, ways cost more."});
        section.real("speed_at_walls", settings.speed_at_walls,
                     {.range = {.least = 0, .most = 1, .least_open = true},
                      .doc = "Factor of speed that ways count with right at a wall; it rises to 1 over "
                             "wall_clearance. It chooses the way and slows nobody."});
        section.optional_table(
            "density_cost",
            {.doc = "Lets ways cost 1 + weight * density times as much. Without it ways stay as they "
                    "are found at the start."},
            [&](Section& cost) {
              if (cost.reading()) settings.counts_density = true;
              // Bodies per area: there is no unit of this kind in a deck.
              cost.real("weight", settings.weight,
                        {.range = non_negative, .doc = "Weight of the density of people, in m2."});
              cost.real("update", settings.update,
                        {.unit = Unit::time,
                         .range = positive,
                         .doc = "How often people are counted and all ways found anew."});
              cost.real("cell", settings.density_cell,
                        {.unit = Unit::length,
                         .range = positive,
                         .doc = "Size of the cells in which people are counted."});
            });
        if (section.reading()) settings.where = section.where("cell");
      });
}

Real Navigation::cell() const {
  return content_->settings.cell;
}

void Navigation::build(const Comm& comm, const FloorPlan& plan, const Box<2>& box,
                       const std::vector<Zone>& zones, const std::vector<Destination>& destinations) {
  const Content::Settings& settings = content_->settings;
  const CellGrid grid = fit_grid(plan.bounds(), box, settings.cell, settings.where);
  require_room(grid, plan, destinations.size(), comm.size(), settings.where);
  content_->built.emplace(comm, grid);
  Content::Built& built = *content_->built;
  built.zones = zones;
  built.destinations = destinations;
  const Real reach =
      std::max(settings.wall_clearance + start_reach_in_cells * grid.cell, sight_in_cells * grid.cell);
  share_errors(comm, [&] {
    built.terrain.emplace(
        built.tiling, plan.walls(), plan.columns(), [&plan](const Vec<2>& x) { return plan.contains(x); },
        reach);
  });
  content_->share_out_tiles();

  if (settings.counts_density) {
    std::size_t n_cells = 1;
    for (std::size_t k = 0; k < 2; ++k) {
      const int axis = static_cast<int>(k);
      const Real cells = grid.length(axis) / settings.density_cell;
      constexpr Real most_cells = 2e9;
      built.density_count[k] =
          static_cast<std::int64_t>(std::clamp(std::ceil(cells - 1e-9), 1.0, most_cells));
      built.density_cell[axis] = grid.periodic[k]
                                     ? grid.length(axis) / static_cast<Real>(built.density_count[k])
                                     : settings.density_cell;
      n_cells *= static_cast<std::size_t>(built.density_count[k]);
    }
    require_memory(static_cast<Real>(n_cells) * sizeof(Real),
                   fmt::format("{}: a density on {} cells", settings.where, n_cells));
    built.density.assign(n_cells, 0);
  }

  built.lines.resize(destinations.size());
  built.line_of.resize(destinations.size());
  std::vector<std::int64_t> n_starts(destinations.size());
  for (std::size_t d = 0; d < destinations.size(); ++d) {
    content_->find_lines(d);
    n_starts[d] = static_cast<std::int64_t>(built.lines[d].size());
  }
  comm.sum(n_starts);
  for (std::size_t d = 0; d < destinations.size(); ++d)
    if (n_starts[d] == 0)
      throw InputError(
          fmt::format("{}: no walkable cell of {} m comes near to {}: it lies outside of the walkable "
                      "area, or navigation.cell is too large",
                      destinations[d].where, grid.cell, destinations[d].name));
  content_->solve();
  built.near.emplace(built.tiling, *built.terrain, destinations.size());
}

void Navigation::fetch(std::span<const Vec<2>> positions, Real margin) {
  NearFields& near = *content_->built->near;
  content_->bring(near.missing(near.tiles_near(positions, margin)));
}

Real Navigation::travel_time(int destination, const Vec<2>& x) const {
  return content_->built->near->time(static_cast<std::size_t>(destination), x);
}

Vec<2> Navigation::direction(int destination, const Vec<2>& x) const {
  const auto d = static_cast<std::size_t>(destination);
  const NearFields::Way way = content_->built->near->way(d, x);
  if (way.may_be_there) {
    const Content::Built& built = *content_->built;
    if (built.destinations[d].contains(built.tiling.grid().wrapped(x))) return {};
  }
  return way.direction;
}

bool Navigation::counts_density() const {
  return content_->settings.counts_density;
}

Real Navigation::density_interval() const {
  return content_->settings.update;
}

void Navigation::update_density(std::span<const Vec<2>> positions) {
  Content::Built& built = *content_->built;
  if (built.density.empty()) return;
  std::vector<std::int64_t> counts(built.density.size(), 0);
  for (const Vec<2>& x : positions) ++counts[static_cast<std::size_t>(content_->density_cell_of(x))];
  built.comm.sum(counts);
  const Real area = built.density_cell[0] * built.density_cell[1];
  for (std::size_t i = 0; i < counts.size(); ++i) built.density[i] = static_cast<Real>(counts[i]) / area;
  restore_density();
}

std::span<Real> Navigation::density() {
  return content_->built ? std::span<Real>(content_->built->density) : std::span<Real>();
}

void Navigation::restore_density() {
  content_->solve();
  content_->bring(content_->built->near->held());
}

const Navigation::Grid& Navigation::grid() const {
  return content_->built->tiling.grid();
}

std::vector<Real> Navigation::rows(int destination, std::int64_t first_row, std::int64_t last_row) const {
  const Content::Built& built = *content_->built;
  const Tiling& tiling = built.tiling;
  const CellGrid& grid = tiling.grid();
  const Eikonal& eikonal = *built.eikonal;
  first_row = std::clamp<std::int64_t>(first_row, 0, grid.ny);
  last_row = std::clamp<std::int64_t>(last_row, first_row, grid.ny);

  std::vector<Real> result(static_cast<std::size_t>((last_row - first_row) * grid.nx),
                           std::numeric_limits<Real>::quiet_NaN());
  const auto rows_of = [&](std::int64_t tile, const Rows& rows) {
    return Rows{std::max(rows.first, tiling.first_row(tile)),
                std::min(rows.last, tiling.first_row(tile) + tiling.height(tile))};
  };
  // Values of the wanted rows of an own tile, in the order in which the other side puts them in place.
  std::vector<Real> values;
  const auto collect = [&](std::int64_t tile, const Rows& rows) {
    values.clear();
    const auto own = static_cast<std::size_t>(eikonal.own_number(tile));
    for (std::int64_t row = rows.first; row < rows.last; ++row)
      for (int i = 0; i < tiling.width(tile); ++i) {
        const int j = static_cast<int>(row - tiling.first_row(tile));
        const std::uint32_t place = eikonal.place(own, i, j);
        const auto cell = static_cast<std::size_t>(i + tiling.edge() * j);
        if ((eikonal.links(place) & walkable_bit) == 0)
          values.push_back(std::numeric_limits<Real>::quiet_NaN());
        else if (destination < 0)
          values.push_back(grid.cell / static_cast<Real>(built.free_steps[own][cell]));
        else
          values.push_back(eikonal.time(static_cast<std::size_t>(destination), place));
      }
  };
  const auto put = [&](std::int64_t tile, const Rows& rows) {
    std::size_t at = 0;
    for (std::int64_t row = rows.first; row < rows.last; ++row)
      for (int i = 0; i < tiling.width(tile); ++i)
        result[static_cast<std::size_t>((row - first_row) * grid.nx + tiling.first_column(tile) + i)] =
            values[at++];
  };

  Outgoing requests;
  if (first_row < last_row)
    for (std::int64_t tile = first_row / tiling.edge() * tiling.tiles(0);
         tile < ((last_row - 1) / tiling.edge() + 1) * tiling.tiles(0); ++tile) {
      const Rows rows = rows_of(tile, {first_row, last_row});
      const int owner = tiling.owner(tile);
      if (owner == built.comm.rank()) {
        collect(tile, rows);
        put(tile, rows);
      } else if (owner >= 0) {
        requests.to(owner).put(tile);
        requests.to(owner).put(rows);
      }
    }
  Outgoing replies;
  for (const PackedMessage& message : requests.exchange(built.comm)) {
    Unpacker request(message.bytes);
    Packer reply = replies.to(message.rank);
    while (!request.empty()) {
      const auto tile = request.take<std::int64_t>();
      const auto rows = request.take<Rows>();
      collect(tile, rows);
      reply.put(tile);
      reply.put(rows);
      reply.put(std::span<const Real>(values));
    }
  }
  for (const PackedMessage& message : replies.exchange(built.comm)) {
    Unpacker reply(message.bytes);
    while (!reply.empty()) {
      const auto tile = reply.take<std::int64_t>();
      const auto rows = reply.take<Rows>();
      values.resize(static_cast<std::size_t>((rows.last - rows.first) * tiling.width(tile)));
      reply.take(std::span<Real>(values));
      put(tile, rows);
    }
  }
  return result;
}

std::size_t Navigation::bytes() const {
  if (!content_->built) return 0;
  const Content::Built& built = *content_->built;
  std::size_t total = built.tiling.bytes() + built.density.capacity() * sizeof(Real);
  if (built.terrain) total += built.terrain->bytes();
  if (built.eikonal) total += built.eikonal->bytes();
  if (built.near) total += built.near->bytes();
  for (const auto& steps : built.free_steps) total += steps.capacity() * sizeof(float);
  for (const auto& lines : built.lines) total += lines.capacity() * sizeof(Content::Line);
  return total;
}

}  // namespace scree
