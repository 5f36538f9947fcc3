#pragma once
#include <string>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

/// The obstacles of a deck text, placed for time 0.
template <int D>
ObstacleSet<D> read_obstacles(const std::string& toml) {
  Deck deck = Deck::from_text(toml, "test.toml");
  ObstacleSet<D> obstacles;
  obstacles.describe(deck.root());
  deck.require_all_read();
  obstacles.place(0);
  return obstacles;
}

/// A single obstacle, from the lines of its table.
template <int D>
ObstacleSet<D> read_obstacle(const std::string& lines) {
  return read_obstacles<D>("[obstacles.it]\n" + lines);
}

/// One constraint seen from one point that comes from `from`.
template <int D>
SurfacePoint<D> nearest(const ObstacleSet<D>& obstacles, int constraint, const Vec<D>& at,
                        const Vec<D>& from) {
  SurfacePoint<D> result;
  obstacles.nearest(constraint, {&at, 1}, {&from, 1}, {&result, 1});
  return result;
}
template <int D>
SurfacePoint<D> nearest(const ObstacleSet<D>& obstacles, int constraint, const Vec<D>& at) {
  return nearest(obstacles, constraint, at, at);
}

template <int D>
bool is_close(const Vec<D>& a, const Vec<D>& b, Real tolerance = 1e-14) {
  return norm(a - b) <= tolerance;
}

}  // namespace scree
