#pragma once
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"

namespace scree {

/// This rank's share [first, last) when n items, in order, are split evenly among all ranks. Items of `width`
/// numbers stay together; first and last then count numbers.
struct EvenShare {
  std::int64_t first = 0, last = 0;

  EvenShare(const Comm& comm, std::int64_t n, std::int64_t width = 1)
      : first(width * start(n, comm.rank(), comm.size())),
        last(width * start(n, comm.rank() + 1, comm.size())) {}

  std::size_t size() const { return static_cast<std::size_t>(last - first); }
  /// Place of an item within the share.
  std::size_t at(std::int64_t item) const { return static_cast<std::size_t>(item - first); }

  /// Its items.
  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> all(size());
    std::iota(all.begin(), all.end(), first);
    return all;
  }

  /// First item of the share of `rank`.
  static constexpr std::int64_t start(std::int64_t n, int rank, int ranks) {
    return n / ranks * rank + n % ranks * rank / ranks;
  }
  /// The rank whose share has the item.
  static constexpr int owner(std::int64_t n, std::int64_t item, int ranks) {
    return static_cast<int>(((item + 1) * ranks - 1) / n);
  }
};

}  // namespace scree
