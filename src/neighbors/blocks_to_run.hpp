#pragma once
#include <functional>
#include <span>
#include <vector>

#include "geometry/lattice.hpp"
#include "particles/block_table.hpp"

namespace scree {

/// A block of which this rank runs the candidates.
template <int D>
struct BlockToRun {
  Cell<D> place;  ///< on the lattice of blocks
  BlockKey key;
  bool boundary;  ///< some of its bodies, or of those above it, are shared with other ranks
};

/// The blocks to run: those with owned(key) that hold a body of `table`, and empty ones that reach up to
/// bodies on several sides. `shared`: of each body whether other ranks touch it; empty: none is. Local.
template <int D>
std::vector<BlockToRun<D>> blocks_to_run(const Lattice<D>& lattice, const BlockTable<D>& table,
                                         const std::function<bool(BlockKey)>& owned,
                                         std::span<const std::uint8_t> shared);

}  // namespace scree
