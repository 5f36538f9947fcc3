#pragma once
#include <span>
#include <vector>

#include "geometry/obstacle.hpp"

namespace scree {

/// 1 for every i such that a sphere of radius reach[i] around x[i] (within the domain) touches no obstacle,
/// else 0. Local; O(points * obstacles), see Shape::closest.
template <int D>
std::vector<char> free_of_obstacles(const ObstacleSet<D>& obstacles, std::span<const Vec<D>> x,
                                    std::span<const Real> reach) {
  std::vector<char> is_free(x.size(), 1);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (int o = 0; o < static_cast<int>(obstacles.list().size()) && is_free[i] != 0; ++o)
      is_free[i] = obstacles.closest(o, x[i]).distance >= reach[i] ? 1 : 0;
  return is_free;
}

}  // namespace scree
