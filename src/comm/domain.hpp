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

  /// Load of the fullest rank over the mean load, for the given local load. Collective.
  Real imbalance(std::int64_t local_load) const;

  /// Moves the splitters so that every rank owns about the same weight. `keys`: the blocks that this rank
  /// knows weights of, ascending (a block may be known to several ranks: weights add up). Exact integers, so
  /// all ranks agree. Costs one reduction of `ranks` integers per bit of the curve. Collective.
  void balance(std::span<const BlockKey> keys, std::span<const std::int64_t> weights, int key_bits);

 private:
  Comm comm_;
  std::vector<BlockKey> splitter_;  // size ranks + 1, ascending; first 0, last the largest number
  mutable int recent_ = 0;          // owner of the last query: most queries repeat it
};

}  // namespace scree
