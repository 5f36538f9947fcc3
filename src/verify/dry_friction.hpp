#pragma once
#include <functional>

#include "schemes/dem/integrator.hpp"

namespace scree {

/// What a contact with Coulomb friction does in one tangential direction.
enum class FrictionMode { backward = -1, stick = 0, forward = 1, impossible = 2 };

/// The mode at relative velocity 0 (A. F. Filippov, "Differential equations with discontinuous righthand
/// sides", 1988): `a_forward` would be the acceleration if it slid forward, (F - mu N)/m, `a_backward` if
/// backward and counted backward, -(F + mu N)/m. It slides where one of them is positive and sticks where
/// none is; both are for no N >= 0. Up to `tolerance` an acceleration counts as 0: at a limit that just
/// holds, round-off would else flip the mode for ever. Decided by accelerations, never by the size of a
/// velocity.
constexpr FrictionMode mode_at_rest(Real a_forward, Real a_backward, Real tolerance) {
  const bool forward = a_forward > tolerance, backward = a_backward > tolerance;
  if (forward && backward) return FrictionMode::impossible;
  return forward ? FrictionMode::forward : backward ? FrictionMode::backward : FrictionMode::stick;
}

/// The sign of the velocity in a mode.
constexpr Real direction(FrictionMode mode) {
  return static_cast<Real>(static_cast<int>(mode));
}

/// One coordinate with dry friction, m x'' = F(t, x, v) + R: R = -mu N sign(v) where it slides, and -F where
/// it sticks. A step that would change the sign of v ends there instead, v becomes exactly 0, the mode is
/// decided anew, and the rest of the step follows: the order of the integrator is kept. The zero of v is
/// found by bisection on the end value of steps of the integrator.
class DryFrictionMotion {
 public:
  struct Data {
    std::function<Real(Real time, Real x, Real v)> force;  ///< F [N]
    Real mass = 1;                                         ///< [kg]
    Real limit = 0;                                        ///< mu N [N]
    Real tolerance = 0;                                    ///< of accelerations that decide a mode [m/s2]
  };
  /// `integrator` must live as long and remember nothing from step to step.
  DryFrictionMotion(Data data, Integrator<2>& integrator);

  /// Mode and state; x and v may be set between steps by start().
  void start(Real time, Real x, Real v);
  /// From time() to time() + dt. Throws RunError if modes change more often than any motion can, or if there
  /// is no mode.
  void step(Real dt);

  Real time() const { return time_; }
  Real x() const { return x_; }
  Real v() const { return v_; }
  FrictionMode mode() const { return mode_; }
  /// When v was last found to be 0 at the end of a slide; infinite if never.
  Real last_stop() const { return last_stop_; }

 private:
  struct Point {
    Real x, v;
  };
  FrictionMode decide(Real time, Real x) const;
  Point slide(Real dt);

  Data data_;
  Integrator<2>& integrator_;
  Real time_ = 0, x_ = 0, v_ = 0;
  FrictionMode mode_ = FrictionMode::stick;
  Real last_stop_ = HUGE_VAL;
};

}  // namespace scree
