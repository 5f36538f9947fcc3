#pragma once
#include <algorithm>
#include <array>
#include <cmath>
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
  Real resolve(const State<D>& state, Real dt, bool record_forces) {
    sweeps_done_ = 0;
    converged_ = true;
    Real deepest = 0;
    switch (settings_.method) {
      case Method::pbd: {
        const bool accumulates = settings_.keeps_multipliers();
        typename PbdSweeper<D>::Parameters parameters{.compliance = settings_.compliance / dt, .scale = 0};
        if (settings_.warm_start > 0) {
          // Multipliers are displacements: a shorter step needs them in proportion. After a very short step
          // they are little but corrections of earlier overlap, so they never grow.
          const Real last_dt = state.clock.last_dt;
          parameters.scale = settings_.warm_start * (last_dt > dt ? dt / last_dt : 1);
          sweeper_.sweep(state, PairMode::warm, parameters,
                         {.first = true, .last = settings_.until_converged()});
        } else if (accumulates || record_forces) {
          sweeper_.clear_multipliers();
        }
        const PairMode mode = accumulates     ? PairMode::accumulate
                              : record_forces ? PairMode::record
                                              : PairMode::plain;
        const bool follows = settings_.warm_start > 0 && !settings_.until_converged();
        deepest = repeat(state, [&](SweepTurn turn) {
          turn.first = turn.first && !follows;
          return sweeper_.sweep(state, mode, parameters, turn);
        });
        break;
      }
      case Method::pgs:
      case Method::pgs_dual: {
        const auto mode =
            settings_.method == Method::pgs ? FrozenMode::halfspaces : FrozenMode::halfspaces_dual;
        sweeper_.clear_multipliers();
        frozen_.freeze();
        deepest = repeat(state, [&](SweepTurn turn) { return frozen_.project(state, mode, turn); });
        break;
      }
      case Method::penalty:
        // Explicit Euler: the force acts where the step starts.
        keep_records();
        sweeper_.clear_multipliers();
        frozen_.freeze(state.bodies.position());
        deepest = frozen_.displace(state, FrozenMode::penalty, before_, settings_.penalty_rate * dt);
        sweeps_done_ = 1;
        break;
      case Method::jacobi:
        sweeper_.clear_multipliers();
        deepest = repeat(state, [&](SweepTurn) {
          frozen_.freeze();
          return frozen_.displace(state, FrozenMode::jacobi, frozen_.reference());
        });
        break;
    }
    return std::max(deepest, sweeper_.keep_sides(state, state.clock.time + dt));
  }

  std::int64_t n_sweeps() const { return sweeps_done_; }
  bool has_converged() const { return converged_; }

 private:
  using Method = typename PbdSettings<D>::Method;
  template <class Sweep>
  Real repeat(const State<D>& state, Sweep&& sweep) {
    const std::int64_t most = settings_.until_converged() ? settings_.max_sweeps : settings_.sweeps;
    converged_ = !settings_.until_converged();
    Real deepest = 0;
    while (sweeps_done_ < most) {
      if (settings_.until_converged()) keep_records();
      // The stopping test reads what owners have.
      deepest = sweep(settings_.until_converged() ? SweepTurn{} : SweepTurn::of(sweeps_done_, most));
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
    std::array<Real, 2> sums{};  // |change|^2, with the ways of ends that turn; |positions|^2
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
  FrozenSweeper<D> frozen_;
  std::vector<Vec<D>> before_;  // records before a sweep, for the stopping test or to be added to
  std::vector<Orientation<D>> orientations_before_;  // the same, where bodies turn
  std::int64_t sweeps_done_ = 0;
  bool converged_ = true;
};

}  // namespace scree
