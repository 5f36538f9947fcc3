#include "friction/lane_groups.hpp"

#include <algorithm>

#include "core/memory.hpp"

namespace scree {

void LaneGroups::begin(Index none) {
  none_ = none;
  place_.clear();
  stretch_first_.assign(1, 0);
  n_in_.clear();
  first_open_ = 0;
  first_group_.assign(static_cast<std::size_t>(none) + 1, 0);
}

std::size_t LaneGroups::add(Index a, Index b) {
  // Groups further back are hardly worth to look at, and their bodies are in no cache by now.
  constexpr std::size_t most_open = 8;
  std::size_t& of_a = first_group_[static_cast<std::size_t>(a)];
  std::size_t& of_b = first_group_[static_cast<std::size_t>(b)];
  const std::size_t n = n_in_.size();
  while (first_open_ < n && (n_in_[first_open_] == group_size || n - first_open_ > most_open)) ++first_open_;
  std::size_t here = std::max({of_a, of_b, first_open_});
  while (here < n && n_in_[here] == group_size) ++here;
  if (here == n) n_in_.push_back(0);
  const std::size_t lane = n_in_[here]++;
  if (a != none_) of_a = here + 1;
  if (b != none_) of_b = here + 1;
  place_.push_back(static_cast<Index>(here * group_size + lane));
  return here * group_size + lane;
}

std::size_t LaneGroups::bytes() const {
  return held_bytes(place_, stretch_first_, n_in_, first_group_);
}

}  // namespace scree
