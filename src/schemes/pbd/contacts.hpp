#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "schemes/pbd/settings.hpp"
#include "schemes/pbd/sweeper.hpp"

namespace scree {

/// Moves predicted bodies apart: sweeps of projections over all candidates, a fixed number of them or until
/// they change little.
template <int D>
class PbdContacts {
 public:
  PbdContacts(const PbdSettings<D>& settings, PbdSweeper<D>& sweeper)
      : settings_(settings), sweeper_(sweeper) {}

  /// In the records of the sweeper, with obstacles where they stand dt after state.clock.time. Returns the
  /// deepest overlap that the last sweep met on this rank [m]. Collective.
  Real resolve(const State<D>& state, Real dt, bool record_forces) {
    sweeps_done_ = 0;
    converged_ = true;
    const bool accumulates = settings_.keeps_multipliers(), warm = settings_.warm_start > 0;
    typename PbdSweeper<D>::Parameters parameters{.compliance = settings_.compliance / dt, .scale = 0};
    if (warm) {
      // Multipliers are displacements: a shorter step needs them in proportion. After a very short step
      // they are little but corrections of earlier overlap, so they never grow.
      const Real last_dt = state.clock.last_dt;
      parameters.scale = settings_.warm_start * (last_dt > dt ? dt / last_dt : 1);
      sweeper_.sweep(state, PairMode::warm, parameters, {.first = true, .last = settings_.until_converged()});
    } else if (accumulates || record_forces) {
      sweeper_.clear_multipliers();
    }
    const PairMode mode = accumulates     ? PairMode::accumulate
                          : record_forces ? PairMode::record
                                          : PairMode::plain;
    const bool follows = warm && !settings_.until_converged();
    const Real deepest = repeat(state, [&](SweepTurn turn) {
      turn.first = turn.first && !follows;
      return sweeper_.sweep(state, mode, parameters, turn);
    });
    return std::max(deepest, sweeper_.keep_sides(state, state.clock.time + dt));
  }

  std::int64_t n_sweeps() const { return sweeps_done_; }
  bool has_converged() const { return converged_; }

 private:
  template <class Sweep>
  Real repeat(const State<D>& state, Sweep&& sweep) {
    const std::int64_t max = settings_.until_converged() ? settings_.max_sweeps : settings_.sweeps;
    converged_ = !settings_.until_converged();
    Real deepest = 0;
    while (sweeps_done_ < max) {
      if (settings_.until_converged()) keep_records();
      // The stopping test reads what owners have.
      deepest = sweep(settings_.until_converged() ? SweepTurn{} : SweepTurn::of(sweeps_done_, max));
      ++sweeps_done_;
      if (settings_.until_converged() && converged(state)) {
        converged_ = true;
        break;
      }
    }
    return deepest;
  }
  /// Copies the records to before_. Local.
  void keep_records() {
    const auto records = sweeper_.records();
    before_.resize(records.size());
    for (std::size_t i = 0; i < records.size(); ++i)
      for (int k = 0; k < D; ++k) before_[i][k] = records[i].x[k];
    const auto orientations = sweeper_.orientations();
    orientations_before_.assign(orientations.begin(), orientations.end());
  }
  bool converged(const State<D>& state) {
    const auto records = sweeper_.records();
    std::array<Real, 2> sums{};  // |change|^2, with that of ends that turn; |positions|^2
    ReproducibleSum::sum(state.comm, records.size(), sums, [&](std::size_t i, std::span<Real> terms) {
      terms[0] = terms[1] = 0;
      for (int k = 0; k < D; ++k) {
        const Real change = records[i].x[k] - before_[i][k];
        terms[0] += change * change;
        terms[1] += before_[i][k] * before_[i][k];
      }
      if (orientations_before_.empty()) return;
      const Spin<D> turn = turn_between<D>(orientations_before_[i], sweeper_.orientations()[i]);
      terms[0] += records[i].radius * records[i].radius * dot(turn, turn);
    });
    return std::sqrt(sums[0]) <=
           settings_.absolute_tolerance + settings_.relative_tolerance * std::sqrt(sums[1]);
  }

  const PbdSettings<D>& settings_;
  PbdSweeper<D>& sweeper_;
  std::vector<Vec<D>> before_;                       // records before a sweep, for the stopping test
  std::vector<Orientation<D>> orientations_before_;  // the same, where bodies turn
  std::int64_t sweeps_done_ = 0;
  bool converged_ = true;
};

}  // namespace scree
