#pragma once
#include <algorithm>
#include <array>

#include "core/memory.hpp"
#include "core/timing.hpp"
#include "schemes/common/rotation.hpp"
#include "schemes/dem/dem_motion.hpp"
#include "schemes/dem/force_sweeper.hpp"
#include "state/force_field.hpp"

namespace scree {

/// Soft contact with friction by tangential springs, or without friction, in time by velocity Verlet
/// (docs/method.md, eq. H.6):
///     v(t + dt/2) = v(t) + dt/2 a(t),   x(t + dt) = x(t) + dt v(t + dt/2),
///     a(t + dt) = g + F(x(t + dt), v(t + dt/2)) / m,   v(t + dt) = v(t + dt/2) + dt/2 a(t + dt)
/// and spins likewise. The same bits on any number of ranks.
template <int D>
class SpringMotion final : public DemMotion<D> {
 public:
  /// Both must outlive this. Throws InputError naming the pair for a law that the deck does not determine.
  SpringMotion(State<D>& state, Neighborhood<D>& neighborhood, const SpringSettings& settings)
      : state_(state), sweeper_(state, neighborhood, settings) {}

  const SoftLaws<D>& laws() const override { return sweeper_.laws(); }
  void prepare() override {
    field_force_.resize(static_cast<std::size_t>(state_.bodies.n_owned()));
    sweeper_.prepare(state_);
  }
  void start(Real /*dt*/) override {
    if (state_.clock.step > 0) return;  // a restart knows its accelerations
    sweeper_.evaluate(state_, state_.clock.time, 0);
    kick(state_.clock.time, 0);
  }
  void set_free(std::size_t body) override { state_.bodies.acceleration()[body] = state_.gravity; }
  ContactMemory remember() override { return sweeper_.remember(state_); }
  void step(Real dt) override {
    const Real end = state_.clock.time + dt;
    drift(dt);
    state_.obstacles.place(end);
    sweeper_.evaluate(state_, end, dt);
    kick(end, 0.5 * dt);
    this->found_.overlap = state_.comm.max(sweeper_.counts().deepest);
    std::array<std::int64_t, 2> counts{sweeper_.counts().n_touching, sweeper_.passed_through().count};
    state_.comm.sum(counts);
    this->found_.n_touching = counts[0];
    this->found_.n_passed_through = counts[1];
  }
  void tell_forces(ContactGraph<D>& contacts) override {
    sweeper_.tell_forces(state_, state_.clock.time, contacts);
  }
  const PassedThrough& passed_through() const override { return sweeper_.passed_through(); }
  std::size_t bytes() const override { return sweeper_.bytes() + held_bytes(field_force_); }

 private:
  void drift(Real dt) {
    Scope timer("move");
    BodyStore<D>& bodies = state_.bodies;
    const auto mobility = bodies.mobility();
    const auto position = bodies.position(), previous = bodies.previous(), velocity = bodies.velocity();
    const auto acceleration = bodies.acceleration();
    const auto spin = bodies.angular_velocity(), angular_acceleration = bodies.angular_acceleration();
    const auto orientation = bodies.orientation();
    for (std::size_t i = 0; i < previous.size(); ++i) {
      previous[i] = position[i];
      if (mobility[i] == 0) continue;
      velocity[i] += 0.5 * dt * acceleration[i];
      spin[i] += 0.5 * dt * angular_acceleration[i];
      position[i] += dt * velocity[i];
      if constexpr (D == 2) orientation[i] = turned<2>(orientation[i], spin[i], dt);
    }
    if constexpr (D == 3) force_kernels().turn(orientation.data(), spin.data(), orientation.size(), dt);
  }
  /// Accelerations from the forces of the last evaluation; velocities advance by them for `dt`.
  void kick(Real time, Real dt) {
    Scope timer("move");
    BodyStore<D>& bodies = state_.bodies;
    const bool has_fields = !state_.forces.empty();
    if (has_fields) {
      std::ranges::fill(field_force_, Vec<D>{});
      for (const auto& field : state_.forces) field->add(state_, time, field_force_);
    }
    const auto forces = sweeper_.forces();
    const auto mobility = bodies.mobility(), mass = bodies.mass(), radius = bodies.radius();
    const auto velocity = bodies.velocity(), acceleration = bodies.acceleration();
    const auto spin = bodies.angular_velocity(), angular_acceleration = bodies.angular_acceleration();
    const auto group = bodies.group();
    const Vec<D> gravity = state_.gravity;
    for (std::size_t i = 0; i < velocity.size(); ++i) {
      if (mobility[i] == 0) continue;
      const Real inverse_mass = 1 / mass[i];
      Vec<D> a;
      for (int k = 0; k < D; ++k) a[k] = inverse_mass * forces[i].force[k] + gravity[k];
      if (has_fields) a += inverse_mass * field_force_[i];
      acceleration[i] = a;
      velocity[i] += dt * a;
      if (!state_.group_rotates[static_cast<std::size_t>(group[i])]) continue;
      const Real inverse_inertia = 1 / moment_of_inertia<D>(mass[i], radius[i]);
      Spin<D> turning;
      for (int k = 0; k < n_spins<D>; ++k)
        turning[k] = inverse_inertia * forces[i].torque[3 - n_spins<D> + k];
      angular_acceleration[i] = turning;
      spin[i] += dt * turning;
    }
  }

  State<D>& state_;
  ForceSweeper<D> sweeper_;
  std::vector<Vec<D>> field_force_;  // n_owned
};

}  // namespace scree
