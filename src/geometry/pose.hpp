#pragma once
#include <array>
#include <cstddef>

#include "core/types.hpp"
#include "geometry/box.hpp"

namespace scree {

/// A rigid placement: x_world = rotation * x_own + translation (rotation row-major).
template <int D>
struct Pose {
  std::array<Vec<D>, D> rotation = [] {
    std::array<Vec<D>, D> rows{};
    for (int k = 0; k < D; ++k) rows[k][k] = 1;
    return rows;
  }();
  Vec<D> translation{};

  Vec<D> to_world(const Vec<D>& own) const {
    Vec<D> world = translation;
    for (int k = 0; k < D; ++k) world[k] += dot(rotation[k], own);
    return world;
  }
  Vec<D> direction_to_world(const Vec<D>& own) const {
    Vec<D> world;
    for (int k = 0; k < D; ++k) world[k] = dot(rotation[k], own);
    return world;
  }
  Vec<D> to_own(const Vec<D>& world) const { return direction_to_own(world - translation); }
  Vec<D> direction_to_own(const Vec<D>& world) const {
    Vec<D> own;
    for (int j = 0; j < D; ++j)
      for (int k = 0; k < D; ++k) own[j] += rotation[k][j] * world[k];
    return own;
  }
  /// This placement as a frame placed by `other` sees it: x_of_other = result * x_own.
  Pose seen_from(const Pose& other) const {
    Pose relative;
    relative.translation = other.to_own(translation);
    for (std::size_t i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        Real sum = 0;
        for (std::size_t k = 0; k < D; ++k) sum += other.rotation[k][static_cast<int>(i)] * rotation[k][j];
        relative.rotation[i][j] = sum;
      }
    return relative;
  }

  /// First `other`, then this: x_world = this(other(x_own)).
  Pose after(const Pose& other) const {
    Pose both;
    both.translation = to_world(other.translation);
    for (std::size_t i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) {
        Real sum = 0;
        for (std::size_t k = 0; k < D; ++k) sum += rotation[i][static_cast<int>(k)] * other.rotation[k][j];
        both.rotation[i][j] = sum;
      }
    return both;
  }
};

/// The box, in the world, around a box in the frame of a pose.
template <int D>
Box<D> world_box(const Pose<D>& pose, const Box<D>& own) {
  Box<D> world = Box<D>::empty();
  for (unsigned c = 0; c < Box<D>::n_corners; ++c) world.include(pose.to_world(own.corner(c)));
  return world;
}

/// The box, in the frame of a pose, around a box in the world.
template <int D>
Box<D> own_box(const Pose<D>& pose, const Box<D>& world) {
  Box<D> own = Box<D>::empty();
  for (unsigned c = 0; c < Box<D>::n_corners; ++c) own.include(pose.to_own(world.corner(c)));
  return own;
}

}  // namespace scree
