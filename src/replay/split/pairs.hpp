#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/types.hpp"

/// Parts of SplitProblem.
namespace scree::split {

using Number = std::int64_t;

constexpr std::size_t at(Index place) {
  return static_cast<std::size_t>(place);
}

/// The bodies of one or more contacts: the lower-numbered one that moves, and the other or -1.
struct BodyPair {
  Number low = 0;
  Number high = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): an error of the check
  auto operator<=>(const BodyPair&) const = default;
};

inline BodyPair pair_of(Number a, Number b) {
  const auto [low, high] = std::minmax(a, b);
  return low < 0 ? BodyPair{high, low} : BodyPair{low, high};
}

/// value[first[i]] to value[first[i + 1] - 1] belong to item i.
struct Lists {
  std::vector<Index> first;
  std::vector<Index> value;
  std::span<const Index> of(std::size_t i) const {
    return std::span(value).subspan(at(first[i]), at(first[i + 1] - first[i]));
  }
};

/// From the item of each entry; entries keep their order.
inline Lists listed_by_item(std::size_t n_items, std::span<const std::pair<Index, Index>> item_and_value) {
  Lists lists;
  lists.first.assign(n_items + 1, 0);
  lists.value.resize(item_and_value.size());
  for (const auto& [item, value] : item_and_value) ++lists.first[at(item) + 1];
  std::partial_sum(lists.first.begin(), lists.first.end(), lists.first.begin());
  std::vector<Index> next(lists.first.begin(), lists.first.end() - 1);
  for (const auto& [item, value] : item_and_value) lists.value[at(next[at(item)]++)] = value;
  return lists;
}

/// A pair of bodies on the rank that runs it (the owner of the lower one) or on the owner of the other one.
struct Pair {
  BodyPair bodies;
  int partners = 0;      ///< the more of those of its bodies
  std::uint64_t draw;    ///< a random number, the same on all ranks
  int runner = 0;        ///< rank
  Index low = -1;        ///< where this rank holds the lower body; -1: not at all
  Index high = -1;       ///< the other; -1: it is static
  Index elsewhere = 0;   ///< its number among the pairs of the runner, if that is another rank
  Index high_there = 0;  ///< where the runner holds the higher body, if that is another rank
  bool is_announced = false;
  int colour = -1;

  bool operator<(const Pair& other) const {
    return std::tie(other.partners, draw, bodies) < std::tie(partners, other.draw, other.bodies);
  }
};

}  // namespace scree::split
