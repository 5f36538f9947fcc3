#include "state/energy_balance.hpp"

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
  energy.resize(static_cast<std::size_t>(state.bodies.n_owned()));
  for (const auto& field : state.forces) field->add_potential(state, energy);
}

template <int D>
MechanicalEnergy mechanical_energy(const State<D>& state) {
  const BodyStore<D>& bodies = state.bodies;
  const std::vector<Real> in_forces = potential_in_forces(state);
  std::array<Real, 2> sums{};
  ReproducibleSum::sum(state.comm, static_cast<std::size_t>(bodies.n_owned()), sums,
                       [&](std::size_t i, std::span<Real> terms) {
                         const Real mass = bodies.mass()[i];
                         const Vec<D>& v = bodies.velocity()[i];
                         const Spin<D>& spin = bodies.angular_velocity()[i];
                         terms[0] = 0.5 * (mass * dot(v, v) +
                                           moment_of_inertia<D>(mass, bodies.radius()[i]) * dot(spin, spin));
                         terms[1] = -mass * dot(state.gravity, followed_position(state, i));
                         if (!in_forces.empty()) terms[1] += in_forces[i];
                       });
  return {sums[0], sums[1]};
}

template std::vector<Real> potential_in_forces<2>(const State<2>&);
template std::vector<Real> potential_in_forces<3>(const State<3>&);
template void find_potential_in_forces<2>(const State<2>&, std::vector<Real>&);
template void find_potential_in_forces<3>(const State<3>&, std::vector<Real>&);
template MechanicalEnergy mechanical_energy<2>(const State<2>&);
template MechanicalEnergy mechanical_energy<3>(const State<3>&);

}  // namespace scree
