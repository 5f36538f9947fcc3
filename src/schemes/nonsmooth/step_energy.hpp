#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "core/reset.hpp"
#include "core/timing.hpp"
#include "schemes/nonsmooth/contact_work.hpp"
#include "schemes/nonsmooth/free_motion.hpp"
#include "state/state.hpp"

namespace scree {

/// Where the energy of a step comes from and goes (docs/method.md, eq. E.1-E.6). Call record_start(),
/// record_moved() and update_balance() in this order in a step. Cost: O(bodies + contacts).
template <int D>
class StepEnergy {
 public:
  /// Before bodies move. Local.
  void record_start(const State<D>& state) { find_potential_in_forces(state, potential_before_); }
  /// After they moved with their velocities, before positions are corrected. Local.
  void record_moved(const State<D>& state) { find_potential_in_forces(state, potential_moved_); }
  /// At the end of the step of `free`, with the velocities at its start and as they were solved for (n_local
  /// * n_velocities<D>): adds to state.energy_balance. Collective.
  void update_balance(State<D>& state, const FreeMotion<D>& free, std::span<const Real> start_velocity,
                      std::span<const Real> velocity, const ContactWork& of_contact) {
    Scope timer("energy");
    find_body_work(state, free, start_velocity, velocity);
    std::array<std::span<const Real>, 2 * n_parts> work{of_contact.normal, of_contact.tangential,
                                                        of_contact.obstacle};
    std::ranges::copy(body_work_, work.begin() + n_parts);
    std::array<Real, 2 * n_parts> sums{};
    ReproducibleSum::sum(state.comm, work, sums);
    const Real *of_contacts = sums.data(), *of_bodies = of_contacts + n_parts;
    EnergyBalance& balance = state.energy_balance;
    Real lost = of_contacts[0] + of_contacts[1];
    if (state.materials.has_cohesion())
      balance.cohesion += ReproducibleSum::sum(state.comm, std::span<const Real>(of_contact.cohesion));
    if (state.materials.has_rolling_friction()) {
      const Real rolling = ReproducibleSum::sum(state.comm, std::span<const Real>(of_contact.rolling));
      balance.rolling += rolling;
      lost += rolling;
    }
    balance.impact += of_contacts[0];
    balance.friction += of_contacts[1];
    balance.wall_work += of_contacts[2];
    balance.correction += corrected_ = of_bodies[0];
    balance.integration += of_bodies[1];
    balance.force_work += of_bodies[2];
    if (balance.stored) lost -= update_stored_energy(state, of_contact.stored);
    contact_gain_ = std::max(0.0, -lost);
  }
  /// After that, the cell at the end of the step: with x where it takes bodies and v = c + L (x(t) - centre)
  /// with the c of the solve, kinetic energy is that of v - L' (x - centre) from now on. What this changes is
  /// work of the cell, what the correction of positions does to it is part of `correction` (docs/method.md,
  /// eq. H.25). Nothing if the cell does not move. Collective.
  void add_flow(State<D>& state, std::span<const Real> velocity, Real dt) {
    if (!state.deformation.moves()) return;
    std::array<Real, 2> sums{};
    const BodyStore<D>& bodies = state.bodies;
    ReproducibleSum::sum(state.comm, static_cast<std::size_t>(bodies.n_owned()), sums,
                         [&](std::size_t i, std::span<Real> work) {
                           Vec<D> solved;
                           std::copy_n(&velocity[i * q], D, solved.component.begin());
                           const Vec<D> uncorrected = bodies.previous()[i] + dt * bodies.velocity()[i];
                           const Vec<D> carried =
                               bodies.velocity()[i] - state.deformation.flow_at(state.box, uncorrected);
                           const Vec<D> now = velocity_about_flow(state, i);
                           const Real half = 0.5 * bodies.mass()[i];
                           work[0] = half * dot(carried - solved, carried + solved);
                           work[1] = half * dot(now - carried, now + carried);
                         });
    state.energy_balance.wall_work += sums[0];
    state.energy_balance.correction += sums[1];
    corrected_ += sums[1];
  }
  /// What the position correction put in, in the last step [J].
  Real corrected() const { return corrected_; }
  /// What the contacts of the last step gave bodies in all, 0 if they took some [J] (eq. E.6).
  Real contact_gain() const { return contact_gain_; }

 private:
  static constexpr std::size_t q = FrictionProblem<D>::q;
  static constexpr std::size_t n_parts = 3;
  /// What contacts store now was not dissipated by them. Returns what they store more than before [J].
  static Real update_stored_energy(State<D>& state, std::span<const std::array<Real, 2>> stored) {
    std::array<Real, 2> now{};
    ReproducibleSum::sum(state.comm, stored.size(), now, [&stored](std::size_t k, std::span<Real> terms) {
      std::ranges::copy(stored[k], terms.begin());
    });
    EnergyBalance& balance = state.energy_balance;
    const Real before = balance.elastic;
    balance.impact -= now[0] - (balance.elastic - balance.last.springs);
    balance.friction -= now[1] - balance.last.springs;
    balance.elastic = now[0] + now[1];
    balance.last.springs = now[1];
    return balance.elastic - before;
  }
  /// Of each body: by the correction of positions, by the time step, and by forces without a potential.
  void find_body_work(const State<D>& state, const FreeMotion<D>& free, std::span<const Real> start_velocity,
                      std::span<const Real> end_velocity) {
    const Real dt = free.dt();
    const BodyStore<D>& bodies = state.bodies;
    const std::size_t n_owned = bodies.n_owned();
    const auto position = bodies.position(), previous = bodies.previous(), velocity = bodies.velocity();
    const auto mass_of = bodies.mass(), mobility = bodies.mobility();
    find_potential_in_forces(state, potential_now_);
    auto& [corrected, of_step, by_forces] = body_work_;
    for (std::vector<Real>& work : body_work_) work.assign(n_owned, 0.0);
    for (std::size_t i = 0; i < n_owned; ++i) {
      if (mobility[i] == 0) continue;
      const Real mass = mass_of[i];
      const Vec<D> moved_by_correction = position[i] - (previous[i] + dt * velocity[i]);
      corrected[i] = -mass * dot(state.gravity, moved_by_correction);
      for (int k = 0; k < D; ++k)
        of_step[i] -= 0.5 * dt * mass * state.gravity[k] *
                      (velocity[i][k] - start_velocity[i * q + static_cast<std::size_t>(k)]);
      if (potential_now_.empty()) continue;
      Vec<D> path;
      for (int k = 0; k < D; ++k) {
        const std::size_t at = i * q + static_cast<std::size_t>(k);
        path[k] = end_velocity[at] + start_velocity[at];
      }
      path *= 0.5 * dt;
      corrected[i] += potential_now_[i] - potential_moved_[i];
      of_step[i] += dot(free.potential_force()[i], path) + (potential_moved_[i] - potential_before_[i]);
      by_forces[i] = dot(free.other_force()[i], path);
    }
  }

  Real corrected_ = 0, contact_gain_ = 0;
  std::array<std::vector<Real>, n_parts> body_work_;  // of each owned body
  // Of each owned body in the forces; empty without forces.
  std::vector<Real> potential_before_, potential_moved_, potential_now_;
};

}  // namespace scree
