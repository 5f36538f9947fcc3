#include "schemes/nonsmooth/position_correction.hpp"

#include <algorithm>

#include "core/timing.hpp"

namespace scree {

template <int D>
Real PositionCorrection<D>::apply(State<D>& state, std::int64_t most_sweeps, Real smallest_radius) {
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

template class PositionCorrection<2>;
template class PositionCorrection<3>;

}  // namespace scree
