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
#include "geometry/convex/wall_contact.hpp"
#include "geometry/driven_state.hpp"

namespace scree {

/// The point of a surface that is nearest to a given point p, seen from p.
template <int D>
struct SurfacePoint {
  Vec<D> normal;      ///< unit, from the surface into the free space [-]
  Real distance = 0;  ///< signed distance of p from the surface [m]; negative inside the solid

  /// Distance of everything from what it does not touch, however near [m]; finite, so that arithmetic with
  /// it is.
  static constexpr Real out_of_reach = 1e30;
  static SurfacePoint none() { return {unit_vector<D>(0), out_of_reach}; }
  bool in_reach() const { return distance < out_of_reach; }
};

/// Lines and triangles that show a surface in ParaView.
template <int D>
struct Outline {
  std::vector<Vec<D>> points;
  std::vector<std::array<int, 2>> lines;      ///< 2D
  std::vector<std::array<int, 3>> triangles;  ///< 3D
};

/// A piece of a surface so simple that the time when a body in free flight touches it is the root of a
/// polynomial.
template <int D>
struct SurfacePiece {
  enum class Kind {
    plane,  ///< solid behind it: gap = n . (x - p) - r
    edge,   ///< two-sided, where 0 <= t . (x - p) <= length: gap = |n . (x - p)| - r
    ball,   ///< gap = front (|x - p| - radius) - r; a corner has radius 0
  };
  Kind kind = Kind::plane;
  Vec<D> point{};    ///< p [m]
  Vec<D> normal{};   ///< n, unit
  Vec<D> tangent{};  ///< t, unit
  Real length = 0;   ///< [m]
  Real radius = 0;   ///< [m]
  Real front = 1;    ///< -1: bodies are inside of the ball
};

/// A rigid placement: x_world = rotation * x_own + translation (rotation row-major).
template <int D>
struct Pose {
  std::array<Vec<D>, D> rotation = [] {
    std::array<Vec<D>, D> rows{};
    for (int k = 0; k < D; ++k) rows[static_cast<std::size_t>(k)][k] = 1;
    return rows;
  }();
  Vec<D> translation{};

  Vec<D> to_world(const Vec<D>& own) const {
    Vec<D> world = translation;
    for (int k = 0; k < D; ++k) world[k] += dot(rotation[static_cast<std::size_t>(k)], own);
    return world;
  }
  Vec<D> direction_to_world(const Vec<D>& own) const {
    Vec<D> world;
    for (int k = 0; k < D; ++k) world[k] = dot(rotation[static_cast<std::size_t>(k)], own);
    return world;
  }
  Vec<D> to_own(const Vec<D>& world) const { return direction_to_own(world - translation); }
  Vec<D> direction_to_own(const Vec<D>& world) const {
    Vec<D> own;
    for (int j = 0; j < D; ++j)
      for (int k = 0; k < D; ++k) own[j] += rotation[static_cast<std::size_t>(k)][j] * world[k];
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

/// Parts of a shape that points are near: what lists of candidates are made of.
template <int D>
struct NearParts {
  struct Entry {
    int part;
    int point;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> found;
  std::vector<SurfacePoint<D>> surface;  ///< scratch
};

/// A fixed surface in its own frame, made of one or more parts. A part is one unilateral constraint for a
/// body near it, gap = distance(x) - radius >= 0, where the distance from the shape has a *local minimum* on
/// it: a body touches a surface once per local minimum, never once per part. A polygon has one part per edge,
/// a plane has one.
template <int D>
class Shape {
 public:
  virtual ~Shape() = default;
  virtual void describe(Section& section) = 0;
  virtual int n_parts() const { return 1; }
  /// Smallest box that holds part `part`, cut to `domain` where the part is unbounded (`lower > upper` if
  /// empty).
  virtual Box<D> bounds(int part, const Box<D>& domain) const = 0;
  /// Distance and normal of `part` at each point of `at`; SurfacePoint::none() where its nearest point is no
  /// local minimum of the distance from the shape, or where another part stands for it. `from` holds where
  /// each point was at the start of the step (the same frame): a part without thickness (segment, polyline
  /// edge) takes the side of `from` when the path crossed it, so a body cannot tunnel; parts that bound a
  /// solid ignore it. Costs O(points), no allocation.
  virtual void nearest(int part, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                       std::span<SurfacePoint<D>> result) const = 0;
  /// As nearest() where that finds a distance below reach[i]; elsewhere it may answer none(), for less work.
  /// Nothing below reach[i] is found before the point and the part have moved by clearance[i] [m], but for a
  /// point that came into a solid; 0: not known. As it stands, nearest().
  virtual void nearest_within(int part, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                              std::span<const Real> reach, std::span<SurfacePoint<D>> result,
                              std::span<Real> clearance) const;
  /// Distance of `part` from each point, whether it is a local minimum or not: what lists of candidates go
  /// by. Not above what `nearest` answers now; without a side. Costs and allocates as `nearest`.
  virtual void distances(int part, std::span<const Vec<D>> at, std::span<SurfacePoint<D>> result) const {
    nearest(part, at, at, result);
  }
  /// Appends to near.found the parts that are nearer than reach[i] to point at[i], by distances(), in any
  /// order. `cut`: where unbounded parts end; no point must be farther than its reach from it. As it stands,
  /// O(parts * points).
  virtual void find_near(std::span<const Vec<D>> at, std::span<const Real> reach, const Box<D>& cut,
                         NearParts<D>& near) const;
  /// Of all parts the nearest to a point, with its distance as nearest() has it without a path. As it
  /// stands, O(parts).
  virtual SurfacePoint<D> closest(const Vec<D>& at) const;
  /// Contact points of a convex body with `part`, in the frame of the shape: gaps of the rounded body, its
  /// core with `rounding` around [m], that are at most `reach` and at most `width` above the least [m]; of
  /// too many those that Candidates::reduce() takes. `from`: where the centre of the body was when the step
  /// began. `found` is replaced. A body of one point gets what nearest() says of a ball, bit by bit. Each
  /// point is a local minimum for which `part` answers, as in nearest(). A pure function of its arguments; no
  /// allocation. As it stands, corners of the core by nearest() (add_corners()): exact where the free space
  /// is convex, in containers.
  virtual void touch(int part, const ConvexCore<D>& core, const BodyPose<D>& pose, Real rounding,
                     const Vec<D>& from, Real reach, Real width, WallContacts<D>& found) const;
  /// Edges, from end to end, that touch() does not see where they lie on faces or edges of a body: all that
  /// it looks at is corners of bodies.
  virtual std::vector<std::array<Vec<D>, 2>> edges_not_seen() const { return {}; }
  /// The parts that a body can pass on to while it touches: those that share an edge or corner with `part`,
  /// ascending. What a contact remembers passes on with it.
  virtual std::span<const int> neighbours(int /*part*/) const { return {}; }
  /// Whether it has no thickness: all space is free, and bodies keep the side they come from.
  virtual bool is_thin() const { return false; }
  /// Whether a body that went into the solid may come out of it elsewhere: not from a half-space, nor from
  /// all that is around a container.
  virtual bool has_far_side() const { return !is_thin(); }
  /// Upper bound of how far the distances of its parts change where the shape goes from its own frame to
  /// `moved` [m]; only points of the surface in `region` count. 0 for a motion that leaves the surface as it
  /// is: a plane that slides in itself, a cylinder that turns about its axis. As it stands, the farthest way
  /// of any point of the surface, O(parts).
  virtual Real travel(const Pose<D>& moved, const Box<D>& region) const;
  virtual Outline<D> outline(const Box<D>& domain) const = 0;
  /// Part `part` as simple pieces; empty if it is not made of such. Pieces may repeat each other.
  virtual std::vector<SurfacePiece<D>> pieces(int /*part*/) const { return {}; }
};

/// The shape "plane", and "disk" or "sphere" that holds bodies, for programs. `normal`: unit.
template <int D>
std::unique_ptr<Shape<D>> make_plane(const Vec<D>& point, const Vec<D>& normal);
template <int D>
std::unique_ptr<Shape<D>> make_round_container(const Vec<D>& center, Real radius);

template <int D>
class Drive;

/// A prescribed rigid motion: a function of time alone, the same on all ranks.
template <int D>
class Motion {
 public:
  virtual ~Motion() = default;
  virtual void describe(Section& section) = 0;
  virtual Pose<D> pose(Real time) const = 0;
  /// Velocity of the material point that is at x (world) at `time` [m/s].
  virtual Vec<D> velocity(const Vec<D>& x, Real time) const = 0;
  /// Angular velocity [rad/s]: about z in the plane.
  virtual Vec<D == 2 ? 1 : 3> spin(Real time) const = 0;
  /// What moves the wall if it is not this but a load (geometry/drive.hpp).
  virtual std::shared_ptr<const Drive<D>> drive() const { return nullptr; }
};

template <>
std::span<const Entry<Shape<2>>> registry<Shape<2>>();
template <>
std::span<const Entry<Shape<3>>> registry<Shape<3>>();
template <>
std::span<const Entry<Motion<2>>> registry<Motion<2>>();
template <>
std::span<const Entry<Motion<3>>> registry<Motion<3>>();

/// A wall, floor, funnel, post...: a shape that may move. Held in full by every rank.
template <int D>
struct Obstacle {
  std::string name;
  std::string where;  ///< its place in the deck, for messages
  std::shared_ptr<const Shape<D>> shape;
  std::shared_ptr<const Motion<D>> motion;  ///< a function of time; null: fixed, or driven
  std::shared_ptr<const Drive<D>> drive;    ///< a load moves it; null: none does
  int level = -1;                           ///< only bodies on this level touch it; -1: all do
  std::string floor, where_floor;  ///< its name, and the place of that in the deck; empty: all levels
  std::shared_ptr<const std::vector<GlobalId>> admits;  ///< bodies that do not touch it, sorted; null: none
  int driven = -1;                                      ///< its number in ObstacleSet::driven(); -1: none
  std::optional<Pose<D>> placement;  ///< where the deck puts the shape before the motion moves it
  Vec<D> surface_velocity{};   ///< of the material in the surface, relative to the shape, before the motion
                               ///< turns it [m/s]
  std::string material;        ///< name of its material; empty: not given
  std::string where_material;  ///< place of that name in the deck, for messages
  bool from_deck = true;       ///< floor plans are drawn across periodic faces and have no images
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
  std::span<const int> images_of(int obstacle) const {
    return images_[static_cast<std::size_t>(obstacle)].codes;
  }
  int image_of(int constraint) const {
    return constraint < n_constraints() ? 0 : constraint / n_constraints();
  }
  /// Along which axes a contact memory tells images of this obstacle apart.
  bool has_images_along(int obstacle, int axis) const {
    return images_[static_cast<std::size_t>(obstacle)].along[static_cast<std::size_t>(axis)];
  }
  /// x as seen from the obstacle itself, where an image is met.
  Vec<D> at_obstacle(int constraint, const Vec<D>& x) const {
    const Vec<D>* shift = shift_of(constraint);
    return shift ? x - *shift : x;
  }
  /// False: no part of this image is in `around`. True of what has no images.
  bool may_reach(int obstacle, int image, const Box<D>& around) const;
  const Obstacle<D>& obstacle_with(int constraint) const {
    return obstacles_[static_cast<std::size_t>(obstacle_of(constraint))];
  }
  /// Velocity of its point at x (world) at `time` [m/s]; 0 if it is fixed.
  Vec<D> velocity(int constraint, const Vec<D>& x, Real time) const {
    const Obstacle<D>& obstacle = obstacle_with(constraint);
    if (!can_move(obstacle)) return {};
    const Vec<D> there = at_obstacle(constraint, x);
    return obstacle.drive ? driven_velocity(obstacle, there) : obstacle.motion->velocity(there, time);
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
    if (can_move(obstacle)) of_belt = moved_at(obstacle, time).direction_to_world(of_belt);
    return velocity + (of_belt - dot(of_belt, normal) * normal);
  }
  int part_of(int constraint) const { return of(constraint).part; }

  /// Lets bodies through an obstacle without motion: those of a sorted list, which may change between steps,
  /// alike on all ranks. Whoever is taken off the list must not overlap the obstacle.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
  void admit(int obstacle, std::shared_ptr<const std::vector<GlobalId>> bodies) {
    obstacles_[static_cast<std::size_t>(obstacle)].admits = std::move(bodies);
  }

  /// Takes an obstacle away, or puts it back where its motion has it by then. While away it touches nothing:
  /// its bounds and outline are empty, it does not move, and `nearest` says `out_of_reach`, so that lists
  /// found before stay safe to use. One put back is in no list found before: find candidates anew. Must be
  /// called alike on all ranks. All are active at first.
  void set_active(int obstacle, bool active);
  bool active(int obstacle) const { return is_active_[static_cast<std::size_t>(obstacle)] != 0; }

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
    return first_constraint_[static_cast<std::size_t>(obstacle)] + image * n_constraints();
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
  /// Whether the straight way from -> at, seen from the obstacles, comes nearer than `clearance` > 0 to the
  /// surface of such a solid, or goes through it. `from`: where the point was when the step began. For the
  /// few bodies for which it may be so.
  bool way_meets_solid(const Vec<D>& from, const Vec<D>& at, Real clearance) const;
  /// Upper bound of how far the distances of obstacles change between two times [m]; only surfaces that are
  /// within `domain` at one of them count (see Shape::travel: neighbour lists are rebuilt before it
  /// eats the skin). 0 if no surface moves.
  Real travel(Real from_time, Real to_time, const Box<D>& domain) const;
  bool moves() const;
  // Walls that a load moves (geometry/drive.hpp); their state changes with the steps of a scheme.
  std::span<DrivenState> driven() { return driven_; }
  std::span<const DrivenState> driven() const { return driven_; }
  /// Its number in driven(), or -1.
  int driven_of(int constraint) const { return obstacle_with(constraint).driven; }
  const Drive<D>& drive_of(const DrivenState& wall) const;
  /// Where an obstacle stands.
  const Pose<D>& pose_of(int obstacle) const { return poses_[static_cast<std::size_t>(obstacle)]; }
  /// The neighbour list is built for `time`: travel() counts from there.
  void note_listed(Real time);
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
    return constraints_[static_cast<std::size_t>(constraint < n ? constraint : constraint % n)];
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
  void place_images(std::size_t obstacle);
  /// From the obstacle to the image [m]; null: it has none.
  const Vec<D>* shift_of(int constraint) const {
    const Images& images = images_[static_cast<std::size_t>(obstacle_of(constraint))];
    return images.shift.empty() ? nullptr : &images.shift[static_cast<std::size_t>(image_of(constraint))];
  }
  bool is_in_container(std::size_t obstacle, const Vec<D>& x) const;
  void add(Obstacle<D> obstacle);
  static bool can_move(const Obstacle<D>& obstacle) { return obstacle.motion || obstacle.drive; }
  /// Whether its frame is not the world's.
  static bool is_placed(const Obstacle<D>& obstacle) { return can_move(obstacle) || obstacle.placement; }
  /// Where the obstacle is after its motion takes it to `moved`.
  static Pose<D> placed(const Obstacle<D>& obstacle, const Pose<D>& moved) {
    return obstacle.placement ? moved.after(*obstacle.placement) : moved;
  }
  /// Where the obstacle is at `time`, without regard to whether it is active.
  Pose<D> pose_at(const Obstacle<D>& obstacle, Real time) const {
    return placed(obstacle, moved_at(obstacle, time));
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
  mutable NearParts<D> near_way_;
};

}  // namespace scree
