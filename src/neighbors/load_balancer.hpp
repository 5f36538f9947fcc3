#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "comm/domain.hpp"
#include "core/timing.hpp"
#include "neighbors/block_costs.hpp"
#include "neighbors/neighborhood_settings.hpp"
#include "neighbors/sweep_schedule.hpp"
#include "state/state.hpp"

namespace scree {

/// Load imbalance: the load of the fullest rank over the mean.
struct LoadImbalance {
  Real mean = 1;  ///< of all steps
  Real max = 1;   ///< worst of all lists; of what is measured: of all lists that took some steps
};

/// How the load was partitioned, over the run so far.
struct LoadReport {
  bool measured = false;  ///< whether blocks weighed what they were measured to cost
  LoadImbalance bodies, pairs;
  LoadImbalance bodies_and_pairs;
  /// Candidate pairs of one colour of a sweep, added up over colours: what a sweep takes if all ranks wait
  /// for each other after each colour.
  LoadImbalance pairs_by_colour;
  LoadImbalance computing;            ///< processor time without waiting, rebuilds included
  std::int64_t min_blocks = 0;        ///< on a rank, now
  std::array<Real, n_loads> seconds;  ///< of one body, pair, ... in a step, as measured (BlockCosts)
};

/// Decides which rank owns which block: counts and measures load from list to list and adopts a new partition
/// when the accumulated loss equals its cost. Nothing to do on a single rank.
template <int D>
class LoadBalancer {
 public:
  LoadBalancer(const Comm& comm, const NeighborhoodSettings& settings);

  /// Called at one place of every step: times a few of them, from here to here. Local.
  void follow_step(const State<D>& state);

  // One neighbour list after the other, in this order. `schedule`: of the present list.
  /// The list has had its time: what it cost, and how evenly. Collective.
  void end_list(const State<D>& state, const SweepSchedule<D>& schedule);
  /// The time of the rebuild counts from here. Local.
  void begin_rebuild();
  /// Changes the owners of blocks in `domain` if that pays. `places`: of the owned bodies, sorted or not.
  /// Collective.
  void rebalance(const State<D>& state, std::span<const Place> places, const SweepSchedule<D>& schedule,
                 Domain& domain);
  /// A new list is complete. Collective.
  void begin_list(const State<D>& state, const SweepSchedule<D>& schedule);

  /// The lattice changed: its blocks have no owners yet.
  void forget_owners() { has_owners_ = false; }
  /// Where the contacts of each block of the schedule are noted, as found last.
  std::span<Index> block_contacts() { return block_contacts_; }

  std::int64_t n_rebalances() const { return n_rebalances_; }
  /// Of bodies and pairs, now.
  Real imbalance() const { return imbalances_[bodies_and_pairs].now(); }
  /// Of the run so far, up to state.clock.step. Collective.
  LoadReport report(const State<D>& state, const SweepSchedule<D>& schedule);

 private:
  /// A block of the lattice as this rank knows it: its bodies now, the rest as of the last list.
  struct BlockLoad {
    BlockKey key;
    LoadCounts counts;
  };
  enum Spread : std::uint8_t { spread_bodies, spread_pairs, bodies_and_pairs, pairs_by_colour, computing };
  static constexpr std::size_t n_spreads = 5;
  static constexpr std::size_t max_timed_steps = 64;  // per list
  struct RunningImbalance {
    Real max = 0, mean = 0;                 // of the present list
    Real sum_of_max = 0, sum_of_means = 0;  // times steps
    Real worst = 1;
    Real now() const { return mean > 0 ? max / mean : 1; }
    void add(Real steps);
    LoadImbalance over_run() const { return {sum_of_means > 0 ? sum_of_max / sum_of_means : 1, worst}; }
  };

  LoadCounts counts_of(const SweepSchedule<D>& schedule, const typename SweepSchedule<D>::Block& block) const;
  void find_block_loads(std::span<const Place> places, const SweepSchedule<D>& schedule);
  void measure_list(const State<D>& state, const SweepSchedule<D>& schedule);

  Comm comm_;
  NeighborhoodSettings settings_;
  BlockCosts costs_;
  bool has_owners_ = false;  // of the blocks of the present lattice
  bool has_lists_ = false;
  std::vector<Index> block_contacts_;
  std::vector<BlockLoad> block_loads_;
  std::vector<BlockKey> block_keys_;
  std::vector<std::int64_t> block_weights_;
  std::array<RunningImbalance, n_spreads> imbalances_;
  Real lost_steps_ = 0;         // by imbalance since the last partition
  std::int64_t list_step_ = 0;  // clock when the list was built
  std::int64_t last_step_ = 0;  // clock when follow_step() was called last
  std::optional<WorkClock> work_;
  std::vector<Real> step_seconds_;  // of steps with this list
  Real list_seconds_ = 0;           // that its rebuild took
  std::int64_t n_rebalances_ = 0;
};

}  // namespace scree
