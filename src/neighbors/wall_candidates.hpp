#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.hpp"
#include "geometry/lattice.hpp"
#include "geometry/level_map.hpp"
#include "geometry/obstacle.hpp"
#include "neighbors/pair_search.hpp"

namespace scree {

/// Of a schedule (SweepSchedule): what of its pairs and obstacles belongs to a block.
struct ScheduleBlock {
  Index first_batch;    ///< pairs within the box: batches [first_batch, first_shifted)
  Index first_shifted;  ///< pairs through a periodic face: batches [first_shifted, last_batch)
  Index last_batch;
  Index first_wall, last_wall;  ///< obstacle batches
  std::int64_t n_pairs;         ///< without the padding
  BlockKey key;
};

/// Which bodies of the blocks of a schedule are near which obstacles, and which of these candidates can pass
/// contacts on to each other. All is local.
template <int D>
class WallCandidates {
 public:
  using Block = ScheduleBlock;
  /// Bodies of one block near one obstacle constraint: wall_bodies()[first, last).
  struct WallBatch {
    Index constraint;
    Index first, last;
  };
  /// A candidate of an obstacle, by its place in wall_bodies().
  struct WallPlace {
    Index place;
    Index constraint;
  };

  std::span<const WallBatch> walls() const { return walls_; }
  std::span<const WallBatch> walls(const Block& block) const {
    return walls().subspan(block.first_wall, block.last_wall - block.first_wall);
  }
  std::span<const Index> wall_bodies() const { return wall_bodies_; }
  std::span<const Index> wall_bodies(const WallBatch& wall) const {
    return wall_bodies().subspan(wall.first, wall.last - wall.first);
  }

  /// Candidates of the same body with parts that the contact at `place` of wall_bodies() can pass on to, or
  /// come from (Shape::neighbours), ascending. No candidate is missing: both ends are near the body.
  std::span<const WallPlace> wall_neighbours(std::size_t place) const {
    if (first_wall_neighbour_.empty()) return {};
    const std::size_t first = first_wall_neighbour_[place];
    return std::span(wall_neighbours_)
        .subspan(first, static_cast<std::size_t>(first_wall_neighbour_[place + 1]) - first);
  }
  /// Candidates of the same body with other obstacles that may meet the one at `place` of wall_bodies() flush
  /// (ObstacleSet::stands_for), ascending. None for most bodies.
  std::span<const WallPlace> walls_beside(std::size_t place) const {
    if (first_wall_beside_.empty()) return {};
    const std::size_t first = first_wall_beside_[place];
    return std::span(walls_beside_)
        .subspan(first, static_cast<std::size_t>(first_wall_beside_[place + 1]) - first);
  }
  /// Whether contacts pass on from one wall to another.
  bool has_wall_neighbours() const { return !wall_neighbours_.empty() || !walls_beside_.empty(); }

  /// A body near obstacles: its candidates are walls_of().
  struct WallBody {
    Index body;
    Index first, last;
  };
  /// Bodies near obstacles, block by block; empty if no wall passes contacts on to another.
  std::span<const WallBody> bodies_at_walls() const { return bodies_at_walls_; }
  /// In the order of constraints.
  std::span<const WallPlace> walls_of(const WallBody& near) const {
    return std::span(walls_of_bodies_).subspan(near.first, near.last - near.first);
  }
  /// Candidates of obstacles of a block are places from the first on, this many.
  Index first_wall_place(const Block& block) const {
    return walls(block).empty() ? 0 : walls(block).front().first;
  }
  std::size_t n_wall_places(const Block& block) const {
    return walls(block).empty()
               ? 0
               : static_cast<std::size_t>(walls(block).back().last - walls(block).front().first);
  }

 protected:
  /// Nothing is near so far; bodies will be found in `box` with this lattice.
  void clear(const Lattice<D>& lattice, const Box<D>& box);
  /// Adds the candidates of the bodies of a block with the obstacles as placed.
  void find(const Box<D>& box, const BodyStore<D>& bodies, const ObstacleSet<D>& obstacles, Real skin,
            const typename BlockTable<D>::Block& block, std::span<const LevelMap::Levels> levels);
  /// Finds which can pass on to each other, after those of all blocks.
  void find_neighbours(const ObstacleSet<D>& obstacles, std::span<const Block> blocks);
  /// As SweepSchedule::renumber().
  void renumber(std::span<const Index> numbers, const ObstacleSet<D>& obstacles,
                std::span<const Block> blocks, std::vector<Index>& kept_walls);
  /// Gives back what is to spare, or all scratch.
  void trim();
  void free_scratch();
  /// Places of the largest array of scratch.
  std::size_t scratch_size() const {
    return std::max(
        {reach_.capacity(), near_.found.capacity(), first_wall_of_body_.capacity(), meets_.capacity()});
  }
  std::span<const WallBody> bodies_at_walls_of(std::size_t block) const {
    if (first_body_of_block_.empty()) return {};
    const std::size_t first = first_body_of_block_[block];
    const auto end = block + 1 < first_body_of_block_.size()
                         ? static_cast<std::size_t>(first_body_of_block_[block + 1])
                         : bodies_at_walls_.size();
    return bodies_at_walls().subspan(first, end - first);
  }

 private:
  void find_walls_beside(const ObstacleSet<D>& obstacles, const Block& block);
  bool any_walls_beside(const ObstacleSet<D>& obstacles, std::span<const Block> blocks) const;
  void sort_walls_by_body(const Block& block);
  std::span<const WallPlace> walls_at(Index body) const {
    const Index* const first = &first_wall_of_body_[body - first_body_at_wall_];
    return std::span(walls_of_bodies_).subspan(first[0], first[1] - first[0]);
  }

  std::vector<WallBatch> walls_;
  std::vector<Index> wall_bodies_;
  std::vector<Index>
      first_wall_neighbour_;  // of each entry of wall_bodies_, and the end; empty: there are none
  std::vector<WallPlace> wall_neighbours_;
  std::vector<Index> first_wall_beside_;  // as first_wall_neighbour_
  std::vector<WallPlace> walls_beside_;
  Box<D> wall_box_ = Box<D>::empty();  // holds all bodies and the domain
  Real wall_reach_ = 0;                // walls farther apart do not meet before the next list [m]
  std::vector<WallBody> bodies_at_walls_;
  std::vector<Index> first_body_of_block_;
  std::vector<WallPlace> walls_of_bodies_;

  // Scratch, kept from build to build if it is little.
  std::vector<Real> reach_;
  NearParts<D> near_;
  Index first_body_at_wall_ = 0;           // of a block
  std::vector<Index> first_wall_of_body_;  // from that body on
  std::vector<std::int8_t> meets_;         // of each two walls of a block: -1: not known yet
};

/// Makes a vector that grew exact, but for a little that the lists to come may need: their length hardly
/// differs.
template <class Vector>
void trim_capacity(Vector& values) {
  if (values.capacity() <= values.size() + values.size() / 32) return;
  Vector exact;
  exact.reserve(values.size() + values.size() / 64);
  exact.assign(values.begin(), values.end());
  values.swap(exact);
}

/// Gives back the memory of vectors.
template <class... Vectors>
void free_memory(Vectors&... vectors) {
  ((vectors = Vectors()), ...);
}

}  // namespace scree
