#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "schemes/dem/integrator.hpp"

using namespace scree;

namespace {

/// Every coordinate obeys the same equation.
class OneEquation final : public MotionSystem {
 public:
  using Equation = std::function<Real(Real t, Real x, Real v)>;
  OneEquation(std::size_t size, std::size_t width, Equation equation)
      : size_(size), width_(width), equation_(std::move(equation)) {}
  std::size_t size() const override { return size_; }
  std::size_t width() const override { return width_; }
  void accelerate(Real time, int stage, std::span<const Real> x, std::span<const Real> v,
                  std::span<Real> a) override {
    CHECK(stage == n_calls++);
    for (std::size_t i = 0; i < size_; ++i) a[i] = equation_(time, x[i], v[i]);
  }
  int n_calls = 0;

 private:
  std::size_t size_, width_;
  Equation equation_;
};

struct Motion {
  std::vector<Real> x, v, history;
  MotionArrays arrays() { return {x, v, history}; }
};

Motion move(Integrator<2>& integrator, const OneEquation::Equation& equation, std::vector<Real> x,
            std::vector<Real> v, Real dt, int n_steps, std::size_t width = 1) {
  OneEquation system(x.size(), width, equation);
  Motion motion{std::move(x), std::move(v), {}};
  motion.history.resize(motion.x.size() * static_cast<std::size_t>(integrator.history_width()));
  integrator.start(system, 0, dt, motion.arrays());
  for (int step = 0; step < n_steps; ++step) {
    system.n_calls = 0;
    integrator.step(system, step * dt, dt, motion.arrays());
    CHECK(system.n_calls == integrator.evaluations());
  }
  return motion;
}

/// A damped spring: x = exp(-t) cos t from (1, -1).
Real damped(Real, Real x, Real v) {
  return -2 * x - 2 * v;
}

/// X = t^7 exp(-t), which starts with no derivatives, and the force that pushes a damped spring along it.
Real smooth_x(Real t) {
  return std::pow(t, 7) * std::exp(-t);
}
Real smooth_v(Real t) {
  return (7 * std::pow(t, 6) - std::pow(t, 7)) * std::exp(-t);
}
Real pushed(Real t, Real x, Real v) {
  const Real a = (42 * std::pow(t, 5) - 14 * std::pow(t, 6) + std::pow(t, 7)) * std::exp(-t);
  return a + 2 * (smooth_v(t) - v) + 2 * (smooth_x(t) - x);
}

}  // namespace

TEST_CASE("Integrators: the error falls with their order", "[contract]") {
  for (const auto& entry : registry<Integrator<2>>()) {
    CAPTURE(entry.name);
    const auto integrator = entry.make();
    Real error[2] = {};
    for (int fine = 0; fine < 2; ++fine) {
      const int n = fine ? 160 : 80;
      const Motion motion = move(*integrator, pushed, {0}, {0}, 4.0 / n, n);
      error[fine] = std::hypot(motion.x[0] - smooth_x(4), motion.v[0] - smooth_v(4));
    }
    const Real order = std::log2(error[0] / error[1]);
    CHECK(order == Approx(integrator->order()).margin(0.4));
    CHECK(error[1] < (integrator->order() == 1 ? 10 : 2e-3));
  }
}

TEST_CASE("Integrators: a constant acceleration is exact beyond order 1", "[contract]") {
  for (const auto& entry : registry<Integrator<3>>()) CHECK(make_integrator<3>(entry.name)->order() >= 1);
  for (const auto& entry : registry<Integrator<2>>()) {
    CAPTURE(entry.name);
    const auto integrator = entry.make();
    const Motion motion = move(
        *integrator, [](Real, Real, Real) { return -9.81; }, {2}, {3}, 0.1, 10);
    CHECK(motion.v[0] == Approx(3 - 9.81).epsilon(1e-14));
    if (integrator->order() > 1) CHECK(motion.x[0] == Approx(2 + 3 - 9.81 / 2).epsilon(1e-14));
  }
  CHECK(make_integrator<2>("euler") == nullptr);
}

TEST_CASE("Integrators: displacements from zero and bodies of any width give the same motion", "[contract]") {
  for (const auto& entry : registry<Integrator<2>>()) {
    CAPTURE(entry.name);
    const auto integrator = entry.make();
    const std::vector<Real> x{1, 2, 3, 4, 5, 6}, v{0, 1, 0, -1, 0, 1};
    const Motion narrow = move(*integrator, damped, x, v, 0.1, 20, 1);
    const Motion wide = move(*integrator, damped, x, v, 0.1, 20, 3);
    CHECK(narrow.x == wide.x);
    CHECK(narrow.v == wide.v);

    std::vector<Real> base = x;
    OneEquation system(6, 3, damped);
    Motion motion{x, v, std::vector<Real>(6 * static_cast<std::size_t>(integrator->history_width()))};
    integrator->start(system, 0, 0.1, motion.arrays());
    motion.x.assign(6, 0.0);
    for (int step = 0; step < 20; ++step) {
      std::size_t i = 0;
      OneEquation moved(6, 3, [&](Real, Real dx, Real u) { return damped(0, base[i++ % 6] + dx, u); });
      integrator->step(moved, 0, 0.1, motion.arrays());
      for (std::size_t k = 0; k < 6; ++k) base[k] += motion.x[k];
      motion.x.assign(6, 0.0);
    }
    for (std::size_t k = 0; k < 6; ++k) CHECK(base[k] == Approx(wide.x[k]).margin(1e-13));
  }
}

TEST_CASE("Gear: exact for polynomials up to degree 5 once the history is, also when the step changes",
          "[contract]") {
  const auto integrator = make_integrator<2>("gear");
  // x = t^5 - t^3 + t^2 + t + 1
  OneEquation system(1, 1, [](Real t, Real, Real) { return 20 * t * t * t - 6 * t + 2; });
  const Real t0 = 1;
  Real dt = 0.25;
  Motion motion{
      {3}, {5}, {16 * dt * dt / 2, 54 * std::pow(dt, 3) / 6, 120 * std::pow(dt, 4) / 24, std::pow(dt, 5)}};
  Real t = t0;
  const auto advance = [&] {
    system.n_calls = 0;
    integrator->step(system, t, dt, motion.arrays());
    t += dt;
    CHECK(motion.x[0] == Approx(std::pow(t, 5) - std::pow(t, 3) + t * t + t + 1).epsilon(1e-13));
    CHECK(motion.v[0] == Approx(5 * std::pow(t, 4) - 3 * t * t + 2 * t + 1).epsilon(1e-13));
  };
  for (int step = 0; step < 4; ++step) advance();
  for (const Real ratio : {0.5, 3.0}) {
    integrator->rescale(system, ratio, motion.history);
    dt *= ratio;
    for (int step = 0; step < 3; ++step) advance();
  }
}

TEST_CASE("Gear: a change of the step keeps the order", "[contract]") {
  const auto integrator = make_integrator<2>("gear");
  Real error[2] = {};
  for (int fine = 0; fine < 2; ++fine) {
    const Real first_dt = fine ? 0.025 : 0.05;
    const int n_first = fine ? 80 : 40;
    OneEquation system(1, 1, pushed);
    Motion motion = move(*integrator, pushed, {0}, {0}, first_dt, n_first);
    integrator->rescale(system, 0.5, motion.history);
    for (int step = 0; step < 2 * n_first; ++step) {
      system.n_calls = 0;
      integrator->step(system, 2 + step * first_dt / 2, first_dt / 2, motion.arrays());
    }
    error[fine] = std::abs(motion.x[0] - smooth_x(4));
  }
  CHECK(std::log2(error[0] / error[1]) > 4.6);
}

TEST_CASE("Gear: a start in the middle of a motion costs order", "[contract]") {
  const auto integrator = make_integrator<2>("gear");
  Real error[2] = {};
  for (int fine = 0; fine < 2; ++fine) {
    const int n = fine ? 160 : 80;
    error[fine] =
        std::abs(move(*integrator, damped, {1}, {-1}, 4.0 / n, n).x[0] - std::exp(-4.0) * std::cos(4.0));
  }
  CHECK(std::log2(error[0] / error[1]) == Approx(2).margin(0.2));
  CHECK(error[1] < 1e-5);
}
