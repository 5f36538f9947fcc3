#include <algorithm>
#include <vector>

#include "core/error.hpp"
#include "verify/dae_cases.hpp"
#include "verify/dry_friction.hpp"

namespace scree {

namespace {

using Motion = DryFrictionMotion;

struct Sample {
  Real t = 0, x = 0, v = 0;
};

struct Run {
  Real time_step = 0.1, end_time = 0;
  std::string integrator = "rk4";
  Motion::Data data;
  Real x = 0, v = 0;
};

struct Path {
  std::vector<Sample> samples;
  Real last_stop = HUGE_VAL;
};

Path with_switching(const Run& run) {
  const auto integrator = dae_integrator(run.integrator);
  Motion motion(run.data, *integrator);
  motion.start(0, run.x, run.v);
  Path path{{{0, run.x, run.v}}};
  const int n = steps_until(run.end_time, run.time_step);
  for (int step = 1; step <= n; ++step) {
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
  const auto integrator = dae_integrator(run.integrator);
  SignFriction system(run.data);
  Real x = run.x, v = run.v;
  std::vector<Sample> samples{{0, x, v}};
  const int n = steps_until(run.end_time, run.time_step);
  for (int step = 1; step <= n; ++step) {
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
  Real most = 0;
  for (const Sample& s : samples) most = std::max(most, std::abs(s.x - exact(s.t).x));
  return most;
}

/// After `from` the velocity is 0 and the position the same, to the last bit.
bool rests(const std::vector<Sample>& samples, Real from) {
  return std::ranges::all_of(
      samples, [&](const Sample& s) { return s.t < from || (s.v == 0 && s.x == samples.back().x); });
}

template <class Exact>
void add_csv(DaeTable& table, const std::string& names, const std::string& values, const Run& run,
             const Path& path, const std::vector<Sample>& naive, const Exact& exact) {
  if (table.csv.empty())
    table.csv = names + ",dt,integrator,t,x_exact,v_exact,x_switch,v_switch,x_sign,v_sign\n";
  for (std::size_t k = 0; k < path.samples.size(); ++k) {
    const Sample& s = path.samples[k];
    const Sample e = exact(s.t);
    table.csv += fmt::format("{},{},{},{:.12g},{},{},{},{},{},{}\n", values, run.time_step, run.integrator,
                             s.t, e.x, e.v, s.x, s.v, naive[k].x, naive[k].v);
  }
}

/// Rows t, exact, switching, sign(v) of the reference that begin with `key`, against our own.
template <class Exact>
void compare_with_stored(DaeTable& table, const std::string& name,
                         const std::vector<std::vector<std::string>>& rows, const std::string& path,
                         const std::vector<Real>& key, const Path& found, const std::vector<Sample>& naive,
                         const Exact& exact, Real dt) {
  Real off[3] = {};
  int n_rows = 0;
  for (const auto& row : rows) {
    bool is_ours = true;
    for (std::size_t k = 0; k < key.size(); ++k) is_ours = is_ours && number(row[k], path) == key[k];
    if (!is_ours) continue;
    ++n_rows;
    const std::size_t first = key.size();
    const Real t = number(row[first], path);
    const auto step = static_cast<std::size_t>(std::lround(t / dt));
    if (step >= naive.size()) throw InputError(fmt::format("{}: t = {} is beyond the run", path, t));
    const Sample all[3] = {exact(t), found.samples[step], naive[step]};
    for (std::size_t k = 0; k < 3; ++k)
      off[k] = std::max({off[k], std::abs(all[k].x - number(row[first + 1 + 2 * k], path)),
                         std::abs(all[k].v - number(row[first + 2 + 2 * k], path))});
  }
  if (n_rows == 0) throw InputError(path + ": no rows of " + name);
  const char* what[3] = {"exact", "switching", "sign(v)"};
  for (std::size_t k = 0; k < 3; ++k)
    table.at_most(name, fmt::format("{} off {} stored points", what[k], n_rows), off[k], 1e-9);
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

void verify_dry_slope(DaeTable& table) {
  table.head("Block on a slope of 30 degrees, g = 9.81, dt = 0.1, to t = 3; s counts downhill.\n");
  const std::string path = table.reference("slope.csv");
  const auto rows = read_rows(table.comm(), path,
                              "mu_over_tan,v0,t,s_exact,v_exact,s_switch,v_switch,s_naive_rk4,v_naive_rk4");
  struct Published {
    Real mu, v0, stop, s, v, error;
    Real sign_s, sign_s_band, sign_rms_v, sign_mean_v;  // 0: none published
  };
  const Published all[] = {{0.5, 1, HUGE_VAL, 14.03625, 8.3575, 7e-15, 14.03625, 5e-6, 0, 0},
                           {0.5, -1, 0.135916, 9.990945, 7.024167, 2e-15, 10.19, 5e-3, 0, 0},
                           {1, 1, HUGE_VAL, 3, 1, 2e-15, 3, 1e-9, 0, 0},
                           {1, -1, 0.101937, -0.0509684, 0, 0, 1.30, 5e-3, 0, 0},
                           {3, 1, 0.101937, 0.0509684, 0, 0, 0.106, 5e-4, 0.36, 0},
                           {3, -1, 0.0509684, -0.0254842, 0, 0, 1.37, 5e-3, 0, 0.72}};
  for (const Published& p : all) {
    const Slope slope{.mu = p.mu * std::tan(30 * to_radian)};
    const Run run{.end_time = 3, .data = slope.data(), .v = p.v0};
    const auto exact = [&](Real t) { return slope.exact(p.v0, t); };
    const Path found = with_switching(run);
    const auto naive = with_sign(run);
    add_csv(table, "mu_over_tan,v0", fmt::format("{},{}", p.mu, p.v0), run, found, naive, exact);
    constexpr Real chatter = 0.25;  // [s]: from then on sign(v) repeats its last two steps
    const std::string name = fmt::format("mu = {:g} tan, v0 = {:+g}", p.mu, p.v0);
    const Sample& end = found.samples.back();
    if (std::isfinite(p.stop))
      table.row(name, "stop time [s]", p.stop, found.last_stop, 5e-7);
    else
      table.holds(name, "never stops", found.last_stop == HUGE_VAL);
    table.row(name, "s at t = 3 [m]", p.s, end.x, 5e-7);
    table.row(name, "v at t = 3 [m/s]", p.v, end.v, 5e-7);
    table.at_most(name, "largest error [m]", largest_error(found.samples, exact), 2e-14);
    if (p.v == 0)
      table.holds(name, "at rest v = 0, s the same bits", rests(found.samples, p.stop + run.time_step));
    table.row(name, "sign(v): s at t = 3 [m]", p.sign_s, naive.back().x, p.sign_s_band);
    if (p.sign_rms_v > 0)
      table.row(name, "sign(v): rms v [m/s]", p.sign_rms_v, rms_velocity(naive, chatter), 1e-3);
    if (p.sign_mean_v > 0) {
      table.row(name, "sign(v): mean v [m/s]", p.sign_mean_v, mean_velocity(naive, chatter), 5e-3);
    }
    compare_with_stored(table, name, rows, path, {p.mu, p.v0}, found, naive, exact, run.time_step);
  }
}

void run_dry_slope(DaeTable& table) {
  const DaeOptions& o = table.options();
  Slope slope{.gravity = o.gravity.value_or(9.81), .angle = o.angle.value_or(30) * to_radian};
  slope.mu = o.mu.value_or(std::tan(slope.angle));
  const Real v0 = o.velocity.empty() ? -1 : o.velocity[0];
  const Run run{.time_step = o.time_step.value_or(0.1),
                .end_time = o.end_time.value_or(3),
                .integrator = o.integrator.empty() ? "rk4" : o.integrator,
                .data = slope.data(),
                .x = o.start.empty() ? 0 : o.start[0],
                .v = v0};
  const auto exact = [&](Real t) {
    Sample e = slope.exact(v0, t);
    e.x += run.x;
    return e;
  };
  const Path found = with_switching(run);
  const auto naive = with_sign(run);
  add_csv(table, "mu,v0", fmt::format("{},{}", slope.mu, v0), run, found, naive, exact);
  table.show(fmt::format("mu = {:g}, slope of {:g} degrees, v0 = {:g} m/s, dt = {:g} s", slope.mu,
                         slope.angle / to_radian, v0, run.time_step));
  table.show(std::isfinite(found.last_stop)
                 ? fmt::format("stops at t = {:.9g} s (exact {:.9g})", found.last_stop, slope.stop_time(v0))
                 : "never stops");
  const Sample& end = found.samples.back();
  const Sample e = exact(end.t);
  table.show(fmt::format(
      "at t = {:g} s: s = {:.9g} m, v = {:.9g} m/s (exact {:.9g}, {:.9g}; sign(v) {:.9g}, {:.9g})", end.t,
      end.x, end.v, e.x, e.v, naive.back().x, naive.back().v));
  table.show(fmt::format("largest error {:.3g} m", largest_error(found.samples, exact)));
}

void verify_oscillator(DaeTable& table) {
  table.head("Oscillator with dry friction, k = m = 1, mu N = 0.2, released at rest, to t = 25.\n");
  const std::string path = table.reference("oscillator.csv");
  const auto rows =
      read_rows(table.comm(), path, "x0,t,x_exact,v_exact,x_switch,v_switch,x_naive_rk4,v_naive_rk4");
  struct Published {
    Real x0, dt, error, rest, rest_exact, sign_x, sign_v;  // sign_v 0: not published
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
    const Run run{.time_step = p.dt, .end_time = 25, .data = Oscillator::data(oscillator.limit), .x = p.x0};
    const auto exact = [&](Real t) { return oscillator.exact(p.x0, t); };
    const Path found = with_switching(run);
    const auto naive = with_sign(run);
    add_csv(table, "x0", fmt::format("{}", p.x0), run, found, naive, exact);
    const std::string name = fmt::format("x0 = {:g}, dt = {:g}", p.x0, p.dt);
    const Real error = largest_error(found.samples, exact);
    if (p.error > 0)
      table.row(name, "largest error [m]", p.error, error, 0.06 * p.error);
    else
      table.at_most(name, "largest error [m]", error, 5e-6);
    table.row(name, "rest position [m]", p.rest, found.samples.back().x, p.error > 0 ? 6e-8 : 5e-6);
    table.row(name, "rest position, exact [m]", p.rest_exact, exact(25).x, 1e-14);
    // On the end of the fix line a rounded position may be outside by less than the error, and creep back.
    const Real rest_time = oscillator.rest_time(p.x0) + (p.error > 0 ? p.dt : M_PI + p.dt);
    table.holds(name, "at rest v = 0, x the same bits", rests(found.samples, rest_time));
    if (p.x0 == 2.5) {
      if (p.dt < 0.1) table.row(name, "order of the error", 4, std::log2(last_error / error), 0.1);
      last_error = error;
    }
    if (p.sign_v > 0) {
      table.row(name, "sign(v): x at the end [m]", p.sign_x, naive.back().x, 6e-4);
      table.row(name, "sign(v): rms v [m/s]", p.sign_v, rms_velocity(naive, 6 * M_PI), 6e-4);
    }
    if (p.dt == 0.1) compare_with_stored(table, name, rows, path, {p.x0}, found, naive, exact, p.dt);
  }
}

void run_oscillator(DaeTable& table) {
  const DaeOptions& o = table.options();
  const Oscillator oscillator{.limit = o.mu.value_or(0.2)};
  const Real x0 = o.start.empty() ? 2.5 : o.start[0];
  if (!o.velocity.empty() && o.velocity[0] != 0)
    throw InputError("--velocity: the oscillator is released at rest, its exact motion knows nothing else");
  const Run run{.time_step = o.time_step.value_or(0.1),
                .end_time = o.end_time.value_or(25),
                .integrator = o.integrator.empty() ? "rk4" : o.integrator,
                .data = Oscillator::data(oscillator.limit),
                .x = x0};
  const auto exact = [&](Real t) { return oscillator.exact(x0, t); };
  const Path found = with_switching(run);
  const auto naive = with_sign(run);
  add_csv(table, "x0,mu", fmt::format("{},{}", x0, oscillator.limit), run, found, naive, exact);
  table.show(
      fmt::format("k = m = 1, mu N = {:g} N, x0 = {:g} m, dt = {:g} s", oscillator.limit, x0, run.time_step));
  const Sample& end = found.samples.back();
  table.show(fmt::format(
      "at t = {:g} s: x = {:.9g} m, v = {:.9g} m/s (exact {:.9g}, {:.9g}; sign(v) {:.9g}, {:.9g})", end.t,
      end.x, end.v, exact(end.t).x, exact(end.t).v, naive.back().x, naive.back().v));
  if (end.v == 0)
    table.show(
        fmt::format("at rest since t = {:.9g} s (exact {:.9g})", found.last_stop, oscillator.rest_time(x0)));
  table.show(fmt::format("largest error {:.3g} m", largest_error(found.samples, exact)));
}

}  // namespace scree
