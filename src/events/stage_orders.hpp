#pragma once
#include <string>
#include <vector>

#include "core/section.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

/// What a stage asks of a driven obstacle.
struct WallOrder {
  int wall;  ///< number in ObstacleSet::driven()
  DrivenOrder order;
};

/// The number in ObstacleSet::driven() of the obstacle that `key` names; fails at the key if it is not
/// driven.
template <int D>
int find_driven(const Section& section, std::string_view key, const std::string& name,
                const ObstacleSet<D>& obstacles);

/// Declares and reads [[stages.drive]].
template <int D>
void describe_orders(Section& section, const ObstacleSet<D>& obstacles, std::vector<WallOrder>& orders);

}  // namespace scree
