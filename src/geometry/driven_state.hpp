#pragma once
#include "core/types.hpp"

namespace scree {

/// What a driven wall is asked to do now: its deck says it, and stages change it.
struct DrivenOrder {
  enum class Kind {
    load,      ///< [N]; of a wall that turns a torque [N m]
    pressure,  ///< [Pa], times the area of the moment
    speed      ///< along the axis [m/s], or about it [rad/s]: no load is kept
  };
  Kind kind = Kind::load;
  Real value = 0;
};

/// What a driven wall does along one of its directions. Positions are along its axis from where the deck has
/// the wall [m], those of a wall that turns are angles [rad], its loads torques [N m].
struct DrivenState {
  Real position = 0;            ///< at `time`
  Real velocity = 0;            ///< of the last step and from `time` on
  Real reaction = 0;            ///< of the bodies, at the end of the last step: positive against the axis [N]
  Real stiffness = 0;           ///< by which the reaction grows with the position [N/m]; soft contact only
  Real damping = 0;             ///< by which it grows with the velocity [N s/m]; soft contact only
  Real drift = 0;               ///< by which it falls in time as bodies move away [N/s]; soft contact only
  Real reference_position = 0;  ///< when the neighbour list was built
  Real stage_position = 0;      ///< when the present stage began
  Real time = 0;                ///< of `position` [s]
  // From the deck and its stages.
  int obstacle = 0;
  int direction = 0;  ///< of those of the obstacle, which are one after the other
  DrivenOrder order{};

  /// At `at`. Before `time` the only moment that anyone asks for is that of the list.
  Real position_at(Real at) const {
    return at >= time ? position + velocity * (at - time) : reference_position;
  }

  /// Calls f(name, number) for all that a checkpoint keeps.
  template <class S, class F>
  static void for_each(S& wall, F&& f) {
    f("position", wall.position);
    f("velocity", wall.velocity);
    f("reaction", wall.reaction);
    f("stiffness", wall.stiffness);
    f("damping", wall.damping);
    f("drift", wall.drift);
    f("reference_position", wall.reference_position);
    f("stage_position", wall.stage_position);
    f("time", wall.time);
  }
};

}  // namespace scree
