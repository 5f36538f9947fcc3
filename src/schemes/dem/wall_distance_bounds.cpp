#include "schemes/dem/wall_distance_bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace scree {

template <int D>
bool WallDistanceBounds<D>::pays(const SweepSchedule<D>& schedule,
                                 const typename SweepSchedule<D>::Block& block) {
  constexpr std::size_t per_body = 4;
  const std::size_t n_bodies = schedule.bodies_at_walls(block).size();
  return n_bodies > 0 && schedule.n_wall_places(block) > per_body * n_bodies;
}

template <int D>
void WallDistanceBounds<D>::prepare(const State<D>& state, const SweepSchedule<D>& schedule) {
  bodies_.clear();
  due_at_.clear();
  body_of_.clear();
  if (schedule.bodies_at_walls().empty()) return;
  due_at_.assign(schedule.wall_bodies().size(), -HUGE_VAL);
  body_of_.resize(schedule.wall_bodies().size());
  for (const auto& near : schedule.bodies_at_walls()) {
    for (const auto& wall : schedule.walls_of(near))
      body_of_[wall.place] = static_cast<Index>(bodies_.size());
    bodies_.push_back({state.bodies.position()[near.body]});
  }
}

template <int D>
void WallDistanceBounds<D>::begin(const ObstacleSet<D>& obstacles) {
  moved_.clear();
  if (bodies_.empty()) return;
  std::swap(poses_before_, poses_);
  poses_.clear();
  for (int o = 0; o < static_cast<int>(obstacles.list().size()); ++o) {
    const std::size_t i = o;
    poses_.push_back(obstacles.pose_of(o));
    const bool stays = i < poses_before_.size() && poses_[i].rotation == poses_before_[i].rotation &&
                       poses_[i].translation == poses_before_[i].translation;
    if (!stays && i < poses_before_.size()) moved_.push_back(o);
  }
}

/// How far points of obstacles that are now within reach of these bodies have moved since the last look [m].
template <int D>
Real WallDistanceBounds<D>::moved_around(const State<D>& state,
                                         std::span<const typename SweepSchedule<D>::WallBody> bodies,
                                         std::span<const SweepRecord> places) const {
  Box<D> around = Box<D>::empty();
  for (const auto& near : bodies) {
    const SweepRecord& place = places[near.body];
    Vec<D> x;
    for (int k = 0; k < D; ++k) x[k] = place.x[k];
    around.include(x - filled<D>(place.radius));
    around.include(x + filled<D>(place.radius));
  }
  Real farthest = 0;
  for (const int o : moved_) {
    if (!state.obstacles.active(o)) continue;
    // Displacements are an affine function of the place: largest at a corner.
    for (unsigned c = 0; c < Box<D>::n_corners; ++c) {
      const Vec<D> corner = around.corner(c);
      farthest = std::max(farthest, norm(poses_before_[o].to_world(poses_[o].to_own(corner)) - corner));
    }
  }
  return farthest;
}

template <int D>
std::span<const Index> WallDistanceBounds<D>::due(const State<D>& state, const SweepSchedule<D>& schedule,
                                                  const typename SweepSchedule<D>::Block& block,
                                                  std::span<const SweepRecord> places) {
  due_.clear();
  const std::size_t first = schedule.first_wall_place(block);
  const std::size_t n = schedule.n_wall_places(block);
  if (!pays(schedule, block)) {
    for (std::size_t k = 0; k < n; ++k) due_.push_back(static_cast<Index>(first + k));
    return due_;
  }
  const auto near_walls = schedule.bodies_at_walls(block);
  const Real moved = moved_.empty() ? 0 : moved_around(state, near_walls, places);
  bits_.assign((n + 63) / 64, 0);
  Body* body = &bodies_[near_walls.data() - schedule.bodies_at_walls().data()];
  for (const auto& near : near_walls) {
    const SweepRecord& place = places[near.body];
    const Vec<D>& from = state.bodies.step_start()[near.body];
    Real displacement = 0, of_step = 0;
    for (int k = 0; k < D; ++k) {
      displacement += (place.x[k] - body->x[k]) * (place.x[k] - body->x[k]);
      of_step += (place.x[k] - from[k]) * (place.x[k] - from[k]);
      body->x[k] = place.x[k];
    }
    body->travelled += std::sqrt(displacement) + moved;
    // A path as long as that may pass through what its ends are not near.
    const bool is_long = !(4 * of_step < place.radius * place.radius);
    if (body->travelled < body->next && !is_long) {
      ++body;
      continue;
    }
    body->next = HUGE_VAL;
    for (const auto& wall : schedule.walls_of(near)) {
      const std::size_t p = wall.place;
      if (is_long) due_at_[p] = -HUGE_VAL;
      if (body->travelled < due_at_[p])
        body->next = std::min(body->next, due_at_[p]);
      else
        bits_[(p - first) / 64] |= std::uint64_t{1} << (p - first) % 64, body->next = -HUGE_VAL;
    }
    ++body;
  }
  for (std::size_t w = 0; w < bits_.size(); ++w)
    for (std::uint64_t left = bits_[w]; left != 0; left &= left - 1)
      due_.push_back(static_cast<Index>(first + 64 * w) + std::countr_zero(left));
  return due_;
}

template class WallDistanceBounds<2>;
template class WallDistanceBounds<3>;

}  // namespace scree
