// Integrators with friction that switches inside a step: its modes, and blocks on slopes and oscillators
// beside exact motions, published numbers and stored paths of a prototype (tests/reference/dae).
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/error.hpp"
#include "support/dry_friction.hpp"
#include "support/reference_rows.hpp"

using namespace scree;

namespace {

using Motion = DryFrictionMotion;

const std::string folder = SCREE_TESTS "/reference/dae/";

Motion::Data constant_force(Real force, Real limit) {
  return {
      .force = [force](Real, Real, Real) { return force; }, .mass = 2, .limit = limit, .tolerance = 1e-12};
}

struct Sample {
  Real t = 0, x = 0, v = 0;
};

struct Run {
  Real time_step = 0.1, end_time = 0;
  Motion::Data data;
  Real x = 0, v = 0;
  int n_steps() const { return static_cast<int>(std::lround(end_time / time_step)); }
};

struct Path {
  std::vector<Sample> samples;
  Real last_stop = HUGE_VAL;
};

Path with_switching(const Run& run) {
  const auto integrator = make_integrator<2>("rk4");
  Motion motion(run.data, *integrator);
  motion.start(0, run.x, run.v);
  Path path{{{0, run.x, run.v}}};
  for (int step = 1; step <= run.n_steps(); ++step) {
    motion.step(run.time_step);
    path.samples.push_back({step * run.time_step, motion.x(), motion.v()});
  }
  path.last_stop = motion.last_stop();
  return path;
}

/// What not to do: friction against the sign of the velocity, whatever the step does to it.
class SignFriction final : public MotionSystem {
 public:
  explicit SignFriction(const Motion::Data& data) : data_(data) {}
  std::size_t size() const override { return 1; }
  void accelerate(Real time, int, std::span<const Real> x, std::span<const Real> v,
                  std::span<Real> a) override {
    const Real sign = v[0] > 0 ? 1 : v[0] < 0 ? -1 : 0;
    a[0] = (data_.force(time, x[0], v[0]) - data_.limit * sign) / data_.mass;
  }

 private:
  const Motion::Data& data_;
};

std::vector<Sample> with_sign(const Run& run) {
  const auto integrator = make_integrator<2>("rk4");
  SignFriction system(run.data);
  Real x = run.x, v = run.v;
  std::vector<Sample> samples{{0, x, v}};
  for (int step = 1; step <= run.n_steps(); ++step) {
    integrator->step(system, (step - 1) * run.time_step, run.time_step, {{&x, 1}, {&v, 1}, {}});
    samples.push_back({step * run.time_step, x, v});
  }
  return samples;
}

/// Mean of f(v) over the samples after `from`.
template <class F>
Real mean(const std::vector<Sample>& samples, Real from, const F& f) {
  Real sum = 0;
  int n = 0;
  for (const Sample& s : samples) {
    if (s.t <= from) continue;
    sum += f(s.v);
    ++n;
  }
  return sum / n;
}
Real mean_velocity(const std::vector<Sample>& samples, Real from) {
  return mean(samples, from, [](Real v) { return v; });
}
Real rms_velocity(const std::vector<Sample>& samples, Real from) {
  return std::sqrt(mean(samples, from, [](Real v) { return v * v; }));
}

template <class Exact>
Real largest_error(const std::vector<Sample>& samples, const Exact& exact) {
  Real max = 0;
  for (const Sample& s : samples) max = std::max(max, std::abs(s.x - exact(s.t).x));
  return max;
}

/// After `from` the velocity is 0 and the position the same, to the last bit.
bool rests(const std::vector<Sample>& samples, Real from) {
  return std::ranges::all_of(
      samples, [&](const Sample& s) { return s.t < from || (s.v == 0 && s.x == samples.back().x); });
}

/// Rows key, t, exact, switching, sign(v) of a reference, against our own.
template <class Exact>
void compare_with_stored(const std::vector<std::vector<std::string>>& rows, const std::vector<Real>& key,
                         const Path& found, const std::vector<Sample>& naive, const Exact& exact, Real dt) {
  Real off[3] = {};
  int n_rows = 0;
  for (const auto& row : rows) {
    const std::size_t first = key.size();
    bool is_ours = true;
    for (std::size_t k = 0; k < first; ++k) is_ours = is_ours && std::stod(row[k]) == key[k];
    if (!is_ours) continue;
    ++n_rows;
    const Real t = std::stod(row[first]);
    const auto step = static_cast<std::size_t>(std::lround(t / dt));
    REQUIRE(step < naive.size());
    const Sample all[3] = {exact(t), found.samples[step], naive[step]};
    for (std::size_t k = 0; k < 3; ++k)
      off[k] = std::max({off[k], std::abs(all[k].x - std::stod(row[first + 1 + 2 * k])),
                         std::abs(all[k].v - std::stod(row[first + 2 + 2 * k]))});
  }
  CHECK(n_rows > 0);
  for (const Real difference : off) CHECK(difference <= 1e-9);
}

constexpr Real to_radian = M_PI / 180;

struct Slope {
  Real gravity = 9.81, angle = 30 * to_radian, mu = 0;
  /// Acceleration along the slope while it slides with this sign, and what the tolerance is a share of.
  Real sliding(Real sign) const { return gravity * (std::sin(angle) - mu * std::cos(angle) * sign); }
  Motion::Data data() const {
    // Friction that just holds is an equality between numbers that are rounded.
    constexpr Real share = 1e-12;
    return {.force = [pull = gravity * std::sin(angle)](Real, Real, Real) { return pull; },
            .mass = 1,
            .limit = mu * gravity * std::cos(angle),
            .tolerance = share * gravity};
  }
  /// From x = 0 with velocity v0: until it stops, then at rest or on its way down.
  Real stop_time(Real v0) const {
    const Real a = sliding(v0 > 0 ? 1 : -1);
    return v0 * a < -1e-12 * gravity * std::abs(v0) ? -v0 / a : v0 == 0 ? 0 : HUGE_VAL;
  }
  Sample exact(Real v0, Real t) const {
    const Real a = sliding(v0 > 0 ? 1 : -1), stop = stop_time(v0);
    if (t <= stop) return {t, v0 * t + a * t * t / 2, v0 + a * t};
    const Real x = stop > 0 ? v0 * stop / 2 : 0, down = std::max(sliding(1), 0.0);
    const Real after = t - stop;
    return down > 1e-12 * gravity ? Sample{t, x + down * after * after / 2, down * after} : Sample{t, x, 0};
  }
};

/// m = k = 1: half cycles about +-mu N until one ends within the fix line.
struct Oscillator {
  Real limit = 0.2;
  static Motion::Data data(Real limit) {
    return {.force = [](Real, Real x, Real) { return -x; },
            .mass = 1,
            .limit = limit,
            .tolerance = 1e-12 * limit};
  }
  /// Released at rest from x0.
  Sample exact(Real x0, Real t) const {
    Real turn = x0, from = 0;
    while (std::abs(turn) > limit * (1 + 1e-12)) {
      const Real centre = turn > 0 ? limit : -limit;
      if (t <= from + M_PI)
        return {t, centre + (turn - centre) * std::cos(t - from), -(turn - centre) * std::sin(t - from)};
      turn = 2 * centre - turn;
      from += M_PI;
    }
    return {t, turn, 0};
  }
  Real rest_time(Real x0) const {
    return M_PI * std::max(0.0, std::ceil((std::abs(x0) / limit * (1 - 1e-12) - 1) / 2));
  }
};

}  // namespace

TEST_CASE("Dry friction: the mode at rest follows from the two accelerations") {
  using enum FrictionMode;
  // (F - mu N)/m and -(F + mu N)/m for mu N/m = 1
  const auto mode = [](Real force) { return mode_at_rest(force - 1, -(force + 1), 1e-12); };
  CHECK(mode(2) == forward);
  CHECK(mode(-2) == backward);
  CHECK(mode(0) == stick);
  CHECK(mode(1) == stick);
  CHECK(mode(-1) == stick);
  CHECK(mode(1 + 1e-15) == stick);
  CHECK(mode(1 + 1e-9) == forward);
  CHECK(mode_at_rest(1, 1, 0) == impossible);
}

TEST_CASE("Dry friction: stops inside a step, sticks without a trace of velocity") {
  for (const char* name : {"rk4", "symplectic_euler"}) {
    CAPTURE(name);
    const auto integrator = make_integrator<2>(name);
    Motion motion(constant_force(3, 4), *integrator);
    // Backward from v = -1: a = (3 + 4)/2
    motion.start(0, 0, -1);
    motion.step(1);
    CHECK(motion.v() == 0);
    CHECK(motion.mode() == FrictionMode::stick);
    CHECK(motion.last_stop() == Approx(2.0 / 7).epsilon(1e-15));
    if (integrator->order() > 1) CHECK(motion.x() == Approx(-1.0 / 7).epsilon(1e-15));
    const Real x = motion.x();
    for (int step = 0; step < 100; ++step) motion.step(0.1);
    CHECK(motion.x() == x);
    CHECK(motion.v() == 0);
  }
}

TEST_CASE("Dry friction: turns round inside a step") {
  const auto integrator = make_integrator<2>("rk4");
  Motion motion(constant_force(3, 1), *integrator);
  motion.start(0, 0, -1);  // a = 2 up to t = 1/2, x = -1/4, then a = 1
  motion.step(2);
  CHECK(motion.mode() == FrictionMode::forward);
  CHECK(motion.v() == Approx(1.5).epsilon(1e-14));
  CHECK(motion.x() == Approx(-0.25 + 1.125).epsilon(1e-14));
}

TEST_CASE("Dry friction: slips at the moment a growing force reaches the limit") {
  const auto integrator = make_integrator<2>("rk4");
  Motion motion({.force = [](Real t, Real, Real) { return t; }, .mass = 1, .limit = 0.7, .tolerance = 0},
                *integrator);
  motion.start(0, 5, 0);
  motion.step(0.6);
  CHECK(motion.x() == 5);
  motion.step(0.4);  // v = (t - 0.7)^2/2
  CHECK(motion.mode() == FrictionMode::forward);
  CHECK(motion.v() == Approx(0.045).epsilon(1e-12));
  CHECK(motion.x() == Approx(5.0045).epsilon(1e-14));
}

TEST_CASE("Dry friction: a limit that just holds does, whatever round-off says") {
  const auto integrator = make_integrator<2>("rk4");
  Motion motion(constant_force(0.1 + 0.2, 0.3), *integrator);
  motion.start(0, 0, -1);
  for (int step = 0; step < 50; ++step) motion.step(0.1);
  CHECK(motion.v() == 0);
  CHECK(motion.mode() == FrictionMode::stick);
}

TEST_CASE("Dry friction: what cannot be is refused") {
  const auto integrator = make_integrator<2>("rk4");
  Motion negative(constant_force(0, -1), *integrator);
  CHECK_THROWS_WITH(negative.start(0, 0, 0), Catch::Contains("both directions of sliding accelerate"));
  const auto gear = make_integrator<2>("gear");
  CHECK_THROWS_WITH(Motion(constant_force(0, 1), *gear), Catch::Contains("rk4 or symplectic_euler"));
}

// A slope of 30 degrees, g = 9.81, steps of 0.1 s to 3 s; s counts downhill.
TEST_CASE("Dry friction: blocks on a slope stop, turn and rest as published, to 2e-14 m", "[contract]") {
  const auto rows = reference_rows(
      folder + "slope.csv", "mu_over_tan,v0,t,s_exact,v_exact,s_switch,v_switch,s_naive_rk4,v_naive_rk4");
  struct Published {
    Real mu, v0, stop, s, v;
    Real sign_s, sign_s_band, sign_rms_v, sign_mean_v;  // 0: none published
  };
  const Published all[] = {{0.5, 1, HUGE_VAL, 14.03625, 8.3575, 14.03625, 5e-6, 0, 0},
                           {0.5, -1, 0.135916, 9.990945, 7.024167, 10.19, 5e-3, 0, 0},
                           {1, 1, HUGE_VAL, 3, 1, 3, 1e-9, 0, 0},
                           {1, -1, 0.101937, -0.0509684, 0, 1.30, 5e-3, 0, 0},
                           {3, 1, 0.101937, 0.0509684, 0, 0.106, 5e-4, 0.36, 0},
                           {3, -1, 0.0509684, -0.0254842, 0, 1.37, 5e-3, 0, 0.72}};
  for (const Published& p : all) {
    INFO(fmt::format("mu = {:g} tan, v0 = {:+g}", p.mu, p.v0));
    const Slope slope{.mu = p.mu * std::tan(30 * to_radian)};
    const Run run{.end_time = 3, .data = slope.data(), .v = p.v0};
    const auto exact = [&](Real t) { return slope.exact(p.v0, t); };
    const Path found = with_switching(run);
    const auto naive = with_sign(run);
    const Sample& end = found.samples.back();
    if (std::isfinite(p.stop))
      CHECK(std::abs(found.last_stop - p.stop) <= 5e-7);
    else
      CHECK(found.last_stop == HUGE_VAL);
    CHECK(std::abs(end.x - p.s) <= 5e-7);
    CHECK(std::abs(end.v - p.v) <= 5e-7);
    CHECK(largest_error(found.samples, exact) <= 2e-14);
    if (p.v == 0) CHECK(rests(found.samples, p.stop + run.time_step));
    CHECK(std::abs(naive.back().x - p.sign_s) <= p.sign_s_band);
    constexpr Real chatter = 0.25;  // [s]: from then on sign(v) repeats its last two steps
    if (p.sign_rms_v > 0) CHECK(std::abs(rms_velocity(naive, chatter) - p.sign_rms_v) <= 1e-3);
    if (p.sign_mean_v > 0) CHECK(std::abs(mean_velocity(naive, chatter) - p.sign_mean_v) <= 5e-3);
    compare_with_stored(rows, {p.mu, p.v0}, found, naive, exact, run.time_step);
  }
}

// k = m = 1, mu N = 0.2, released at rest, to 25 s.
TEST_CASE("Dry friction: oscillators come to rest as published; the error is of order 4", "[contract]") {
  const auto rows = reference_rows(folder + "oscillator.csv",
                                   "x0,t,x_exact,v_exact,x_switch,v_switch,x_naive_rk4,v_naive_rk4");
  struct Published {
    Real x0, dt, error, rest, rest_exact, sign_x, sign_v;  // error, sign_v 0: not published
  };
  const Published all[] = {{2.5, 0.1, 1.0e-5, 0.0999983, 0.1, 0.074, 8e-3},
                           {2.5, 0.05, 6.3e-7, 0.09999995, 0.1, 0.086, 4e-3},
                           {2.5, 0.025, 4.0e-8, 0.1, 0.1, 0.094, 2e-3},
                           {-1.7, 0.1, 4.6e-6, -0.0999992, -0.1, -0.057, 7e-3},
                           {0.65, 0.1, 7.1e-7, -0.1500001, -0.15, -0.065, 7e-3},
                           {1.0, 0.1, 0, 0.2, 0.2, 0, 0}};
  const Oscillator oscillator;
  Real last_error = 0;
  for (const Published& p : all) {
    INFO(fmt::format("x0 = {:g}, dt = {:g}", p.x0, p.dt));
    const Run run{.time_step = p.dt, .end_time = 25, .data = Oscillator::data(oscillator.limit), .x = p.x0};
    const auto exact = [&](Real t) { return oscillator.exact(p.x0, t); };
    const Path found = with_switching(run);
    const auto naive = with_sign(run);
    const Real error = largest_error(found.samples, exact);
    if (p.error > 0)
      CHECK(std::abs(error - p.error) <= 0.06 * p.error);
    else
      CHECK(error <= 5e-6);
    CHECK(std::abs(found.samples.back().x - p.rest) <= (p.error > 0 ? 6e-8 : 5e-6));
    CHECK(std::abs(exact(25).x - p.rest_exact) <= 1e-14);
    // On the end of the fix line a rounded position may be outside by less than the error, and creep back.
    CHECK(rests(found.samples, oscillator.rest_time(p.x0) + (p.error > 0 ? p.dt : M_PI + p.dt)));
    if (p.x0 == 2.5) {
      if (p.dt < 0.1) CHECK(std::abs(std::log2(last_error / error) - 4) <= 0.1);
      last_error = error;
    }
    if (p.sign_v > 0) {
      CHECK(std::abs(naive.back().x - p.sign_x) <= 6e-4);
      CHECK(std::abs(rms_velocity(naive, 6 * M_PI) - p.sign_v) <= 6e-4);
    }
    if (p.dt == 0.1) compare_with_stored(rows, {p.x0}, found, naive, exact, p.dt);
  }
}

TEST_CASE("Dry friction: a block on a slope of 40 degrees turns round within a step of 0.5 s", "[contract]") {
  // tan(40 deg) = 0.839 > mu: a = g (sin + mu cos) on its way up, g (sin - mu cos) on its way down.
  const Slope slope{.gravity = 2, .angle = 40 * to_radian, .mu = 0.5};
  const Path found = with_switching({.time_step = 0.5, .end_time = 3, .data = slope.data(), .v = -2});
  const Real stop = 2 / slope.sliding(-1), down = slope.sliding(1);
  CHECK(found.last_stop == Approx(stop).epsilon(1e-9));
  CHECK(found.samples.back().v == Approx(down * (3 - stop)).margin(1e-13));
  CHECK(found.samples.back().x == Approx(-stop + down * (3 - stop) * (3 - stop) / 2).margin(1e-13));
}
