#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "comm/domain.hpp"
#include "comm/ghost_exchange.hpp"
#include "neighbors/blocks_to_run.hpp"
#include "neighbors/neighborhood_settings.hpp"
#include "neighbors/pair_search.hpp"
#include "neighbors/sweep_schedule.hpp"
#include "particles/block_table.hpp"
#include "state/state.hpp"

namespace scree {

/// The larger of `max` and |displacement|^2; infinite if the latter is not a number.
template <int D>
Real farther(Real max, const Vec<D>& displacement) {
  const Real squared = dot(displacement, displacement);
  return squared >= 0 ? std::max(max, squared) : HUGE_VAL;
}

/// The displacement of owned body i in the next dt if nothing touches it [m].
template <int D>
using FreeDisplacement = std::function<Vec<D>(std::size_t i, Real dt)>;
/// What a step of at most dt needs of a new list.
struct StepPlan {
  Real dt;    ///< as asked for, or halved until the widest list suffices [s]
  Real skin;  ///< of which the step uses up the share that was given [m]
};

/// The neighbour list: all candidate contacts with a gap below the skin, in the order of a sweep, good until
/// bodies and obstacles have moved by the skin since the reference positions (`reference_position` of the
/// bodies). Values of candidates go to and come from the contact memory of the bodies.
template <int D>
class NeighborList {
 public:
  /// `size_classes`: as in NeighborhoodSettings.
  NeighborList(const Comm& comm, const NeighborhoodSettings& settings)
      : comm_(comm),
        size_classes_(static_cast<int>(settings.size_classes)),
        in_classes_(settings.in_classes),
        keeps_table_(settings.searches_pairs) {}

  // How long the list lasts.
  /// See Neighborhood::used_skin.
  Real used_skin(const State<D>& state, Real moved_squared, Real dt, Real* extra_max);
  /// For a scheme whose step may use up `share` of the skin. Throws StepRefused naming the body if a
  /// displacement is not finite, or so long that no halving helps. Collective.
  StepPlan plan_step(const State<D>& state, Real dt, Real share, const FreeDisplacement<D>& displacement);
  /// Throws StepRefused naming the body with the longest displacement in dt. Collective.
  [[noreturn]] void refuse_displacement(const State<D>& state, Real dt,
                                        const FreeDisplacement<D>& displacement) const;
  /// For schemes that cut steps in their own way: counts the step and says it once. `why`: what would happen
  /// in the whole step.
  void record_cut_step(const State<D>& state, Real asked, Real taken, std::string_view why);
  /// A step went beyond the widest list: counts it and says it once.
  void record_step_beyond_list(const State<D>& state, Real needed_skin);
  /// The most that lists are widened to [m]: a diameter of the largest body, two of them in 2D, if periodic
  /// axes have the room.
  Real widest_skin(const State<D>& state) const;
  /// Widens or narrows the skin of state.lattice; true if it changed, and with it the blocks. Local.
  bool fit_skin(State<D>& state, Real needed_skin);

  /// Sets reference positions. Local.
  void set_reference_positions(State<D>& state, Real time);
  /// Pairs are listed up to a gap of `share` of the skin plus `gap` [m] only, from the next list on. For
  /// lists without classes.
  void limit_pairs(Real share, Real gap) {
    share_of_pairs_ = share;
    gap_of_pairs_ = gap;
  }
  /// Finds the candidates of this rank's blocks. Local.
  void rebuild(const State<D>& state, BlockTable<D> table, const Domain& domain,
               std::span<const std::uint8_t> shared);
  /// Finds them again with the bodies where they are now, in the same blocks and order: for other limits, in
  /// lists without classes and if settings.searches_pairs. Local.
  void relist(const State<D>& state, const Domain& domain, std::span<const std::uint8_t> shared);
  /// Calls f(low, high, shift code or -1) for all pairs with a gap of at most `skin` between the bodies where
  /// they are now, but for those whose cells at the last list do not touch. If settings.searches_pairs. Cost:
  /// O(such pairs). Local.
  template <class F>
  void search_pairs(const State<D>& state, const Domain& domain, Real skin, F&& f) {
    const std::vector<LevelMap::Levels> levels = levels_in_reach(state);
    Lattice<D> lattice = state.lattice;
    lattice.skin = skin;
    for (const BlockToRun<D>& block : blocks_to_run<D>(lattice, table_, owned_by(domain), {})) {
      search_.search(lattice, state.box, table_, state.bodies, block.place, size_classes_, levels);
      for (const auto& pair : search_.within_box())
        f(search_.body(pair.low), search_.body(pair.high), Index{-1});
      for (const auto& pair : search_.through_faces())
        f(search_.body(pair.low), search_.body(pair.high), Index{pair.shift});
    }
  }
  /// After bodies have gone: see SweepSchedule::renumber. Local.
  void renumber(const State<D>& state, std::span<const Index> numbers, std::vector<Index>& kept_walls);

  /// Copies what is remembered to the places of the candidates, `width` numbers each (0 for new ones). Local.
  void restore(const State<D>& state, std::span<Real> pair_values, std::span<Real> wall_values,
               int width) const;
  /// The numbers of all candidates as memory of the owned bodies. Collective.
  ContactMemory remember(const State<D>& state, const GhostExchange<D>& ghosts,
                         std::span<const Real> pair_values, std::span<const Real> wall_values,
                         int width) const;
  /// Whose numbers the contact at a place of wall_bodies() goes on with.
  struct Inherited {
    Index place, from;
  };
  /// Of what contacts with obstacles remember, `width` numbers per place of wall_bodies(). `b`, `place`: the
  /// contacts that there are now, as in ContactGraph. One that begins, with all its numbers 0, takes over
  /// those of a neighbouring part that the same body no longer touches, of several the smallest; else those
  /// of another wall which is in `excluded` now. Good until the next call. Local.
  std::span<const Inherited> find_inherited(std::span<const Index> b, std::span<const Index> place,
                                            std::span<const Index> excluded,
                                            std::span<const Real> wall_values, int width);
  /// Moves these numbers. Local.
  void inherit(std::span<const Index> b, std::span<const Index> place, std::span<const Index> excluded,
               std::span<Real> wall_values, int width);

  const SweepSchedule<D>& schedule() const { return schedule_; }
  /// What to add to x_low - x_high for a shift code: 3 numbers per code.
  std::span<const Real> shift_table() const { return shift_table_; }
  /// The same of their velocities; empty if the cell is at rest.
  std::span<const Real> shift_velocity_table() const { return shift_velocity_table_; }
  /// Fills these tables for the cell as it is now. The list stays good within used_skin(). Local.
  void place_images(const State<D>& state);
  /// How often images were placed: candidates through faces lie elsewhere then.
  std::int64_t n_placements() const { return n_placements_; }
  std::int64_t n_builds() const { return n_builds_; }
  /// Lists for which the skin was widened, steps cut for the list, steps that went beyond the widest one.
  std::int64_t n_widened() const { return n_widened_; }
  std::int64_t n_cut_steps() const { return n_cut_steps_; }
  std::int64_t n_steps_beyond_list() const { return n_steps_beyond_list_; }

 private:
  static std::vector<LevelMap::Levels> levels_in_reach(const State<D>& state);
  std::function<bool(BlockKey)> owned_by(const Domain& domain) const {
    return [this, &domain](BlockKey key) { return domain.owner_of(key) == comm_.rank(); };
  }
  void make_schedule(const State<D>& state, const BlockTable<D>& table, const Domain& domain,
                     std::span<const std::uint8_t> shared);
  static Box<D> reached_box(const State<D>& state);
  static Real drift_of_pairs(const State<D>& state, Real strain);
  GlobalId name_of_high(const State<D>& state, Index low, Index high, Index shift) const;
  static GlobalId name_of_wall(const State<D>& state, Index body, int constraint);

  Comm comm_;
  int size_classes_;
  bool in_classes_, keeps_table_;
  Real share_of_pairs_ = 1, gap_of_pairs_ = HUGE_VAL;
  BlockTable<D> table_;   // of the last list, if it is kept
  PairSearch<D> search_;  // of search_pairs()
  SweepSchedule<D> schedule_;
  std::vector<Real> shift_table_, shift_velocity_table_;
  std::vector<Index> kept_before_;     // scratch of renumber()
  std::vector<std::uint8_t> touched_;  // by place of wall_bodies()
  std::vector<Inherited> inherited_;
  std::int64_t n_placements_ = 0;
  std::int64_t n_builds_ = 0, n_widened_ = 0, n_cut_steps_ = 0, n_steps_beyond_list_ = 0;
};

}  // namespace scree
