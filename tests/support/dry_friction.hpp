#pragma once
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "core/error.hpp"
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

/// Halvings of a step: what is left is below its round-off.
inline constexpr int n_halvings = 60;
inline constexpr int max_changes = 100;

/// Two neighbouring h in [0, dt]: `holds` is true at the first and false at the second, as it is at 0 and dt.
template <class F>
std::array<Real, 2> where_it_ends(Real dt, const F& holds) {
  Real low = 0, high = dt;
  for (int k = 0; k < n_halvings; ++k) {
    const Real middle = 0.5 * (low + high);
    (holds(middle) ? low : high) = middle;
  }
  return {low, high};
}

/// The equation of one coordinate while its mode stays.
class Sliding final : public MotionSystem {
 public:
  Sliding(const DryFrictionMotion::Data& data, FrictionMode mode)
      : data_(data), friction_(-direction(mode) * data.limit) {}
  std::size_t size() const override { return 1; }
  void accelerate(Real time, int, std::span<const Real> x, std::span<const Real> v,
                  std::span<Real> a) override {
    a[0] = (data_.force(time, x[0], v[0]) + friction_) / data_.mass;
  }

 private:
  const DryFrictionMotion::Data& data_;
  Real friction_;
};

inline DryFrictionMotion::DryFrictionMotion(Data data, Integrator<2>& integrator)
    : data_(std::move(data)), integrator_(integrator) {
  if (integrator.history_width() > 0)
    throw InputError(
        "friction that switches inside a step needs an integrator without a history: rk4 or "
        "symplectic_euler");
}

inline FrictionMode DryFrictionMotion::decide(Real time, Real x) const {
  const Real force = data_.force(time, x, 0);
  const FrictionMode mode =
      mode_at_rest((force - data_.limit) / data_.mass, -(force + data_.limit) / data_.mass, data_.tolerance);
  if (mode == FrictionMode::impossible)
    throw RunError(fmt::format(
        "friction at t = {:.6g} s: both directions of sliding accelerate, mu N = {:g} N cannot be", time,
        data_.limit));
  return mode;
}

inline void DryFrictionMotion::start(Real time, Real x, Real v) {
  time_ = time;
  x_ = x;
  v_ = v;
  last_stop_ = HUGE_VAL;
  mode_ = v > 0 ? FrictionMode::forward : v < 0 ? FrictionMode::backward : decide(time, x);
}

inline auto DryFrictionMotion::slide(Real dt) -> Point {
  Sliding system(data_, mode_);
  Point end{x_, v_};
  integrator_.step(system, time_, dt, {{&end.x, 1}, {&end.v, 1}, {}});
  return end;
}

inline void DryFrictionMotion::step(Real dt) {
  const Real end_time = time_ + dt;
  Real left = dt;
  for (int change = 0; left > 0; ++change) {
    if (change == max_changes)
      throw RunError(fmt::format("friction at t = {:.6g} s: the mode changes more than {} times in a step",
                                 time_, max_changes));
    if (mode_ == FrictionMode::stick) {
      const auto sticks = [&](Real h) { return decide(time_ + h, x_) == FrictionMode::stick; };
      if (sticks(left)) break;
      const Real held = where_it_ends(left, sticks)[1];
      mode_ = decide(time_ + held, x_);
      time_ += held;
      left -= held;
      continue;
    }
    const Real sign = direction(mode_);
    Point end = slide(left);
    if (end.v * sign >= 0) {
      x_ = end.x;
      v_ = end.v;
      break;
    }
    const Real moving = where_it_ends(left, [&](Real h) { return slide(h).v * sign >= 0; })[0];
    x_ = slide(moving).x;
    v_ = 0;
    time_ += moving;
    left -= moving;
    last_stop_ = time_;
    mode_ = decide(time_, x_);
  }
  time_ = end_time;
}

}  // namespace scree
