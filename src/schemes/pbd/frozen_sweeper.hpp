#pragma once
#include <span>
#include <vector>

#include "schemes/pbd/sweeper.hpp"

namespace scree {

/// How constraints frozen at a reference configuration are treated (docs/method.md, "Other methods").
enum class FrozenMode {
  halfspaces,       ///< alternate projections on the half-spaces tangent at the reference (PGS)
  halfspaces_dual,  ///< the same with accumulated multipliers: converges to the nearest point
  jacobi,   ///< adds the correction of each overlapping pair, divided by the larger number of contacts
  penalty,  ///< adds the displacement by the penalty force over one step
};

/// Sweeps over constraints frozen at a reference, in the order of PbdSweeper and on its records and
/// multipliers: the published methods that "pbd" is compared with.
template <int D>
class FrozenSweeper {
 public:
  explicit FrozenSweeper(PbdSweeper<D>& sweeper) : sweeper_(sweeper) {}

  /// Keeps the present records as the reference, on all holders of a body. Collective.
  void freeze();
  /// Keeps `positions` of owned bodies as the reference. Collective.
  void freeze(std::span<const Vec<D>> positions);
  std::span<const Vec<D>> reference() const { return std::span(frozen_).first(sweeper_.records().size()); }

  /// One sweep of a projection on half-spaces. Returns as PbdSweeper::sweep(). Collective.
  Real project(const State<D>& state, FrozenMode mode, SweepTurn turn) { return sweep(state, mode, 0, turn); }
  /// Sets the owned records to `start` and the displacements of "jacobi", or of "penalty" with `factor` times
  /// the overlap. Returns as PbdSweeper::sweep(). Collective.
  Real displace(const State<D>& state, FrozenMode mode, std::span<const Vec<D>> start, Real factor = 0);

 private:
  using Block = typename SweepSchedule<D>::Block;
  template <class Treat>
  void for_each_contact(const State<D>& state, const Block& block, const Treat& treat);
  void clear_records();
  void count_contacts(const State<D>& state);
  Real sweep(const State<D>& state, FrozenMode mode, Real factor, SweepTurn turn);

  PbdSweeper<D>& sweeper_;
  std::vector<Vec<D>> frozen_;     // held bodies
  std::vector<Real> n_contacts_;   // held bodies, for jacobi
  std::vector<Vec<D>> at_, from_;  // of one wall batch
  std::vector<SurfacePoint<D>> surface_;
};

}  // namespace scree
