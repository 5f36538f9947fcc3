#pragma once
#include <algorithm>

#include "schemes/common/assembler.hpp"

namespace scree {

/// Numbers of the contact law that are the same for all contacts of a step.
struct ContactLaw {
  Real dt = 0;               ///< length of the step [s]
  Real fall_speed = 0;       ///< what gravity and forces give in the step [m/s]
  Real rest_speed = 0;       ///< approach at most this fast does not bounce [m/s]
  Real contact_slop = 0;     ///< share of the sum of the radii
  Real baumgarte = 0;        ///< share of the overlap that a step pushes out; 0: none
  Real impulse_scaling = 0;  ///< what the impulses of the step before are multiplied with: the same forces
  Real last_dt = 0;          ///< length of the step before [s]; 0: there was none
};

/// The bias b of one contact in u_N + b >= 0, with u_N the velocity of the surfaces along the normal
/// (docs/method.md, eq. D.3-D.4). An impact, approaching with u_N < -rest_speed and closing within the step,
/// leaves with e times its speed of approach: b = e u_N(t). Any other contact may close its gap but no more:
/// b = gap/dt, 0 if it touches. Overlap is pushed out only on request: b = -baumgarte (overlap) / dt.
inline Real normal_bias(const ContactLaw& law, Real gap, Real slop, Real restitution, Real start_speed,
                        Real free_speed) {
  const bool closes = gap + law.dt * std::min(start_speed, free_speed) <= slop;
  if (restitution > 0 && start_speed < -law.rest_speed && closes) return restitution * start_speed;
  if (gap > slop) return gap / law.dt;
  return law.baumgarte * std::min(0.0, gap + slop) / law.dt;
}

/// Velocity of the surfaces of contact c along N, T1[, T2]: u = H v + that of the obstacle [m/s]. v: n_local
/// * q.
template <int D>
Vec<D> surface_velocity(const FrictionProblem<D>& problem, std::span<const Real> of_obstacle, std::size_t c,
                        std::span<const Real> v) {
  Vec<D> u = problem.relative_velocity(c, v);
  for (std::size_t i = 0; i < D; ++i) u[static_cast<int>(i)] += of_obstacle[c * D + i];
  return u;
}

}  // namespace scree
