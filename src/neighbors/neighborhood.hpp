#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "comm/domain.hpp"
#include "comm/ghost_exchange.hpp"
#include "contact/contact_graph.hpp"
#include "neighbors/contact_detector.hpp"
#include "neighbors/load_balancer.hpp"
#include "neighbors/neighbor_list.hpp"
#include "neighbors/neighborhood_settings.hpp"
#include "state/state.hpp"

namespace scree {

/// Owns the neighbour list, the load balancer, the contact detector, the ghosts and the domain, and keeps
/// them current together. After rebuild(), every candidate contact that this rank runs has both ends on this
/// rank.
template <int D>
class Neighborhood {
 public:
  Neighborhood(const Comm& comm, const NeighborhoodSettings& settings, Outside outside);

  /// Chooses the lattice for the bodies present and to come (once per run; a restart takes it from the
  /// checkpoint). The skin is at least `needed_skin`. Collective. Throws InputError if a periodic axis is too
  /// short for the largest body and that skin.
  void make_lattice(State<D>& state, Real travel_per_step, const BodiesToCome& to_come = {},
                    Real needed_skin = 0) const;

  /// The skin that some body has used up since the candidates were found, or will have in dt [m]:
  /// sqrt(`moved_squared`), of an owned body from where it was listed, and what surfaces of obstacles add.
  /// Infinite if a position is not a number. The same on all ranks. If `extra_max` is given, it becomes its
  /// largest value on any rank: one reduction for two numbers. Collective.
  Real used_skin(const State<D>& state, Real moved_squared, Real dt, Real* extra_max = nullptr) {
    balancer_.follow_step(state);
    return list_.used_skin(state, moved_squared, dt, extra_max);
  }
  /// True on all ranks if the candidates may miss a contact: more than `fraction` of the skin is used up.
  /// Collective.
  bool stale(const State<D>& state, Real fraction) { return stale(state, fraction, {}, 0); }
  /// The same with owned bodies where they would be after `displacement` and obstacles dt later.
  bool stale(const State<D>& state, Real fraction, std::span<const Vec<D>> displacement, Real dt);
  /// The same for schemes that know how far their owned bodies will be, see used_skin.
  bool stale_after(const State<D>& state, Real fraction, Real moved_squared, Real dt) {
    return used_skin(state, moved_squared, dt) > fraction * state.lattice.skin;
  }

  /// For a scheme whose step may use up `share` of the skin. Throws StepRefused naming the body if a way is
  /// not finite, or so long that no halving helps. Collective.
  StepPlan plan_step(const State<D>& state, Real dt, Real share, const FreeWay<D>& way) {
    return list_.plan_step(state, dt, share, way);
  }
  /// For schemes that cut steps in their own way: counts the step and says it once. `why`: what would happen
  /// in the whole step.
  void note_cut_step(const State<D>& state, Real asked, Real taken, std::string_view why) {
    list_.note_cut_step(state, asked, taken, why);
  }
  /// Throws StepRefused naming the body with the longest way in dt. Collective.
  [[noreturn]] void refuse_way(const State<D>& state, Real dt, const FreeWay<D>& way) const {
    list_.refuse_way(state, dt, way);
  }
  /// A step went beyond the widest list: counts it and says it once.
  void note_step_beyond_list(const State<D>& state, Real needed_skin) {
    list_.note_step_beyond_list(state, needed_skin);
  }
  /// The most that lists are widened to [m]: a diameter of the largest body, two of them in 2D, if periodic
  /// axes have the room.
  Real widest_skin(const State<D>& state) const { return list_.widest_skin(state); }

  /// Wraps bodies into the box, sends them to the owners of their blocks, fetches ghosts and finds all
  /// candidates near `position`. state.memory must hold the memory of the owned bodies; it gets that of
  /// ghosts too. With `needed_skin` the skin is widened, up to widest_skin, if it is less than that, and goes
  /// back towards the usual one once it is far more; without, it stays. Throws RunError naming the body if
  /// one is not finite or lies outside (with Outside::error). `time`: when bodies and obstacles are where
  /// they are [s]; state.clock.time if it is not given. Collective.
  void rebuild(State<D>& state, std::optional<Real> needed_skin = {}, std::optional<Real> time = {});

  /// Copies what is remembered to the places of the candidates, `width` numbers each (0 for new ones). Local.
  void recall(const State<D>& state, std::span<Real> pair_values, std::span<Real> wall_values,
              int width = 1) const {
    list_.recall(state, pair_values, wall_values, width);
  }
  /// The numbers of all candidates as memory of the owned bodies. Collective.
  ContactMemory remember(const State<D>& state, std::span<const Real> pair_values,
                         std::span<const Real> wall_values, int width = 1) const {
    return list_.remember(state, ghosts_, pair_values, wall_values, width);
  }

  /// Passes on what contacts with obstacles remember, `width` numbers per place of wall_bodies(). `b`,
  /// `place`: the contacts that there are now, as in ContactGraph. One that begins, with all its numbers 0,
  /// takes over those of a neighbouring part that the same body no longer touches, of several the smallest.
  /// Local.
  void pass_on(std::span<const Index> b, std::span<const Index> place, std::span<Real> wall_values,
               int width = 1) {
    list_.pass_on(b, place, wall_values, width);
  }

  /// The candidates that are contacts at the present positions, in the order of a sweep; forces are left to
  /// the caller. Refreshes the positions of ghosts. Collective.
  void detect(State<D>& state, const ContactRules<D>& rules, ContactGraph<D>& contacts);

  GhostExchange<D>& ghosts() { return ghosts_; }
  const GhostExchange<D>& ghosts() const { return ghosts_; }
  const SweepSchedule<D>& schedule() const { return list_.schedule(); }
  /// What to add to x_low - x_high for a shift code: 3 numbers per code.
  std::span<const Real> shift_table() const { return list_.shift_table(); }

  std::int64_t n_rebuilds() const { return n_rebuilds_; }
  std::int64_t n_rebalances() const { return balancer_.n_rebalances(); }
  std::int64_t n_migrated() const { return n_migrated_; }
  std::int64_t n_removed() const { return n_removed_; }
  /// Lists for which the skin was widened, steps cut for the list, steps that went beyond the widest one.
  std::int64_t n_widened() const { return list_.n_widened(); }
  std::int64_t n_cut_steps() const { return list_.n_cut_steps(); }
  std::int64_t n_steps_beyond_list() const { return list_.n_steps_beyond_list(); }
  /// Bodies and pairs of the fullest rank over the mean, now.
  Real imbalance() const { return balancer_.imbalance(); }
  /// Of the run so far, up to state.clock.step. Collective.
  LoadReport load_report(const State<D>& state) { return balancer_.report(state, list_.schedule()); }
  /// Bytes held by lists, tables and plans of this rank.
  std::size_t bytes() const;

 private:
  Comm comm_;
  NeighborhoodSettings settings_;
  Outside outside_;
  Domain domain_;
  GhostExchange<D> ghosts_;
  NeighborList<D> list_;
  LoadBalancer<D> balancer_;
  ContactDetector<D> detector_;
  std::int64_t n_rebuilds_ = 0, n_migrated_ = 0, n_removed_ = 0;
};

}  // namespace scree
