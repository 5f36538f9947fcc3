#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "core/memory.hpp"
#include "core/reset.hpp"
#include "core/timing.hpp"
#include "schemes/nonsmooth/contact_step.hpp"
#include "schemes/nonsmooth/free_motion.hpp"
#include "state/state.hpp"

namespace scree {

/// Where the energy of a step comes from and goes (docs/method.md, eq. E.1-E.6). Call note_start(),
/// note_moved() and update_balance() in this order in a step. Cost: O(bodies + contacts).
template <int D>
class StepEnergy {
 public:
  /// Before bodies move. Local.
  void note_start(const State<D>& state) { find_potential_in_forces(state, potential_before_); }
  /// After they moved with their velocities, before positions are corrected. Local.
  void note_moved(const State<D>& state) { find_potential_in_forces(state, potential_moved_); }
  /// At the end of the step: adds to state.energy_balance. Collective.
  void update_balance(State<D>& state, const FreeMotion<D>& motion, const ContactStep<D>& contacts, Real dt) {
    Scope timer("energy");
    find_contact_work(contacts);
    find_body_work(state, motion, contacts.problem().start_velocity, dt);
    std::array<std::span<const Real>, 2 * n_parts> work;
    std::ranges::copy(contact_work_, work.begin());
    std::ranges::copy(body_work_, work.begin() + n_parts);
    std::array<Real, 2 * n_parts> sums{};
    ReproducibleSum::sum(state.comm, work, sums);
    const Real *of_contacts = sums.data(), *of_bodies = of_contacts + n_parts;
    EnergyBalance& balance = state.energy_balance;
    Real lost = of_contacts[0] + of_contacts[1];
    if (state.materials.has_cohesion())
      balance.cohesion += ReproducibleSum::sum(state.comm, std::span<const Real>(cohesion_work_));
    if (state.materials.has_rolling_friction()) {
      const Real rolling = ReproducibleSum::sum(state.comm, std::span<const Real>(rolling_work_));
      balance.rolling += rolling;
      lost += rolling;
    }
    balance.impact += of_contacts[0];
    balance.friction += of_contacts[1];
    balance.wall_work += of_contacts[2];
    balance.correction += corrected_ = of_bodies[0];
    balance.integration += of_bodies[1];
    balance.force_work += of_bodies[2];
    if (balance.stored) lost -= update_stored_energy(state, contacts);
    contact_gain_ = std::max(0.0, -lost);
  }
  /// What the position correction put in, in the last step [J].
  Real corrected() const { return corrected_; }
  /// What the contacts of the last step gave bodies in all, 0 if they took some [J] (eq. E.6).
  Real contact_gain() const { return contact_gain_; }
  std::size_t bytes() const {
    return held_bytes(contact_work_[0], contact_work_[1], contact_work_[2], body_work_[0], body_work_[1],
                      body_work_[2], mean_velocity_, cohesion_work_, rolling_work_, potential_before_,
                      potential_moved_, potential_now_);
  }

 private:
  static constexpr std::size_t q = FrictionProblem<D>::q;
  static constexpr std::size_t n_parts = 3;
  /// What contacts store now was not dissipated by them. Returns what they store more than before [J].
  static Real update_stored_energy(State<D>& state, const ContactStep<D>& contacts) {
    const auto stored = contacts.stored_energy();
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
  /// Of each contact: dissipated along the normal, along tangents, and done by the obstacle.
  void find_contact_work(const ContactStep<D>& contacts) {
    const auto n_contacts = static_cast<std::size_t>(contacts.problem().n_contacts());
    auto& [normal, tangential, by_obstacle] = contact_work_;
    for (std::vector<Real>& work : contact_work_) reset(work, n_contacts);
    const auto impacts = contacts.impact_work();
    for (std::size_t c = 0; c < impacts.size(); ++c) {
      normal[c] = impacts[c].normal;
      tangential[c] = impacts[c].tangential;
      for (std::size_t i = 0; i < D; ++i)
        by_obstacle[c] -= impacts[c].impulse[i] * contacts.obstacle_velocity()[c * D + i];
    }
    // Contacts work with the mean of the velocities before and after.
    const std::span<const Real> before = contacts.problem().start_velocity, after = contacts.velocity();
    mean_velocity_.resize(after.size());
    for (std::size_t i = 0; i < after.size(); ++i) mean_velocity_[i] = 0.5 * (before[i] + after[i]);
    const FrictionProblem<D>& problem = contacts.problem();
    reset(rolling_work_, problem.rolls() ? n_contacts : 0);
    for (std::size_t c = 0; c < rolling_work_.size(); ++c) {
      const Vec<n_turns<D>> s = contacts.turning_impulse(c), mean = problem.relative_spin(c, mean_velocity_);
      rolling_work_[c] = -dot(s, mean);
      for (int k = 0; k < n_turns<D>; ++k)
        by_obstacle[c] -= s[k] * problem.spin_bias[c * n_turns<D> + static_cast<std::size_t>(k)];
    }
    const std::span<const Real> pull = contacts.pull();
    reset(cohesion_work_, pull.size());
    for (std::size_t c = 0; c < pull.size(); ++c) {
      if (pull[c] == 0) continue;
      const auto of_obstacles = contacts.working_velocity(c);
      const Vec<D> mean = surface_velocity<D>(contacts.problem(), of_obstacles, c, mean_velocity_);
      cohesion_work_[c] = -pull[c] * mean[0];
      by_obstacle[c] += pull[c] * of_obstacles[c * D];
    }
    for (std::size_t c = 0; c < n_contacts; ++c) {
      const Real* impulse = &contacts.impulse()[c * D];
      if (std::all_of(impulse, impulse + D, [](Real r) { return r == 0; })) continue;
      const auto of_obstacles = contacts.working_velocity(c);
      const Vec<D> mean = surface_velocity<D>(contacts.problem(), of_obstacles, c, mean_velocity_);
      for (std::size_t i = 0; i < D; ++i) {
        (i == 0 ? normal : tangential)[c] -= impulse[i] * mean[static_cast<int>(i)];
        by_obstacle[c] -= impulse[i] * of_obstacles[c * D + i];
      }
    }
  }
  /// Of each body: by the correction of positions, by the time step, and by forces without a potential.
  void find_body_work(const State<D>& state, const FreeMotion<D>& motion,
                      std::span<const Real> start_velocity, Real dt) {
    const BodyStore<D>& bodies = state.bodies;
    const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
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
      Vec<D> path = velocity[i];
      for (int k = 0; k < D; ++k) path[k] += start_velocity[i * q + static_cast<std::size_t>(k)];
      path *= 0.5 * dt;
      corrected[i] += potential_now_[i] - potential_moved_[i];
      of_step[i] += dot(motion.potential_force()[i], path) + (potential_moved_[i] - potential_before_[i]);
      by_forces[i] = dot(motion.other_force()[i], path);
    }
  }

  Real corrected_ = 0, contact_gain_ = 0;
  std::vector<Real> mean_velocity_;                 // of bodies held
  std::vector<Real> cohesion_work_, rolling_work_;  // of each contact, by attraction and against rolling
  std::array<std::vector<Real>, n_parts> contact_work_, body_work_;  // of each contact, of each owned body
  // Of each owned body in the forces; empty without forces.
  std::vector<Real> potential_before_, potential_moved_, potential_now_;
};

}  // namespace scree
