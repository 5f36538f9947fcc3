#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "core/parallel.hpp"
#include "state/state.hpp"

namespace scree {

// What the motion about the flow of a deforming domain, c = v - L (x - centre), comes to. Exact sums;
// collective.

/// What the flow of a deforming domain does on the motion about it, c = v - L (x - centre): -sum of m c . L c
/// [W]: with what contacts take, the volume times stress : L, compression positive and shortening negative.
/// An exact sum; collective.
template <int D>
Real power_of_flow(const State<D>& state);

/// sum of m c over sum of m, of n owned bodies of this rank: body(k) for k < n [m/s]. 0 where there are none.
template <int D, class Body>
Vec<D> mean_velocity_about_flow(const State<D>& state, std::size_t n, const Body& body) {
  std::array<Real, D + 1> momentum{};  // and mass
  ReproducibleSum::sum(state.comm, n, momentum, [&](std::size_t k, std::span<Real> terms) {
    const std::size_t i = body(k);
    const Real mass = state.bodies.mass()[i];
    const Vec<D> c = velocity_about_flow(state, i);
    for (int axis = 0; axis < D; ++axis) terms[axis] = mass * c[axis];
    terms[D] = mass;
  });
  Vec<D> mean;
  for (int axis = 0; axis < D; ++axis) mean[axis] = momentum[D] > 0 ? momentum[axis] / momentum[D] : 0;
  return mean;
}

}  // namespace scree
