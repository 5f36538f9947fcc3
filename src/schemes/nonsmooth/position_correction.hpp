#pragma once
#include <cstdint>

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
  Real apply(State<D>& state, std::int64_t most_sweeps, Real smallest_radius);
  /// Puts bodies back to their sides of thin obstacles, which stand where they are at `end`: see SideKeeper.
  Real keep_sides(State<D>& state, Real end) {
    const auto n = static_cast<std::size_t>(state.bodies.n_owned());
    return sides_.keep(state, neighborhood_, state.bodies.position().first(n), end);
  }
  std::size_t bytes() const { return sweeper_.bytes() + sides_.bytes(); }

 private:
  Neighborhood<D>& neighborhood_;
  PbdSweeper<D> sweeper_;
  SideKeeper<D> sides_;
};

}  // namespace scree
