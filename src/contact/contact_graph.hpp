#pragma once
#include <vector>

#include "core/types.hpp"

namespace scree {

/// The contacts this rank owns (each contact of the run is owned by exactly one rank) in the order of a
/// sweep, structure of arrays. Index c is a contact between body a[c] and either body b[c] or, if b[c] < 0,
/// obstacle constraint wall[c]. `a` is the body with the smaller global id. Bodies are indices into BodyStore
/// (owned or ghost).
template <int D>
struct ContactGraph {
  std::vector<Index> a;
  std::vector<Index> b;        ///< -1 for a contact with an obstacle
  std::vector<Index> wall;     ///< obstacle constraint, -1 for a contact between bodies
  std::vector<Real> gap;       ///< distance of the surfaces [m], negative = overlap
  std::vector<Vec<D>> normal;  ///< unit, from a to b (or to the obstacle)
  std::vector<Vec<D>> branch;  ///< centre of b minus centre of a, nearest image (to the wall: foot point) [m]
  std::vector<Index> place;    ///< of the candidate in the sweep schedule: of pairs, or of wall_bodies()
  /// Normal reaction, pushes a along -normal, b along +normal [N; m/s in first-order schemes: per mobility].
  std::vector<Real> force;
  /// Friction on b, -friction on a, across the normal [N]; empty in schemes without friction.
  std::vector<Vec<D>> friction;
  /// Colour p of a sweep has the contacts [colour_first[p], colour_first[p + 1]); those before
  /// interior_first[p] touch bodies shared between ranks.
  std::vector<Index> colour_first, interior_first;

  std::size_t size() const { return a.size(); }
  void clear() {
    a.clear(), b.clear(), wall.clear(), gap.clear(), normal.clear(), branch.clear(), place.clear();
    force.clear(), friction.clear();
    colour_first.clear(), interior_first.clear();
  }
};

}  // namespace scree
