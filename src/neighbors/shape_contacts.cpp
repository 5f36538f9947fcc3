#include "neighbors/shape_contacts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "neighbors/flush_walls.hpp"
#include "particles/orientation.hpp"

namespace scree {

template <int D>
Vec<D> ShapeContacts<D>::Displacement::of_point(const Vec<D>& lever) const {
  if constexpr (D == 2)
    return move + turn[0] * Vec<2>{{-lever[1], lever[0]}};
  else
    return move + cross(turn, lever);
}

template <int D>
void ShapeContacts<D>::begin(const State<D>& state, const NeighborList<D>& list,
                             const ContactRules<D>& rules) {
  state_ = &state;
  schedule_ = &list.schedule();
  rules_ = &rules;
  const BodyStore<D>& bodies = state.bodies;
  pose_.resize(bodies.n_local());
  for (std::size_t i = 0; i < pose_.size(); ++i)
    pose_[i] = {{}, axes_of<D>(bodies.orientation()[i]), bodies.radius()[i]};
  if (list_of_axes_ == list.n_builds()) return;
  list_of_axes_ = list.n_builds();
  axis_.assign(static_cast<std::size_t>(list.schedule().n_batches()) * batch_size, {});
}

/// How much farther than the nearest points others may be: a share of the body's least extent, and what the
/// step may close.
template <int D>
Real ShapeContacts<D>::width_for(Index body, Real bound) const {
  constexpr Real share = 0.05;
  const auto& bodies = state_->bodies;
  return std::max(2 * share * state_->shapes.inscribed_radius(bodies.shape()[body], bodies.radius()[body]),
                  bound);
}

template <int D>
template <class Points, class Closes>
bool ShapeContacts<D>::is_contact(const Points& points, Real tolerance, const Range& of_free,
                                  const Closes& closes) {
  misses_point_ = false;
  bool takes = false;
  Real min = HUGE_VAL;
  for (int k = 0; k < points.n; ++k) min = std::min(min, points.points[k].gap);
  for (int k = 0; k < points.n; ++k) {
    const auto& p = points.points[k];
    takes = takes || std::min(p.gap, p.gap - closes(false, p)) <= tolerance;
    if (rules_->other_displacement.empty() || p.gap - closes(true, p) >= -rules_->overlap_threshold) continue;
    takes = true;
    misses_point_ = misses_point_ || p.gap > std::min(of_free.reach, min + of_free.width);
  }
  return takes;
}

template <int D>
Real ShapeContacts<D>::closing_bound(const Displacement& of_low, const Displacement& of_high, Index low,
                                     Index high) const {
  const auto radius = state_->bodies.radius();
  return norm(of_high.move - of_low.move) + norm(of_low.turn) * radius[low] +
         norm(of_high.turn) * radius[high];
}

template <int D>
bool ShapeContacts<D>::may_miss_points(Index low, Index high) const {
  // Points that close are nearer than twice the radii.
  const auto radius = state_->bodies.radius();
  const Real of_flow = rules_->other_affine.strain() * 2 * (radius[low] + radius[high]);
  return of_flow + closing_bound(displacement_of(rules_->other_displacement, rules_->other_turn, low),
                                 displacement_of(rules_->other_displacement, rules_->other_turn, high), low,
                                 high) >
         rules_->overlap_threshold;
}

template <int D>
const Manifold<D>& ShapeContacts<D>::of_pair(std::size_t place, Index low, Index high,
                                             const Vec<D>& between) {
  const auto a = static_cast<std::size_t>(low), b = static_cast<std::size_t>(high);
  const BodyStore<D>& bodies = state_->bodies;
  const ShapeTable<D>& shapes = state_->shapes;
  const auto &shape_a = shapes[bodies.shape()[a]], &shape_b = shapes[bodies.shape()[b]];
  const Real radius_a = bodies.radius()[a], radius_b = bodies.radius()[b];
  std::array<Displacement, 2> displacements_a{
      displacement_of(rules_->displacement, rules_->turn, low),
      displacement_of(rules_->other_displacement, rules_->other_turn, low)},
      displacements_b{displacement_of(rules_->displacement, rules_->turn, high),
                      displacement_of(rules_->other_displacement, rules_->other_turn, high)};
  if (rules_->is_deforming) {
    displacements_b[0].move += rules_->affine(between);
    displacements_b[1].move += rules_->other_affine(between);
  }
  const auto bound_of = [&](std::size_t w) {
    return closing_bound(displacements_a[w], displacements_b[w], low, high);
  };
  const Real tolerance = rules_->tolerance * (radius_a + radius_b);
  const auto range_of = [&](Real bound) {
    return Range{tolerance + bound, std::min(width_for(low, bound), width_for(high, bound))};
  };
  const Range of_free = range_of(bound_of(0)), of_both = range_of(std::max(bound_of(0), bound_of(1)));
  const bool remembered = rules_->remembers_pair(place);
  BodyPose<D> pose_b = pose_[b];
  pose_b.centre = between;
  pair_ =
      contact_points<D>({shape_a.core, pose_[a]}, {shape_b.core, pose_b}, radius_a * shape_a.form.rounding,
                        radius_b * shape_b.form.rounding, remembered ? HUGE_VAL : of_both.reach,
                        of_both.width, &axis_[place], shapes.normals);
  const bool takes = is_contact(pair_, tolerance, of_free, [&](bool other, const auto& p) {
    const std::size_t w = other ? 1 : 0;
    return dot(pair_.normal,
               displacements_a[w].of_point(p.place) - displacements_b[w].of_point(p.place - between));
  });
  if (!takes && !remembered) pair_.n = 0;
  return pair_;
}

/// No point of the wall near the body is faster [m/s].
template <int D>
Real ShapeContacts<D>::velocity_bound(int constraint, Index body) const {
  const Real time = state_->clock.time + rules_->dt / 2;
  const Vec<D> x = state_->bodies.position()[body], middle = state_->obstacles.velocity(constraint, x, time);
  Real max = 0;
  for (int k = 0; k < D; ++k) {
    const Vec<D> beside = x + unit_vector<D>(k, state_->bodies.radius()[body]);
    max = std::max(max, norm(state_->obstacles.velocity(constraint, beside, time) - middle));
  }
  return norm(middle) + std::sqrt(Real{D}) * max;
}

/// Drops the points of a wall where another one stands for it. Where walls meet flush at a point the others
/// may have the normal of an edge that is none: they get that of the wall at their own point of the core.
template <int D>
void ShapeContacts<D>::leave_out_points(std::size_t place, Index body, int constraint, Real rounding) {
  leaves_out_ = false;
  const auto beside = schedule_->walls_beside(place);
  if (beside.empty()) return;
  constexpr Real same_side = 0.9999;  // a face of the body on an edge of the wall keeps its normal
  const std::size_t i = body;
  const Vec<D> centre = state_->bodies.position()[i];
  const Real radius = state_->bodies.radius()[i], slit = 1e-3 * radius;
  std::array<SurfacePoint<D>, std::tuple_size_v<decltype(wall_.points)>> seen;
  int kept = 0;
  bool meets = false;
  for (int k = 0; k < wall_.n; ++k) {
    const auto& p = wall_.points[k];
    const Vec<D> of_core = centre + p.place - (rounding + 0.5 * p.gap) * p.normal;
    SurfacePoint<D>& point = seen[kept];
    state_->obstacles.distances(constraint, {&of_core, 1}, {&point, 1});
    const Vec<D> foot = of_core - point.distance * point.normal;
    meets = meets || std::ranges::any_of(beside, [&](const auto& other) {
              SurfacePoint<D> at_foot;
              state_->obstacles.distances(other.constraint, {&foot, 1}, {&at_foot, 1});
              return at_foot.distance <= slit;
            });
    if (stands_another_for(*state_, *schedule_, place, i, constraint, point, of_core, radius))
      leaves_out_ = true;
    else
      wall_.points[kept++] = p;
  }
  wall_.n = kept;
  for (std::size_t k = 0; meets && k < static_cast<std::size_t>(kept); ++k) {
    auto& p = wall_.points[k];
    if (-dot(seen[k].normal, p.normal) < same_side) continue;
    const Vec<D> of_core = p.place - (rounding + 0.5 * p.gap) * p.normal;
    p.normal = -seen[k].normal;
    p.gap = seen[k].distance - rounding;
    p.place = of_core + (rounding + 0.5 * p.gap) * p.normal;
  }
}

template <int D>
const WallContacts<D>& ShapeContacts<D>::of_wall(std::size_t place, Index body, int constraint,
                                                 const Vec<D>& from) {
  const BodyStore<D>& bodies = state_->bodies;
  const auto& shape = state_->shapes[bodies.shape()[body]];
  const Real radius = bodies.radius()[body], tolerance = rules_->tolerance * radius;
  const std::array<Displacement, 2> displacements{
      displacement_of(rules_->displacement, rules_->turn, body),
      displacement_of(rules_->other_displacement, rules_->other_turn, body)};
  const bool moving = !rules_->displacement.empty();
  const Real of_wall = moving ? rules_->dt * velocity_bound(constraint, body) : 0;
  const auto range_of = [&](Real bound) { return Range{tolerance + bound, width_for(body, bound)}; };
  const Real farthest_free = displacements[0].longest(radius),
             farthest_other = displacements[1].longest(radius);
  const Range of_free = range_of(farthest_free + of_wall),
              of_both = range_of(std::max(farthest_free, farthest_other) + of_wall);
  const bool remembered = rules_->remembers_wall(place);
  BodyPose<D> pose = pose_[body];
  pose.centre = bodies.position()[body];
  wall_.n = 0;
  state_->obstacles.touch(constraint, shape.core, pose, radius * shape.form.rounding, from,
                          remembered ? HUGE_VAL : of_both.reach, of_both.width, wall_);
  leave_out_points(place, body, constraint, radius * shape.form.rounding);
  const bool takes = is_contact(wall_, tolerance, of_free, [&](bool other, const auto& p) {
    if (!moving) return 0.0;
    const Vec<D> surface = rules_->dt * state_->obstacles.velocity(constraint, pose.centre + p.place,
                                                                   state_->clock.time + rules_->dt / 2);
    return dot(p.normal, displacements[other ? 1 : 0].of_point(p.place) - surface);
  });
  if (!takes && !remembered) wall_.n = 0;
  return wall_;
}

template class ShapeContacts<2>;
template class ShapeContacts<3>;

}  // namespace scree
