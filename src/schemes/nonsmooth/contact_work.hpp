#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/reset.hpp"
#include "schemes/nonsmooth/contact_geometry.hpp"

namespace scree {

/// What came of the friction problem of a step. A view.
template <int D>
struct ContactSolution {
  std::span<const Real> impulse;  ///< FrictionProblem::n_impulses() [N s]
  /// n_local * n_velocities<D>: at the end of the step, and their mean with those at its start [m/s, rad/s].
  std::span<const Real> velocity, mean_velocity;

  /// s of contact c that resists rolling, in its turning_frame() [N m s].
  Vec<n_turns<D>> turning_impulse(std::size_t c) const {
    Vec<n_turns<D>> s;
    const std::size_t n_contacts = impulse.size() / n_velocities<D>;
    std::copy_n(&impulse[n_contacts * D + c * n_turns<D>], n_turns<D>, s.component.begin());
    return s;
  }
};

/// What each contact did in a step [J] (docs/method.md, eq. E.2-E.3).
struct ContactWork {
  std::vector<Real> normal, tangential;  ///< dissipated, or stored
  std::vector<Real> obstacle;            ///< done by the obstacle
  std::vector<Real> rolling;             ///< dissipated against rolling; empty: nothing resists it
  std::vector<Real> cohesion;            ///< done by attraction; empty: there is none
  /// What springs hold at the end of the step along the normal and along tangents; empty: there are none.
  std::vector<std::array<Real, 2>> stored;

  void clear(std::size_t n_contacts) {
    for (std::vector<Real>* work : {&normal, &tangential, &obstacle}) reset(*work, n_contacts);
  }
  /// Of the impulse of contact c. Contacts work with the mean of the velocities before and after.
  template <int D>
  void add(const StepContacts<D>& step, const ContactSolution<D>& solution, std::size_t c) {
    const Real* impulse = &solution.impulse[c * D];
    if (std::all_of(impulse, impulse + D, [](Real r) { return r == 0; })) return;
    const auto of_obstacles = step.working_velocity(c);
    const Vec<D> mean = surface_velocity<D>(step.problem, of_obstacles, c, solution.mean_velocity);
    for (std::size_t i = 0; i < D; ++i) {
      (i == 0 ? normal : tangential)[c] -= impulse[i] * mean[static_cast<int>(i)];
      obstacle[c] -= impulse[i] * of_obstacles[c * D + i];
    }
  }
};

}  // namespace scree
