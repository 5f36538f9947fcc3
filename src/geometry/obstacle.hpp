#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/section.hpp"
#include "core/types.hpp"
#include "geometry/box.hpp"
#include "geometry/driven_state.hpp"
#include "geometry/motion.hpp"
#include "geometry/shape.hpp"

namespace scree {

/// A wall, floor, funnel, post...: a shape that may move. Held in full by every rank.
template <int D>
struct Obstacle {
  std::string name;
  std::string where;  ///< its place in the deck, for messages
  std::shared_ptr<const Shape<D>> shape;
  std::shared_ptr<const Motion<D>> motion;  ///< a function of time; null: fixed, or driven
  std::vector<std::shared_ptr<const DrivenMotion<D>>> driven_motions;  ///< loads move it; empty: none does
  int level = -1;                  ///< only bodies on this level touch it; -1: all do
  std::string floor, where_floor;  ///< its name, and the place of that in the deck; empty: all levels
  std::shared_ptr<const std::vector<GlobalId>> admits;  ///< bodies that do not touch it, sorted; null: none
  int driven = -1;                   ///< number of its first direction in ObstacleSet::driven(); -1: none
  std::optional<Pose<D>> placement;  ///< where the deck puts the shape before the motion moves it
  Vec<D> surface_velocity{};   ///< of the material in the surface, relative to the shape, before the motion
                               ///< turns it [m/s]
  std::string material;        ///< name of its material; empty: not given
  std::string where_material;  ///< place of that name in the deck, for messages
  bool from_deck = true;       ///< floor plans are drawn across periodic faces and have no images

  bool is_driven() const { return !driven_motions.empty(); }
  bool can_move() const { return motion || is_driven(); }
  /// Whether its frame is not the world's.
  bool is_placed() const { return can_move() || placement; }
  /// Where it is after its motion takes it to `moved`.
  Pose<D> placed(const Pose<D>& moved) const { return placement ? moved.after(*placement) : moved; }
};

/// All obstacles of a run. Constraint ids (obstacle, part) run in deck order and define the order of sweeps;
/// they stay the same when an obstacle is taken away or put back (`set_active`).
///
/// Across periodic faces an obstacle acts through its images, which are constraints as well: id + image *
/// n_constraints(). With n the number of periods by which an image is shifted along axis k, its code is
/// sum_k (n mod 3) 3^k, and n is such that the middle of the image is less than a period and a half from that
/// of the domain: a wall may go as far as it likes. As long as it is near, image 0 is the obstacle itself.
template <int D>
class ObstacleSet {
 public:
  /// Declares and reads [obstacles.NAME].
  void describe(Section& root);

  /// Adds a fixed obstacle after those of the deck; `where`: the place in the deck that asks for it. Returns
  /// its number. Must be called alike on all ranks, before the first place().
  int add(const std::string& name, const std::string& where, std::unique_ptr<Shape<D>> shape, int level = -1);

  /// Puts those that name their floor on it; `names`: of all levels, as level_named() has them. Throws
  /// InputError. Alike on all ranks, before the first place().
  void put_on_levels(std::span<const std::string> names);

  std::span<const Obstacle<D>> list() const { return obstacles_; }
  /// Without images.
  int n_constraints() const { return static_cast<int>(constraints_.size()); }
  int obstacle_of(int constraint) const { return of(constraint).obstacle; }
  /// Gives obstacles images through the periodic faces of the domain. None along an axis along which the
  /// surface goes on unchanged for ever, or from face to face and beyond. Throws InputError for an obstacle
  /// that has no images to make sense of. Before the first place(), alike on all ranks.
  void set_domain(const Box<D>& box);
  /// Images have codes below this; 1 if there are none.
  int n_images() const { return n_images_; }
  /// The codes of the images of an obstacle, ascending; 0 is always one.
  std::span<const int> images_of(int obstacle) const { return images_[obstacle].codes; }
  int image_of(int constraint) const {
    return constraint < n_constraints() ? 0 : constraint / n_constraints();
  }
  /// Along which axes a contact memory distinguishes images of this obstacle.
  bool has_images_along(int obstacle, int axis) const { return images_[obstacle].along[axis]; }
  /// x as seen from the obstacle itself, where an image is met.
  Vec<D> at_obstacle(int constraint, const Vec<D>& x) const {
    const Vec<D>* shift = shift_of(constraint);
    return shift ? x - *shift : x;
  }
  /// False: no part of this image is in `around`. True of what has no images.
  bool may_reach(int obstacle, int image, const Box<D>& around) const;
  const Obstacle<D>& obstacle_with(int constraint) const { return obstacles_[obstacle_of(constraint)]; }
  /// Velocity of its point at x (world) at `time` [m/s]; 0 if it is fixed.
  Vec<D> velocity(int constraint, const Vec<D>& x, Real time) const {
    const Obstacle<D>& obstacle = obstacle_with(constraint);
    if (!obstacle.can_move()) return {};
    const Vec<D> there = at_obstacle(constraint, x);
    return obstacle.is_driven() ? driven_velocity(obstacle, there) : obstacle.motion->velocity(there, time);
  }
  /// Its angular velocity at `time` [rad/s].
  Vec<D == 2 ? 1 : 3> spin(int constraint, Real time) const;
  /// Velocity of the material in the surface at x, where its unit normal is `normal` (either way): that of
  /// the point, and of a belt the part of surface_velocity across the normal [m/s].
  Vec<D> surface_velocity(int constraint, const Vec<D>& x, const Vec<D>& normal, Real time) const {
    const Obstacle<D>& obstacle = obstacle_with(constraint);
    Vec<D> velocity = this->velocity(constraint, x, time);
    if (obstacle.surface_velocity == Vec<D>{}) return velocity;
    Vec<D> of_belt = obstacle.surface_velocity;
    if (obstacle.can_move()) of_belt = moved_at(obstacle, time).direction_to_world(of_belt);
    return velocity + (of_belt - dot(of_belt, normal) * normal);
  }
  int part_of(int constraint) const { return of(constraint).part; }

  /// Lets bodies through an obstacle without motion: those of a sorted list, which may change between steps,
  /// alike on all ranks. Whoever is taken off the list must not overlap the obstacle.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
  void admit(int obstacle, std::shared_ptr<const std::vector<GlobalId>> bodies) {
    obstacles_[obstacle].admits = std::move(bodies);
  }

  /// Takes an obstacle away, or puts it back where its motion has it by then. While away it touches nothing:
  /// its bounds and outline are empty, it does not move, and `nearest` says `out_of_reach`, so that lists
  /// found before stay safe to use. One put back is in no list found before: find candidates again. Must be
  /// called alike on all ranks. All are active at first.
  void set_active(int obstacle, bool active);
  bool active(int obstacle) const { return is_active_[obstacle] != 0; }

  /// Places every obstacle for `time`; the following calls use these poses, so call it first.
  void place(Real time);
  /// From here on paths start where the obstacles stand now. Every step begins with it; within a step
  /// obstacles may be placed as often as needed. The first place() does it by itself.
  void begin_step() { start_poses_ = poses_; }
  /// World box of a constraint at the current pose, cut to the domain.
  Box<D> bounds(int constraint, const Box<D>& domain) const;
  /// World-frame Shape::nearest of one constraint at the current pose. `at`, `from`: world coordinates,
  /// `from` is where each point was when the step began, by begin_step(). Scratch is reused; no allocation
  /// once warm.
  void nearest(int constraint, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
               std::span<SurfacePoint<D>> result) const;
  /// The same without a path: where `at` lies now says on which side of a thin part it is.
  void nearest(int constraint, std::span<const Vec<D>> at, std::span<SurfacePoint<D>> result) const;
  /// World-frame Shape::nearest_within of one constraint, otherwise as the first nearest().
  void nearest_within(int constraint, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                      std::span<const Real> reach, std::span<SurfacePoint<D>> result,
                      std::span<Real> clearance) const;
  /// World-frame Shape::distances of one constraint at the current pose.
  void distances(int constraint, std::span<const Vec<D>> at, std::span<SurfacePoint<D>> result) const;
  /// World-frame Shape::find_near of one image of an obstacle at the current pose: replaces near.found, in
  /// ascending order of (part, point), each once. Nothing if it is not active. Of a container a point is near
  /// the image that it is in.
  void find_near(int obstacle, int image, std::span<const Vec<D>> at, std::span<const Real> reach,
                 const Box<D>& cut, NearParts<D>& near) const;
  /// World-frame Shape::closest of one obstacle and its images at the current pose; out of reach if it is not
  /// active.
  SurfacePoint<D> closest(int obstacle, const Vec<D>& at) const;
  /// Its first constraint; part p is the constraint p later.
  int first_constraint(int obstacle, int image = 0) const {
    return first_constraint_[obstacle] + image * n_constraints();
  }
  /// World-frame Shape::touch of one constraint at the current pose; `from` as of nearest().
  void touch(int constraint, const ConvexCore<D>& core, const BodyPose<D>& pose, Real rounding,
             const Vec<D>& from, Real reach, Real width, WallContacts<D>& found) const;
  /// Largest distance that a point fixed to an image of an obstacle, and in `box` when the step began, has
  /// moved since [m]. Exact.
  Real moved_in_step(int obstacle, const Box<D>& box, int image = 0) const;
  /// Calls f(other constraint) for the parts that `constraint` passes contacts on to, ascending.
  template <class F>
  void for_each_neighbour(int constraint, F&& f) const {
    const int part = part_of(constraint);
    for (const int other : shape_of(constraint).neighbours(part)) f(constraint - part + other);
  }
  /// Whether two constraints belong to one shape at one place, which knows by itself where its parts meet.
  bool of_one_shape(int constraint, int other) const {
    return constraint - part_of(constraint) == other - part_of(other);
  }
  /// Whether `other` stands for `constraint` at a body: the point of `constraint` that is nearest to x, the
  /// foot of `seen`, is on the surface of `other` or in its solid, and `other` comes nearer to x (where both
  /// are as near, the smaller number does). Then the foot is no local minimum of the distance from all walls
  /// together, and the normal there is one that no body ever meets. Walls meet flush up to steps of 1e-4 and
  /// slits of 1e-3 of `radius`. False where x is in the solid.
  bool stands_for(int other, int constraint, const SurfacePoint<D>& seen, const Vec<D>& x, Real radius) const;
  /// False: one stands for the other nowhere, also after both have moved by `reach` [m]. Unbounded surfaces
  /// are cut to `cut`. Cost: a few distances.
  bool may_meet(int constraint, int other, const Box<D>& cut, Real reach) const;
  /// Whether bodies must keep their side of it: it has no thickness and is active.
  bool is_thin(int constraint) const {
    return active(obstacle_of(constraint)) && shape_of(constraint).is_thin();
  }
  bool any_thin() const;
  /// Whether some active solid can be passed through: see Shape::has_far_side.
  bool any_far_side() const;
  /// Whether the straight path from -> at, seen from the obstacles, comes nearer than `clearance` > 0 to the
  /// surface of such a solid, or goes through it. `from`: where the point was when the step began. For the
  /// few bodies for which it may be so.
  bool path_meets_solid(const Vec<D>& from, const Vec<D>& at, Real clearance) const;
  /// Upper bound of how far the distances of obstacles change between two times [m]; only surfaces that are
  /// within `domain` at one of them count (see Shape::travel: neighbour lists are rebuilt before it
  /// eats the skin). 0 if no surface moves.
  Real travel(Real from_time, Real to_time, const Box<D>& domain) const;
  bool moves() const;
  // Walls that loads move (geometry/driven_motion.hpp); their state changes with the steps of a scheme.
  /// All directions of one, then those of the next.
  std::span<DrivenState> driven() { return driven_; }
  std::span<const DrivenState> driven() const { return driven_; }
  /// The number of its first direction in driven(), or -1.
  int driven_of(int constraint) const { return obstacle_with(constraint).driven; }
  /// The directions of the wall of which `first` is the first one.
  std::span<const DrivenState> directions_from(int first) const {
    const std::size_t n = obstacles_[driven_[first].obstacle].driven_motions.size();
    return std::span(driven_).subspan(static_cast<std::size_t>(first), n);
  }
  const DrivenMotion<D>& driven_motion_of(const DrivenState& wall) const;
  /// DrivenMotion::direction() at x where the wall stands now, which directions before may have moved.
  Vec<D> direction_of(const DrivenState& wall, const Vec<D>& x) const;
  /// "OBSTACLE", or "OBSTACLE.NAME" of a further direction.
  std::string name_of(const DrivenState& wall) const;
  /// Where an obstacle stands.
  const Pose<D>& pose_of(int obstacle) const { return poses_[obstacle]; }
  /// The neighbour list is built for `time`: travel() counts from there.
  void set_reference(Real time);
  /// They have moved with their velocities until `end`.
  void finish_driven_step(Real end);
  /// Upper bound of how far the distances of such a wall differ from those at the position `from`, dt after
  /// it was last moved [m].
  Real reach(const DrivenState& wall, Real from, Real dt, const Box<D>& domain) const;
  /// Outline of one obstacle in the world frame at the current pose.
  Outline<D> outline(int obstacle, const Box<D>& domain) const;

 private:
  struct Constraint {
    int obstacle;
    int part;
  };
  const Constraint& of(int constraint) const {
    const int n = n_constraints();
    return constraints_[constraint < n ? constraint : constraint % n];
  }
  /// What an obstacle looks like through periodic faces.
  struct Images {
    std::vector<int> codes{0};
    std::array<bool, D> along{};
    bool is_container = false;
    Box<D> own = Box<D>::empty();  // holds its surface, in its frame
    Vec<D> lower{}, upper{};       // of the obstacle itself as placed, along these axes
    std::vector<Vec<D>> shift;     // of each code, as placed [m]
  };
  void make_images(std::size_t obstacle, const Box<D>& near);
  void place_images(std::size_t obstacle);
  /// From the obstacle to the image [m]; null: it has none.
  const Vec<D>* shift_of(int constraint) const {
    const Images& images = images_[obstacle_of(constraint)];
    return images.shift.empty() ? nullptr : &images.shift[image_of(constraint)];
  }
  bool is_in_container(std::size_t obstacle, const Vec<D>& x) const;
  void add(Obstacle<D> obstacle);
  /// Where the obstacle is at `time`, without regard to whether it is active.
  Pose<D> pose_at(const Obstacle<D>& obstacle, Real time) const {
    return obstacle.placed(moved_at(obstacle, time));
  }
  /// How far its motion, or its load, has moved it by `time` from where the deck has it.
  Pose<D> moved_at(const Obstacle<D>& obstacle, Real time) const;
  Real travel_between(const Obstacle<D>& obstacle, const Pose<D>& from, const Pose<D>& to,
                      const Box<D>& domain) const;
  void find_driven();
  Vec<D> driven_velocity(const Obstacle<D>& obstacle, const Vec<D>& x) const;
  const Shape<D>& shape_of(int constraint) const { return *obstacle_with(constraint).shape; }
  bool is_solid_near(int constraint, const Box<D>& box, Real reach) const;
  /// answer(shape, part, at, from) in the frame of the shape fills `result`.
  template <class F>
  void answer_in_own_frame(int constraint, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                           const std::vector<Pose<D>>& poses_of_from, std::span<SurfacePoint<D>> result,
                           F&& answer) const;

  std::vector<Obstacle<D>> obstacles_;
  std::vector<Constraint> constraints_;
  std::vector<int> first_constraint_;
  std::vector<DrivenState> driven_;
  std::vector<std::uint8_t> is_active_;  // by obstacle
  std::vector<Pose<D>> poses_;           // at the time of the last place()
  std::vector<Pose<D>> start_poses_;     // when the step began
  Box<D> domain_{};
  std::vector<Images> images_;  // of each obstacle
  int n_images_ = 1;
  mutable std::vector<Vec<D>> own_at_, own_from_;
  mutable NearParts<D> near_path_;
};

}  // namespace scree
