#include "schemes/nonsmooth/move.hpp"

#include <algorithm>

#include "core/timing.hpp"
#include "friction/friction_problem.hpp"
#include "schemes/common/rotation.hpp"

namespace scree {

template <int D>
void move_centres(State<D>& state, std::span<const Real> velocity, Real dt) {
  Scope timer("move");
  constexpr std::size_t q = FrictionProblem<D>::q;
  BodyStore<D>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    bodies.previous()[i] = bodies.position()[i];
    if (bodies.mobility()[i] == 0) continue;
    for (int k = 0; k < D; ++k) bodies.position()[i][k] += dt * velocity[i * q + static_cast<std::size_t>(k)];
  }
  state.obstacles.place(state.clock.time + dt);
}

template <int D>
void take_velocities(State<D>& state, std::span<const Real> velocity, Real dt) {
  Scope timer("move");
  constexpr std::size_t q = FrictionProblem<D>::q;
  BodyStore<D>& bodies = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    if (bodies.mobility()[i] == 0) continue;
    const Real* of_body = &velocity[i * q];
    std::copy_n(of_body, D, bodies.velocity()[i].component.begin());
    std::copy_n(of_body + D, n_spins<D>, bodies.angular_velocity()[i].component.begin());
    bodies.orientation()[i] = turned<D>(bodies.orientation()[i], bodies.angular_velocity()[i], dt);
  }
}

template void move_centres<2>(State<2>&, std::span<const Real>, Real);
template void move_centres<3>(State<3>&, std::span<const Real>, Real);
template void take_velocities<2>(State<2>&, std::span<const Real>, Real);
template void take_velocities<3>(State<3>&, std::span<const Real>, Real);

}  // namespace scree
