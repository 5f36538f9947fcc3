#pragma once
#include "schemes/nonsmooth/contact_geometry.hpp"

namespace scree {

/// Contacts of rigid bodies: they close no gap by more than is open, and impacts leave with Newton's
/// restitution (docs/method.md, eq. D.3-D.4). `restitution(c, u_N)` is that of an impact of contact c at
/// the normal velocity u_N [m/s].
template <int D>
class RestitutionLaw {
 public:
  void begin_step() { n_disabled_ = 0; }
  /// Adds to the normal bias. Local.
  template <class Restitution>
  void add_to(const StepContacts<D>& step, const Restitution& restitution) const {
    for_each_rigid(step, [&](std::size_t c, Real speed) {
      step.problem.bias[c * D] += bias(step, c, speed, n_disabled_ == 0 ? restitution(c, speed) : 0);
    });
  }
  /// From now on no contact bounces in this step. False on all ranks: none does anyway. Called once more in a
  /// step, as where driven walls ask for several solves, it adds the change a second time, to a bias that
  /// has no restitution left. Collective.
  template <class Restitution>
  bool disable(const StepContacts<D>& step, const Restitution& restitution) {
    std::int64_t n = 0;
    for_each_rigid(step, [&](std::size_t c, Real speed) {
      const Real change = bias(step, c, speed, 0) - bias(step, c, speed, restitution(c, speed));
      if (change == 0) return;
      step.problem.bias[c * D] += change;
      ++n;
    });
    n_disabled_ = step.state.comm.sum(n);
    return n_disabled_ > 0;
  }
  /// Contacts of all ranks that would have bounced in this step.
  std::int64_t n_disabled() const { return n_disabled_; }

 private:
  /// Calls f(c, u_N at the start of the step [m/s]).
  template <class F>
  static void for_each_rigid(const StepContacts<D>& step, F&& f) {
    for (std::size_t c = 0; c < step.contacts.size(); ++c)
      if (step.is_rigid(c))
        f(c, step.problem.normal_velocity(c, step.problem.start_velocity) + step.obstacle_velocity[c * D]);
  }
  static Real bias(const StepContacts<D>& step, std::size_t c, Real start_speed, Real restitution) {
    const FrictionProblem<D>& problem = step.problem;
    // Gravity turns nothing, and moves both bodies alike unless one is fixed or an obstacle.
    const Real fall = step.law.dt * dot(step.state.gravity, step.contacts.normal[c]);
    Real free_speed = start_speed;
    if (problem.a[c] < 0) free_speed += fall;
    if (problem.b[c] < 0) free_speed -= fall;
    if (!step.state.forces.empty())
      free_speed = problem.normal_velocity(c, problem.free_velocity) + step.obstacle_velocity[c * D];
    return normal_bias(step.law, step.contacts.gap[c], step.slop(c), restitution, start_speed, free_speed);
  }

  std::int64_t n_disabled_ = 0;
};

}  // namespace scree
