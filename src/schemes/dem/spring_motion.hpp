#pragma once
#include <algorithm>
#include <array>

#include "core/memory.hpp"
#include "core/timing.hpp"
#include "schemes/common/rotation.hpp"
#include "schemes/dem/dem_motion.hpp"
#include "schemes/dem/driven_walls.hpp"
#include "schemes/dem/force_sweeper.hpp"
#include "state/energy_balance.hpp"
#include "state/flow_sums.hpp"
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
      : state_(state), neighborhood_(neighborhood), sweeper_(state, neighborhood, settings) {}

  const SoftLaws<D>& laws() const override { return sweeper_.laws(); }
  void prepare() override {
    farthest_of_ = {};
    const BodyStore<D>& bodies = state_.bodies;
    const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
    is_free_.assign((n_owned + BlockTurns<D>::chunk_size - 1) / BlockTurns<D>::chunk_size, 1);
    for (std::size_t i = 0; i < n_owned; ++i)
      if (bodies.mobility()[i] == 0 || !state_.group_rotates[static_cast<std::size_t>(bodies.group()[i])])
        is_free_[i / BlockTurns<D>::chunk_size] = 0;
    field_force_.resize(static_cast<std::size_t>(state_.bodies.n_owned()));
    sweeper_.prepare(state_);
  }
  void start(Real /*dt*/) override {
    if (balance().kept) sweeper_.keep_histories();
    if (state_.clock.step == 0) {  // a restart knows its accelerations
      begin_deformation(0);
      advance(state_.clock.time, 0);
      sweeper_.tell_reactions(state_);
      tell_found();
    }
    if (balance().kept && balance().last.step != state_.clock.step) begin_balance();
  }
  void set_free(std::size_t body) override { state_.bodies.acceleration()[body] = state_.gravity; }
  ContactMemory remember() override { return sweeper_.remember(state_); }
  void step(Real dt) override {
    const Real end = state_.clock.time + dt;
    const Real driven_work = choose_wall_speeds(state_, dt) + begin_deformation(dt);
    state_.obstacles.place(end);
    farthest_ = 0;
    advance(end, dt);
    sweeper_.tell_reactions(state_);
    state_.obstacles.finish_driven_step(end);
    // In a deforming cell ways count against the flow.
    if (!state_.cell.is_given()) farthest_of_ = {state_.clock.step + 1, dt};
    const std::int64_t n_bodies = tell_found();
    if (state_.cell.is_stress_driven()) find_stress(n_bodies);
    if (balance().kept) {
      book(end, dt);
      balance().wall_work += driven_work;
    }
  }
  Real farthest_after(Real dt) const override {
    return farthest_of_ == FarthestOf{state_.clock.step, dt} ? farthest_ : find_farthest(state_, dt);
  }
  Real reach() const override { return sweeper_.reach(); }
  void contacts_changed() override {
    if (!balance().kept) return;
    const Real before = balance().elastic;
    find_other_force(state_.clock.time);
    note_energies(sweeper_.find_energies_anew(state_), balance().last.step);
    balance().outflow += before - balance().elastic;
  }
  ContactRules<D> contact_rules(Real tolerance) override { return sweeper_.contact_rules(tolerance); }
  void tell_forces(ContactGraph<D>& contacts) override {
    sweeper_.tell_forces(state_, state_.clock.time, contacts);
  }
  const PassedThrough& passed_through() const override { return sweeper_.passed_through(); }
  std::size_t bytes() const override {
    return sweeper_.bytes() + held_bytes(field_force_, is_free_, other_force_, power_);
  }

 private:
  EnergyBalance& balance() { return state_.energy_balance; }
  /// What the last evaluation of forces met, of all ranks; returns the number of bodies. Collective.
  std::int64_t tell_found() {
    const ForceCounts& met = sweeper_.counts();
    std::array<Real, 2> most{met.deepest, met.beyond};
    state_.comm.max(most);
    std::array<std::int64_t, 3> counts{met.n_touching, sweeper_.passed_through().count,
                                       state_.bodies.n_owned()};
    state_.comm.sum(counts);
    this->found_ = {counts[0], most[0], most[1], counts[1]};
    return counts[2];
  }
  /// The balance counts from here on.
  void begin_balance() {
    EnergyBalance fresh;
    fresh.stored = balance().stored;
    fresh.pulls = balance().pulls;
    balance() = fresh;
    find_other_force(state_.clock.time);
    note_energies(sweeper_.find_energies_anew(state_), state_.clock.step);
    balance().start = mechanical_energy(state_).total() + balance().elastic;
  }
  /// Energies of the step that ends (docs/method.md, eq. H.9-H.11): powers by the trapezoidal rule.
  void book(Real end, Real dt) {
    const ContactEnergy now = sweeper_.find_energies(state_, end, dt);
    const EnergyBalance::LastStep before = balance().last;
    note_energies(now, state_.clock.step + 1);
    const EnergyBalance::LastStep& after = balance().last;
    const auto mean = [dt](Real first, Real second) { return 0.5 * dt * (first + second); };
    balance().impact += mean(before.impact, after.impact);
    balance().friction += mean(before.friction, after.friction) + now.slid;
    balance().rolling += mean(before.rolling, after.rolling) + now.rolled;
    balance().cohesion += mean(before.cohesion, after.cohesion);
    balance().wall_work += mean(before.wall_work, after.wall_work);
    balance().force_work += mean(before.force_work, after.force_work);
    balance().stiffening += (after.springs - before.springs) -
                            (mean(before.stretching, after.stretching) - (now.slid + now.rolled));
  }
  void note_energies(const ContactEnergy& now, std::int64_t step) {
    balance().elastic = now.normal + now.springs;
    balance().last = {
        step,           now.impact,        now.friction, now.rolling, now.wall_work + power_of_flow(state_),
        now.stretching, power_of_forces(), now.springs,  now.cohesion};
  }
  /// Of forces without a potential, on the motion about the flow of a deforming cell [W]. Collective.
  Real power_of_forces() {
    if (state_.forces.empty()) return 0;  // not of the bodies of this rank: the sum is collective
    const auto mobility = state_.bodies.mobility();
    power_.resize(other_force_.size());
    for (std::size_t i = 0; i < power_.size(); ++i)
      power_[i] = mobility[i] == 0 ? 0 : dot(other_force_[i], velocity_about_flow(state_, i));
    return ReproducibleSum::sum(state_.comm, power_);
  }
  /// The flow of a deforming cell for the step of dt that begins, and the cell at its end. Returns the work
  /// [J] by which the trapezoidal rule misses that of a flow that changes at the start of the step.
  Real begin_deformation(Real dt) {
    DeformingCell<D>& cell = state_.cell;
    if (!cell.is_given()) return 0;
    const bool moved = cell.moves();
    Vec<D> before;
    for (int k = 0; k < D; ++k) before[k] = cell.strain_rate(state_.box, k);
    Real work = 0;
    cell.begin_step(state_.box, dt, [this](const auto& kick_at) {
      BodyStore<D>& bodies = state_.bodies;
      for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
        if (bodies.mobility()[i] != 0) bodies.velocity()[i] += kick_at(bodies.position()[i]);
    });
    for (int k = 0; k < D; ++k)
      work -= 0.5 * dt * state_.box.volume() * cell.response().stress[k] *
              (cell.strain_rate(state_.box, k) - before[k]);
    cell.advance(state_.box, dt);
    if (moved || cell.moves()) neighborhood_.list().place_images(state_);
    return work;
  }
  /// The stresses by which the flow of the next step is chosen. Collective.
  void find_stress(std::int64_t n_bodies) {
    const Vec<D> stress = sweeper_.normal_stress(state_);
    Real largest = 0;
    for (const Real along : stress.component) largest = std::max(largest, std::abs(along));
    state_.cell.set_response({stress, sweeper_.modulus(state_, largest, this->found_.n_touching, n_bodies)});
  }
  void find_other_force(Real time) {
    other_force_.clear();
    if (state_.forces.empty()) return;
    other_force_.resize(field_force_.size());
    for (const auto& field : state_.forces)
      if (!field->has_potential()) field->add(state_, time, other_force_);
  }
  /// Bodies from `dt` before `end` to `end`, where obstacles are. With dt = 0 only accelerations change.
  void advance(Real end, Real dt) {
    const auto move = [this, dt](std::size_t first, std::size_t last) { drift(first, last, dt); };
    if (state_.forces.empty()) {
      sweeper_.evaluate(state_, end, dt, move,
                        [this, dt](std::size_t first, std::size_t last) { kick(first, last, dt); });
      return;
    }
    // Fields act on all bodies at once, and may depend on velocities.
    sweeper_.evaluate(state_, end, dt, move, [](std::size_t, std::size_t) {});
    Scope timer("move");
    std::ranges::fill(field_force_, Vec<D>{});
    for (const auto& field : state_.forces) field->add(state_, end, field_force_);
    if (balance().kept) find_other_force(end);
    kick(0, field_force_.size(), dt);
  }
  void drift(std::size_t first, std::size_t last, Real dt) {
    std::size_t i = first;
    if constexpr (D == 3)
      if (const std::size_t n = n_in_kernel(first, last); n > 0 && dt > 0) {
        force_kernels().drift(arrays(first), n, dt);
        i += n;
      }
    if (i == last) return;
    const std::size_t rest = i;
    if (dt > 0)
      for (; i < last; ++i) drift_body(state_.bodies, i, dt);
    sweeper_.load(state_, rest, last);
  }
  void kick(std::size_t first, std::size_t last, Real dt) {
    std::size_t i = first;
    const bool has_fields = !state_.forces.empty();
    const ForceRecord* forces = sweeper_.records().forces;
    if constexpr (D == 3)
      if (const std::size_t n = has_fields ? 0 : n_in_kernel(first, last); n > 0) {
        farthest_ = std::max(farthest_, force_kernels().kick(arrays(first), n, dt, state_.gravity));
        i += n;
      }
    for (; i < last; ++i) {
      const bool rotates = state_.group_rotates[static_cast<std::size_t>(state_.bodies.group()[i])];
      farthest_ = std::max(farthest_, kick_body(state_.bodies, i, dt, state_.gravity, forces[i],
                                                has_fields ? &field_force_[i] : nullptr, rotates));
    }
  }
  /// How many of the bodies of a chunk, from the first on, kernels may treat: they can move and turn.
  std::size_t n_in_kernel(std::size_t first, std::size_t last) const {
    return is_free_[first / BlockTurns<D>::chunk_size] != 0 ? (last - first) / batch_size * batch_size : 0;
  }
  BodyArrays arrays(std::size_t first) {
    BodyStore<D>& bodies = state_.bodies;
    const auto records = sweeper_.records();
    return {bodies.position().data() + first,
            bodies.previous().data() + first,
            bodies.velocity().data() + first,
            bodies.acceleration().data() + first,
            bodies.angular_velocity().data() + first,
            bodies.angular_acceleration().data() + first,
            bodies.orientation().data() + first,
            bodies.listed().data() + first,
            bodies.mass().data() + first,
            bodies.radius().data() + first,
            records.places + first,
            records.motions + first,
            records.forces + first};
  }

  State<D>& state_;
  Neighborhood<D>& neighborhood_;
  ForceSweeper<D> sweeper_;
  std::vector<Vec<D>> field_force_;    // n_owned
  std::vector<std::uint8_t> is_free_;  // of each chunk of BlockTurns: all its bodies can move and turn
  // farthest_after() of the end of a step, found on the way.
  struct FarthestOf {
    std::int64_t step = -1;
    Real dt = 0;
    bool operator==(const FarthestOf&) const = default;
  };
  Real farthest_ = 0;
  FarthestOf farthest_of_;
  // For the energy balance.
  std::vector<Vec<D>> other_force_;  // without a potential; empty if there are no forces
  std::vector<Real> power_;
};

}  // namespace scree
