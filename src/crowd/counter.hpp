#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

namespace scree {

/// What admits people one after the other while there is room: a door with a cap of flow, a lift, and the
/// counter of a queue.
struct Counter {
  std::int64_t room = 0;  ///< for how many

  /// Sorts those who ask by `order`, in which no two are equal, and returns the first for whom there is room.
  /// Local, O(n log n).
  template <class People, class Order>
  auto admit(People& asking, Order order) const {
    std::ranges::sort(asking, {}, order);
    const std::int64_t n = std::min(static_cast<std::int64_t>(asking.size()), room);
    return std::span(asking).first(std::max(n, std::int64_t{0}));
  }
};

}  // namespace scree
