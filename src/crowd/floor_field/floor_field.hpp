#pragma once
#include <array>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/parallel.hpp"
#include "core/section.hpp"
#include "crowd/floor_field/eikonal.hpp"
#include "crowd/floor_field/narrow_places.hpp"
#include "crowd/floor_field/near_fields.hpp"
#include "crowd/plan/building_plan.hpp"

namespace scree {

/// A place that people walk to: they are there when their centre is in one of the regions.
struct Destination {
  std::string name;   ///< "exits.east"
  std::string where;  ///< its place in the deck
  std::vector<Ring> regions;
  int level = 0;          ///< of the building
  Real width = HUGE_VAL;  ///< of the opening that leads into the regions [m]
  bool contains(const Vec<2>& x, int level_of_x) const {
    if (level_of_x != level) return false;
    for (const Ring& region : regions)
      if (ring_contains(region, x)) return true;
    return false;
  }
};

/// An area where people walk faster or slower than elsewhere.
struct Zone {
  Ring region;
  Real speed_factor = 1;  ///< > 0
  int level = 0;          ///< of the building
  std::string name{};
  std::string where{};  ///< its place in the deck
  bool contains(const Vec<2>& x, int level_of_x) const {
    return level_of_x == level && ring_contains(region, x);
  }
};

/// Routes to destinations: for each a travel-time field T with |grad T| = 1 / F on a grid (docs/method.md,
/// "Routes"), F = zone factor * clearance factor / density cost, T = 0 in the destination, solved by fast
/// marching on tiles that the ranks share. Values do not depend on the number of ranks, bit by bit.
///
/// T is the time in seconds for somebody who walks 1 m/s on free ground; infinite where there is no route.
/// Along periodic axes of the box the plan counts between the faces of the box only, and a wall that lies in
/// a face is none. In a building of several levels each has its cells; those behind the lines that join two
/// levels are copies of cells of the other one, so routes lead on over the line as if there were none.
///
/// People of each class of width have fields of their own, in which walls stand across the places that they
/// do not fit through. `radius` in questions says whose routes are asked for; 0: those of the smallest class.
///
///     [navigation]                 cell, wall_clearance, speed_at_walls, by_width
///     [navigation.density_cost]    weight, update, cell
class FloorField {
 public:
  FloorField() = default;
  FloorField(const FloorField&) = delete;
  FloorField& operator=(const FloorField&) = delete;

  /// Declares and reads [navigation].
  void describe(Section& root);
  /// Size of the cells that the deck asks for; grid() has what came of it [m].
  Real cell() const { return settings_.cell; }
  /// Whether people of different widths have different routes.
  bool by_width() const { return settings_.by_width; }
  /// Of width. After build(); local.
  std::size_t n_classes() const { return built_->fields.size(); }
  std::size_t class_of(Real radius) const {
    const auto& fields = built_->fields;
    std::size_t c = 0;
    while (c + 1 < fields.size() && radius > fields[c].people.up_to) ++c;
    return c;
  }
  const WidthClass& width_class(std::size_t c) const { return built_->fields[c].people; }
  /// The grid that build() makes, for a box with the same periodic axes. Throws InputError as build().
  CellGrid grid_for(const BuildingPlan& building, const Box<2>& box) const;

  /// Solves all fields, for each of `classes`. `box` says which axes are periodic. Throws InputError, on all
  /// ranks, for a destination that no walkable cell comes near to, and for cells that fit no whole number of
  /// times into a box periodic along both axes. Collective; O(cells log cells / ranks) per destination.
  void build(const Comm& comm, const BuildingPlan& building, const Box<2>& box,
             const std::vector<Zone>& zones, const std::vector<Destination>& destinations,
             std::vector<WidthClass> classes = {{}});

  /// Solves all fields again if connectors have closed since the last call, and brings what was fetched up to
  /// date: true then, on all ranks. Collective.
  bool close_connectors(Real time);
  /// How many connectors and lifts have closed in what the fields know.
  int n_closed() const { return built_->n_closed; }
  /// Makes the fields of all destinations available on this rank within `margin` [m] of `people`. After
  /// build() and after every list build. Collective.
  void fetch(const PeopleAt& people, Real margin);

  /// Travel time [s at 1 m/s] from x on a level; infinite if there is no route, or no walkable cell within
  /// two cells. x must be within what was fetched. Local, O(1), no allocation.
  Real travel_time(int destination, const Vec<2>& x, int level, Real radius = 0) const;
  /// Unit vector of the route from x: down the gradient of T, blended between cells; zero in the destination
  /// or where no route leads on. Local, O(1) (O(corners) in cells that the destination reaches into), no
  /// allocation.
  Vec<2> direction(int destination, const Vec<2>& x, int level, Real radius = 0) const {
    return course(destination, x, level, radius).direction;
  }
  /// Both at once.
  struct Course {
    Real travel_time;
    Vec<2> direction;
  };
  Course course(int destination, const Vec<2>& x, int level, Real radius = 0) const;
  /// Asks for what course() needs from memory, for a question soon. Local, O(1).
  void prefetch(int destination, const Vec<2>& x, int level, Real radius) const {
    fields_of(radius).near->prefetch(static_cast<std::size_t>(destination), x, level);
  }

  /// Whether routes cost more where it is crowded, and how often that is found again [s].
  bool counts_density() const { return settings_.counts_density; }
  Real density_interval() const { return settings_.update; }
  /// Sets what `people` (owned, any order) add to the cost, solves all fields again and brings
  /// what was fetched up to date. The same on any number of ranks. Collective.
  void update_density(const PeopleAt& people);
  /// What a restart needs of the last update_density(): the density [1/m2] on its own coarse grid, the same
  /// on all ranks; empty without density cost, zeros after build(). After changing it call restore_density().
  /// Local.
  std::span<Real> density();
  /// Solves all fields again with what density() says. Collective.
  void restore_density();

  /// The grid, for outputs and checks. T of a destination for the smallest class (or, for -1, F without
  /// density) at the centres of the cells of rows [first_row, last_row) of a level, row by row, as asked by
  /// this rank; nan where not walkable. Collective: all ranks call it for the same destination, with rows of
  /// their own.
  const CellGrid& grid() const { return built_->tiling.grid(); }
  std::vector<Real> rows(int destination, int level, std::int64_t first_row, std::int64_t last_row) const;

 private:
  // Cells this near to a destination that see it start from the time along the straight line, which is exact
  // on free ground; the scheme alone is at its worst where fronts are strongly curved.
  static constexpr Real start_reach_in_cells = 5;
  struct Settings {
    Real cell = 0.1;
    Real wall_clearance = 0.45;
    Real speed_at_walls = 0.2;
    bool by_width = true;
    bool counts_density = false;
    Real weight = 1;
    Real update = 1;
    Real density_cell = 1;
    std::string where;
  };
  /// A cell of this rank that starts from a straight line to the destination.
  struct Line {
    std::uint32_t place;
    std::size_t own;  // its tile
    Vec<2> from, to;  // equal in the destination
    Real time;        // along it, at the last solve() [s]
  };
  /// Of a class of width; members refer to those above.
  struct ClassFields {
    WidthClass people;
    std::optional<Terrain> terrain;
    std::optional<Eikonal> eikonal;
    std::optional<NearFields> near;
    std::vector<std::vector<float>> free_steps;  // of own tiles: cell / F without density [s]
    std::vector<std::vector<Line>> lines;        // by destination
    std::vector<std::unordered_map<std::uint32_t, std::size_t>> line_of;  // by destination and place
  };
  /// What is made by build(); members refer to those above.
  struct Built {
    Built(const Comm& world, const BuildingPlan& plan, const CellGrid& grid)
        : comm(world), building(plan), tiling(grid, Tiling::default_edge, plan.n_levels()) {}
    Comm comm;
    const BuildingPlan& building;
    Tiling tiling;
    std::vector<Zone> zones;
    std::vector<Destination> destinations;
    std::deque<ClassFields> fields;  // by class
    Real time = 0;                   // that routes are found for, as far as connectors close [s]
    int n_closed = 0;                // of them
    std::vector<Real> density;       // [1/m2], row by row
    std::array<std::int64_t, 2> density_count{};
    Vec<2> density_cell{};
  };

  Real zone_factor(const Vec<2>& x, int level) const;
  Real clearance_factor(Real distance) const;
  Real density_factor(const Vec<2>& x, int level) const;
  std::int64_t density_cell_of(const Vec<2>& x, int level) const;
  std::int64_t density_cells_of_level() const { return built_->density_count[0] * built_->density_count[1]; }
  std::vector<float> paces(const Destination& destination) const;
  void find_paces();
  void join_levels(ClassFields& fields) const;
  void join_lifts(ClassFields& fields) const;
  std::int64_t tile_at(const Vec<2>& x, int level) const;

  const ClassFields& fields_of(Real radius) const { return built_->fields[class_of(radius)]; }
  void share_out_tiles();
  void find_cells(ClassFields& fields, std::unordered_map<std::int64_t, Terrain::Cells>& known);
  void find_free_steps(ClassFields& fields, std::size_t own) const;
  void find_lines(ClassFields& fields, std::size_t destination) const;
  Real time_along(const ClassFields& fields, const Line& line) const;
  void solve();
  void solve(ClassFields& fields) const;
  void fill(const ClassFields& fields, std::int64_t tile, std::span<NearFields::Cell> cells) const;
  void bring(ClassFields& fields, std::span<const std::int64_t> tiles) const;

  Settings settings_;
  std::optional<Built> built_;
};

}  // namespace scree
