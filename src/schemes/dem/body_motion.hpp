#pragma once
#include "neighbors/neighbor_list.hpp"
#include "particles/body_store.hpp"
#include "schemes/common/rotation.hpp"
#include "schemes/dem/force_kernels.hpp"
#include "state/energy_balance.hpp"

namespace scree {

/// The displacement of body i in the next dt if its acceleration stays [m].
template <int D>
Vec<D> free_displacement(const BodyStore<D>& bodies, std::size_t i, Real dt) {
  return dt * (bodies.velocity()[i] + 0.5 * dt * bodies.acceleration()[i]);
}
/// The square of the distance [m2] between the reference position of body i and where its free displacement
/// takes it, or `max` if that is more.
template <int D>
Real farthest_with(Real max, const BodyStore<D>& bodies, std::size_t i, Real dt) {
  return farther(max,
                 (bodies.position()[i] - bodies.reference_position()[i]) + free_displacement(bodies, i, dt));
}

/// The first part of a step of body i (docs/method.md, eq. H.6): velocities for half of dt by the
/// accelerations that it has, then position and orientation for dt.
template <int D>
void drift_body(BodyStore<D>& bodies, std::size_t i, Real dt) {
  bodies.previous()[i] = bodies.position()[i];
  if (bodies.mobility()[i] == 0) return;
  bodies.velocity()[i] += 0.5 * dt * bodies.acceleration()[i];
  bodies.angular_velocity()[i] += 0.5 * dt * bodies.angular_acceleration()[i];
  bodies.position()[i] += dt * bodies.velocity()[i];
  bodies.orientation()[i] = turned<D>(bodies.orientation()[i], bodies.angular_velocity()[i], dt);
}

/// The last part: accelerations from the forces of contacts, gravity and a `field` [N], then velocities for
/// half of dt. Returns farthest_with(0, ...) of the next dt.
template <int D>
Real kick_body(BodyStore<D>& bodies, std::size_t i, Real dt, const Vec<D>& gravity, const ForceRecord& on,
               const Vec<D>* field, bool rotates) {
  if (bodies.mobility()[i] != 0) {
    const Real mass = bodies.mass()[i];
    const Real inverse_mass = 1 / mass;
    Vec<D> a;
    for (int k = 0; k < D; ++k) a[k] = inverse_mass * on.force[k] + gravity[k];
    if (field) a += inverse_mass * *field;
    bodies.acceleration()[i] = a;
    bodies.velocity()[i] += 0.5 * dt * a;
    if (rotates) {
      const Real inverse_inertia = 1 / moment_of_inertia<D>(mass, bodies.radius()[i]);
      Spin<D> turning;
      for (int k = 0; k < n_spins<D>; ++k) turning[k] = inverse_inertia * on.torque[3 - n_spins<D> + k];
      bodies.angular_acceleration()[i] = turning;
      bodies.angular_velocity()[i] += 0.5 * dt * turning;
    }
  }
  return farthest_with<D>(0, bodies, i, dt);
}

}  // namespace scree
