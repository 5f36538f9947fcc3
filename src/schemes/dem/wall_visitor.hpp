#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "geometry/driven_motion.hpp"
#include "neighbors/flush_walls.hpp"
#include "schemes/dem/step_context.hpp"

namespace scree {

/// A body and an obstacle that it touches, as kernels take them.
template <int D>
struct TouchedWall {
  Vec<D> foot;          ///< the point of the obstacle
  SoftContact contact;  ///< a: the body
  MotionRecord wall;    ///< b: the surface there
};

/// What the bodies of a block see of the obstacles near them.
template <int D>
class WallVisitor {
 public:
  /// One body and one obstacle.
  struct DetectedWall {
    Index constraint;
    std::size_t place;  ///< in wall_bodies() of the schedule
    std::size_t body;
    Real radius;
    const Vec<D>& x;
    const SurfacePoint<D>& surface;
    Real clearance;  ///< nothing is in reach before both have moved by that [m]

    bool overlaps() const { return surface.distance < radius; }
  };

  /// Looks from these places of a block, ascending and good until for_each(). A contact that has begun is
  /// seen at any distance, others within the reach of the law. Local; no allocation once warm.
  void look(const StepContext<D>& step, const typename StepContext<D>::Block& block,
            std::span<const Index> places) {
    places_ = places;
    const std::size_t n = places.size();
    constraint_.resize(n);
    at_.resize(n);
    from_.resize(n);
    reach_.resize(n);
    surface_.resize(n);
    clearance_.resize(n);
    const auto which = step.schedule.wall_bodies();
    const auto step_start = step.state.bodies.step_start();
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t place = places[k];
      const std::size_t i = which[place];
      const SweepRecord& position = step.records.positions[i];
      for (int c = 0; c < D; ++c) at_[k][c] = position.x[c];
      from_[k] = step_start[i];
      const bool may_be_bonded = step.law.reach > 0 && step.histories.wall_state(place) != 0;
      reach_[k] = may_be_bonded ? HUGE_VAL : position.radius + step.law.reach;
    }
    std::size_t end = 0;
    for (const auto& wall : step.schedule.walls(block)) {
      const std::size_t first = end;
      while (end < n && places[end] < wall.last) constraint_[end++] = wall.constraint;
      if (first == end) continue;
      const auto of_wall = [&](auto& values) { return std::span(values).subspan(first, end - first); };
      step.state.obstacles.nearest_within(wall.constraint, of_wall(at_), of_wall(from_), of_wall(reach_),
                                          of_wall(surface_), of_wall(clearance_));
    }
  }
  /// Calls f(detected) for each of them.
  template <class F>
  void for_each(const StepContext<D>& step, F&& f) const {
    const auto which = step.schedule.wall_bodies();
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const std::size_t place = places_[k];
      const std::size_t body = which[place];
      f(DetectedWall{constraint_[k], place, body, step.records.positions[body].radius, at_[k], surface_[k],
                     clearance_[k]});
    }
  }

  /// Whether an obstacle acts on a body: on one that is fixed only if a load may move it.
  static bool feels(const StepContext<D>& step, Index constraint, std::size_t body) {
    return step.records.motions[body].inverse_mass != 0 || step.state.obstacles.driven_of(constraint) >= 0;
  }
  /// Whether another obstacle acts instead.
  static bool is_replaced(const StepContext<D>& step, const DetectedWall& detected) {
    return stands_another_for(step.state, step.schedule, detected.place, detected.body, detected.constraint,
                              detected.surface, detected.x, detected.radius);
  }
  static TouchedWall<D> contact(const StepContext<D>& step, const DetectedWall& detected) {
    const SurfacePoint<D>& surface = detected.surface;
    const Vec<D> foot = detected.x - surface.distance * surface.normal;
    return {
        foot,
        {in_space(-surface.normal), detected.radius - surface.distance, detected.radius, surface.distance, 0},
        motion_of_wall(step, detected.constraint, foot, surface.normal)};
  }
  /// The surface of an obstacle at a point with this unit normal, as a body that is fixed; of one that moves
  /// freely with the mass that it has there along the normal.
  static MotionRecord motion_of_wall(const StepContext<D>& step, Index constraint, const Vec<D>& point,
                                     const Vec<D>& normal) {
    const State<D>& state = step.state;
    MotionRecord motion{};
    motion.material = state.obstacle_material[state.obstacles.obstacle_of(constraint)];
    const Vec<D> velocity = state.obstacles.surface_velocity(constraint, point, normal, step.time);
    for (int k = 0; k < D; ++k) motion.velocity[k] = velocity[k];
    if (step.law.resists_rolling) {
      const auto spin = state.obstacles.spin(constraint, step.time);
      std::ranges::copy(spin.component, motion.spin + first_spin<D>);
    }
    const int driven = state.obstacles.driven_of(constraint);
    if (driven < 0) return motion;
    const Vec<D> there = state.obstacles.at_obstacle(constraint, point);
    for (const DrivenState& wall : state.obstacles.directions_from(driven)) {
      const DrivenMotion<D>& driven_motion = state.obstacles.driven_motion_of(wall);
      if (wall.order.kind == DrivenOrder::Kind::speed ||
          driven_motion.control() != DrivenMotion<D>::Control::free)
        continue;
      const Real along = dot(state.obstacles.direction_of(wall, there), normal);
      motion.inverse_mass += along * along / driven_motion.inertia();
    }
    return motion;
  }

 private:
  std::span<const Index> places_;
  std::vector<Index> constraint_;
  std::vector<Vec<D>> at_, from_;
  std::vector<Real> reach_;  // how near an obstacle must be to act
  std::vector<SurfacePoint<D>> surface_;
  std::vector<Real> clearance_;
};

}  // namespace scree
