#include "geometry/driven_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/suggestion.hpp"

namespace scree {

namespace {

/// The one plane that an obstacle consists of, or nothing.
template <int D>
bool plane_of(const Obstacle<D>& obstacle, SurfacePiece<D>& plane) {
  if (obstacle.shape->n_parts() != 1) return false;
  const auto pieces = obstacle.shape->pieces(0);
  if (pieces.size() != 1 || pieces[0].kind != SurfacePiece<D>::Kind::plane) return false;
  plane = pieces[0];
  return true;
}

constexpr Real parallel = 1e-9;  // 1 - cos of an angle

}  // namespace

template <int D>
void DrivenMotion<D>::describe(Section& section) {
  const Vec<D> not_given = filled<D>(NAN);
  Vec<D> axis = not_given, point = not_given;
  Real load = NAN, pressure = NAN, torque = NAN, area = NAN, mass = NAN, moment = NAN, speed = NAN,
       rate = NAN;
  section.point<D>(
      "axis", axis,
      {.doc = "Direction in which it moves, of any length: loads push along it, reactions against it; with "
              "torque and in 3D the direction of the axis that it turns about"});
  section.point<D>("point", point,
                   {.unit = Unit::length,
                    .doc = "With torque: a point of the axis, in 2D the centre that it turns about"});
  section.real("load", load, {.unit = Unit::force, .doc = "Force along the axis that the wall carries"});
  section.real("pressure", pressure,
               {.unit = Unit::pressure,
                .doc = "The same as a pressure on area or between planes; disks are 1 m thick"});
  section.real(
      "torque", torque,
      {.unit = Unit::torque, .doc = "Torque about the axis; positive counter-clockwise, right-handed in 3D"});
  section.real("area", area, {.unit = Unit::area, .range = positive, .doc = "On which a pressure acts"});
  section.texts(
      "between", names_,
      {.doc = "Instead of area: names of the planes around it, two that face each other in 2D and two such "
              "pairs in 3D; the area follows from where they are"});
  section.choice(
      "control", control_, {{"servo", Control::servo}, {"free", Control::free}},
      {.doc = "\"servo\": a wall without mass that goes where bodies resist as asked; \"free\": a wall with "
              "inertia that load and reaction accelerate. The load is all that acts on it besides bodies: "
              "gravity does not"});
  section.real("mass", mass,
               {.unit = Unit::mass, .range = positive, .doc = "With control = \"free\": its mass"});
  section.real("moment_of_inertia", moment,
               {.unit = Unit::moment_of_inertia,
                .range = positive,
                .doc = "With control = \"free\" and torque: about the axis"});
  section.real(
      "max_speed", speed,
      {.unit = Unit::speed,
       .range = positive,
       .doc = "It never moves faster; required without torque. A step of this speed must be well within the "
              "skin of the neighbour list"});
  section.real(
      "max_rate", rate,
      {.unit = Unit::angular_speed, .range = positive, .doc = "The same for torque, where it is required"});
  section.real(
      "load_tolerance", load_tolerance_,
      {.range = {.min = 0, .max = 1, .min_open = true},
       .doc =
           "Scheme \"nonsmooth\": how near the reaction comes to the load in each step, as a share of it"});
  if (!section.reading()) return;
  where_ = section.where("type");
  where_between_ = section.where("between");
  const auto given = [](Real number) { return !std::isnan(number); };
  const int n_loads =
      static_cast<int>(given(load)) + static_cast<int>(given(pressure)) + static_cast<int>(given(torque));
  if (n_loads != 1)
    section.fail(
        n_loads == 0  ? "load"
        : given(load) ? "load"
                      : "pressure",
        fmt::format("[{}] needs one of load, pressure and torque, {} are given", section.path(), n_loads));
  turns_ = given(torque);
  const auto refuse = [&](std::string_view key, bool is_given, std::string_view why) {
    if (is_given) section.fail(key, fmt::format("{} {}: remove it", key, why));
  };
  const auto require = [&](std::string_view key, bool is_given, std::string_view why) {
    if (!is_given) section.fail(key, fmt::format("missing key '{}' in [{}]: {}", key, section.path(), why));
  };
  if (given(pressure)) {
    if (given(area) == !names_.empty())
      section.fail(given(area) ? "between" : "pressure", "a pressure needs either area or between");
  } else {
    refuse("area", given(area), "is for a pressure only");
    refuse("between", !names_.empty(), "is for a pressure only");
  }
  const bool has_axis = given(axis[0]);
  if (turns_) {
    require("point", given(point[0]), "what a torque turns the wall about");
    if (D == 2)
      refuse("axis", has_axis, "is not for a torque in 2D, which turns about point");
    else
      require("axis", has_axis, "the direction that a torque turns the wall about");
    require("max_rate", given(rate), "the largest angular speed of the wall");
    refuse("max_speed", given(speed), "is not for a torque; give max_rate");
    refuse("mass", given(mass), "is not for a torque; give moment_of_inertia");
  } else {
    require("axis", has_axis, "the direction in which the load pushes the wall");
    require("max_speed", given(speed), "the largest speed of the wall");
    refuse("point", given(point[0]), "is for a torque only");
    refuse("max_rate", given(rate), "is for a torque only; give max_speed");
    refuse("moment_of_inertia", given(moment), "is for a torque only; give mass");
  }
  const Real inertia = turns_ ? moment : mass;
  const std::string_view key = turns_ ? "moment_of_inertia" : "mass";
  if (control_ == Control::free)
    require(key, given(inertia), "control = \"free\" is a wall that has some");
  else
    refuse(key, given(inertia), "has no effect with control = \"servo\"");
  if (has_axis) {
    if (!(norm(axis) > 0)) section.fail("axis", "axis has no direction: its length must not be 0");
    axis_ = axis * (1 / norm(axis));
  }
  if (turns_) turn_ = Turn<D>(point, axis_);
  inertia_ = control_ == Control::free ? inertia : 0;
  max_speed_ = turns_ ? rate : speed;
  area_ = given(area) ? area : 0;
  order_ = given(pressure) ? DrivenOrder{DrivenOrder::Kind::pressure, pressure}
                           : DrivenOrder{DrivenOrder::Kind::load, turns_ ? torque : load};
}

template <int D>
void DrivenMotion<D>::find_planes(const ObstacleSet<D>& obstacles) {
  if (names_.empty()) return;
  const auto list = obstacles.list();
  const auto fail = [&](const std::string& what) { throw InputError(where_between_ + ": between: " + what); };
  std::vector<int> numbers;
  std::vector<SurfacePiece<D>> planes;
  for (const std::string& name : names_) {
    const auto found = std::ranges::find(list, name, &Obstacle<D>::name);
    std::vector<std::string> known;
    for (const Obstacle<D>& obstacle : list) known.push_back(obstacle.name);
    if (found == list.end()) fail(fmt::format("there is no obstacle '{}'{}", name, suggestion(name, known)));
    planes.emplace_back();
    if (!plane_of(*found, planes.back())) fail(fmt::format("obstacle '{}' is not a plane", name));
    if (found->placement) planes.back().normal = found->placement->direction_to_world(planes.back().normal);
    numbers.push_back(static_cast<int>(found - list.begin()));
  }
  std::vector<bool> taken(planes.size(), false);
  for (std::size_t i = 0; i < planes.size(); ++i) {
    if (taken[i]) continue;
    for (std::size_t j = i + 1; j < planes.size() && !taken[i]; ++j) {
      if (taken[j] || dot(planes[i].normal, planes[j].normal) > -1 + parallel) continue;
      taken[i] = taken[j] = true;
      planes_.push_back({numbers[i], numbers[j]});
    }
    if (!taken[i]) fail(fmt::format("no plane faces '{}'", names_[i]));
    if (std::abs(dot(planes[i].normal, axis_)) > std::sqrt(parallel))
      fail(fmt::format("'{}' is not along the axis of the wall", names_[i]));
  }
  if (planes_.size() != D - 1) fail(fmt::format("{} pairs of planes, {} needed", planes_.size(), D - 1));
}

template <int D>
std::vector<int> DrivenMotion<D>::planes() const {
  std::vector<int> numbers;
  for (const Facing& pair : planes_) numbers.insert(numbers.end(), {pair.one, pair.other});
  return numbers;
}

template <int D>
Real DrivenMotion<D>::area(const ObstacleSet<D>& obstacles) const {
  if (planes_.empty()) return area_;
  Real product = 1;
  for (const Facing& pair : planes_) {
    SurfacePiece<D> one, other;
    plane_of(obstacles.list()[pair.one], one);
    plane_of(obstacles.list()[pair.other], other);
    const Pose<D>& pose = obstacles.pose_of(pair.one);
    const Vec<D> between = obstacles.pose_of(pair.other).to_world(other.point) - pose.to_world(one.point);
    product *= std::abs(dot(between, pose.direction_to_world(one.normal)));
  }
  return product;
}

template <int D>
Real target_of(const ObstacleSet<D>& obstacles, const DrivenState& wall) {
  switch (wall.order.kind) {
    case DrivenOrder::Kind::load:
      return wall.order.value;
    case DrivenOrder::Kind::pressure:
      return wall.order.value * obstacles.driven_motion_of(wall).area(obstacles);
    case DrivenOrder::Kind::speed:
      break;
  }
  return 0;
}

template <int D>
void require_slow_walls(const ObstacleSet<D>& obstacles, Real dt, Real skin, const Box<D>& region) {
  constexpr Real max_of_skin = 0.25, rounding = 1e-9, safe = 0.99;
  Real of_wall = 0;
  for (const DrivenState& wall : obstacles.driven()) {
    const Real reach = obstacles.reach(wall, wall.position, dt, region);
    of_wall = wall.direction == 0 ? reach : of_wall + reach;
    if (of_wall <= (1 + rounding) * max_of_skin * skin) continue;
    const DrivenMotion<D>& driven_motion = obstacles.driven_motion_of(wall);
    throw InputError(fmt::format(
        "{}: {} = {:g} {} moves obstacle '{}' by {:.3g} m in a step of {:g} s, more than a quarter of the "
        "skin of the "
        "neighbour list ({:.3g} m); take at most {:.3g}, a shorter step or a wider [neighbors] skin",
        driven_motion.where(), driven_motion.turns() ? "max_rate" : "max_speed", driven_motion.max_speed(),
        driven_motion.turns() ? "rad/s" : "m/s", obstacles.list()[wall.obstacle].name, of_wall, dt, skin,
        safe * driven_motion.max_speed() * max_of_skin * skin / of_wall));
  }
}

template <int D>
bool DrivenMotion<D>::is_across(const DrivenMotion& other) const {
  return std::abs(dot(axis_, other.axis_)) <= std::sqrt(parallel);
}

// What ObstacleSet knows of them.

template <int D>
const DrivenMotion<D>& ObstacleSet<D>::driven_motion_of(const DrivenState& wall) const {
  return *obstacles_[wall.obstacle].driven_motions[static_cast<std::size_t>(wall.direction)];
}

template <int D>
std::string ObstacleSet<D>::name_of(const DrivenState& wall) const {
  const std::string& name = obstacles_[wall.obstacle].name;
  return wall.direction == 0 ? name : fmt::format("{}.{}", name, driven_motion_of(wall).name());
}

template <int D>
Vec<D> ObstacleSet<D>::direction_of(const DrivenState& wall, const Vec<D>& x) const {
  const DrivenMotion<D>& driven_motion = driven_motion_of(wall);
  if (wall.direction == 0 || !driven_motion.turns()) return driven_motion.direction(x);
  // Those before have carried the axis along.
  const Pose<D> as_deck = obstacles_[wall.obstacle].placed({});
  const Vec<D>& point = driven_motion.point();
  const Vec<D> now = poses_[wall.obstacle].to_world(as_deck.to_own(point));
  return driven_motion.direction(x - (now - point));
}

template <int D>
Vec<D> ObstacleSet<D>::driven_velocity(const Obstacle<D>& obstacle, const Vec<D>& x) const {
  Vec<D> velocity;
  for (const DrivenState& wall : directions_from(obstacle.driven))
    velocity += wall.velocity * direction_of(wall, x);
  return velocity;
}

template <int D>
Vec<D == 2 ? 1 : 3> ObstacleSet<D>::spin(int constraint, Real time) const {
  const Obstacle<D>& obstacle = obstacle_with(constraint);
  if (!obstacle.can_move()) return {};
  if (!obstacle.is_driven()) return obstacle.motion->spin(time);
  Vec<D == 2 ? 1 : 3> spin;
  for (const DrivenState& wall : directions_from(obstacle.driven))
    spin += wall.velocity * driven_motion_of(wall).spin();
  return spin;
}

template <int D>
Pose<D> ObstacleSet<D>::moved_at(const Obstacle<D>& obstacle, Real time) const {
  if (obstacle.motion) return obstacle.motion->pose(time);
  if (!obstacle.is_driven()) return {};
  Pose<D> moved;
  for (const DrivenState& wall : directions_from(obstacle.driven)) {
    const Pose<D> along = driven_motion_of(wall).pose(wall.position_at(time));
    moved = wall.direction == 0 ? along : moved.after(along);
  }
  return moved;
}

template <int D>
void ObstacleSet<D>::find_driven() {
  for (std::size_t o = 0; o < obstacles_.size(); ++o) {
    Obstacle<D>& obstacle = obstacles_[o];
    if (!obstacle.is_driven()) continue;
    obstacle.driven = static_cast<int>(driven_.size());
    for (std::size_t k = 0; k < obstacle.driven_motions.size(); ++k) {
      const auto driven_motion = std::make_shared<DrivenMotion<D>>(*obstacle.driven_motions[k]);
      driven_motion->find_planes(*this);
      DrivenState wall;
      wall.obstacle = static_cast<int>(o);
      wall.direction = static_cast<int>(k);
      wall.order = driven_motion->order();
      driven_.push_back(wall);
      obstacle.driven_motions[k] = driven_motion;
    }
  }
}

template <int D>
void ObstacleSet<D>::set_reference(Real time) {
  for (DrivenState& wall : driven_) wall.reference_position = wall.position_at(time);
}

template <int D>
void ObstacleSet<D>::finish_driven_step(Real end) {
  for (DrivenState& wall : driven_) {
    wall.position = wall.position_at(end);
    wall.time = end;
  }
}

template <int D>
Real ObstacleSet<D>::reach(const DrivenState& wall, Real from, Real dt, const Box<D>& domain) const {
  const Obstacle<D>& obstacle = obstacles_[wall.obstacle];
  const DrivenMotion<D>& driven_motion = driven_motion_of(wall);
  const Real displacement = driven_motion.max_speed() * dt;
  const auto farthest = [&](const Pose<D>& before) {
    const auto placed = [&](Real position) {
      return obstacle.placed(before.after(driven_motion.pose(position)));
    };
    const Pose<D> start = placed(from);
    return std::max(travel_between(obstacle, start, placed(wall.position - displacement), domain),
                    travel_between(obstacle, start, placed(wall.position + displacement), domain));
  };
  if (obstacle.driven_motions.size() == 1) return farthest({});
  // A bound wherever the other directions take it meanwhile.
  const Real change = std::abs(wall.position - from) + displacement;
  if (!driven_motion.turns()) return change;
  Pose<D> before;
  Real displacement_before = 0;
  for (const DrivenState& other : directions_from(obstacle.driven)) {
    if (other.direction == wall.direction) break;
    before.translation += driven_motion_of(other).pose(other.position).translation;
    displacement_before +=
        std::abs(other.position - other.reference_position) + driven_motion_of(other).max_speed() * dt;
  }
  return farthest(before) + change * displacement_before;
}

#define SCREE_DRIVEN_MOTION(D)                                                                \
  template class DrivenMotion<D>;                                                             \
  template Real target_of(const ObstacleSet<D>&, const DrivenState&);                         \
  template void require_slow_walls(const ObstacleSet<D>&, Real, Real, const Box<D>&);         \
  template const DrivenMotion<D>& ObstacleSet<D>::driven_motion_of(const DrivenState&) const; \
  template std::string ObstacleSet<D>::name_of(const DrivenState&) const;                     \
  template Vec<D> ObstacleSet<D>::direction_of(const DrivenState&, const Vec<D>&) const;      \
  template Vec<D> ObstacleSet<D>::driven_velocity(const Obstacle<D>&, const Vec<D>&) const;   \
  template Vec<D == 2 ? 1 : 3> ObstacleSet<D>::spin(int, Real) const;                         \
  template Pose<D> ObstacleSet<D>::moved_at(const Obstacle<D>&, Real) const;                  \
  template void ObstacleSet<D>::find_driven();                                                \
  template void ObstacleSet<D>::set_reference(Real);                                          \
  template void ObstacleSet<D>::finish_driven_step(Real);                                     \
  template Real ObstacleSet<D>::reach(const DrivenState&, Real, Real, const Box<D>&) const;
SCREE_DRIVEN_MOTION(2)
SCREE_DRIVEN_MOTION(3)
#undef SCREE_DRIVEN_MOTION

}  // namespace scree
