#pragma once
#include <span>
#include <vector>

#include "core/body_halo.hpp"
#include "neighbors/neighborhood.hpp"
#include "schemes/common/contact_field.hpp"
#include "schemes/common/side_keeper.hpp"
#include "schemes/pbd/pair_kernels.hpp"
#include "state/state.hpp"

namespace scree {

/// How constraints frozen at a reference configuration are treated (docs/method.md, "Other methods").
enum class FrozenMode {
  halfspaces,       ///< alternate projections on the half-spaces tangent at the reference (PGS)
  halfspaces_dual,  ///< the same with accumulated multipliers: converges to the nearest point
  count,            ///< adds 1 to x[0] of both ends of each overlapping pair: the number of a body's contacts
  jacobi,   ///< adds the correction of each overlapping pair, divided by the larger number of contacts
  penalty,  ///< adds the displacement by the penalty force over one step
};

/// Sweeps over all candidate contacts in the order of the schedule: the projections of position-based
/// dynamics.
///
/// The live positions are held as 32-byte records. Results do not depend on the number of ranks, bit by bit.
/// Cost of a sweep: O(candidates) and at most 2^D + 1 transfers of bodies near block faces that ranks share,
/// 2^D in a row of sweeps: see SweepTurn.
template <int D>
class PbdSweeper {
 public:
  explicit PbdSweeper(Neighborhood<D>& neighborhood)
      : neighborhood_(neighborhood), kernels_(&pair_kernels<D>()) {}

  /// Makes the arrays fit the present candidates and recalls remembered multipliers. After every rebuild.
  /// Sweeps see bodies with `radius_factor` times their radius. Local.
  void prepare(const State<D>& state, bool weighted, Real radius_factor = 1);
  /// Sweeps see bodies that can move with `factor` times their radius, those of mobility 0 as they are.
  /// Local.
  void scale_radii(const State<D>& state, Real factor);
  /// Copies positions into the records; store copies them back (owned bodies). Local.
  void load(const State<D>& state);
  void store(State<D>& state) const;
  /// For callers that write the owned records themselves instead of load(). Local.
  void owned_records_written();

  struct Parameters {
    Real compliance = 0;  ///< a = alpha / h [-]
    Real scale = 0;       ///< of PairMode::warm
  };
  /// One sweep over the records. Returns the deepest overlap met on this rank, before its correction [m]
  /// (0 for warm). Collective.
  Real sweep(const State<D>& state, PairMode mode, const Parameters& parameters, SweepTurn turn = {});

  /// Keeps the present records as the reference of frozen sweeps, on all holders of a body. Collective.
  void freeze();
  /// One sweep over constraints frozen at the reference. Returns as sweep(). Collective.
  Real frozen_sweep(const State<D>& state, FrozenMode mode, Real factor = 0, SweepTurn turn = {});
  /// Number of contacts of each held body at the reference, for FrozenMode::jacobi. Collective.
  void count_contacts(const State<D>& state);
  /// Sets all records to zero, so that frozen sweeps add up displacements in them.
  void clear_records();
  /// The owned records.
  std::span<SweepRecord> records() { return std::span(records_).first(static_cast<std::size_t>(n_owned_)); }
  std::span<const SweepRecord> records() const {
    return std::span(records_).first(static_cast<std::size_t>(n_owned_));
  }
  std::span<const Vec<D>> reference() const {
    return std::span(frozen_).first(static_cast<std::size_t>(n_owned_));
  }

  /// Puts owned bodies whose centres lie behind a thin obstacle back to their side: see SideKeeper. Returns
  /// the deepest overlap of those, over all ranks. `time`: when obstacles stand where they were placed.
  /// Collective.
  Real keep_sides(const State<D>& state, Real time) {
    return sides_.keep(state, neighborhood_, records(), time);
  }

  void clear_multipliers() { multipliers_.clear(); }
  /// Puts back what multipliers() were, with the same candidates.
  void set_multipliers(const ContactField<Real>& multipliers) { multipliers_ = multipliers; }
  const ContactField<Real>& multipliers() const { return multipliers_; }

  /// For tests and benchmarks: use this instruction set.
  void use(const PairKernels& kernels) { kernels_ = &kernels; }
  std::size_t bytes() const;

 private:
  template <class RunBlock>
  void run_colours(SweepTurn turn, RunBlock&& run_block);
  template <class PlaceOf>
  std::span<const Index> look_at(const State<D>& state, const typename SweepSchedule<D>::WallBatch& wall,
                                 const PlaceOf& place_of);
  Real run_walls(const State<D>& state, const typename SweepSchedule<D>::Block& block, PairMode mode,
                 const Parameters& parameters);
  void pass_on(const State<D>& state, std::size_t place, std::size_t body, PairMode mode, Real scale);
  Real run_frozen_block(const State<D>& state, const typename SweepSchedule<D>::Block& block, FrozenMode mode,
                        Real factor);

  Neighborhood<D>& neighborhood_;
  const PairKernels* kernels_;
  bool weighted_ = false;
  Index n_owned_ = 0, n_held_ = 0;
  std::vector<SweepRecord> records_;  // held bodies, then two dummies
  std::vector<Real> mobility_;        // the same
  ContactField<Real> multipliers_;
  std::vector<Vec<D>> frozen_;     // held bodies
  std::vector<Real> n_contacts_;   // held bodies, for jacobi
  std::vector<Vec<D>> at_, from_;  // of one wall batch
  std::vector<SurfacePoint<D>> surface_;
  SideKeeper<D> sides_;
};

}  // namespace scree
