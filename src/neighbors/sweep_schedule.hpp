#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/types.hpp"
#include "geometry/lattice.hpp"
#include "geometry/level_map.hpp"
#include "geometry/obstacle.hpp"
#include "neighbors/pair_search.hpp"
#include "neighbors/wall_candidates.hpp"

namespace scree {

/// Numbers of pairs that a kernel treats at once; every class of pairs is padded to a multiple of it.
inline constexpr Index batch_size = 8;

struct ScheduleOptions {
  int size_classes = 0;    ///< of the search; 0: as many as pay. The result is the same
  bool in_classes = true;  ///< false: pairs keep the order of cells and ids; a body may come twice in a batch
  Real pair_skin = HUGE_VAL;  ///< pairs with wider gaps are left out, obstacles are not [m]
};

/// The candidate contacts of this rank in the order in which sweeps visit them (docs/method.md, "Sweeps").
///
/// A pair belongs to the block that holds the componentwise smaller of the two cells, and blocks run by
/// colour. In a block come first the pairs that cross no periodic face, then those that do, then the
/// obstacles. Pairs are put into classes without a common body, in an order fixed by cells and ids; nothing
/// here depends on who owns which block. Where a body has more than 64 partners in a block, its pairs go to
/// as many batches, which the other pairs of the block fill up. Schemes whose kernels do not need that can do
/// without classes: then the order of two pairs depends on no third body, and bodies can go without a new
/// list (renumber). Along a thin axis (see Lattice) a block sees
/// its own bodies once more, one period further: a pair may come several times, with different shift codes,
/// and each is a contact of its own.
///
/// Pairs are stored in batches of batch_size: first the smaller-id bodies of the batch, then the larger-id
/// ones. Unused places of a batch name the two dummy bodies n_local, n_local + 1, which never touch anything.
template <int D>
class SweepSchedule : public WallCandidates<D> {
 public:
  using Block = ScheduleBlock;
  using typename WallCandidates<D>::WallBody;

  /// Finds all candidates with gap < lattice.skin between the bodies of `table` and with the obstacles as
  /// placed. `owned(key)` says whether this rank runs a block; blocks with a body in `shared` (empty: none)
  /// run first in their colour. `levels`: of each body those on which it may meet others (LevelMap); empty:
  /// it may meet all. Local.
  void rebuild(const Lattice<D>& lattice, const Box<D>& box, const BlockTable<D>& table,
               const BodyStore<D>& bodies, const ObstacleSet<D>& obstacles, const ScheduleOptions& options,
               const std::function<bool(BlockKey)>& owned, std::span<const std::uint8_t> shared,
               std::span<const LevelMap::Levels> levels = {});
  /// After bodies have gone: local body i is `numbers`[i] now, or gone (-1); `n_local` stay. Two more entries
  /// name the dummies, n_local and n_local + 1. The places of pairs stay as they are, those of gone bodies
  /// are not used any more. `kept_walls` gets the former place of each place of wall_bodies(). Local.
  void renumber(std::span<const Index> numbers, Index n_local, const ObstacleSet<D>& obstacles,
                std::vector<Index>& kept_walls);

  std::span<const Block> blocks(int colour) const {
    return range(colour_[index(colour)], colour_[index(colour) + 1]);
  }
  /// The blocks whose bodies travel: they run before the others.
  std::span<const Block> boundary_blocks(int colour) const {
    return range(colour_[index(colour)], interior_[index(colour)]);
  }
  std::span<const Block> interior_blocks(int colour) const {
    return range(interior_[index(colour)], colour_[index(colour) + 1]);
  }
  std::span<const Block> all_blocks() const { return blocks_; }

  /// 2 * batch_size body numbers per batch.
  std::span<const Index> ends() const { return ends_; }
  /// Places for one number per pair: n_batches() * batch_size.
  Index n_batches() const { return n_batches_; }
  std::int64_t n_pairs() const { return n_pairs_; }  ///< without the padding
  /// For each place of the shifted batches of the rank, counted over all blocks: sum over k of (s_k + 1) 3^k,
  /// where the smaller-id body is seen s periods further along axis k.
  std::span<const std::uint8_t> shifts() const { return shifts_; }
  /// First entry of shifts() that belongs to a block.
  Index first_shift(const Block& block) const { return first_shift_[number_of(block)]; }

  /// Calls f(place, low, high, shift code or -1) for every pair of a block, in sweep order.
  template <class F>
  void for_each_pair(const Block& block, F&& f) const {
    for (Index batch = block.first_batch; batch < block.last_batch; ++batch) {
      const Index* low = ends_.data() + 2 * batch_size * batch;
      for (Index k = 0; k < batch_size; ++k) {
        if (low[k] >= n_local_) continue;  // a dummy
        const Index place = batch * batch_size + k;
        const Index shift = batch < block.first_shifted
                                ? Index{-1}
                                : shifts_[first_shift(block) + place - block.first_shifted * batch_size];
        f(static_cast<std::size_t>(place), low[k], low[k + batch_size], shift);
      }
    }
  }
  template <class F>
  void for_each_pair(F&& f) const {
    for (const Block& block : blocks_) for_each_pair(block, f);
  }

  using WallCandidates<D>::bodies_at_walls;
  std::span<const WallBody> bodies_at_walls(const Block& block) const {
    return this->bodies_at_walls_of(number_of(block));
  }

 private:
  using Pair = typename PairSearch<D>::Pair;
  std::size_t number_of(const Block& block) const {
    return static_cast<std::size_t>(&block - blocks_.data());
  }
  static std::size_t index(int colour) { return static_cast<std::size_t>(colour); }
  std::span<const Block> range(Index first, Index last) const {
    return std::span<const Block>(blocks_).subspan(first, last - first);
  }
  void give_back_memory();
  void append(const std::vector<Pair>& candidates, bool shifted);
  void append_in_order(const std::vector<Pair>& candidates, bool shifted);
  void append_classes(const std::vector<Pair>& candidates, bool shifted);
  void append_crowded(const std::vector<Pair>& candidates, bool shifted);
  void add_batches(Index n, bool shifted);
  std::vector<Block> blocks_;
  std::vector<Index> first_shift_;
  std::array<Index, std::size_t{Lattice<D>::n_colours} + 1> colour_{};
  std::array<Index, std::size_t{Lattice<D>::n_colours}> interior_{};
  std::vector<Index> ends_;
  std::vector<std::uint8_t> shifts_;
  Index n_batches_ = 0;
  std::int64_t n_pairs_ = 0;
  Index n_local_ = 0;
  bool in_classes_ = true;

  // Scratch, kept from build to build if it is little.
  PairSearch<D> search_;
  struct Partners {
    Index count = 0;
    Index next = 0;  // batch after the last one that has the body, if they are many
  };
  std::vector<Partners> partners_;         // of each entry of the search
  std::vector<std::uint8_t> filled_;       // places of each batch
  std::vector<std::uint64_t> classes_of_;  // per entry of the search: classes of this block that contain it
  std::vector<std::uint8_t> class_of_;     // per candidate
};

}  // namespace scree
