#include "state/energy_balance.hpp"

#include "particles/orientation.hpp"
#include "state/force_field.hpp"

namespace scree {

template <int D>
std::vector<Real> potential_in_forces(const State<D>& state) {
  std::vector<Real> energy;
  find_potential_in_forces(state, energy);
  return energy;
}

template <int D>
void find_potential_in_forces(const State<D>& state, std::vector<Real>& energy) {
  energy.clear();
  if (state.forces.empty()) return;
  energy.resize(state.bodies.n_owned());
  for (const auto& field : state.forces) field->add_potential(state, energy);
}

template <int D>
Real rotational_energy(const State<D>& state, std::size_t i) {
  const BodyStore<D>& bodies = state.bodies;
  const Spin<D>& spin = bodies.angular_velocity()[i];
  const Real mass = bodies.mass()[i], radius = bodies.radius()[i];
  if (!bodies.carries_shapes()) return 0.5 * moment_of_inertia<D>(mass, radius) * dot(spin, spin);
  const auto moments = state.shapes.moments(bodies.shape()[i], mass, radius);
  if constexpr (D == 2) {
    return 0.5 * moments[0] * dot(spin, spin);
  } else {
    const auto axes = axes_of<3>(bodies.orientation()[i]);
    Real energy = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Real about = dot(axes[k], spin);
      energy += 0.5 * moments[static_cast<int>(k)] * about * about;
    }
    return energy;
  }
}

template <int D>
MechanicalEnergy mechanical_energy(const State<D>& state) {
  const BodyStore<D>& bodies = state.bodies;
  const std::vector<Real> in_forces = potential_in_forces(state);
  std::array<Real, 2> sums{};
  ReproducibleSum::sum(state.comm, static_cast<std::size_t>(bodies.n_owned()), sums,
                       [&](std::size_t i, std::span<Real> terms) {
                         const Real mass = bodies.mass()[i];
                         const Vec<D> v = velocity_about_flow(state, i);
                         terms[0] = 0.5 * mass * dot(v, v) + rotational_energy(state, i);
                         terms[1] = -mass * dot(state.gravity, followed_position(state, i));
                         if (!in_forces.empty()) terms[1] += in_forces[i];
                       });
  return {sums[0], sums[1]};
}

template std::vector<Real> potential_in_forces<2>(const State<2>&);
template std::vector<Real> potential_in_forces<3>(const State<3>&);
template void find_potential_in_forces<2>(const State<2>&, std::vector<Real>&);
template void find_potential_in_forces<3>(const State<3>&, std::vector<Real>&);
template Real rotational_energy<2>(const State<2>&, std::size_t);
template Real rotational_energy<3>(const State<3>&, std::size_t);
template MechanicalEnergy mechanical_energy<2>(const State<2>&);
template MechanicalEnergy mechanical_energy<3>(const State<3>&);

}  // namespace scree
