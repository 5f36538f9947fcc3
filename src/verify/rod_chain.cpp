#include "verify/rod_chain.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/log.hpp"

namespace scree::rods {

namespace {

/// Unit masses that hang on each other by rods of unit length, the first at the origin:
/// g_c = (|d|^2 - 1)/2 with d = x_c - x_(c-1). Gravity is along -y.
class RodChain final : public HolonomicSystem {
 public:
  RodChain(Index n_bodies, Real gravity)
      : halo_(Comm(MPI_COMM_SELF), n_bodies), n_(static_cast<std::size_t>(n_bodies)), gravity_(gravity) {}

  void start(ConstraintRows& rows) override {
    rows.halo = &halo_;
    rows.width = 2;
    rows.inverse_mass.assign(2 * n_, 1.0);
    for (Index body = 0; body < halo_.n_owned(); ++body) rows.add(body - 1, body);
  }
  void evaluate(std::span<const Real> x, std::span<Real> g, ConstraintRows& rows) const override {
    for (std::size_t c = 0; c < n_; ++c) {
      const Vec<2> d = along_rod(x, c);
      g[c] = (dot(d, d) - 1) / 2;
      for (std::size_t k = 0; k < 2; ++k) {
        rows.jacobian[4 * c + k] = -d.component[k];
        rows.jacobian[4 * c + 2 + k] = d.component[k];
      }
    }
  }
  void curvature(std::span<const Real>, std::span<const Real> v, std::span<Real> g_qq) const override {
    for (std::size_t c = 0; c < n_; ++c) {
      const Vec<2> d = along_rod(v, c);
      g_qq[c] = dot(d, d);
    }
  }
  void accelerate(Real, std::span<const Real>, std::span<const Real>, std::span<Real> a) const override {
    for (std::size_t i = 0; i < n_; ++i) {
      a[2 * i] = 0;
      a[2 * i + 1] = -gravity_;
    }
  }
  Real energy(std::span<const Real> x, std::span<const Real> v) const {
    Real sum = 0;
    for (std::size_t i = 0; i < n_; ++i)
      sum += 0.5 * (v[2 * i] * v[2 * i] + v[2 * i + 1] * v[2 * i + 1]) + gravity_ * x[2 * i + 1];
    return sum;
  }

 private:
  /// x_c - x_(c-1); the same for velocities.
  static Vec<2> along_rod(std::span<const Real> x, std::size_t c) {
    Vec<2> d{{x[2 * c], x[2 * c + 1]}};
    if (c > 0) d -= Vec<2>{{x[2 * c - 2], x[2 * c - 1]}};
    return d;
  }

  SerialHalo halo_;
  std::size_t n_;
  Real gravity_;
};

/// Beyond this length of a unit rod a run has blown up and ends.
constexpr Real too_long = 1e3;
/// A start that is off by more than round-off.
constexpr Real start_tolerance = 1e-12;

/// The angle from the downward vertical, theta'' = -g sin theta.
class Angle final : public MotionSystem {
 public:
  explicit Angle(Real gravity) : gravity_(gravity) {}
  std::size_t size() const override { return 1; }
  void accelerate(Real, int, std::span<const Real> x, std::span<const Real>, std::span<Real> a) override {
    a[0] = -gravity_ * std::sin(x[0]);
  }

 private:
  Real gravity_;
};

/// Longest step of the reference [s]; its error is then far below those that are looked for.
constexpr Real reference_step = 5e-4;

}  // namespace

Stabilization stabilization(const std::string& name) {
  const auto known = std::ranges::find(projections, name);
  if (known == projections.end())
    throw InputError(fmt::format("--projection: '{}' is none of none, position, velocity, both", name));
  return {.position = name == "position" || name == "both", .velocity = name == "velocity" || name == "both"};
}

std::vector<Sample> trajectory(const Run& run) {
  RodChain chain(static_cast<Index>(run.x.size() / 2), run.gravity);
  ConstrainedMotion motion(chain);
  const Stabilization kind = stabilization(run.projection);
  const auto integrator = dae_integrator(run.integrator);
  const int n_steps = steps_until(run.end_time, run.time_step);
  std::vector<Real> x = run.x, v = run.v,
                    history(x.size() * static_cast<std::size_t>(integrator->history_width()));
  const ConstrainedMotion::Defects at_start = motion.defects(x, v);
  if (at_start.position > start_tolerance || at_start.velocity > start_tolerance) {
    const std::string what =
        fmt::format("the start breaks the constraints: g is off by {:.3g} m2, G v by {:.3g} m2/s",
                    at_start.position, at_start.velocity);
    if (run.strict) throw InputError(what + ", and --strict was given");
    motion.stabilize({.position = true, .velocity = true}, x, v);
    Real moved = 0, changed = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      moved = std::max(moved, std::abs(x[i] - run.x[i]));
      changed = std::max(changed, std::abs(v[i] - run.v[i]));
    }
    const Real left = motion.defects(x, v).position;
    if (!(left <= start_tolerance))
      throw InputError(fmt::format("{}; projection leaves {:.3g} m2 of it", what, left));
    log::warn("{}; projected: positions change by {:.3g} m, velocities by {:.3g} m/s", what, moved, changed);
  }
  std::vector<Sample> samples{{0, x, v, chain.energy(x, v), motion.defects(x, v)}};
  integrator->start(motion, 0, run.time_step, {x, v, history});
  for (int step = 1; step <= n_steps; ++step) {
    integrator->step(motion, (step - 1) * run.time_step, run.time_step, {x, v, history});
    motion.stabilize(kind, x, v);
    samples.push_back({step * run.time_step, x, v, chain.energy(x, v), motion.defects(x, v)});
    if (!std::ranges::all_of(x, [](Real value) { return std::abs(value) < too_long; })) break;
  }
  return samples;
}

bool blew_up(const Run& run, const std::vector<Sample>& samples) {
  const Real most =
      *std::ranges::max_element(samples.back().x, {}, [](Real value) { return std::abs(value); });
  return samples.back().t < run.end_time - 0.5 * run.time_step || !(std::abs(most) < too_long);
}

const Sample& at(const std::vector<Sample>& samples, Real time) {
  const Real dt = samples[1].t;
  const auto step = static_cast<std::size_t>(std::lround(time / dt));
  return samples[std::min(step, samples.size() - 1)];
}

std::vector<Sample> exact_motion(Real gravity, const std::vector<Sample>& samples) {
  const auto integrator = make_integrator<2>("rk4");
  Angle angle(gravity);
  const Sample& first = samples.front();
  Real theta = std::atan2(first.x[0], -first.x[1]);
  Real omega = first.v[0] * std::cos(theta) + first.v[1] * std::sin(theta);
  std::vector<Sample> exact{first};
  for (std::size_t k = 1; k < samples.size(); ++k) {
    const Real dt = samples[k].t - samples[k - 1].t;
    const int n = std::max(1, static_cast<int>(std::ceil(dt / reference_step - 1e-6)));
    for (int i = 0; i < n; ++i) integrator->step(angle, 0, dt / n, {{&theta, 1}, {&omega, 1}, {}});
    exact.push_back({samples[k].t,
                     {std::sin(theta), -std::cos(theta)},
                     {omega * std::cos(theta), omega * std::sin(theta)},
                     first.energy,
                     {}});
  }
  return exact;
}

}  // namespace scree::rods
