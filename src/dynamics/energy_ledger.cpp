#include "dynamics/energy_ledger.hpp"

#include "dynamics/state.hpp"

namespace scree {

template <int D>
MechanicalEnergy mechanical_energy(const State<D>& state) {
  const BodyStore<D>& bodies = state.bodies;
  std::array<Real, 2> sums{};
  ReproducibleSum::sum(
      state.comm, static_cast<std::size_t>(bodies.n_owned()), sums,
      [&](std::size_t i, std::span<Real> terms) {
        const Real mass = bodies.mass()[i];
        const Vec<D>& v = bodies.velocity()[i];
        const Spin<D>& spin = bodies.angular_velocity()[i];
        terms[0] =
            0.5 * (mass * dot(v, v) + moment_of_inertia<D>(mass, bodies.radius()[i]) * dot(spin, spin));
        Vec<D> x = bodies.position()[i];
        for (int k = 0; k < D; ++k)
          if (state.box.is_periodic(k))
            x[k] += static_cast<Real>(bodies.image()[i][static_cast<std::size_t>(k)]) * state.box.length(k);
        terms[1] = -mass * dot(state.gravity, x);
      });
  return {sums[0], sums[1]};
}

template MechanicalEnergy mechanical_energy<2>(const State<2>&);
template MechanicalEnergy mechanical_energy<3>(const State<3>&);

}  // namespace scree
