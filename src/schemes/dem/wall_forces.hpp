#pragma once
#include "schemes/dem/wall_distance_bounds.hpp"
#include "schemes/dem/wall_reactions.hpp"
#include "schemes/dem/wall_visitor.hpp"

namespace scree {

/// Forces of obstacles on bodies (docs/method.md, eq. H.1-H.5).
template <int D>
class WallForces {
 public:
  /// After a list build. Local.
  void prepare(const State<D>& state, const SweepSchedule<D>& schedule) { bounds_.prepare(state, schedule); }
  /// Begins a step, with the obstacles placed.
  void begin_step(const ObstacleSet<D>& obstacles) { bounds_.begin(obstacles); }
  /// Adds those on the bodies of a block to the records. Local, no allocation once warm.
  void add(StepContext<D>& step, const typename StepContext<D>::Block& block, WallReactions<D>& reactions) {
    if (step.schedule.walls(block).empty()) return;
    visitor_.look(step, block, bounds_.due(step.state, step.schedule, block, step.records.positions));
    // What touches now comes first: histories pass on between the parts of an obstacle.
    visitor_.for_each(step, [&](const DetectedWall& detected) { detect(step, detected); });
    if (step.law.reach > 0)
      visitor_.for_each(step, [&](const DetectedWall& detected) { keep_bond(step, detected); });
    visitor_.for_each(step, [&](const DetectedWall& detected) {
      if (step.histories.wall_touches(detected.place)) add(step, detected, reactions);
    });
  }

 private:
  using DetectedWall = typename WallVisitor<D>::DetectedWall;
  /// Whether a body that is held by an obstacle still is, where it is now.
  static bool still_bonded(const StepContext<D>& step, const DetectedWall& detected) {
    if (step.law.reach == 0) return false;
    const int obstacle = step.state.obstacles.obstacle_of(detected.constraint);
    const SoftLaw& pair = step.law.pairs.of(static_cast<int>(step.records.motions[detected.body].material),
                                            step.state.obstacle_material[obstacle]);
    return is_bonded(pair, step.law.settings.law, detected.surface.distance - detected.radius,
                     detected.radius);
  }
  /// Whether a body touches an obstacle.
  void detect(StepContext<D>& step, const DetectedWall& detected) {
    using Histories = ContactHistories<D>;
    const bool touched = step.histories.wall_touches(detected.place);
    std::uint8_t& now = step.histories.wall_state(detected.place);
    now = touched ? Histories::touched_before : 0;
    if (!WallVisitor<D>::feels(step, detected.constraint, detected.body)) return;
    if (!detected.overlaps() && !(touched && still_bonded(step, detected))) {
      // What has just ceased to touch is looked at once more, to forget that.
      if (!touched) bounds_.skip_until(static_cast<Index>(detected.place), detected.clearance);
      if (touched && !detected.surface.in_reach()) now |= Histories::is_replaced;
      return;
    }
    if (WallVisitor<D>::is_replaced(step, detected)) {
      now |= Histories::is_replaced;
      return;
    }
    now |= Histories::touches;
    if (detected.surface.distance >= 0) return;
    bounds_.look_always(static_cast<Index>(detected.place));
    if (step.state.obstacles.is_thin(detected.constraint))
      step.passed.add(step.state.bodies.id()[detected.body], detected.constraint);
  }
  /// Where bodies are held across gaps: a contact passes on from a part that does not answer any more, or
  /// from another obstacle, to what stands for it.
  void keep_bond(StepContext<D>& step, const DetectedWall& detected) const {
    using Histories = ContactHistories<D>;
    Histories& histories = step.histories;
    if (histories.wall_state(detected.place) != 0 || !detected.surface.in_reach()) return;
    const Index from = histories.inherits_from(step.schedule, detected.place);
    if (from < 0) return;
    const bool replaced =
        (histories.wall_state(static_cast<std::size_t>(from)) & Histories::is_replaced) != 0;
    if (!replaced || !still_bonded(step, detected)) return;
    histories.inherit(detected.place, from);
    histories.wall_state(detected.place) = Histories::touches | Histories::touched_before;
  }
  /// Adds the force of an obstacle on a body that touches it.
  void add(StepContext<D>& step, const DetectedWall& detected, WallReactions<D>& reactions) const {
    ContactHistories<D>& histories = step.histories;
    if ((histories.wall_state(detected.place) & ContactHistories<D>::touched_before) == 0)
      histories.inherit(detected.place, histories.inherits_from(step.schedule, detected.place));
    histories.record_wall_before(detected.place);
    const TouchedWall<D> at = WallVisitor<D>::contact(step, detected);
    const SoftForce f = step.law.kernels.contact(
        step.batches, at.contact, step.records.motions[detected.body], at.wall,
        histories.wall_history(detected.place), histories.wall_rolling(detected.place));
    ForceRecord& on = step.records.forces[detected.body];
    for (int c = 0; c < 3; ++c) {
      on.force[c] -= f.force[c];
      on.torque[c] -= at.contact.lever_a * f.torque[c] + f.rolling[c];
    }
    if (step.state.obstacles.driven_of(detected.constraint) >= 0) reactions.record(step, detected, at, f);
    ++step.counts.n_contacts;
    step.counts.meet(at.contact.overlap, step.law.settings.overlap_limit * detected.radius);
  }

  WallDistanceBounds<D> bounds_;
  WallVisitor<D> visitor_;
};

}  // namespace scree
