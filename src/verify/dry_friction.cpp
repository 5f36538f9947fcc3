#include "verify/dry_friction.hpp"

#include <fmt/format.h>

#include <array>

#include "core/error.hpp"

namespace scree {

namespace {

/// Halvings of a step: what is left is below its round-off.
constexpr int n_halvings = 60;
constexpr int most_changes = 100;

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

}  // namespace

DryFrictionMotion::DryFrictionMotion(Data data, Integrator<2>& integrator)
    : data_(std::move(data)), integrator_(integrator) {
  if (integrator.history_width() > 0)
    throw InputError(
        "friction that switches inside a step needs an integrator without a history: rk4 or "
        "symplectic_euler");
}

FrictionMode DryFrictionMotion::decide(Real time, Real x) const {
  const Real force = data_.force(time, x, 0);
  const FrictionMode mode =
      mode_at_rest((force - data_.limit) / data_.mass, -(force + data_.limit) / data_.mass, data_.tolerance);
  if (mode == FrictionMode::impossible)
    throw RunError(fmt::format(
        "friction at t = {:.6g} s: both directions of sliding accelerate, mu N = {:g} N cannot be", time,
        data_.limit));
  return mode;
}

void DryFrictionMotion::start(Real time, Real x, Real v) {
  time_ = time;
  x_ = x;
  v_ = v;
  last_stop_ = HUGE_VAL;
  mode_ = v > 0 ? FrictionMode::forward : v < 0 ? FrictionMode::backward : decide(time, x);
}

auto DryFrictionMotion::slide(Real dt) -> Point {
  Sliding system(data_, mode_);
  Point end{x_, v_};
  integrator_.step(system, time_, dt, {{&end.x, 1}, {&end.v, 1}, {}});
  return end;
}

void DryFrictionMotion::step(Real dt) {
  const Real end_time = time_ + dt;
  Real left = dt;
  for (int change = 0; left > 0; ++change) {
    if (change == most_changes)
      throw RunError(fmt::format("friction at t = {:.6g} s: the mode changes more than {} times in a step",
                                 time_, most_changes));
    if (mode_ == FrictionMode::stick) {
      const auto sticks = [&](Real h) { return decide(time_ + h, x_) == FrictionMode::stick; };
      if (sticks(left)) break;
      const Real held = where_it_ends(left, sticks)[1];
      mode_ = decide(time_ + held, x_);
      time_ += held;
      left -= held;
      continue;
    }
    const Real way = direction(mode_);
    Point end = slide(left);
    if (end.v * way >= 0) {
      x_ = end.x;
      v_ = end.v;
      break;
    }
    const Real moving = where_it_ends(left, [&](Real h) { return slide(h).v * way >= 0; })[0];
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
