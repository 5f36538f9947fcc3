#pragma once
#include <span>
#include <vector>

#include "core/body_halo.hpp"
#include "core/timing.hpp"
#include "neighbors/neighborhood.hpp"
#include "schemes/common/tunnelling_guard.hpp"
#include "schemes/pbd/pair_kernels.hpp"
#include "schemes/pbd/shape_projection.hpp"
#include "state/state.hpp"

namespace scree {

/// Sweeps over all candidate contacts in the order of the schedule: the projections of position-based
/// dynamics.
///
/// The live positions are held as 32-byte records. Where some bodies have shapes, all contacts go through
/// ShapeProjection instead of the kernels, and orientations are live too. Results do not depend on the number
/// of ranks, bit by bit. Cost of a sweep: O(candidates) and at most 2^D + 1 transfers of bodies near block
/// faces that ranks share, 2^D in a row of sweeps: see SweepTurn.
template <int D>
class PbdSweeper {
 public:
  explicit PbdSweeper(Neighborhood<D>& neighborhood)
      : neighborhood_(neighborhood), kernels_(&pair_kernels<D>()) {}

  /// Makes the arrays fit the present candidates and restores remembered multipliers. After every rebuild.
  /// Sweeps take bodies with `radius_factor` times their radius. Local.
  void prepare(const State<D>& state, bool weighted, Real radius_factor = 1);
  /// Sweeps take bodies that can move with `factor` times their radius, those of mobility 0 as they are.
  /// Local.
  void scale_radii(const State<D>& state, Real factor);
  /// Copies positions into the records; store copies them back (owned bodies). Local.
  void load(const State<D>& state);
  void store(State<D>& state) const;
  /// For callers that write the owned records themselves instead of load(). Local.
  void owned_records_written();

  using Parameters = SweepParameters;
  /// One sweep over the records. Returns the deepest overlap met on this rank, before its correction [m]
  /// (0 for warm). Collective.
  Real sweep(const State<D>& state, PairMode mode, const Parameters& parameters, SweepTurn turn = {});

  /// The owned records.
  std::span<SweepRecord> records() { return std::span(records_).first(n_owned_); }
  std::span<const SweepRecord> records() const { return std::span(records_).first(n_owned_); }
  /// The live orientations of the owned bodies; empty if all are spheres.
  std::span<Orientation<D>> orientations() {
    return shapes_.orientations().first(has_shapes_ ? static_cast<std::size_t>(n_owned_) : 0);
  }

  /// Puts owned bodies whose centres lie behind a thin obstacle back to their side: see TunnellingGuard.
  /// Returns the deepest overlap of those, over all ranks. `time`: when obstacles stand where they were
  /// placed. Collective.
  Real keep_sides(const State<D>& state, Real time) {
    return sides_.keep(state, neighborhood_, records(), time);
  }

  void clear_multipliers() { multipliers_.clear(); }
  PbdMultipliers<D>& multipliers() { return multipliers_; }
  const PbdMultipliers<D>& multipliers() const { return multipliers_; }

  /// For tests and benchmarks: use this instruction set.
  void use(const PairKernels& kernels) { kernels_ = &kernels; }

 private:
  /// The records of all local bodies.
  std::span<SweepRecord> local_records() { return std::span(records_).first(n_local_); }
  /// Calls run_block for the blocks of this rank in sweep order, with transfers of the records between
  /// colours. Collective.
  template <class RunBlock>
  void run_colours(SweepTurn turn, RunBlock&& run_block) {
    GhostExchange<D>& ghosts = neighborhood_.ghosts();
    const SweepSchedule<D>& schedule = neighborhood_.schedule();
    const auto run_blocks = [&](const auto& blocks) {
      for (const auto& block : blocks) run_block(block);
    };
    run_colours_in_order(
        Lattice<D>::n_colours, turn, [&](int colour) { run_blocks(schedule.boundary_blocks(colour)); },
        [&](int colour) { run_blocks(schedule.interior_blocks(colour)); },
        [&](int stage) {
          Scope timer("exchange");
          ghosts.begin_transfer(stage, records_);
        },
        [&](int stage) {
          Scope timer("exchange");
          ghosts.end_transfer(stage, records_);
          if (!has_shapes_) return;
          ghosts.begin_transfer(stage, shapes_.numbers(), ShapeProjection<D>::numbers_each);
          ghosts.end_transfer(stage, shapes_.numbers(), ShapeProjection<D>::numbers_each);
        });
  }
  Real run_walls(const State<D>& state, const typename SweepSchedule<D>::Block& block, PairMode mode,
                 const Parameters& parameters);
  void inherit(const State<D>& state, std::size_t place, std::size_t body, PairMode mode, Real scale);

  Neighborhood<D>& neighborhood_;
  const PairKernels* kernels_;
  bool weighted_ = false;
  Index n_owned_ = 0, n_local_ = 0;
  std::vector<SweepRecord> records_;  // local bodies, then two dummies
  std::vector<Real> mobility_;        // the same
  PbdMultipliers<D> multipliers_;
  bool has_shapes_ = false;
  ShapeProjection<D> shapes_;
  std::vector<Vec<D>> at_, from_;  // of one wall batch
  std::vector<SurfacePoint<D>> surface_;
  TunnellingGuard<D> sides_;
};

}  // namespace scree
