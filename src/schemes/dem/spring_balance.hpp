#pragma once
#include <vector>

#include "schemes/dem/contact_energies.hpp"
#include "state/energy_balance.hpp"
#include "state/flow_sums.hpp"
#include "state/force_field.hpp"

namespace scree {

/// The energy balance of contacts with springs (docs/method.md, eq. H.9-H.11). Without one all calls but
/// is_kept() are left out. All are collective, but for find_other_force().
template <int D>
class SpringBalance {
 public:
  explicit SpringBalance(State<D>& state) : state_(state) {}

  bool is_kept() const { return balance().kept; }
  /// Whether it has the entries of the present state, as after a restart.
  bool is_current() const { return balance().last.step == state_.clock.step; }
  /// It counts from the present state on. `step`: one of dt = 0 that begins here, as in flow_out().
  void begin(StepContext<D>& step, GhostExchange<D>& ghosts) {
    EnergyBalance fresh;
    fresh.stored = balance().stored;
    fresh.pulls = balance().pulls;
    balance() = fresh;
    find_other_force(step.time);
    record(energies_.find_again(step, ghosts), state_.clock.step);
    balance().start = mechanical_energy(state_).total() + balance().elastic;
  }
  /// The step that ends, with this work of walls beyond the trapezoidal rule [J].
  /// Powers by the trapezoidal rule.
  void update(StepContext<D>& step, GhostExchange<D>& ghosts, Real driven_work) {
    const ContactEnergy now = energies_.find(step, ghosts);
    const EnergyBalance::LastStep before = balance().last;
    record(now, state_.clock.step + 1);
    const EnergyBalance::LastStep& after = balance().last;
    const auto mean = [dt = step.batches.dt](Real first, Real second) { return 0.5 * dt * (first + second); };
    balance().impact += mean(before.impact, after.impact);
    balance().friction += mean(before.friction, after.friction) + now.slid;
    balance().rolling += mean(before.rolling, after.rolling) + now.rolled;
    balance().cohesion += mean(before.cohesion, after.cohesion);
    balance().wall_work += mean(before.wall_work, after.wall_work);
    balance().force_work += mean(before.force_work, after.force_work);
    balance().stiffening += (after.springs - before.springs) -
                            (mean(before.stretching, after.stretching) - (now.slid + now.rolled));
    balance().wall_work += driven_work;
  }
  /// Bodies or obstacles came or went after the last step: what their contacts had stored flows out.
  void flow_out(StepContext<D>& step, GhostExchange<D>& ghosts) {
    const Real before = balance().elastic;
    find_other_force(step.time);
    record(energies_.find_again(step, ghosts), balance().last.step);
    balance().outflow += before - balance().elastic;
  }
  /// Forces without a potential, at present and with the present velocities: their powers count at the end of
  /// the step. Local.
  void find_other_force(Real time) {
    other_force_.clear();
    if (state_.forces.empty()) return;
    other_force_.resize(state_.bodies.n_owned());
    for (const auto& field : state_.forces)
      if (!field->has_potential()) field->add(state_, time, other_force_);
  }

 private:
  EnergyBalance& balance() { return state_.energy_balance; }
  const EnergyBalance& balance() const { return state_.energy_balance; }
  void record(const ContactEnergy& now, std::int64_t step) {
    balance().elastic = now.normal + now.springs;
    balance().last = {
        step,           now.impact,        now.friction, now.rolling, now.wall_work + power_of_flow(state_),
        now.stretching, power_of_forces(), now.springs,  now.cohesion};
  }
  /// On the motion about the flow of a deforming domain [W].
  Real power_of_forces() {
    if (state_.forces.empty()) return 0;  // not of the bodies of this rank: the sum is collective
    const auto mobility = state_.bodies.mobility();
    power_.resize(other_force_.size());
    for (std::size_t i = 0; i < power_.size(); ++i)
      power_[i] = mobility[i] == 0 ? 0 : dot(other_force_[i], velocity_about_flow(state_, i));
    return ReproducibleSum::sum(state_.comm, power_);
  }

  State<D>& state_;
  ContactEnergies<D> energies_;
  std::vector<Vec<D>> other_force_;  // empty if there are no forces [N]
  std::vector<Real> power_;
};

}  // namespace scree
