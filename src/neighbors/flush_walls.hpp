#pragma once
#include <algorithm>
#include <cmath>

#include "neighbors/sweep_schedule.hpp"
#include "state/state.hpp"

namespace scree {

/// Whether another obstacle that the body can touch stands for `constraint` at its centre x, or at a point x
/// of it (ObstacleSet::stands_for). `place`: of this candidate in wall_bodies(). Costs nothing where no other
/// wall is near.
template <int D>
bool stands_another_for(const State<D>& state, const SweepSchedule<D>& schedule, std::size_t place,
                        std::size_t body, int constraint, const SurfacePoint<D>& seen, const Vec<D>& x,
                        Real radius) {
  for (const auto& other : schedule.walls_beside(place))
    if (may_meet_obstacle(state, body, other.constraint) &&
        state.obstacles.stands_for(other.constraint, constraint, seen, x, radius))
      return true;
  return false;
}

/// Turns the normal of a contact of a sphere ahead. The sphere touches the foot y of its centre x first where
/// the normal is (c - y)/radius with c its centre then, which is outside of the other walls as well: over a
/// low step or a narrow slot the normal at x leads into the floor. If the sphere overlaps another wall at c =
/// y + radius n by o, with the normal m there, n becomes the unit vector between n and m for which m . n
/// grows by o/radius. The plane across it at y keeps the sphere off, whatever it is. Only edges and corners
/// have other normals. False: there is none, the other wall alone acts.
template <int D>
bool turn_ahead(const State<D>& state, const SweepSchedule<D>& schedule, std::size_t place, std::size_t body,
                int constraint, const Vec<D>& x, Real radius, SurfacePoint<D>& seen) {
  constexpr Real min = 1e-4;
  const auto distance_of = [&](int wall, const Vec<D>& at) {
    SurfacePoint<D> point;
    state.obstacles.distances(wall, {&at, 1}, {&point, 1});
    return point;
  };
  const Vec<D> foot = x - seen.distance * seen.normal;
  for (const auto& other : schedule.walls_beside(place)) {
    if (!may_meet_obstacle(state, body, other.constraint)) continue;
    const SurfacePoint<D> met = distance_of(other.constraint, foot + radius * seen.normal);
    const Real overlap = radius - met.distance;
    if (!(overlap > min * radius)) continue;
    const Real before = dot(met.normal, seen.normal), cosine = std::min(before + overlap / radius, 1.0);
    const Vec<D> across = seen.normal - before * met.normal;
    const Real length = norm(across);
    if (!(length > 0)) continue;
    const Vec<D> normal = cosine * met.normal + std::sqrt(1 - cosine * cosine) / length * across;
    const Real distance = dot(normal, x - foot);
    // Of a face another point is nearer then.
    const Real nearer = radius - distance_of(constraint, foot + radius * normal).distance;
    if (nearer > 0.5 * radius * (1 - dot(normal, seen.normal))) continue;
    if (cosine == 1) return false;
    if (distance > radius) seen = {normal, distance};
  }
  return true;
}

}  // namespace scree
