#pragma once
#include <cstdint>
#include <span>

#include "core/types.hpp"

namespace scree {

/// Where people are: positions [m] and, in a building of several levels, the level of each.
struct PeopleAt {
  std::span<const Vec<2>> position;
  std::span<const std::int32_t> levels;  ///< empty: one level

  PeopleAt(std::span<const Vec<2>> positions, std::span<const std::int32_t> of_each = {})
      : position(positions), levels(of_each) {}
  std::size_t size() const { return position.size(); }
  int level(std::size_t i) const { return levels.empty() ? 0 : levels[i]; }
};

}  // namespace scree
