#pragma once
#include <cstdint>
#include <vector>

#include "schemes/pbd/frozen_sweeper.hpp"
#include "schemes/pbd/settings.hpp"

namespace scree {

/// Moves predicted bodies apart by the method of the deck: sweeps of projections over all candidates, a fixed
/// number of them or until they change little.
template <int D>
class PbdContacts {
 public:
  PbdContacts(const PbdSettings<D>& settings, PbdSweeper<D>& sweeper)
      : settings_(settings), sweeper_(sweeper), frozen_(sweeper) {}

  /// In the records of the sweeper, with obstacles where they stand dt after state.clock.time. Returns the
  /// deepest overlap that the last sweep met on this rank [m]. Collective.
  Real resolve(const State<D>& state, Real dt, bool record_forces);

  std::int64_t n_sweeps() const { return sweeps_done_; }
  bool has_converged() const { return converged_; }
  std::size_t bytes() const { return before_.capacity() * sizeof(Vec<D>) + frozen_.bytes(); }

 private:
  using Method = typename PbdSettings<D>::Method;
  template <class Sweep>
  Real repeat(const State<D>& state, Sweep&& sweep);
  /// Copies the records to before_. Local.
  void keep_records();
  bool converged(const State<D>& state);

  const PbdSettings<D>& settings_;
  PbdSweeper<D>& sweeper_;
  FrozenSweeper<D> frozen_;
  std::vector<Vec<D>> before_;  // records before a sweep, for the stopping test or to be added to
  std::int64_t sweeps_done_ = 0;
  bool converged_ = true;
};

}  // namespace scree
