#pragma once
#include <string>
#include <vector>

#include "bench/scratch.hpp"
#include "run/run_deck.hpp"

namespace scree {

/// Beds of equal spheres, 1 cm wide, on a flat floor, periodic along x and y, some 16 diameters high: a tile
/// of 4096 is settled once, larger beds are copies of it side by side, so their contacts are the same.
struct BedOptions {
  std::string scheme;        ///< "dem", "nonsmooth"
  std::string tables;        ///< of the scheme: time step, material, solver
  Real settling_time = 0.5;  ///< of the tile [s]
  /// The tile falls from a loose lattice, as rigid grains need it; else it starts dense, with small overlaps.
  bool loose = false;
  std::string folder;  ///< for the file of positions, which all ranks read; empty: that of temporary files
};

class Bed {
 public:
  static constexpr std::int64_t tile_edge = 16;  ///< diameters along x and y
  static constexpr std::int64_t tile_bodies = tile_edge * tile_edge * tile_edge;
  static constexpr Real diameter = 0.01;  ///< [m]

  /// Settles a tile. Collective.
  Bed(const Comm& comm, BedOptions options);

  /// The deck of a settled bed of `bodies` grains, a multiple of tile_bodies; positions lie in a file that
  /// goes away with this object. Velocities are zero. Collective.
  RunDeck<3> deck(std::int64_t bodies);

  /// Throws InputError unless `bodies` is a positive multiple of tile_bodies.
  static void validate(std::int64_t bodies);
  /// The nearest number of bodies that a bed can have.
  static std::int64_t nearest(std::int64_t bodies);

 private:
  RunDeck<3> deck_of(std::int64_t columns, std::int64_t rows, const std::string& source) const;

  Comm comm_;
  BedOptions options_;
  ScratchFolder folder_;
  std::vector<Vec<3>> tile_;  ///< positions by id, on all ranks
};

}  // namespace scree
