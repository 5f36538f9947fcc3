#pragma once
#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// Contacts that this rank owns (each contact of the run is owned by exactly one rank) in the order of a
/// sweep, structure of arrays. Index c is a contact between body a[c] and either body b[c] or, if b[c] < 0,
/// an obstacle. `a` is the body with the smaller global id. Bodies are indices into BodyStore (owned or
/// ghost).
template <int D>
struct ContactList {
  std::vector<Index> a;
  std::vector<Index> b;        ///< -1 for a contact with an obstacle
  std::vector<Real> gap;       ///< distance of the surfaces [m], negative = overlap
  std::vector<Vec<D>> normal;  ///< unit, from a to b (or to the obstacle)
  std::vector<Index> place;    ///< of the candidate in the sweep schedule: of pairs, or of wall_bodies()
  /// Colour p of a sweep has the contacts [colour_first[p], colour_first[p + 1]); those before
  /// interior_first[p] touch bodies shared between ranks.
  std::vector<Index> colour_first, interior_first;

  std::size_t size() const { return a.size(); }
  /// Whether contact c belongs to the same candidate as contact d of another list, or of this one.
  bool same_pair(std::size_t c, const ContactList& other, std::size_t d) const {
    return place[c] == other.place[d] && (b[c] < 0) == (other.b[d] < 0);
  }
  /// The end of the contacts of a pair, or of a body and an obstacle, the first of which is `first`.
  std::size_t end_of_pair(std::size_t first) const {
    std::size_t last = first + 1;
    while (last < size() && same_pair(first, *this, last)) ++last;
    return last;
  }
  void clear() {
    a.clear(), b.clear(), gap.clear(), normal.clear(), place.clear();
    colour_first.clear(), interior_first.clear();
  }
  void add(Index body, Index partner, Real distance, const Vec<D>& direction, std::size_t candidate) {
    a.push_back(body);
    b.push_back(partner);
    gap.push_back(distance);
    normal.push_back(direction);
    place.push_back(static_cast<Index>(candidate));
  }
};

/// The contacts of a moment, with their geometry and forces.
template <int D>
struct ContactGraph : ContactList<D> {
  std::vector<Index> wall;     ///< obstacle constraint, -1 for a contact between bodies
  std::vector<Vec<D>> branch;  ///< centre of b minus centre of a, nearest image (to the wall: foot point) [m]
  /// Candidates with obstacles that would be contacts but for another wall that meets theirs flush and stands
  /// for it, by place.
  std::vector<Index> excluded;
  // Only where some bodies are no spheres. The contacts of a pair, or of a body with a wall, then follow each
  // other and have one `place`.
  std::vector<Vec<D>> point;           ///< in the middle of the gap, from the centre of a [m]
  std::vector<std::uint32_t> feature;  ///< names the point as long as the same corners and edges meet
  /// Normal reaction, pushes a along -normal, b along +normal [N; m/s in first-order schemes: per mobility].
  std::vector<Real> force;
  /// What mu times bounds friction [N]: with attraction more than `force`; empty where it is |force|.
  std::vector<Real> load;
  /// Friction on b, -friction on a, across the normal [N]; empty in schemes without friction.
  std::vector<Vec<D>> friction;
  /// Torque on b against rolling, its opposite on a [N m]; empty without rolling friction.
  std::vector<Vec<D == 2 ? 1 : 3>> rolling;

  void clear() {
    ContactList<D>::clear();
    wall.clear(), branch.clear(), excluded.clear(), point.clear(), feature.clear(), force.clear(),
        load.clear(), friction.clear(), rolling.clear();
  }
};

}  // namespace scree
