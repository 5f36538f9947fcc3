#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "comm/domain.hpp"
#include "comm/ghost_exchange.hpp"
#include "contact/contact_graph.hpp"
#include "contact/sweep_schedule.hpp"
#include "core/section.hpp"
#include "dynamics/state.hpp"
#include "particles/block_table.hpp"

namespace scree {

/// Keys of [neighbors], [decomposition] and of what happens at open faces of the domain.
struct NeighborhoodSettings {
  Real skin = 0;                 ///< [m]; 0: chosen from the radii
  std::int64_t block_cells = 0;  ///< cells along the edge of a block; 0: chosen from dimension and body count
  Real rebalance_threshold = 1.1;
  bool rebalance = true;

  void describe(Section& root);
};

/// Bodies that are made after the start of a run.
struct BodiesToCome {
  std::int64_t count = 0;
  Real smallest = HUGE_VAL;  ///< radius [m]; a typical one will do
  Real largest = 0;          ///< no radius exceeds it [m]
  void include(const BodiesToCome& others) {
    count += others.count;
    smallest = std::min(smallest, others.smallest);
    largest = std::max(largest, others.largest);
  }
};

/// What becomes of a body found outside an open face of the domain.
enum class Outside { error, remove, keep };

/// Which candidates are contacts: those to which any of these applies. A reach is a share of R_a + R_b (of
/// R_a at an obstacle).
template <int D>
struct ContactRules {
  Real tolerance = 0;  ///< gap <= tolerance * reach
  /// n_held, or empty. The gap would come down to that within dt if bodies moved by this [m] and obstacles
  /// with their velocity in the middle of the step.
  std::span<const Vec<D>> displacement = {};
  Real dt = 0;
  /// `width` numbers per place of a candidate, or empty. Any of its numbers is not 0.
  std::span<const Real> pair_values = {}, wall_values = {};
  int width = 1;
};

/// Where the bodies live and who is near whom: ranks, ghosts, candidate contacts and their order, kept
/// current together. After rebuild(), every candidate contact that this rank runs has both ends on this rank.
template <int D>
class Neighborhood {
 public:
  Neighborhood(const Comm& comm, const NeighborhoodSettings& settings, Outside outside);

  /// Chooses the lattice for the bodies present and to come (once per run; a restart takes it from the
  /// checkpoint). Collective. Throws InputError if a periodic axis is too short for the largest body.
  /// A skin that the deck does not give is at least `needed_skin`.
  void make_lattice(State<D>& state, Real travel_per_step, const BodiesToCome& to_come = {},
                    Real needed_skin = 0) const;

  /// True on all ranks if the candidates may miss a contact: some body has moved more than `fraction` of the
  /// skin since they were found (motion of obstacles included). Collective.
  bool stale(const State<D>& state, Real fraction) const { return stale(state, fraction, {}, 0); }
  /// The same with owned bodies where they would be after `displacement` and obstacles dt later.
  bool stale(const State<D>& state, Real fraction, std::span<const Vec<D>> displacement, Real dt) const;
  /// The same for schemes that know how far their owned bodies will be at most, dt later, from where they
  /// were listed: `moved_squared` [m2], infinite if a position is not a number.
  bool stale_after(const State<D>& state, Real fraction, Real moved_squared, Real dt) const;

  /// Wraps bodies into the box, sends them to the owners of their blocks, fetches ghosts and finds all
  /// candidates near `position`. state.memory must hold the memory of the owned bodies; it gets that of
  /// ghosts too. Throws RunError naming the body if one is not finite or lies outside (with Outside::error).
  /// Collective.
  void rebuild(State<D>& state);

  /// Copies what is remembered to the places of the candidates, `width` numbers each (0 for new ones). Local.
  void recall(const State<D>& state, std::span<Real> pair_values, std::span<Real> wall_values,
              int width = 1) const;
  /// The numbers of all candidates as memory of the owned bodies. Collective.
  ContactMemory remember(const State<D>& state, std::span<const Real> pair_values,
                         std::span<const Real> wall_values, int width = 1) const;

  /// The candidates that are contacts at the present positions, in the order of a sweep; forces are left to
  /// the caller. Refreshes the positions of ghosts. Collective.
  void detect(State<D>& state, const ContactRules<D>& rules, ContactGraph<D>& contacts);

  GhostExchange<D>& ghosts() { return ghosts_; }
  const SweepSchedule<D>& schedule() const { return schedule_; }
  /// What to add to x_low - x_high for a shift code: 3 numbers per code.
  std::span<const Real> shift_table() const { return shift_table_; }

  std::int64_t n_rebuilds() const { return n_rebuilds_; }
  std::int64_t n_rebalances() const { return n_rebalances_; }
  std::int64_t n_migrated() const { return n_migrated_; }
  std::int64_t n_removed() const { return n_removed_; }
  /// Weight (bodies and pairs) of the fullest rank over the mean, at the last rebuild.
  Real imbalance() const { return imbalance_; }
  /// Bytes held by lists, tables and plans of this rank.
  std::size_t bytes() const;

 private:
  void settle_at_faces(State<D>& state);
  void rebalance(const State<D>& state);

  Comm comm_;
  NeighborhoodSettings settings_;
  Outside outside_;
  Domain domain_;
  GhostExchange<D> ghosts_;
  BlockTable<D> table_;
  SweepSchedule<D> schedule_;
  std::vector<Real> shift_table_;
  std::vector<Place> places_;
  std::vector<Index> order_;
  std::vector<int> destination_;
  std::vector<Vec<D>> at_;  // of one wall batch
  std::vector<SurfacePoint<D>> surface_;
  bool has_bodies_placed_ = false;
  std::int64_t n_rebuilds_ = 0, n_rebalances_ = 0, n_migrated_ = 0, n_removed_ = 0;
  Real imbalance_ = 1;
};

}  // namespace scree
