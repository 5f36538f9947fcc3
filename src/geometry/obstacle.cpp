#include "geometry/obstacle.hpp"

#include <algorithm>

#include "geometry/level_map.hpp"
#include "geometry/motions/turn.hpp"

namespace scree {

namespace {

template <int D>
Box<D> moved(Box<D> box, const Vec<D>& displacement) {
  box.lower += displacement;
  box.upper += displacement;
  return box;
}

/// Reads `rotate`, `translate` and `surface_velocity`.
template <int D>
void describe_placement(Section& section, Obstacle<D>& obstacle) {
  Pose<D> placement;
  section.optional_table(
      "rotate",
      {.doc = D == 2 ? "Turns the shape about the origin, before it is translated."
                     : "Turns the shape about an axis through the origin, before it is translated."},
      [&](Section& rotate) {
        Vec<D> axis = unit_vector<D>(D - 1);
        Real angle = 0;
        if constexpr (D == 3)
          rotate.point<3>("axis", axis, {.required = true, .doc = "direction of the axis, of any length"});
        rotate.real("angle", angle,
                    {.unit = Unit::angle,
                     .required = true,
                     .doc = D == 2 ? "counter-clockwise" : "right-handed about the axis"});
        if (!rotate.reading()) return;
        const Real length = norm(axis);
        if (!(length > 0)) rotate.fail("axis", "has no direction: its length must not be 0");
        placement = turn_about_origin<D>(1 / length * axis, angle);
      });
  section.point<D>("translate", placement.translation,
                   {.unit = Unit::length, .doc = "moves the shape, after it is turned, before its motion"});
  section.point<D>("surface_velocity", obstacle.surface_velocity,
                   {.unit = Unit::speed,
                    .doc = "velocity of the material in the surface, of which the part along the surface "
                           "counts: a conveyor belt; the shape stays where it is"});
  if (section.reading() && (section.has("rotate") || placement.translation != Vec<D>{}))
    obstacle.placement = placement;
}

}  // namespace

template <int D>
void ObstacleSet<D>::describe(Section& root) {
  root.tables(
      "obstacles", {.doc = "A wall, floor, post or container, by a name of your choice."},
      [this](const std::string& name, Section& section) {
        Obstacle<D> obstacle;
        obstacle.name = name;
        std::unique_ptr<Shape<D>> shape;
        section.kind("type", shape, {.required = true, .doc = "shape of the obstacle"});
        obstacle.shape = std::move(shape);
        describe_placement(section, obstacle);
        section.text("material", obstacle.material,
                     {.doc = "name of the material its surface is made of, where materials matter; "
                             "needed where there are several"});
        if constexpr (D == 2)
          section.text("floor", obstacle.floor,
                       {.doc = "name of its floor, or connector, in a building of several; not given: "
                               "it stands on all"});
        section.optional_table("motion",
                               {.doc = "Prescribed motion of the obstacle; without it the obstacle is fixed. "
                                       "The shape is given as it is before the motion moves it."},
                               [&](Section& motion) {
                                 std::unique_ptr<Motion<D>> kind;
                                 motion.kind("type", kind, {.required = true, .doc = "kind of motion"});
                                 if (kind) obstacle.driven_motions = kind->driven_motions();
                                 if (!obstacle.is_driven()) obstacle.motion = std::move(kind);
                               });
        if (!section.reading()) return;
        obstacle.where = section.where("type");
        obstacle.where_material = section.where("material");
        obstacle.where_floor = section.where("floor");
        add(std::move(obstacle));
      });
  if (root.reading()) find_driven();
}

template <int D>
void ObstacleSet<D>::add(Obstacle<D> obstacle) {
  first_constraint_.push_back(n_constraints());
  for (int part = 0; part < obstacle.shape->n_parts(); ++part)
    constraints_.push_back({static_cast<int>(obstacles_.size()), part});
  obstacles_.push_back(std::move(obstacle));
  images_.emplace_back();
  is_active_.push_back(1);
}

template <int D>
int ObstacleSet<D>::add(const std::string& name, const std::string& where, std::unique_ptr<Shape<D>> shape,
                        int level) {
  Obstacle<D> obstacle;
  obstacle.name = name;
  obstacle.where = obstacle.where_material = where;
  obstacle.shape = std::move(shape);
  obstacle.level = level;
  obstacle.from_deck = false;
  add(std::move(obstacle));
  return static_cast<int>(obstacles_.size()) - 1;
}

template <int D>
void ObstacleSet<D>::put_on_levels(std::span<const std::string> names) {
  for (Obstacle<D>& obstacle : obstacles_)
    if (!obstacle.floor.empty()) obstacle.level = level_named(obstacle.floor, names, obstacle.where_floor);
}

template <int D>
void ObstacleSet<D>::set_active(int obstacle, bool active) {
  is_active_[obstacle] = active ? 1 : 0;
}

template <int D>
void ObstacleSet<D>::place(Real time) {
  poses_.resize(obstacles_.size());
  for (std::size_t i = 0; i < obstacles_.size(); ++i)
    if (obstacles_[i].is_placed()) {
      poses_[i] = pose_at(obstacles_[i], time);
      if (!images_[i].shift.empty()) place_images(i);
    }
  if (start_poses_.size() != poses_.size()) begin_step();
}

template <int D>
Box<D> ObstacleSet<D>::bounds(int constraint, const Box<D>& domain) const {
  const std::size_t i = obstacle_of(constraint);
  if (is_active_[i] == 0) return Box<D>::empty();
  const Shape<D>& shape = *obstacles_[i].shape;
  const Vec<D>* shift = shift_of(constraint);
  if (!obstacles_[i].is_placed() && !shift) return shape.bounds(part_of(constraint), domain);

  const Vec<D> displacement = shift ? *shift : Vec<D>{};
  const Box<D> own = shape.bounds(part_of(constraint), own_box(poses_[i], moved(domain, -displacement)));
  return own.is_empty() ? Box<D>::empty() : moved(world_box(poses_[i], own), displacement);
}

template <int D>
void ObstacleSet<D>::nearest(int constraint, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                             std::span<SurfacePoint<D>> result) const {
  answer_in_own_frame(constraint, at, from, start_poses_, result,
                      [&](const Shape<D>& shape, int part, auto own_at, auto own_from) {
                        shape.nearest(part, own_at, own_from, result);
                      });
}

template <int D>
void ObstacleSet<D>::nearest(int constraint, std::span<const Vec<D>> at,
                             std::span<SurfacePoint<D>> result) const {
  answer_in_own_frame(constraint, at, at, poses_, result,
                      [&](const Shape<D>& shape, int part, auto own_at, auto own_from) {
                        shape.nearest(part, own_at, own_from, result);
                      });
}

template <int D>
void ObstacleSet<D>::nearest_within(int constraint, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                                    std::span<const Real> reach, std::span<SurfacePoint<D>> result,
                                    std::span<Real> clearance) const {
  std::ranges::fill(clearance, 0.0);
  answer_in_own_frame(constraint, at, from, start_poses_, result,
                      [&](const Shape<D>& shape, int part, auto own_at, auto own_from) {
                        shape.nearest_within(part, own_at, own_from, reach, result, clearance);
                      });
}

template <int D>
template <class F>
void ObstacleSet<D>::answer_in_own_frame(int constraint, std::span<const Vec<D>> at,
                                         std::span<const Vec<D>> from,
                                         const std::vector<Pose<D>>& poses_of_from,
                                         std::span<SurfacePoint<D>> result, F&& answer) const {
  const std::size_t i = obstacle_of(constraint);
  if (is_active_[i] == 0) {
    std::fill_n(result.begin(), at.size(), SurfacePoint<D>::none());
    return;
  }
  const Shape<D>& shape = *obstacles_[i].shape;
  const Vec<D>* shift = shift_of(constraint);
  if (!obstacles_[i].is_placed() && !shift) {
    answer(shape, part_of(constraint), at, from);
    return;
  }
  own_at_.resize(at.size());
  own_from_.resize(from.size());
  const auto there = [shift](const Vec<D>& x) { return shift ? x - *shift : x; };
  for (std::size_t k = 0; k < at.size(); ++k) own_at_[k] = poses_[i].to_own(there(at[k]));
  for (std::size_t k = 0; k < from.size(); ++k) own_from_[k] = poses_of_from[i].to_own(there(from[k]));
  answer(shape, part_of(constraint), std::span<const Vec<D>>(own_at_), std::span<const Vec<D>>(own_from_));
  for (std::size_t k = 0; k < at.size(); ++k)
    result[k].normal = poses_[i].direction_to_world(result[k].normal);
}

template <int D>
void ObstacleSet<D>::distances(int constraint, std::span<const Vec<D>> at,
                               std::span<SurfacePoint<D>> result) const {
  answer_in_own_frame(
      constraint, at, {}, poses_, result,
      [&](const Shape<D>& shape, int part, auto own_at, auto) { shape.distances(part, own_at, result); });
}

template <int D>
void ObstacleSet<D>::find_near(int obstacle, int image, std::span<const Vec<D>> at,
                               std::span<const Real> reach, const Box<D>& cut, NearParts<D>& near) const {
  near.found.clear();
  const std::size_t i = obstacle;
  if (is_active_[i] == 0) return;
  const int constraint = first_constraint(obstacle, image);
  const Vec<D>* shift = shift_of(constraint);
  if (obstacles_[i].is_placed() || shift) {
    own_at_.resize(at.size());
    for (std::size_t k = 0; k < at.size(); ++k) own_at_[k] = poses_[i].to_own(at_obstacle(constraint, at[k]));
    const Box<D> there = shift ? moved(cut, -*shift) : cut;
    obstacles_[i].shape->find_near(own_at_, reach, own_box(poses_[i], there), near);
    if (images_[i].is_container)
      std::erase_if(near.found, [&](const auto& entry) {
        return !is_in_container(i, at_obstacle(constraint, at[entry.point]));
      });
  } else {
    obstacles_[i].shape->find_near(at, reach, cut, near);
  }
  std::ranges::sort(near.found);
}

template <int D>
bool ObstacleSet<D>::stands_for(int other, int constraint, const SurfacePoint<D>& seen, const Vec<D>& x,
                                Real radius) const {
  constexpr Real step = 1e-4, slit = 1e-3;
  if (!(seen.distance > 0) || !seen.in_reach()) return false;
  std::array<SurfacePoint<D>, 2> of_other;
  distances(other, std::array{x - seen.distance * seen.normal, x}, of_other);
  const auto& [at_foot, at_body] = of_other;
  if (at_foot.distance > slit * radius) return false;
  if (at_body.distance != seen.distance ? at_body.distance > seen.distance : other > constraint) return false;
  return at_foot.distance * dot(at_foot.normal, at_body.normal) <= step * radius;
}

/// Whether a part of a half-space, or of what is around a container, is nearer to a box than `reach`; false
/// for what is bounded. The least distance is at a corner.
template <int D>
bool ObstacleSet<D>::is_solid_near(int constraint, const Box<D>& box, Real reach) const {
  if (shape_of(constraint).has_far_side() || shape_of(constraint).is_thin() || box.is_empty()) return false;
  std::array<Vec<D>, Box<D>::n_corners> corners;
  std::array<SurfacePoint<D>, Box<D>::n_corners> seen;
  for (unsigned c = 0; c < Box<D>::n_corners; ++c) corners[c] = box.corner(c);
  distances(constraint, corners, seen);
  return std::ranges::any_of(seen, [&](const SurfacePoint<D>& point) { return point.distance <= reach; });
}

template <int D>
bool ObstacleSet<D>::may_meet(int constraint, int other, const Box<D>& cut, Real reach) const {
  const Box<D> own = bounds(constraint, cut), its = bounds(other, cut);
  return overlap(own.grown(filled<D>(reach)), its) || is_solid_near(other, own, reach) ||
         is_solid_near(constraint, its, reach);
}

template <int D>
SurfacePoint<D> ObstacleSet<D>::closest(int obstacle, const Vec<D>& at) const {
  const std::size_t i = obstacle;
  if (is_active_[i] == 0) return SurfacePoint<D>::none();
  if (!obstacles_[i].is_placed() && images_[i].shift.empty()) return obstacles_[i].shape->closest(at);
  SurfacePoint<D> closest = SurfacePoint<D>::none();
  for (const int image : images_of(obstacle)) {
    const Vec<D> there = at_obstacle(first_constraint(obstacle, image), at);
    if (images_[i].is_container && !is_in_container(i, there)) continue;
    const SurfacePoint<D> seen = obstacles_[i].shape->closest(poses_[i].to_own(there));
    if (seen.distance < closest.distance)
      closest = {poses_[i].direction_to_world(seen.normal), seen.distance};
  }
  return closest;
}

template <int D>
Real ObstacleSet<D>::moved_in_step(int obstacle, const Box<D>& box, int image) const {
  if (!obstacles_[obstacle].can_move() || box.is_empty()) return 0;
  Real farthest = 0;  // displacements are an affine function of the place: largest at a corner
  for (unsigned c = 0; c < Box<D>::n_corners; ++c) {
    const Vec<D> corner = at_obstacle(first_constraint(obstacle, image), box.corner(c));
    farthest =
        std::max(farthest, norm(poses_[obstacle].to_world(start_poses_[obstacle].to_own(corner)) - corner));
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
bool ObstacleSet<D>::path_meets_solid(const Vec<D>& from, const Vec<D>& at, Real clearance) const {
  for (std::size_t i = 0; i < obstacles_.size(); ++i) {
    const Shape<D>& shape = *obstacles_[i].shape;
    if (is_active_[i] == 0 || !shape.has_far_side()) continue;
    for (const int image : images_[i].codes) {
      const int constraint = first_constraint(static_cast<int>(i), image);
      const Vec<D> begin = start_poses_[i].to_own(at_obstacle(constraint, from)),
                   end = poses_[i].to_own(at_obstacle(constraint, at)), middle = 0.5 * (begin + end);
      const Real length = norm(end - begin), min_advance = 0.1 * clearance;
      const Real reach = (0.5 + 1e-12) * length + clearance;
      Box<D> around = Box<D>::empty();
      around.include(middle - filled<D>(reach));
      around.include(middle + filled<D>(reach));
      near_path_.found.clear();
      shape.find_near({&middle, 1}, {&reach, 1}, around, near_path_);
      for (const auto& [part, point] : near_path_.found) {
        // Nothing is nearer than the distance, so that far the way is free.
        for (Real gone = 0;;) {
          const Vec<D> x = length > 0 ? begin + std::min(gone / length, 1.0) * (end - begin) : end;
          SurfacePoint<D> seen;
          shape.distances(part, {&x, 1}, {&seen, 1});
          if (seen.distance < clearance) return true;
          if (gone >= length) break;
          gone += std::max(seen.distance - clearance, min_advance);
        }
      }
    }
  }
  return false;
}

template <int D>
Real ObstacleSet<D>::travel_between(const Obstacle<D>& obstacle, const Pose<D>& from, const Pose<D>& to,
                                    const Box<D>& domain) const {
  Box<D> region = own_box(from, domain);
  const Box<D> region_then = own_box(to, domain);
  region.include(region_then.lower);
  region.include(region_then.upper);
  // Its images bring what is outside of the domain into it.
  const Images& images = images_[&obstacle - obstacles_.data()];
  if (!images.shift.empty()) {
    region.include(images.own.lower);
    region.include(images.own.upper);
  }
  return obstacle.shape->travel(to.seen_from(from), region);
}

template <int D>
Real ObstacleSet<D>::travel(Real from_time, Real to_time, const Box<D>& domain) const {
  Real farthest = 0;
  for (std::size_t i = 0; i < obstacles_.size(); ++i) {
    const Obstacle<D>& obstacle = obstacles_[i];
    if (!obstacle.can_move() || is_active_[i] == 0) continue;
    if (obstacle.is_driven()) {
      Real all = 0;
      for (const DrivenState& wall : directions_from(obstacle.driven)) {
        const Real from = from_time >= wall.time ? wall.position : wall.reference_position;
        all += reach(wall, from, std::max(to_time - wall.time, 0.0), domain);
      }
      farthest = std::max(farthest, all);
      continue;
    }
    farthest = std::max(
        farthest, travel_between(obstacle, pose_at(obstacle, from_time), pose_at(obstacle, to_time), domain));
  }
  return farthest;
}

template <int D>
bool ObstacleSet<D>::moves() const {
  for (std::size_t i = 0; i < obstacles_.size(); ++i)
    if (obstacles_[i].can_move() && is_active_[i] != 0) return true;
  return false;
}

template <int D>
Outline<D> ObstacleSet<D>::outline(int obstacle, const Box<D>& domain) const {
  if (is_active_[obstacle] == 0) return {};
  const Shape<D>& shape = *obstacles_[obstacle].shape;
  if (!obstacles_[obstacle].is_placed()) return shape.outline(domain);

  Outline<D> outline = shape.outline(own_box(poses_[obstacle], domain));
  for (Vec<D>& point : outline.points) point = poses_[obstacle].to_world(point);
  return outline;
}

template <int D>
void ObstacleSet<D>::touch(int constraint, const ConvexCore<D>& core, const BodyPose<D>& pose, Real rounding,
                           const Vec<D>& from, Real reach, Real width, WallContacts<D>& found) const {
  const std::size_t i = obstacle_of(constraint);
  found.n = 0;
  found.cores_overlap = false;
  if (is_active_[i] == 0) return;
  const Shape<D>& shape = *obstacles_[i].shape;
  if (!obstacles_[i].is_placed() && !shift_of(constraint))
    return shape.touch(part_of(constraint), core, pose, rounding, from, reach, width, found);
  BodyPose<D> own{poses_[i].to_own(at_obstacle(constraint, pose.centre)), {}, pose.size};
  for (std::size_t k = 0; k < D; ++k) own.axes[k] = poses_[i].direction_to_own(pose.axes[k]);
  shape.touch(part_of(constraint), core, own, rounding, start_poses_[i].to_own(at_obstacle(constraint, from)),
              reach, width, found);
  for (int k = 0; k < found.n; ++k) {
    auto& p = found.points[k];
    p.normal = poses_[i].direction_to_world(p.normal);
    p.place = poses_[i].direction_to_world(p.place);
  }
}

template class ObstacleSet<2>;
template class ObstacleSet<3>;

}  // namespace scree
