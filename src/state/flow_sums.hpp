#pragma once
#include "state/state.hpp"

namespace scree {

// What the motion about the flow of a deforming cell, c = v - L (x - centre), comes to. Exact sums;
// collective.

/// The normal stresses of motion times the volume, sum of m c_k c_k along each axis [J].
template <int D>
Vec<D> momentum_flux(const State<D>& state);

/// What the flow does on the motion about it, -sum of m c . L c [W]: with what contacts take, the volume
/// times stress : L, compression positive and shortening negative.
template <int D>
Real power_of_flow(const State<D>& state);

}  // namespace scree
