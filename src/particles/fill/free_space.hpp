#pragma once
#include <numeric>
#include <span>
#include <vector>

#include "geometry/obstacle.hpp"

namespace scree {

/// 1 for every i such that a ball of radius reach[i] around x[i] (within the domain) touches no obstacle,
/// else 0. Local; O(points * constraints).
template <int D>
std::vector<char> free_of_obstacles(const ObstacleSet<D>& obstacles, std::span<const Vec<D>> x,
                                    std::span<const Real> reach) {
  std::vector<char> is_free(x.size(), 1);
  std::vector<std::size_t> left(x.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::vector<Vec<D>> at(x.begin(), x.end());
  std::vector<SurfacePoint<D>> nearest(x.size());
  for (int constraint = 0; constraint < obstacles.n_constraints(); ++constraint) {
    obstacles.nearest(constraint, at, at, std::span(nearest).first(at.size()));
    std::size_t n_left = 0;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const std::size_t i = left[k];
      is_free[i] = nearest[k].distance >= reach[i];
      if (!is_free[i]) continue;
      left[n_left] = i;
      at[n_left++] = x[i];
    }
    left.resize(n_left);
    at.resize(n_left);
  }
  return is_free;
}

}  // namespace scree
