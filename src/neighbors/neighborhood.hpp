#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/domain.hpp"
#include "comm/ghost_exchange.hpp"
#include "contact/contact_graph.hpp"
#include "core/section.hpp"
#include "core/timing.hpp"
#include "neighbors/block_costs.hpp"
#include "neighbors/sweep_schedule.hpp"
#include "particles/block_table.hpp"
#include "state/state.hpp"

namespace scree {

/// Keys of [neighbors], [decomposition] and of what happens at open faces of the domain.
struct NeighborhoodSettings {
  Real skin = 0;                 ///< [m]; 0: chosen from the radii
  std::int64_t block_cells = 0;  ///< cells along the edge of a block; 0: chosen from dimension and body count
  Real rebalance_threshold = 1.1;
  Real rebalance_cost = 2;
  bool rebalance = true;
  /// What a block weighs: what its load is measured to cost, or its bodies and candidate pairs.
  enum class Weights : std::uint8_t { automatic, measured, counts };
  Weights weights = Weights::automatic;

  void describe(Section& root);
  /// Replaces "auto" by what suits a scheme.
  void choose_weights(bool same_for_any_owners) {
    if (weights == Weights::automatic) weights = same_for_any_owners ? Weights::measured : Weights::counts;
  }
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
  /// Whether bodies keep the side of thin obstacles on which the step began, instead of the one where they
  /// are: for looks in the midst of a step.
  bool keeps_sides = false;
};

/// How evenly something was spread over the ranks: the most on one rank over the mean.
struct LoadImbalance {
  Real mean = 1;  ///< of all steps
  Real most = 1;  ///< worst of all lists; of what is measured: of all lists that took some steps
};

/// How the load was shared out, over the run so far.
struct LoadReport {
  bool measured = false;  ///< whether blocks weighed what they were measured to cost
  LoadImbalance bodies, pairs;
  LoadImbalance bodies_and_pairs;
  /// Candidate pairs of one colour of a sweep, added up over colours: what a sweep takes if all ranks wait
  /// for each other after each colour.
  LoadImbalance pairs_by_colour;
  LoadImbalance computing;            ///< processor time without waiting, lists included
  std::int64_t least_blocks = 0;      ///< on a rank, now
  std::array<Real, n_loads> seconds;  ///< of one body, pair, ... in a step, as measured (BlockCosts)
};

/// Where the bodies live and who is near whom: ranks, ghosts, candidate contacts and their order, kept
/// current together. After rebuild(), every candidate contact that this rank runs has both ends on this rank.
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
  /// Infinite if a position is not a number. The same on all ranks. If `rider` is given, it becomes its
  /// largest value on any rank: one reduction for two numbers. Collective.
  Real used_skin(const State<D>& state, Real moved_squared, Real dt, Real* rider = nullptr);
  /// True on all ranks if the candidates may miss a contact: more than `fraction` of the skin is used up.
  /// Collective.
  bool stale(const State<D>& state, Real fraction) { return stale(state, fraction, {}, 0); }
  /// The same with owned bodies where they would be after `displacement` and obstacles dt later.
  bool stale(const State<D>& state, Real fraction, std::span<const Vec<D>> displacement, Real dt);
  /// The same for schemes that know how far their owned bodies will be, see used_skin.
  bool stale_after(const State<D>& state, Real fraction, Real moved_squared, Real dt) {
    return used_skin(state, moved_squared, dt) > fraction * state.lattice.skin;
  }

  /// The way that owned body i goes in the next dt if nothing touches it [m].
  using FreeWay = std::function<Vec<D>(std::size_t i, Real dt)>;
  /// What a step of at most dt needs of a new list.
  struct StepPlan {
    Real dt;    ///< as asked for, or halved until the widest list suffices [s]
    Real skin;  ///< of which the step uses up the share that was given [m]
  };
  /// For a scheme whose step may use up `share` of the skin. Throws StepRefused naming the body if a way is
  /// not finite, or so long that no halving helps. Collective.
  StepPlan plan_step(const State<D>& state, Real dt, Real share, const FreeWay& way);
  /// For schemes that cut steps in their own way: counts the step and says it once. `why`: what would happen
  /// in the whole step.
  void note_cut_step(const State<D>& state, Real asked, Real taken, std::string_view why);
  /// Throws StepRefused naming the body with the longest way in dt. Collective.
  [[noreturn]] void refuse_way(const State<D>& state, Real dt, const FreeWay& way) const;
  /// A step went beyond the widest list: counts it and says it once.
  void note_step_beyond_list(const State<D>& state, Real needed_skin);
  /// The most that lists are widened to [m]: a diameter of the largest body, two of them in 2D, if periodic
  /// axes have the room.
  Real widest_skin(const State<D>& state) const;

  /// Wraps bodies into the box, sends them to the owners of their blocks, fetches ghosts and finds all
  /// candidates near `position`. state.memory must hold the memory of the owned bodies; it gets that of
  /// ghosts too. With `needed_skin` the skin is widened, up to widest_skin, if it is less than that, and goes
  /// back towards the usual one once it is far more; without, it stays. Throws RunError naming the body if
  /// one is not finite or lies outside (with Outside::error). `time`: when bodies and obstacles are where
  /// they are [s]; state.clock.time if it is not given. Collective.
  void rebuild(State<D>& state, std::optional<Real> needed_skin = {}, std::optional<Real> time = {});

  /// Copies what is remembered to the places of the candidates, `width` numbers each (0 for new ones). Local.
  void recall(const State<D>& state, std::span<Real> pair_values, std::span<Real> wall_values,
              int width = 1) const;
  /// The numbers of all candidates as memory of the owned bodies. Collective.
  ContactMemory remember(const State<D>& state, std::span<const Real> pair_values,
                         std::span<const Real> wall_values, int width = 1) const;

  /// Passes on what contacts with obstacles remember, `width` numbers per place of wall_bodies(). `b`,
  /// `place`: the contacts that there are now, as in ContactGraph. One that begins, with all its numbers 0,
  /// takes over those of a neighbouring part that the same body no longer touches, of several the smallest.
  /// Local.
  void pass_on(std::span<const Index> b, std::span<const Index> place, std::span<Real> wall_values,
               int width = 1);

  /// The candidates that are contacts at the present positions, in the order of a sweep; forces are left to
  /// the caller. Refreshes the positions of ghosts. Collective.
  void detect(State<D>& state, const ContactRules<D>& rules, ContactGraph<D>& contacts);

  GhostExchange<D>& ghosts() { return ghosts_; }
  const GhostExchange<D>& ghosts() const { return ghosts_; }
  const SweepSchedule<D>& schedule() const { return schedule_; }
  /// What to add to x_low - x_high for a shift code: 3 numbers per code.
  std::span<const Real> shift_table() const { return shift_table_; }

  std::int64_t n_rebuilds() const { return n_rebuilds_; }
  std::int64_t n_rebalances() const { return n_rebalances_; }
  std::int64_t n_migrated() const { return n_migrated_; }
  std::int64_t n_removed() const { return n_removed_; }
  /// Lists for which the skin was widened, steps cut for the list, steps that went beyond the widest one.
  std::int64_t n_widened() const { return n_widened_; }
  std::int64_t n_cut_steps() const { return n_cut_steps_; }
  std::int64_t n_steps_beyond_list() const { return n_steps_beyond_list_; }
  /// Bodies and pairs of the fullest rank over the mean, now.
  Real imbalance() const { return imbalances_[bodies_and_pairs].now(); }
  /// Of the run so far, up to state.clock.step. Collective.
  LoadReport load_report(const State<D>& state);
  /// Bytes held by lists, tables and plans of this rank.
  std::size_t bytes() const;

 private:
  /// A block of the lattice as this rank knows it: its bodies now, the rest as of the last list.
  struct BlockLoad {
    BlockKey key;
    LoadCounts counts;
  };
  enum Spread : std::uint8_t { spread_bodies, spread_pairs, bodies_and_pairs, pairs_by_colour, computing };
  static constexpr std::size_t n_spreads = 5;
  static constexpr std::size_t most_timed_steps = 64;  // per list
  struct RunningImbalance {
    Real most = 0, mean = 0;                 // of the present list
    Real sum_of_most = 0, sum_of_means = 0;  // times steps
    Real worst = 1;
    Real now() const { return mean > 0 ? most / mean : 1; }
    void add(Real steps);
    LoadImbalance over_run() const { return {sum_of_means > 0 ? sum_of_most / sum_of_means : 1, worst}; }
  };

  static Box<D> reached_box(const State<D>& state);
  void fit_skin(State<D>& state, Real needed_skin);
  GlobalId name_of_high(const State<D>& state, Index low, Index high, Index shift) const;
  void apply_boundary_conditions(State<D>& state);
  void rebalance(const State<D>& state, std::span<const Place> places, std::int64_t n_steps);
  void find_block_loads(std::span<const Place> places);
  LoadCounts counts_of(const typename SweepSchedule<D>::Block& block) const;
  void follow_step(const State<D>& state);
  void end_of_list(const State<D>& state);
  void measure_list(const State<D>& state);

  Comm comm_;
  NeighborhoodSettings settings_;
  Outside outside_;
  Domain domain_;
  GhostExchange<D> ghosts_;
  SweepSchedule<D> schedule_;
  std::vector<Real> shift_table_;
  std::vector<Vec<D>> at_, from_;  // of one wall batch
  std::vector<SurfacePoint<D>> surface_;
  std::vector<std::uint8_t> touched_;  // by place of wall_bodies()
  bool has_bodies_placed_ = false;
  std::vector<Index> block_contacts_;  // of the last detect(), by block of the schedule
  // Load.
  BlockCosts costs_;
  std::vector<BlockLoad> block_loads_;
  std::vector<BlockKey> block_keys_;
  std::vector<std::int64_t> block_weights_;
  std::array<RunningImbalance, n_spreads> imbalances_;
  Real lost_steps_ = 0;         // by uneven load since blocks were shared out
  std::int64_t list_step_ = 0;  // clock when the list was made
  std::int64_t last_step_ = 0;  // clock at the last look
  std::optional<WorkClock> work_;
  std::vector<Real> step_seconds_;  // of steps with this list
  Real list_seconds_ = 0;           // that making it took
  std::int64_t n_rebuilds_ = 0, n_rebalances_ = 0, n_migrated_ = 0, n_removed_ = 0;
  std::int64_t n_widened_ = 0, n_cut_steps_ = 0, n_steps_beyond_list_ = 0;
};

}  // namespace scree
