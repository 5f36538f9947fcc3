#pragma once
#include <cstdint>

#include "neighbors/neighborhood_settings.hpp"
#include "state/state.hpp"

namespace scree {

/// Wraps owned bodies into the box along periodic axes, and does to bodies outside an open face what
/// `outside` says. Returns how many were removed, over all ranks. Throws RunError naming the body if a
/// position is not finite, or lies outside with Outside::error. Collective.
template <int D>
std::int64_t apply_boundary_conditions(State<D>& state, Outside outside);

}  // namespace scree
