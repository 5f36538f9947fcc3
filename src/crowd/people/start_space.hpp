#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "crowd/journey_plan.hpp"
#include "crowd/plan/bucket_grid.hpp"
#include "crowd/plan/building_plan.hpp"
#include "geometry/edge.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

/// All obstacles, at their present poses, in a grid of cells, and the doors, closed: what new people must not
/// touch.
class NearObstacles {
 public:
  /// Of one level, for people of radius up to `reach` [m]. Cost O(constraints + cells near them). Local.
  NearObstacles(const ObstacleSet<2>& obstacles, std::span<const Exit> exits, const Box<2>& domain, int level,
                Real reach);
  int level() const { return level_; }
  /// Again, after obstacles moved or were switched on or off. The same cost.
  void update(const Box<2>& domain);

  /// Calls f(distance, normal) for every obstacle that may be less than `reach` from x. Local, O(1).
  template <class F>
  void for_each_near(const Vec<2>& x, const F& f) const {
    for (const std::int32_t constraint : grid_.items(grid_.cell_at(x))) {
      SurfacePoint<2> point;
      obstacles_.nearest(constraint, {&x, 1}, {&point, 1});
      f(point.distance, point.normal);
    }
    for (const Edge& door : doors_) {
      const Foot foot = foot_on(door, x, door.normal);
      f(foot.distance, foot.away);
    }
  }
  bool touches(const Vec<2>& x, Real radius) const;

 private:
  const ObstacleSet<2>& obstacles_;
  std::vector<Edge> doors_;
  int level_ = 0;
  Real reach_ = 0;
  BucketGrid grid_;
};

/// Where new people may be: the free part of the plan, or of a region of it, without exits and what is behind
/// them. Holds the centre; the whole of a person is clear of obstacles.
class StartSpace {
 public:
  /// On the level of `obstacles`. `region` empty: its whole plan. `where`: its place in the deck. Throws
  /// InputError if nothing of it is free. References must stay valid.
  StartSpace(const BuildingPlan& building, const NearObstacles& obstacles, std::span<const Exit> exits,
             const Box<2>& domain, Ring region, const std::string& where);

  /// Smallest box around it, within the domain; periodic where it has no end, closing on itself.
  const Box<2>& bounds() const { return bounds_; }
  Real area() const { return area_; }  ///< [m2]
  /// Area that equal disks of this diameter d with their centres here share, at least sqrt(3) d^2 / 2 each:
  /// of a region more than area(), as they reach out of it. The bound of N. Oler (Acta Math. 105 (1961) 19),
  /// with the perimeter of bounds().
  Real usable_area(Real diameter) const;
  /// Whether somebody's centre may be at x (within the domain). Local, O(1) on average.
  bool holds(const Vec<2>& x) const;
  /// A point drawn evenly from where holds() is true. Local.
  Vec<2> draw(RandomStream& stream, Real radius) const;
  /// 1 for each point that is held and whose disk of that radius touches no obstacle, else 0. Local.
  std::vector<char> free(std::span<const Vec<2>> x, std::span<const Real> radius) const;
  const NearObstacles& obstacles() const { return obstacles_; }
  /// In words: "the region (0, 0) to (8, 5) m with 38.2 m2 free".
  std::string text() const;

 private:
  const FloorPlan& plan_;
  const NearObstacles& obstacles_;
  std::vector<Ring> kept_free_;  // exits and what is behind them
  Box<2> domain_;
  Ring region_;
  Box<2> bounds_;
  Real area_ = 0;
};

}  // namespace scree
