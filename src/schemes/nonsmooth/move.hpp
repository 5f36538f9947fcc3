#pragma once
#include <algorithm>
#include <span>

#include "core/timing.hpp"
#include "friction/friction_problem.hpp"
#include "neighbors/neighborhood.hpp"
#include "schemes/common/free_rotation.hpp"
#include "schemes/common/overlap.hpp"
#include "state/state.hpp"

namespace scree {

/// Calls f(i, its velocities) for the owned bodies that can move. `velocity`: n_velocities<D> numbers per
/// local body [m/s, rad/s].
template <int D, class F>
void for_each_mobile(const BodyStore<D>& bodies, std::span<const Real> velocity, F&& f) {
  Scope timer("move");
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    if (bodies.mobility()[i] != 0) f(i, &velocity[i * FrictionProblem<D>::q]);
}

/// The longest step [s] in which each body with a shape keeps a limit: least of step_of(radius, inscribed
/// radius [m], speed [m/s], spin [rad/s]). Infinite if all are spheres. Collective.
template <int D, class F>
Real longest_step_of_shapes(const State<D>& state, std::span<const Real> velocity, F&& step_of) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  const BodyStore<D>& bodies = state.bodies;
  if (!bodies.carries_shapes()) return HUGE_VAL;
  const auto length = [&](std::size_t from, std::size_t to) {
    Real squared = 0;
    for (std::size_t k = from; k < to; ++k) squared += velocity[k] * velocity[k];
    return std::sqrt(squared);
  };
  Real longest = HUGE_VAL;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
    if (bodies.shape()[i] == 0 || bodies.mobility()[i] == 0) continue;
    const Real radius = bodies.radius()[i];
    longest = std::min(longest, step_of(radius, state.shapes.inscribed_radius(bodies.shape()[i], radius),
                                        length(i * q, i * q + D), length(i * q + D, (i + 1) * q)));
  }
  return state.comm.min(longest);
}

/// The longest step [s] in which no body with a shape turns so far that its ends leave the straight path,
/// which contacts take, by more than a share of its inscribed radius: R angle^2 / 2 <= share r. Collective.
template <int D>
Real longest_turning_step(const State<D>& state, std::span<const Real> velocity, Real share) {
  return longest_step_of_shapes(state, velocity, [&](Real radius, Real inscribed, Real, Real spin) {
    return std::sqrt(2 * share * inscribed / radius) / spin;
  });
}

/// The longest step [s] in which no point of a body with a shape goes farther than a share of its inscribed
/// radius. Collective.
template <int D>
Real longest_short_step(const State<D>& state, std::span<const Real> velocity, Real share) {
  return longest_step_of_shapes(state, velocity, [&](Real radius, Real inscribed, Real speed, Real spin) {
    return share * inscribed / (speed + radius * spin);
  });
}

/// The deepest overlap, over all ranks, of bodies that have moved and turned for dt with these velocities
/// [m]. `contacts`: room for what touches then. Bodies, obstacles and the cell are back in place afterwards.
/// Collective.
template <int D>
Real overlap_after(State<D>& state, Neighborhood<D>& neighborhood, std::span<const Real> velocity, Real dt,
                   ContactGraph<D>& contacts) {
  BodyStore<D>& bodies = state.bodies;
  const auto n = static_cast<std::ptrdiff_t>(bodies.n_owned());
  const std::vector<Vec<D>> position(bodies.position().begin(), bodies.position().begin() + n);
  const std::vector<Orientation<D>> orientation(bodies.orientation().begin(),
                                                bodies.orientation().begin() + n);
  for_each_mobile(bodies, velocity, [&](std::size_t i, const Real* v) {
    const Vec<D> flow = state.deformation.flow_at(state.box, position[i]);
    for (int k = 0; k < D; ++k) bodies.position()[i][k] += dt * (v[k] + flow[k]);
    Spin<D> spin;
    std::copy_n(v + D, n_spins<D>, spin.component.begin());
    bodies.orientation()[i] = turned<D>(orientation[i], spin, dt);
  });
  state.obstacles.place(state.clock.time + dt);
  const Box<D> box = state.box;
  const auto place_box = [&](const Box<D>& at) {
    state.box = at;
    if (state.deformation.moves()) neighborhood.list().place_images(state);
  };
  place_box(state.deformation.box_after(box, dt));
  neighborhood.detect(state, {.tolerance = 0}, contacts);
  const Real deepest = deepest_overlap(state, contacts);
  place_box(box);
  std::ranges::copy(position, bodies.position().begin());
  std::ranges::copy(orientation, bodies.orientation().begin());
  state.obstacles.place(state.clock.time);
  return deepest;
}

/// x(t + dt) = x(t) + dt v for the owned bodies that can move, with x(t) in `previous`; places obstacles at
/// the end of the step. In a deforming domain v = c + L (x(t) - centre), and velocities are c. Local.
template <int D>
void move_centres(State<D>& state, std::span<const Real> velocity, Real dt) {
  BodyStore<D>& bodies = state.bodies;
  std::copy_n(bodies.position().begin(), bodies.n_owned(), bodies.previous().begin());
  for_each_mobile(bodies, velocity, [&](std::size_t i, const Real* v) {
    const Vec<D> flow = state.deformation.flow_at(state.box, bodies.previous()[i]);
    for (int k = 0; k < D; ++k) bodies.position()[i][k] += dt * (v[k] + flow[k]);
  });
  state.obstacles.place(state.clock.time + dt);
}

/// Moves the same bodies on to where `separating` would have taken them instead of `velocity`. Local.
template <int D>
void separate_centres(State<D>& state, std::span<const Real> velocity, std::span<const Real> separating,
                      Real dt) {
  BodyStore<D>& bodies = state.bodies;
  for_each_mobile(bodies, velocity, [&](std::size_t i, const Real* v) {
    for (int k = 0; k < D; ++k)
      bodies.position()[i][k] +=
          dt * (separating[i * FrictionProblem<D>::q + static_cast<std::size_t>(k)] - v[k]);
  });
}

/// Body i turns freely for dt, which changes its spin if its moments differ; and by what takes out overlap,
/// with the spin `more`. Local.
template <int D>
void turn_shape(State<D>& state, std::size_t i, const Spin<D>& more, Real dt) {
  BodyStore<D>& bodies = state.bodies;
  Orientation<D>& orientation = bodies.orientation()[i];
  if constexpr (D == 2) {
    orientation = turned<2>(orientation, bodies.angular_velocity()[i], dt);
  } else {
    const std::size_t type = bodies.type()[i];
    const bool keeps_spin = !state.type_rotates.empty() && !state.type_rotates[type];
    const Vec<3> moments = keeps_spin ? filled<3>(1) : state.shapes[bodies.shape()[i]].moments;
    const Rotation rotation = rotated_freely({orientation, bodies.angular_velocity()[i]}, moments, dt);
    orientation = rotation.orientation;
    bodies.angular_velocity()[i] = rotation.spin;
  }
  if (more == Spin<D>{}) return;
  const Orientation<D> before = orientation;
  orientation = turned<D>(before, more, dt);
  // The spin turns with the body, which keeps its energy.
  if constexpr (D == 3) {
    Vec<3>& spin = bodies.angular_velocity()[i];
    spin = to_world(orientation, to_body(before, spin));
  }
}

/// The same bodies take these velocities, in a deforming domain beside its flow, and turn by the spins in
/// `turning`. Local.
template <int D>
void take_velocities(State<D>& state, std::span<const Real> velocity, std::span<const Real> turning,
                     Real dt) {
  BodyStore<D>& bodies = state.bodies;
  for_each_mobile(bodies, velocity, [&](std::size_t i, const Real* v) {
    std::copy_n(v, D, bodies.velocity()[i].component.begin());
    if (state.deformation.moves())
      bodies.velocity()[i] += state.deformation.flow_at(state.box, bodies.previous()[i]);
    std::copy_n(v + D, n_spins<D>, bodies.angular_velocity()[i].component.begin());
    Spin<D> spin;
    std::copy_n(&turning[i * FrictionProblem<D>::q + D], n_spins<D>, spin.component.begin());
    if (bodies.carries_shapes()) return turn_shape(state, i, spin - bodies.angular_velocity()[i], dt);
    bodies.orientation()[i] = turned<D>(bodies.orientation()[i], spin, dt);
  });
}

}  // namespace scree
