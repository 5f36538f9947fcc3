#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/types.hpp"
#include "geometry/lattice.hpp"

namespace scree {

/// Where a body lies: curve key of its block, then its cell within the block. Ascending places are storage
/// order.
using Place = std::uint64_t;
constexpr BlockKey block_key(Place place) {
  return place >> Lattice<2>::cell_bits;
}
constexpr std::int32_t local_cell(Place place) {
  return static_cast<std::int32_t>(place & ((Place{1} << Lattice<2>::cell_bits) - 1));
}

/// places[i] of each position. Positions that share a block with their predecessor cost a few nanoseconds.
template <int D>
void find_places(const Lattice<D>& lattice, std::span<const Vec<D>> positions, std::vector<Place>& places);

/// The order that sorts by (place, id); unique, so the same for any order in memory.
void sort_by_place(std::span<const Place> places, std::span<const GlobalId> ids, std::vector<Index>& order);

/// The bodies of this rank by block and cell. Bodies must be stored in order of (place, id): the owned ones
/// first, then the ghosts. A block is wholly owned or wholly foreign, since ranks own whole blocks.
template <int D>
class BlockTable {
 public:
  struct Block {
    Cell<D> place;  ///< on the lattice of blocks
    BlockKey key;
    Index first, last;  ///< its bodies are [first, last)
    bool owned;
  };

  /// Adds the blocks of bodies [first, first + places.size()).
  void add(const Lattice<D>& lattice, std::span<const Vec<D>> positions, std::span<const Place> places,
           Index first, bool owned);

  /// After bodies have gone: `kept_before`[i] of the first i bodies are left.
  void renumber(std::span<const Index> kept_before);

  std::span<const Block> blocks() const { return blocks_; }
  /// Number of the block, or -1 if no local body lies in it.
  Index find(BlockKey key) const {
    const auto entry = number_.find(key);
    return entry == number_.end() ? -1 : entry->second;
  }
  /// Bodies of one cell of a block: [begin, end).
  std::pair<Index, Index> cell(Index block, std::int32_t local) const {
    const std::size_t at = static_cast<std::size_t>(block) * stride_ + static_cast<std::size_t>(local);
    return {cell_start_[at], cell_start_[at + 1]};
  }

 private:
  std::vector<Block> blocks_;
  std::vector<Index> cell_start_;  // stride_ entries per block
  std::size_t stride_ = 0;         // cells in a block + 1
  std::unordered_map<BlockKey, Index> number_;
};

}  // namespace scree
