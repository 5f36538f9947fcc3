#pragma once
#include "schemes/nonsmooth/contact_geometry.hpp"
#include "schemes/nonsmooth/contact_work.hpp"

namespace scree {

/// Contacts of rigid bodies: they close no gap by more than is open, and impacts leave with Newton's
/// restitution (docs/method.md, eq. D.3-D.4). `restitution(c, u_N)` tells that of an impact of contact c at
/// the normal velocity u_N [m/s]. Local, but where it says collective.
template <int D>
class RestitutionLaw {
 public:
  void begin_step() { n_disabled_ = 0; }
  /// Adds to the normal bias.
  template <class Restitution>
  void add_to(FrictionProblem<D>& problem, const StepContacts<D>& step,
              const Restitution& restitution) const {
    for (std::size_t c = 0; c < step.contacts.size(); ++c) {
      if (!step.is_rigid(c)) continue;
      const Real speed = start_speed(problem, step, c);
      problem.bias[c * D] += bias(problem, step, c, speed, n_disabled_ == 0 ? restitution(c, speed) : 0);
    }
  }
  /// From now on no contact bounces in this step. False on all ranks: none does anyway. Collective.
  template <class Restitution>
  bool disable(FrictionProblem<D>& problem, const StepContacts<D>& step, const Restitution& restitution) {
    std::int64_t n = 0;
    for (std::size_t c = 0; c < step.contacts.size(); ++c) {
      if (!step.is_rigid(c)) continue;
      const Real speed = start_speed(problem, step, c);
      const Real change =
          bias(problem, step, c, speed, 0) - bias(problem, step, c, speed, restitution(c, speed));
      if (change == 0) continue;
      problem.bias[c * D] += change;
      ++n;
    }
    n_disabled_ = step.state.comm.sum(n);
    return n_disabled_ > 0;
  }
  /// Contacts of all ranks that would have bounced in this step.
  std::int64_t n_disabled() const { return n_disabled_; }
  static void add_work(const ContactSolution<D>& solution, const StepContacts<D>& step, ContactWork& work) {
    for (std::size_t c = 0; c < step.contacts.size(); ++c)
      if (step.is_rigid(c)) work.add(solution, c, step.working_velocity(c));
  }

 private:
  /// u_N at the start of the step [m/s].
  static Real start_speed(const FrictionProblem<D>& problem, const StepContacts<D>& step, std::size_t c) {
    return problem.normal_velocity(c, problem.start_velocity) + step.obstacle_velocity[c * D];
  }
  static Real bias(const FrictionProblem<D>& problem, const StepContacts<D>& step, std::size_t c,
                   Real start_speed, Real restitution) {
    const State<D>& state = step.state;
    // Gravity turns nothing, and moves both bodies alike unless one is held or an obstacle.
    Real free_speed = start_speed;
    if (problem.a[c] < 0) free_speed += step.law.dt * dot(state.gravity, step.contacts.normal[c]);
    if (problem.b[c] < 0) free_speed -= step.law.dt * dot(state.gravity, step.contacts.normal[c]);
    if (!state.forces.empty())
      free_speed = problem.normal_velocity(c, problem.free_velocity) + step.obstacle_velocity[c * D];
    return normal_bias(step.law, step.contacts.gap[c], step.slop(c), restitution, start_speed, free_speed);
  }

  std::int64_t n_disabled_ = 0;
};

}  // namespace scree
