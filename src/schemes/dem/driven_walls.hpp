#pragma once
#include <algorithm>
#include <cmath>

#include "geometry/driven_motion.hpp"
#include "state/state.hpp"

namespace scree {

/// The velocity of each driven wall for the step of dt that begins (docs/method.md, eq. H.17-H.18). With the
/// reaction R of the last evaluation of forces, K and C by which it grows with the position and the velocity
/// of the wall, and G by which it falls in time as bodies move away:
///     servo: v = (load - R + C v_before + 2 G dt) / (2 K dt + C),   half of the residual in a step
///     free:  v = v_before + dt (load - R) / (m + C dt + K dt^2/4),   stable however light the wall
/// both within max_speed. Obstacles stand as placed last. Returns the work [J] by which the trapezoidal rule
/// over F v misses that of velocities that change at the start of the step. Local, the same on all ranks.
template <int D>
Real choose_wall_speeds(State<D>& state, Real dt) {
  Real work = 0;
  for (DrivenState& wall : state.obstacles.driven()) {
    const DrivenMotion<D>& driven_motion = state.obstacles.driven_motion_of(wall);
    const Real before = wall.velocity;
    if (!state.obstacles.active(wall.obstacle)) {
      wall.velocity = wall.reaction = wall.drift = 0;
      continue;
    }
    const Real residual = target_of(state.obstacles, wall) - wall.reaction;
    const Real elastic = wall.stiffness * dt;
    if (wall.order.kind == DrivenOrder::Kind::speed) {
      wall.velocity = wall.order.value;
    } else if (driven_motion.control() == DrivenMotion<D>::Control::free) {
      wall.velocity += dt * residual / (driven_motion.inertia() + dt * (wall.damping + 0.25 * elastic));
    } else {
      const Real resistance = 2 * elastic + wall.damping;
      const Real push = residual + wall.damping * before + 2 * wall.drift * dt;
      wall.velocity = resistance > 0  ? push / resistance
                      : residual == 0 ? 0
                                      : std::copysign(driven_motion.max_speed(), residual);
    }
    wall.velocity = std::clamp(wall.velocity, -driven_motion.max_speed(), driven_motion.max_speed());
    work += 0.5 * dt * wall.reaction * (wall.velocity - before);
  }
  return work;
}

}  // namespace scree
