#include "comm/domain.hpp"

#include <algorithm>
#include <array>
#include <bit>
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
  const auto at = [&](int rank) { return splitter_[rank]; };
  if (key >= at(recent_) && key < at(recent_ + 1)) return recent_;
  const auto next = std::upper_bound(splitter_.begin() + 1, splitter_.end() - 1, key);
  recent_ = static_cast<int>(next - splitter_.begin()) - 1;
  return recent_;
}

int Domain::Shares::owner_of(BlockKey key) const {
  return static_cast<int>(std::upper_bound(splitter.begin() + 1, splitter.end() - 1, key) -
                          splitter.begin()) -
         1;
}

namespace {

/// For each rank the block at which its share begins: the largest key whose predecessors weigh no more than
/// rank/ranks of the total.
struct Begins {
  std::vector<BlockKey> key;
  std::vector<std::int64_t> before;  // weight of the keys below
  std::vector<std::int64_t> at;      // weight of the block

  /// Weight of all before the splitter of rank r, of as many, where it goes to the front or the back of its
  /// block.
  std::int64_t place(std::size_t r, int back, std::int64_t total) const {
    return r == 0 ? 0 : r == key.size() ? total : before[r] + back * at[r];
  }
};

/// The begin of rank r lies in the stretch of 2^bits keys from key[r] on; stretches of several ranks may be
/// the same.
Begins find_begins(const Comm& comm, std::span<const BlockKey> keys, std::span<const std::int64_t> weights,
                   int key_bits, std::int64_t total, int& n_reductions) {
  const std::size_t n = comm.size();
  Begins begins{std::vector<BlockKey>(n, 0), std::vector<std::int64_t>(n, 0),
                std::vector<std::int64_t>(n, 0)};
  std::vector<std::size_t> stretch(n, 0);  // number of the stretch of rank r
  std::vector<BlockKey> first(n > 1 ? 1 : 0, 0);
  std::vector<std::int64_t> histogram;
  for (int bits = key_bits; bits > 0 && n > 1;) {
    const std::size_t budget = std::max<std::size_t>(2048, 4 * n);
    const int step = std::clamp(static_cast<int>(std::bit_width(budget / first.size())) - 1, 1, bits);
    const int rest = bits - step;
    const std::size_t n_buckets = std::size_t{1} << step;
    histogram.assign(first.size() * n_buckets, 0);
    auto key = keys.begin();
    for (std::size_t s = 0; s < first.size(); ++s) {
      const BlockKey last = first[s] + ((BlockKey{1} << bits) - 1);
      key = std::lower_bound(key, keys.end(), first[s]);
      for (; key != keys.end() && *key <= last; ++key)
        histogram[s * n_buckets + ((*key - first[s]) >> rest)] += weights[key - keys.begin()];
    }
    comm.sum(histogram);
    ++n_reductions;
    first.clear();
    // Shares ascend with r, and so do the splitters: one walk along the buckets of a stretch serves all its
    // ranks.
    std::size_t walked = n;  // stretch of the walk
    std::size_t b = 0;
    std::int64_t passed = 0;
    for (std::size_t r = 1; r < n; ++r) {
      const auto share = static_cast<std::int64_t>(static_cast<WideInteger>(total) *
                                                   static_cast<WideInteger>(r) / comm.size());
      if (stretch[r] != walked) b = 0, passed = begins.before[r];
      walked = stretch[r];
      const std::int64_t* bucket = histogram.data() + walked * n_buckets;
      while (b + 1 < n_buckets && passed + bucket[b] <= share) passed += bucket[b++];
      begins.before[r] = passed;
      begins.at[r] = bucket[b];
      begins.key[r] += static_cast<BlockKey>(b) << rest;
      if (first.empty() || first.back() != begins.key[r]) first.push_back(begins.key[r]);
      stretch[r] = first.size() - 1;
    }
    bits = rest;
  }
  return begins;
}

}  // namespace

Domain::Shares Domain::propose(std::span<const BlockKey> keys, std::span<const std::int64_t> weights,
                               int key_bits) const {
  SCREE_ASSERT(keys.size() == weights.size() && std::is_sorted(keys.begin(), keys.end()));
  const std::size_t n = comm_.size();
  Shares shares;
  shares.splitter.assign(n + 1, std::numeric_limits<BlockKey>::max());
  shares.splitter.front() = 0;
  shares.total = comm_.sum(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
  ++shares.n_reductions;
  const Begins begins = find_begins(comm_, keys, weights, key_bits, shares.total, shares.n_reductions);

  // Each splitter may go to the front or to the back of its block. Least weight of the fullest rank so far,
  // for both choices at r:
  std::array<std::int64_t, 2> max{0, 0};
  std::vector<std::array<std::uint8_t, 2>> choice(n + 1);
  for (std::size_t r = 1; r <= n; ++r) {
    std::array<std::int64_t, 2> next;
    for (int back = 0; back < 2; ++back) {
      next[back] = std::numeric_limits<std::int64_t>::max();
      if (back == 1 && (r == n || begins.at[r] == 0)) continue;  // no block to go behind
      for (const int previous : {0, 1}) {
        const std::int64_t load =
            begins.place(r, back, shares.total) - begins.place(r - 1, previous, shares.total);
        const std::int64_t fullest = std::max(max[previous], load);
        if (load < 0 || fullest >= next[back]) continue;
        next[back] = fullest;
        choice[r][back] = static_cast<std::uint8_t>(previous);
      }
    }
    max = next;
  }
  shares.max = max[0];
  std::size_t back = choice[n][0];
  for (std::size_t r = n - 1; r > 0; --r) {
    shares.splitter[r] = begins.key[r] + back;
    back = choice[r][back];
  }
  return shares;
}

void Domain::adopt(const Shares& shares) {
  splitter_ = shares.splitter;
  recent_ = 0;
}

}  // namespace scree
