#pragma once
#include <algorithm>
#include <cstdint>

#include "core/timing.hpp"
#include "schemes/common/side_keeper.hpp"
#include "schemes/pbd/sweeper.hpp"

namespace scree {

/// Removes overlap that the velocities of a step leave, by sweeps on positions that change no velocity.
template <int D>
class PositionCorrection {
 public:
  explicit PositionCorrection(Neighborhood<D>& neighborhood)
      : neighborhood_(neighborhood), sweeper_(neighborhood) {}

  /// After a list build. Bodies count as smaller by the share `contact_slop`, so that what touches goes on
  /// touching. Local.
  void prepare(const State<D>& state, Real contact_slop) { sweeper_.prepare(state, true, 1 - contact_slop); }
  /// Moves overlapping bodies apart, each by its share of the mass, in at most `most_sweeps` sweeps over the
  /// candidates. Returns the deepest overlap met [m]. Collective.
  Real apply(State<D>& state, std::int64_t most_sweeps, Real smallest_radius) {
    Scope timer("correction");
    constexpr Real negligible = 1e-3;  // overlap after which another sweep is not worth its time, in radii
    Real deepest = 0;
    sweeper_.load(state);
    for (std::int64_t sweep = 0; sweep < most_sweeps; ++sweep) {
      const Real met = state.comm.max(sweeper_.sweep(state, PairMode::plain, {}));
      deepest = std::max(deepest, met);
      if (met <= negligible * smallest_radius) break;
    }
    sweeper_.store(state);
    return deepest;
  }
  /// Puts bodies back to their sides of thin obstacles, which stand where they are at `end`: see SideKeeper.
  Real keep_sides(State<D>& state, Real end) { return sides_.keep(state, neighborhood_, end); }
  std::size_t bytes() const { return sweeper_.bytes() + sides_.bytes(); }

 private:
  Neighborhood<D>& neighborhood_;
  PbdSweeper<D> sweeper_;
  SideKeeper<D> sides_;
};

}  // namespace scree
