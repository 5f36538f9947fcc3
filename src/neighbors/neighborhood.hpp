#pragma once
#include <cstdint>
#include <optional>
#include <span>
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
  /// sqrt(`moved_squared`), of an owned body from its reference position, and what surfaces of obstacles add.
  /// Infinite if a position is not a number. The same on all ranks. If `extra_max` is given, it becomes its
  /// largest value on any rank: one reduction for two numbers. Collective.
  Real used_skin(const State<D>& state, Real moved_squared, Real dt, Real* extra_max = nullptr) {
    balancer_.follow_step(state);
    return list_.used_skin(state, moved_squared, dt, extra_max);
  }
  /// True on all ranks if the candidates may miss a contact: more than `fraction` of the skin is used up,
  /// with owned bodies where they would be after `displacement` (about the flow of a deforming domain; empty:
  /// where they are) and obstacles dt later. Collective.
  bool needs_rebuild(const State<D>& state, Real fraction, std::span<const Vec<D>> displacement = {},
                     Real dt = 0);
  /// The same for schemes that know how far their owned bodies will be, see used_skin.
  bool needs_rebuild_after(const State<D>& state, Real fraction, Real moved_squared, Real dt) {
    return used_skin(state, moved_squared, dt) > fraction * state.lattice.skin;
  }

  /// Wraps bodies into the box, sends them to the owners of their blocks, fetches ghosts and finds all
  /// candidates near `position`. state.memory must hold the memory of the owned bodies; it gets that of
  /// ghosts too. With `needed_skin` the skin is widened, up to NeighborList::widest_skin, if it is less than
  /// that, and goes back towards the usual one once it is far more; without, it stays. Throws RunError naming
  /// the body if one is not finite or lies outside (with Outside::error). `time`: when bodies and obstacles
  /// are where they are [s]; state.clock.time if it is not given. Collective.
  void rebuild(State<D>& state, std::optional<Real> needed_skin = {}, std::optional<Real> time = {});

  /// Takes all owned bodies but `staying` (ascending) out of `state` and of all ranks' candidates, of which
  /// the others stay; not if those are in classes (NeighborhoodSettings). `numbers` gets the new number of
  /// each local body, -1 if it has gone, and two entries for the dummies of batches; `kept_walls` as
  /// SweepSchedule::renumber. state.memory is out of date then, until the stepper saves it. Collective.
  void remove_bodies(State<D>& state, std::span<const Index> staying, std::vector<Index>& numbers,
                     std::vector<Index>& kept_walls);

  /// See NeighborList::relist. Local.
  void relist(State<D>& state) { list_.relist(state, domain_, ghosts_.shared()); }
  /// See NeighborList::search_pairs. Local.
  template <class F>
  void search_pairs(const State<D>& state, Real skin, F&& f) {
    list_.search_pairs(state, domain_, skin, f);
  }

  /// The candidates that are contacts at the present positions, in the order of a sweep; forces are left to
  /// the caller. Refreshes the positions of ghosts. Collective.
  void detect(State<D>& state, const ContactRules<D>& rules, ContactGraph<D>& contacts);
  /// Whether there are more contacts by these rules than the last detect() found, see
  /// ContactDetector::misses. Collective.
  bool misses_contacts(const State<D>& state, const ContactRules<D>& rules);

  GhostExchange<D>& ghosts() { return ghosts_; }
  const GhostExchange<D>& ghosts() const { return ghosts_; }
  NeighborList<D>& list() { return list_; }
  const NeighborList<D>& list() const { return list_; }
  const SweepSchedule<D>& schedule() const { return list_.schedule(); }
  const NearPairs<D>& near_pairs() const { return detector_.near_pairs(); }

  std::int64_t n_rebuilds() const { return n_rebuilds_; }
  std::int64_t n_rebalances() const { return balancer_.n_rebalances(); }
  std::int64_t n_migrated() const { return n_migrated_; }
  std::int64_t n_removed() const { return n_removed_; }
  /// Bodies and pairs of the fullest rank over the mean, now.
  Real imbalance() const { return balancer_.imbalance(); }
  /// Of the run so far, up to state.clock.step. Collective.
  LoadReport load_report(const State<D>& state) { return balancer_.report(state, list_.schedule()); }

 private:
  bool fit_to_deformation(State<D>& state) const;
  static std::string complaint_about_room(const State<D>& state);

  Comm comm_;
  NeighborhoodSettings settings_;
  Outside outside_;
  Domain domain_;
  GhostExchange<D> ghosts_;
  NeighborList<D> list_;
  LoadBalancer<D> balancer_;
  ContactDetector<D> detector_;
  std::vector<Real> at_owner_;  // of remove_bodies()
  std::vector<Index> local_, home_;
  std::int64_t n_rebuilds_ = 0, n_migrated_ = 0, n_removed_ = 0;
};

}  // namespace scree
