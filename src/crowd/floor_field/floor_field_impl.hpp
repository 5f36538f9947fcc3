#pragma once
#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "crowd/floor_field/eikonal.hpp"
#include "crowd/floor_field/floor_field.hpp"
#include "crowd/floor_field/near_fields.hpp"
#include "crowd/floor_field/terrain.hpp"

/// What the files of FloorField share.
namespace scree {

// Cells this near to a destination that see it start from the time along the straight line, which is exact on
// free ground; the scheme alone is at its worst where fronts are strongly curved.
inline constexpr Real start_reach_in_cells = 5;
struct FloorField::Impl {
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

}  // namespace scree
