#pragma once
#include <span>
#include <vector>

#include "core/parallel.hpp"
#include "geometry/lattice.hpp"

namespace scree {

/// Which rank owns which block: rank r owns the blocks whose curve keys lie in [splitter(r), splitter(r+1)).
/// Every block of the lattice has an owner, with bodies or without; the map costs O(ranks) memory.
class Domain {
 public:
  explicit Domain(const Comm& comm);

  int owner_of(BlockKey key) const;
  const Comm& comm() const { return comm_; }

  /// Splitters with which every rank would own about the same weight.
  struct Shares {
    std::vector<BlockKey> splitter;  ///< size ranks + 1
    std::int64_t max = 0;            ///< weight of the fullest rank
    std::int64_t total = 0;
    int n_reductions = 0;  ///< that it took

    int owner_of(BlockKey key) const;
  };
  /// `keys`: the blocks whose weights this rank knows, ascending; weights of a block from several ranks add
  /// up. Exact integers, so all ranks agree. No rank gets more than its share and one block; each splitter
  /// lies at the end of one of two blocks, chosen such that the fullest rank has the least load.
  ///
  /// Histograms are refined for all splitters at once. Each reduction has up to max(2048, 4 ranks) integers
  /// and fixes at least one bit of all splitters, or 11 bits / the number of open intervals if that is more:
  /// two reductions for a million blocks on ten ranks. Memory O(ranks): splitters and histogram take 40 bytes
  /// per rank, 4 MB on 1e5 ranks. Collective.
  Shares propose(std::span<const BlockKey> keys, std::span<const std::int64_t> weights, int key_bits) const;
  void adopt(const Shares& shares);

 private:
  Comm comm_;
  std::vector<BlockKey> splitter_;  // size ranks + 1, ascending; first 0, last the largest number
  mutable int recent_ = 0;          // owner of the last query: most queries repeat it
};

}  // namespace scree
