// Forces of obstacles on bodies.
#include <algorithm>
#include <cmath>

#include "geometry/drive.hpp"
#include "neighbors/flush_walls.hpp"
#include "schemes/dem/force_sweeper.hpp"

namespace scree {

/// Whether a body that is held by an obstacle still is, at this distance of its centre.
template <int D>
bool ForceSweeper<D>::reaches_wall(const State<D>& state, Index constraint, std::size_t body,
                                   Real distance) const {
  if (reach_ == 0) return false;
  const int wall = state.obstacle_material[static_cast<std::size_t>(state.obstacles.obstacle_of(constraint))];
  const Real radius = places_[body].radius;
  return holds_at(laws_.of(static_cast<int>(motions_[body].material), wall), settings_.law, distance - radius,
                  radius);
}

template <int D>
SoftContact ForceSweeper<D>::contact_with_wall(const SurfacePoint<D>& at, Real radius) {
  return {in_space(-at.normal), radius - at.distance, radius, at.distance, 0};
}

/// The surface of an obstacle at a point with this unit normal, as a body that
/// is held; of one that moves freely with the mass that it has there along the
/// normal.
template <int D>
MotionRecord ForceSweeper<D>::motion_of_wall(const State<D>& state, Index constraint, const Vec<D>& point,
                                             const Vec<D>& normal) const {
  MotionRecord motion{};
  motion.material =
      state.obstacle_material[static_cast<std::size_t>(state.obstacles.obstacle_of(constraint))];
  const Vec<D> velocity = state.obstacles.surface_velocity(constraint, point, normal, time_);
  for (int k = 0; k < D; ++k) motion.velocity[k] = velocity[k];
  if (feels_spin_) {
    const auto spin = state.obstacles.spin(constraint, time_);
    std::ranges::copy(spin.component, motion.spin + 3 - n_spins<D>);
  }
  const int driven = state.obstacles.driven_of(constraint);
  if (driven < 0) return motion;
  const DrivenState& wall = state.obstacles.driven()[static_cast<std::size_t>(driven)];
  const Drive<D>& drive = state.obstacles.drive_of(wall);
  if (wall.order.kind == DrivenOrder::Kind::speed || drive.control() != Drive<D>::Control::free)
    return motion;
  const Real along = dot(drive.way(state.obstacles.at_obstacle(constraint, point)), normal);
  motion.inverse_mass = along * along / drive.inertia();
  return motion;
}

/// The candidate whose history a contact takes over that begins: one that the same body has just lost on a
/// neighbouring part, or on another obstacle that this one stands for; of several the smallest. -1: none.
template <int D>
Index ForceSweeper<D>::passed_from(std::size_t place) const {
  const SweepSchedule<D>& schedule = neighborhood_.schedule();
  const auto was = [&](const auto& other) { return wall_touching_[static_cast<std::size_t>(other.place)]; };
  for (const auto& other : schedule.wall_neighbours(place))
    if ((was(other) & (touches | touched_before)) == touched_before) return other.place;
  for (const auto& other : schedule.walls_beside(place))
    if (was(other) == (touched_before | is_replaced)) return other.place;
  return -1;
}

/// A contact begins with what is remembered at `from`, or with nothing. The law turns springs into the
/// tangent plane.
template <int D>
void ForceSweeper<D>::take_history(std::size_t place, Index from) {
  const auto at = static_cast<std::size_t>(from);
  history_.walls()[place] = from < 0 ? ContactHistory{} : history_.walls()[at];
  if (rolls_) rolling_.walls()[place] = from < 0 ? RollingHistory{} : rolling_.walls()[at];
  if (from >= 0) wall_touching_[at] = 0;
}

/// Where bodies are held across gaps: a contact passes on from a part that does not answer any more, or from
/// another obstacle, to what stands for it.
template <int D>
void ForceSweeper<D>::hold_on(const State<D>& state, Index constraint, std::size_t place, Real distance) {
  const Index from = passed_from(place);
  if (from < 0) return;
  std::uint8_t& was = wall_touching_[static_cast<std::size_t>(from)];
  const auto body = static_cast<std::size_t>(neighborhood_.schedule().wall_bodies()[place]);
  if ((was & is_replaced) == 0 || !reaches_wall(state, constraint, body, distance)) return;
  take_history(place, from);
  wall_touching_[place] = touches | touched_before;
}

/// Calls f(wall, begin, end) for each batch with places that are due: due[begin, end).
template <class WallBatch, class F>
void for_each_due_batch(std::span<const WallBatch> walls, std::span<const Index> due, F&& f) {
  std::size_t end = 0;
  for (const WallBatch& wall : walls) {
    const std::size_t begin = end;
    while (end < due.size() && due[end] < wall.last) ++end;
    if (begin < end) f(wall, begin, end);
  }
}

template <int D>
void ForceSweeper<D>::run_walls(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                                const ForceBatches& batches) {
  const SweepSchedule<D>& schedule = neighborhood_.schedule();
  const auto walls = schedule.walls(block);
  if (walls.empty()) return;
  const auto due = watch_.due(state, schedule, block, places_);
  at_.resize(due.size());
  from_.resize(due.size());
  wall_reach_.resize(due.size());
  clearance_.resize(due.size());
  surface_.resize(due.size());
  // What touches now comes first: histories pass on between the parts of an obstacle.
  for_each_due_batch(walls, due, [&](const auto& wall, std::size_t begin, std::size_t end) {
    see_wall(state, wall.constraint, due.subspan(begin, end - begin), begin);
  });
  if (reach_ > 0)
    for_each_due_batch(walls, due, [&](const auto& wall, std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k)
        if (const auto place = static_cast<std::size_t>(due[k]);
            wall_touching_[place] == 0 && surface_[k].in_reach())
          hold_on(state, wall.constraint, place, surface_[k].distance);
    });
  for_each_due_batch(walls, due, [&](const auto& wall, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      if ((wall_touching_[static_cast<std::size_t>(due[k])] & touches) != 0)
        add_wall_force(state, wall.constraint, static_cast<std::size_t>(due[k]), k, batches);
  });
}

/// Whether the bodies at these places of an obstacle touch it; they come from `begin` on in at_ and surface_.
template <int D>
void ForceSweeper<D>::see_wall(const State<D>& state, Index constraint, std::span<const Index> due,
                               std::size_t begin) {
  const auto which = neighborhood_.schedule().wall_bodies();
  const auto body_at = [&](Index place) {
    return static_cast<std::size_t>(which[static_cast<std::size_t>(place)]);
  };
  for (std::size_t k = 0; k < due.size(); ++k) {
    const std::size_t i = body_at(due[k]);
    for (int c = 0; c < D; ++c) at_[begin + k][c] = places_[i].x[c];
    from_[begin + k] = state.bodies.step_start()[i];
    const bool may_hold = reach_ > 0 && wall_touching_[static_cast<std::size_t>(due[k])] != 0;
    wall_reach_[begin + k] = may_hold ? HUGE_VAL : places_[i].radius + reach_;
  }
  const auto seen = std::span(surface_).subspan(begin, due.size());
  state.obstacles.nearest_within(constraint, std::span(at_).subspan(begin, due.size()),
                                 std::span(from_).subspan(begin, due.size()),
                                 std::span(wall_reach_).subspan(begin, due.size()), seen,
                                 std::span(clearance_).subspan(begin, due.size()));
  const bool is_thin = state.obstacles.is_thin(constraint);
  for (std::size_t k = 0; k < due.size(); ++k) {
    const std::size_t i = body_at(due[k]);
    std::uint8_t& touching = wall_touching_[static_cast<std::size_t>(due[k])];
    touching = (touching & touches) != 0 ? touched_before : 0;
    if (!feels(state, constraint, i)) continue;
    if (!(seen[k].distance < places_[i].radius) &&
        (touching == 0 || !reaches_wall(state, constraint, i, seen[k].distance))) {
      // What has just ceased to touch is looked at once more, to forget that.
      if (touching == 0) watch_.put_off(due[k], clearance_[begin + k]);
      if (touching != 0 && !seen[k].in_reach()) touching |= is_replaced;
      continue;
    }
    if (stands_another_for(state, neighborhood_.schedule(), static_cast<std::size_t>(due[k]), i, constraint,
                           seen[k], at_[begin + k], places_[i].radius)) {
      touching |= is_replaced;
      continue;
    }
    touching |= touches;
    if (seen[k].distance >= 0) continue;
    watch_.put_off_none(due[k]);
    if (is_thin) passed_.add(state.bodies.id()[i], constraint);
  }
}

/// Adds the force of an obstacle on a body that touches it; `k`: in at_ and surface_.
template <int D>
void ForceSweeper<D>::add_wall_force(const State<D>& state, Index constraint, std::size_t place,
                                     std::size_t k, const ForceBatches& batches) {
  const auto i = static_cast<std::size_t>(neighborhood_.schedule().wall_bodies()[place]);
  if ((wall_touching_[place] & touched_before) == 0) take_history(place, passed_from(place));
  RollingHistory* rolling = rolls_ ? &rolling_.walls()[place] : nullptr;
  if (keeps_histories_) {
    before_.walls[place] = history_.walls()[place];
    if (rolls_) before_.rolling_walls[place] = *rolling;
  }
  const SurfacePoint<D>& surface = surface_[k];
  const SoftContact contact = contact_with_wall(surface, places_[i].radius);
  const Vec<D> foot = at_[k] - surface.distance * surface.normal;
  const MotionRecord motion = motion_of_wall(state, constraint, foot, surface.normal);
  const SoftForce f =
      kernels_.contact(batches, contact, motions_[i], motion, history_.walls()[place], rolling);
  ForceRecord& on = forces_[i];
  for (int c = 0; c < 3; ++c) {
    on.force[c] -= f.force[c];
    on.torque[c] -= contact.lever_a * f.torque[c] + f.rolling[c];
  }
  if (state.obstacles.driven_of(constraint) >= 0)
    note_reaction(state, constraint, foot, contact, motions_[i], motion, f);
  ++counts_.n_touching;
  counts_.meet(contact.overlap, settings_.overlap_limit * places_[i].radius);
}

#define SCREE_WALLS(D)                                                                               \
  template bool ForceSweeper<D>::reaches_wall(const State<D>&, Index, std::size_t, Real) const;      \
  template SoftContact ForceSweeper<D>::contact_with_wall(const SurfacePoint<D>&, Real);             \
  template MotionRecord ForceSweeper<D>::motion_of_wall(const State<D>&, Index, const Vec<D>&,       \
                                                        const Vec<D>&) const;                        \
  template void ForceSweeper<D>::run_walls(const State<D>&, const typename SweepSchedule<D>::Block&, \
                                           const ForceBatches&);
SCREE_WALLS(2)
SCREE_WALLS(3)
#undef SCREE_WALLS

}  // namespace scree
