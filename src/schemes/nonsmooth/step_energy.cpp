#include "schemes/nonsmooth/step_energy.hpp"

#include <algorithm>
#include <array>

#include "core/reset.hpp"
#include "core/timing.hpp"

namespace scree {

template <int D>
void StepEnergy<D>::note_start(const State<D>& state) {
  find_potential_in_forces(state, potential_before_);
}

template <int D>
void StepEnergy<D>::note_moved(const State<D>& state) {
  find_potential_in_forces(state, potential_moved_);
}

template <int D>
void StepEnergy<D>::book(State<D>& state, const FreeMotion<D>& motion, const ContactStep<D>& contacts,
                         Real dt) {
  Scope timer("energy");
  find_contact_work(contacts);
  find_body_work(state, motion, dt);
  // The sums look at their terms twice, so these were worked out first.
  const auto sum = [&](const std::vector<Real>& work) {
    std::array<Real, n_parts> parts{};
    ReproducibleSum::sum(state.comm, work.size() / n_parts, parts,
                         [&work](std::size_t k, std::span<Real> terms) {
                           std::copy_n(&work[k * n_parts], n_parts, terms.begin());
                         });
    return parts;
  };
  const auto of_contacts = sum(contact_work_), of_bodies = sum(body_work_);
  EnergyBalance& balance = state.energy_balance;
  if (state.materials.has_rolling_friction())
    balance.rolling += ReproducibleSum::sum(state.comm, contacts.rolling_work());
  balance.impact += of_contacts[0];
  balance.friction += of_contacts[1];
  balance.wall_work += of_contacts[2];
  balance.correction += of_bodies[0];
  balance.integration += of_bodies[1];
  balance.force_work += of_bodies[2];
}

/// Of each contact: dissipated along the normal, along tangents, and done by the obstacle.
template <int D>
void StepEnergy<D>::find_contact_work(const ContactStep<D>& contacts) {
  const auto of_obstacles = contacts.obstacle_velocity();
  const auto n_contacts = static_cast<std::size_t>(contacts.problem().n_contacts());
  reset(contact_work_, n_contacts * n_parts);
  for (std::size_t c = 0; c < n_contacts; ++c) {
    const Real* impulse = &contacts.impulse()[c * D];
    if (std::all_of(impulse, impulse + D, [](Real r) { return r == 0; })) continue;
    const Vec<D>& before = contacts.start_surface_velocity()[c];
    const Vec<D> after = surface_velocity(contacts.problem(), of_obstacles, c, contacts.velocity());
    Real* work = &contact_work_[c * n_parts];
    for (std::size_t i = 0; i < D; ++i) {
      const Real r = impulse[i];
      const Real dissipated = -0.5 * r * (before[static_cast<int>(i)] + after[static_cast<int>(i)]);
      work[i == 0 ? 0 : 1] += dissipated;
      work[2] -= r * of_obstacles[c * D + i];
    }
  }
}

/// Of each body: by the correction of positions, by the time step, and by forces without a potential.
template <int D>
void StepEnergy<D>::find_body_work(const State<D>& state, const FreeMotion<D>& motion, Real dt) {
  const BodyStore<D>& bodies = state.bodies;
  const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
  const auto position = bodies.position(), previous = bodies.previous(), velocity = bodies.velocity();
  const auto mass_of = bodies.mass(), mobility = bodies.mobility();
  const auto start_velocity = motion.start_velocity();
  find_potential_in_forces(state, potential_now_);
  body_work_.assign(n_owned * n_parts, 0.0);
  for (std::size_t i = 0; i < n_owned; ++i) {
    if (mobility[i] == 0) continue;
    Real* work = &body_work_[i * n_parts];
    const Real mass = mass_of[i];
    const Vec<D> moved_by_correction = position[i] - (previous[i] + dt * velocity[i]);
    work[0] = -mass * dot(state.gravity, moved_by_correction);
    for (int k = 0; k < D; ++k)
      work[1] -= 0.5 * dt * mass * state.gravity[k] *
                 (velocity[i][k] - start_velocity[i * q + static_cast<std::size_t>(k)]);
    if (potential_now_.empty()) continue;
    Vec<D> path = velocity[i];
    for (int k = 0; k < D; ++k) path[k] += start_velocity[i * q + static_cast<std::size_t>(k)];
    path *= 0.5 * dt;
    work[0] += potential_now_[i] - potential_moved_[i];
    work[1] += dot(motion.potential_force()[i], path) + (potential_moved_[i] - potential_before_[i]);
    work[2] = dot(motion.other_force()[i], path);
  }
}

template <int D>
std::size_t StepEnergy<D>::bytes() const {
  return (contact_work_.capacity() + body_work_.capacity() + potential_before_.capacity() +
          potential_moved_.capacity() + potential_now_.capacity()) *
         sizeof(Real);
}

template class StepEnergy<2>;
template class StepEnergy<3>;

}  // namespace scree
