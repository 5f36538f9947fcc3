#include "comm/domain.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/error.hpp"

namespace scree {

namespace {
__extension__ using WideInteger = __int128;
}

Domain::Domain(const Comm& comm)
    : comm_(comm),
      splitter_(static_cast<std::size_t>(comm.size()) + 1, std::numeric_limits<BlockKey>::max()) {
  splitter_.front() = 0;
}

int Domain::owner_of(BlockKey key) const {
  const auto at = [&](int rank) { return splitter_[static_cast<std::size_t>(rank)]; };
  if (key >= at(recent_) && key < at(recent_ + 1)) return recent_;
  const auto next = std::upper_bound(splitter_.begin() + 1, splitter_.end() - 1, key);
  recent_ = static_cast<int>(next - splitter_.begin()) - 1;
  return recent_;
}

Real Domain::imbalance(std::int64_t local_load) const {
  const std::int64_t total = comm_.sum(local_load);
  const std::int64_t most = comm_.max(local_load);
  return total == 0 ? 1 : static_cast<Real>(most) * comm_.size() / static_cast<Real>(total);
}

void Domain::balance(std::span<const BlockKey> keys, std::span<const std::int64_t> weights, int key_bits) {
  SCREE_ASSERT(keys.size() == weights.size() && std::is_sorted(keys.begin(), keys.end()));
  std::vector<std::int64_t> weight_before(keys.size() + 1, 0);
  std::partial_sum(weights.begin(), weights.end(), weight_before.begin() + 1);
  const std::int64_t total = comm_.sum(weight_before.back());

  // Bisection, all splitters at once: the largest key whose predecessors weigh no more than r/ranks of the
  // total.
  const auto n = static_cast<std::size_t>(comm_.size());
  std::vector<BlockKey> found(n, 0);
  std::vector<std::int64_t> below(n);
  for (int bit = key_bits - 1; bit >= 0; --bit) {
    const BlockKey half = BlockKey{1} << bit;
    for (std::size_t r = 1; r < n; ++r) {
      const auto place = std::lower_bound(keys.begin(), keys.end(), found[r] + half) - keys.begin();
      below[r] = weight_before[static_cast<std::size_t>(place)];
    }
    comm_.sum(below);
    for (std::size_t r = 1; r < n; ++r) {
      const auto share = static_cast<std::int64_t>(static_cast<WideInteger>(total) *
                                                   static_cast<WideInteger>(r) / comm_.size());
      if (below[r] <= share) found[r] += half;
    }
  }
  for (std::size_t r = 1; r < n; ++r) splitter_[r] = found[r];
  recent_ = 0;
}

}  // namespace scree
