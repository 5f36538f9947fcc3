#pragma once
#include <span>

#include "state/state.hpp"

namespace scree {

/// x(t + dt) = x(t) + dt v for the owned bodies that can move, with x(t) in `previous`; places obstacles at
/// the end of the step. `velocity`: n_velocities<D> numbers per held body [m/s, rad/s]. Local.
template <int D>
void move_centres(State<D>& state, std::span<const Real> velocity, Real dt);

/// The same bodies take these velocities and turn. Local.
template <int D>
void take_velocities(State<D>& state, std::span<const Real> velocity, Real dt);

}  // namespace scree
