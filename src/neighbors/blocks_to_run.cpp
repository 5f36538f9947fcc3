#include "neighbors/blocks_to_run.hpp"

#include <unordered_map>

namespace scree {

template <int D>
std::vector<BlockToRun<D>> blocks_to_run(const Lattice<D>& lattice, const BlockTable<D>& table,
                                         const std::function<bool(BlockKey)>& owned,
                                         std::span<const std::uint8_t> shared) {
  std::vector<BlockToRun<D>> blocks;
  std::unordered_map<BlockKey, std::size_t> number;
  for (const auto& block : table.blocks()) {
    bool is_shared = false;
    if (!shared.empty())
      for (Index i = block.first; i < block.last; ++i) is_shared |= shared[i] != 0;
    for (unsigned axes = 0; axes < 1U << D; ++axes) {
      Cell<D> down;
      unsigned wrapped = 0;
      if (!lattice.neighbour(block.place, axes, -1, down, wrapped)) continue;
      const BlockKey key = lattice.key_of(down);
      if (!owned(key)) continue;
      const auto [entry, is_new] = number.emplace(key, blocks.size());
      if (is_new) blocks.push_back({down, key, false});
      blocks[entry->second].boundary |= is_shared;
    }
  }
  return blocks;
}

template std::vector<BlockToRun<2>> blocks_to_run(const Lattice<2>&, const BlockTable<2>&,
                                                  const std::function<bool(BlockKey)>&,
                                                  std::span<const std::uint8_t>);
template std::vector<BlockToRun<3>> blocks_to_run(const Lattice<3>&, const BlockTable<3>&,
                                                  const std::function<bool(BlockKey)>&,
                                                  std::span<const std::uint8_t>);

}  // namespace scree
