#include "geometry/obstacle.hpp"

#include <algorithm>

#include "geometry/surface_travel.hpp"

namespace scree {

namespace {

template <int D>
Box<D> own_box(const Pose<D>& pose, const Box<D>& world) {
  Box<D> own = Box<D>::empty();
  for (unsigned c = 0; c < Box<D>::n_corners; ++c) own.include(pose.to_own(world.corner(c)));
  return own;
}

}  // namespace

template <int D>
void ObstacleSet<D>::describe(Section& root) {
  root.tables("obstacles", {.doc = "A wall, floor, post or container, by a name of your choice."},
              [this](const std::string& name, Section& section) {
                Obstacle<D> obstacle;
                obstacle.name = name;
                std::unique_ptr<Shape<D>> shape;
                section.kind("type", shape, {.required = true, .doc = "shape of the obstacle"});
                obstacle.shape = std::move(shape);
                section.text("material", obstacle.material,
                             {.doc = "name of the material its surface is made of, where materials matter; "
                                     "needed where there are several"});
                section.optional_table(
                    "motion",
                    {.doc = "Prescribed motion of the obstacle; without it the obstacle is fixed. "
                            "The shape is given as it is before the motion moves it."},
                    [&](Section& motion) {
                      std::unique_ptr<Motion<D>> kind;
                      motion.kind("type", kind, {.required = true, .doc = "kind of motion"});
                      if (kind) obstacle.drive = kind->drive();
                      if (!obstacle.drive) obstacle.motion = std::move(kind);
                    });
                if (!section.reading()) return;
                obstacle.where = section.where("type");
                obstacle.where_material = section.where("material");
                add(std::move(obstacle));
              });
  if (root.reading()) find_driven();
}

template <int D>
void ObstacleSet<D>::add(Obstacle<D> obstacle) {
  for (int part = 0; part < obstacle.shape->n_parts(); ++part)
    constraints_.push_back({static_cast<int>(obstacles_.size()), part});
  obstacles_.push_back(std::move(obstacle));
  is_active_.push_back(1);
}

template <int D>
int ObstacleSet<D>::add(const std::string& name, const std::string& where, std::unique_ptr<Shape<D>> shape) {
  Obstacle<D> obstacle;
  obstacle.name = name;
  obstacle.where = obstacle.where_material = where;
  obstacle.shape = std::move(shape);
  add(std::move(obstacle));
  return static_cast<int>(obstacles_.size()) - 1;
}

template <int D>
void ObstacleSet<D>::set_active(int obstacle, bool active) {
  is_active_[static_cast<std::size_t>(obstacle)] = active ? 1 : 0;
}

template <int D>
void ObstacleSet<D>::place(Real time) {
  poses_.resize(obstacles_.size());
  for (std::size_t i = 0; i < obstacles_.size(); ++i)
    if (can_move(obstacles_[i])) poses_[i] = pose_at(obstacles_[i], time);
  if (start_poses_.size() != poses_.size()) begin_step();
}

template <int D>
Box<D> ObstacleSet<D>::bounds(int constraint, const Box<D>& domain) const {
  const auto i = static_cast<std::size_t>(obstacle_of(constraint));
  if (is_active_[i] == 0) return Box<D>::empty();
  const Shape<D>& shape = *obstacles_[i].shape;
  if (!can_move(obstacles_[i])) return shape.bounds(part_of(constraint), domain);

  const Box<D> own = shape.bounds(part_of(constraint), own_box(poses_[i], domain));
  Box<D> world = Box<D>::empty();
  if (own.is_empty()) return world;
  for (unsigned c = 0; c < Box<D>::n_corners; ++c) world.include(poses_[i].to_world(own.corner(c)));
  return world;
}

template <int D>
void ObstacleSet<D>::nearest(int constraint, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                             std::span<SurfacePoint<D>> result) const {
  nearest(constraint, at, from, start_poses_, result);
}

template <int D>
void ObstacleSet<D>::nearest(int constraint, std::span<const Vec<D>> at,
                             std::span<SurfacePoint<D>> result) const {
  nearest(constraint, at, at, poses_, result);
}

template <int D>
void ObstacleSet<D>::nearest(int constraint, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                             const std::vector<Pose<D>>& poses_of_from,
                             std::span<SurfacePoint<D>> result) const {
  const auto i = static_cast<std::size_t>(obstacle_of(constraint));
  if (is_active_[i] == 0) {
    std::fill_n(result.begin(), at.size(), SurfacePoint<D>::none());
    return;
  }
  const Shape<D>& shape = *obstacles_[i].shape;
  if (!can_move(obstacles_[i])) {
    shape.nearest(part_of(constraint), at, from, result);
    return;
  }
  own_at_.resize(at.size());
  own_from_.resize(from.size());
  for (std::size_t k = 0; k < at.size(); ++k) own_at_[k] = poses_[i].to_own(at[k]);
  for (std::size_t k = 0; k < from.size(); ++k) own_from_[k] = poses_of_from[i].to_own(from[k]);
  shape.nearest(part_of(constraint), own_at_, own_from_, result);
  for (std::size_t k = 0; k < at.size(); ++k)
    result[k].normal = poses_[i].direction_to_world(result[k].normal);
}

template <int D>
void ObstacleSet<D>::distances(int constraint, std::span<const Vec<D>> at,
                               std::span<SurfacePoint<D>> result) const {
  const auto i = static_cast<std::size_t>(obstacle_of(constraint));
  if (is_active_[i] == 0) {
    std::fill_n(result.begin(), at.size(), SurfacePoint<D>::none());
    return;
  }
  if (can_move(obstacles_[i])) {
    own_at_.resize(at.size());
    for (std::size_t k = 0; k < at.size(); ++k) own_at_[k] = poses_[i].to_own(at[k]);
    at = own_at_;
  }
  obstacles_[i].shape->distances(part_of(constraint), at, result);
}

template <int D>
Real ObstacleSet<D>::moved_in_step(int constraint, const Box<D>& box) const {
  const auto i = static_cast<std::size_t>(obstacle_of(constraint));
  if (!can_move(obstacles_[i]) || box.is_empty()) return 0;
  Real farthest = 0;  // displacements are an affine function of the place: largest at a corner
  for (unsigned c = 0; c < Box<D>::n_corners; ++c) {
    const Vec<D> corner = box.corner(c);
    farthest = std::max(farthest, norm(poses_[i].to_world(start_poses_[i].to_own(corner)) - corner));
  }
  return farthest;
}

template <int D>
bool ObstacleSet<D>::any_thin() const {
  for (std::size_t i = 0; i < obstacles_.size(); ++i)
    if (is_active_[i] != 0 && obstacles_[i].shape->is_thin()) return true;
  return false;
}

template <int D>
bool ObstacleSet<D>::any_far_side() const {
  for (std::size_t i = 0; i < obstacles_.size(); ++i)
    if (is_active_[i] != 0 && obstacles_[i].shape->has_far_side()) return true;
  return false;
}

template <int D>
bool ObstacleSet<D>::way_meets_solid(const Vec<D>& from, const Vec<D>& at, Real clearance) const {
  for (int c = 0; c < n_constraints(); ++c) {
    const auto i = static_cast<std::size_t>(obstacle_of(c));
    const Shape<D>& shape = *obstacles_[i].shape;
    if (is_active_[i] == 0 || !shape.has_far_side()) continue;
    const Vec<D> begin = start_poses_[i].to_own(from), end = poses_[i].to_own(at);
    Box<D> around = Box<D>::empty();
    for (const Vec<D>& x : {begin, end}) {
      around.include(x - filled<D>(clearance));
      around.include(x + filled<D>(clearance));
    }
    if (!overlap(around, shape.bounds(part_of(c), around))) continue;
    // Nothing is nearer than the distance, so that far the way is free.
    const Real length = norm(end - begin), least_advance = 0.1 * clearance;
    for (Real gone = 0;;) {
      const Vec<D> x = length > 0 ? begin + std::min(gone / length, 1.0) * (end - begin) : end;
      SurfacePoint<D> seen;
      shape.distances(part_of(c), {&x, 1}, {&seen, 1});
      if (seen.distance < clearance) return true;
      if (gone >= length) break;
      gone += std::max(seen.distance - clearance, least_advance);
    }
  }
  return false;
}

template <int D>
Real Shape<D>::travel(int part, const Pose<D>& moved, const Box<D>& region) const {
  return farthest_way(moved, bounds(part, region));
}
template Real Shape<2>::travel(int, const Pose<2>&, const Box<2>&) const;
template Real Shape<3>::travel(int, const Pose<3>&, const Box<3>&) const;

template <int D>
Real ObstacleSet<D>::travel_between(const Obstacle<D>& obstacle, const Pose<D>& from, const Pose<D>& to,
                                    const Box<D>& domain) const {
  Box<D> region = own_box(from, domain);
  const Box<D> region_then = own_box(to, domain);
  region.include(region_then.lower);
  region.include(region_then.upper);
  const Pose<D> moved = to.seen_from(from);
  Real farthest = 0;
  for (int part = 0; part < obstacle.shape->n_parts(); ++part)
    farthest = std::max(farthest, obstacle.shape->travel(part, moved, region));
  return farthest;
}

template <int D>
Real ObstacleSet<D>::travel(Real from_time, Real to_time, const Box<D>& domain) const {
  Real farthest = 0;
  for (std::size_t i = 0; i < obstacles_.size(); ++i) {
    const Obstacle<D>& obstacle = obstacles_[i];
    if (!can_move(obstacle) || is_active_[i] == 0) continue;
    farthest = std::max(farthest, obstacle.drive ? driven_travel(obstacle, from_time, to_time, domain)
                                                 : travel_between(obstacle, obstacle.motion->pose(from_time),
                                                                  obstacle.motion->pose(to_time), domain));
  }
  return farthest;
}

template <int D>
bool ObstacleSet<D>::moves() const {
  for (std::size_t i = 0; i < obstacles_.size(); ++i)
    if (can_move(obstacles_[i]) && is_active_[i] != 0) return true;
  return false;
}

template <int D>
Outline<D> ObstacleSet<D>::outline(int obstacle, const Box<D>& domain) const {
  const auto i = static_cast<std::size_t>(obstacle);
  if (is_active_[i] == 0) return {};
  const Shape<D>& shape = *obstacles_[i].shape;
  if (!can_move(obstacles_[i])) return shape.outline(domain);

  Outline<D> outline = shape.outline(own_box(poses_[i], domain));
  for (Vec<D>& point : outline.points) point = poses_[i].to_world(point);
  return outline;
}

template <int D>
void ObstacleSet<D>::touch(int constraint, const ConvexCore<D>& core, const BodyPose<D>& pose, Real rounding,
                           const Vec<D>& from, Real reach, Real width, WallContacts<D>& found) const {
  const auto i = static_cast<std::size_t>(obstacle_of(constraint));
  found.n = 0;
  found.cores_overlap = false;
  if (is_active_[i] == 0) return;
  const Shape<D>& shape = *obstacles_[i].shape;
  if (!can_move(obstacles_[i]))
    return shape.touch(part_of(constraint), core, pose, rounding, from, reach, width, found);
  BodyPose<D> own{poses_[i].to_own(pose.centre), {}, pose.size};
  for (std::size_t k = 0; k < D; ++k) own.axes[k] = poses_[i].direction_to_own(pose.axes[k]);
  shape.touch(part_of(constraint), core, own, rounding, start_poses_[i].to_own(from), reach, width, found);
  for (int k = 0; k < found.n; ++k) {
    auto& p = found.points[static_cast<std::size_t>(k)];
    p.normal = poses_[i].direction_to_world(p.normal);
    p.place = poses_[i].direction_to_world(p.place);
  }
}

template class ObstacleSet<2>;
template class ObstacleSet<3>;

}  // namespace scree
