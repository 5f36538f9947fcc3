#pragma once
#include "state/state.hpp"

namespace scree {

// What the motion about the flow of a deforming cell, c = v - L (x - centre), comes to. Exact sums;
// collective.

/// What the flow of a deforming cell does on the motion about it, c = v - L (x - centre): -sum of m c . L c
/// [W]: with what contacts take, the volume times stress : L, compression positive and shortening negative.
/// An exact sum; collective.
template <int D>
Real power_of_flow(const State<D>& state);

}  // namespace scree
