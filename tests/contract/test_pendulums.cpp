// Integrators with constraints on positions (ConstrainedMotion): pendulums beside exact motions, published
// numbers and stored paths of a prototype (tests/reference/dae). Unit masses hang on each other by rods of
// unit length, the first at the origin.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "support/holonomic.hpp"
#include "support/reference_rows.hpp"

namespace scree {

namespace {

const std::string folder = SCREE_TESTS "/reference/dae/";

struct Sample {
  Real t = 0;
  std::vector<Real> x, v;
  Real energy = 0;
  ConstrainedMotion::Defects defects;
};

struct Run {
  Real gravity = 9.81, time_step = 0.1, end_time = 20;
  std::string projection = "velocity", integrator = "rk4";
  std::vector<Real> x, v;
  int n_steps() const { return static_cast<int>(std::lround(end_time / time_step)); }
};

constexpr std::array projections{"none", "position", "velocity", "both"};

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

Stabilization stabilization(const std::string& projection) {
  return {.position = projection == "position" || projection == "both",
          .velocity = projection == "velocity" || projection == "both"};
}

/// Samples of the start and of each step; fewer than asked for if the run blows up.
std::vector<Sample> trajectory(const Run& run) {
  RodChain chain(static_cast<Index>(run.x.size() / 2), run.gravity);
  ConstrainedMotion motion(chain);
  const Stabilization kind = stabilization(run.projection);
  const auto integrator = make_integrator<2>(run.integrator);
  std::vector<Real> x = run.x, v = run.v,
                    history(x.size() * static_cast<std::size_t>(integrator->history_width()));
  std::vector<Sample> samples{{0, x, v, chain.energy(x, v), motion.defects(x, v)}};
  integrator->start(motion, 0, run.time_step, {x, v, history});
  for (int step = 1; step <= run.n_steps(); ++step) {
    integrator->step(motion, (step - 1) * run.time_step, run.time_step, {x, v, history});
    motion.stabilize(kind, x, v);
    samples.push_back({step * run.time_step, x, v, chain.energy(x, v), motion.defects(x, v)});
    if (!std::ranges::all_of(x, [](Real value) { return std::abs(value) < too_long; })) break;
  }
  return samples;
}

bool blew_up(const Run& run, const std::vector<Sample>& samples) {
  const Real max =
      *std::ranges::max_element(samples.back().x, {}, [](Real value) { return std::abs(value); });
  return samples.back().t < run.end_time - 0.5 * run.time_step || !(std::abs(max) < too_long);
}

/// The sample of this time, or the last one.
const Sample& at(const std::vector<Sample>& samples, Real time) {
  const Real dt = samples[1].t;
  const auto step = static_cast<std::size_t>(std::lround(time / dt));
  return samples[std::min(step, samples.size() - 1)];
}

/// Exact motion of a single pendulum at the times of `samples`, from their first.
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

Real radius(const Sample& sample) {
  return std::hypot(sample.x[0], sample.x[1]);
}
Real radius_error(const Sample& sample) {
  return std::abs(radius(sample) - 1);
}

/// |x.v| / (|x| |v|) of one pendulum.
Real relative_rate(const Sample& s) {
  const Real size = radius(s) * std::hypot(s.v[0], s.v[1]);
  return size > 0 ? std::abs(s.x[0] * s.v[0] + s.x[1] * s.v[1]) / size : 0;
}

Real distance(const Sample& a, const Sample& b) {
  Real sum = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i) sum += (a.x[i] - b.x[i]) * (a.x[i] - b.x[i]);
  return std::sqrt(sum);
}

template <class F>
Real largest(const std::vector<Sample>& samples, Real until, const F& f) {
  Real max = 0;
  for (const Sample& s : samples)
    if (s.t <= until + 1e-9) max = std::max(max, f(s));
  return max;
}

Real largest_distance(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  Real max = 0;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) max = std::max(max, distance(a[k], b[k]));
  return max;
}

Real rate(const Sample& sample) {
  return sample.defects.velocity;
}

/// At t = 2.4, 4.7, 7.1 and 10 s.
void check_radii(const std::vector<Sample>& samples, const std::array<Real, 4>& expected, Real band) {
  const std::array<Real, 4> times{2.4, 4.7, 7.1, 10};
  for (std::size_t k = 0; k < times.size(); ++k)
    CHECK(std::abs(radius(at(samples, times[k])) - expected[k]) <= band);
}

/// Half a unit of the last of two digits that a number was published with, and as much again.
Real two_digits(Real value) {
  return 0.1 * std::pow(10.0, std::floor(std::log10(value)));
}

Run published(Real gravity, Real time_step, const std::string& projection) {
  return {.gravity = gravity, .time_step = time_step, .projection = projection, .x = {1, 0}, .v = {0, 0}};
}

Run double_pendulum(Real time_step, const std::string& projection) {
  return {
      .time_step = time_step, .end_time = 3, .projection = projection, .x = {1, 0, 1, -1}, .v = {0, 0, 0, 0}};
}

}  // namespace

TEST_CASE("Pendulum: without projection of velocities it drifts as published, and blows up", "[contract]") {
  const Run run = published(9.81, 0.1, "none");
  const auto samples = trajectory(run);
  check_radii(samples, {0.98096, 0.92266, 0.80071, 0.44152}, 1e-5);
  CHECK(std::abs(largest(samples, 10, rate) - 9e-2) <= 1e-2);
  CHECK(blew_up(run, samples));
  const Run of_positions = published(9.81, 0.1, "position");
  CHECK(blew_up(of_positions, trajectory(of_positions)));
}

TEST_CASE("Pendulum: with projected velocities the radius drifts as published, x.v is round-off",
          "[contract]") {
  const auto samples = trajectory(published(9.81, 0.1, "velocity"));
  check_radii(samples, {0.99912, 0.99825, 0.99738, 0.99634}, 1e-5);
  CHECK(std::abs(radius(samples.back()) - 0.99269) <= 1e-5);
  CHECK(largest(samples, 20, relative_rate) <= 1e-15);
}

TEST_CASE("Pendulum: with both projections the radius is exact; energy and place are lost as published",
          "[contract]") {
  const auto samples = trajectory(published(9.81, 0.1, "both"));
  check_radii(samples, {1, 1, 1, 1}, 5e-16);
  CHECK(largest(samples, 20, relative_rate) <= 1e-15);
  const Real start_energy = samples.front().energy;
  const Real lost = largest(samples, 20, [&](const Sample& s) { return start_energy - s.energy; });
  CHECK(std::abs(lost - 0.286) <= 5e-4);
  CHECK(std::abs(largest_distance(samples, exact_motion(9.81, samples)) - 0.26) <= 5e-3);
}

TEST_CASE("Pendulum: errors of smaller steps and gravity are the published ones; drift is of order 4 and 5",
          "[contract]") {
  struct Published {
    Real gravity, time_step;
    Real radius_none, radius_velocity, position_none, position_velocity, position_both;
  };
  const Published published_errors[] = {{1, 0.1, 1.5e-3, 8.1e-6, 2.7e-3, 7.4e-5, 4.3e-5},
                                        {1, 0.05, 9.5e-5, 2.5e-7, 1.7e-4, 1.9e-6, 2.5e-6},
                                        {1, 0.025, 5.9e-6, 8.0e-9, 1.1e-5, 1.9e-7, 2.2e-7},
                                        {9.81, 0.05, 9.7e-2, 2.4e-4, 0.47, 1.2e-2, 8.2e-3},
                                        {9.81, 0.025, 5.6e-3, 7.7e-6, 3.1e-2, 3.2e-4, 2.1e-4}};
  Real last_none = 0, last_velocity = 0;
  for (const Published& p : published_errors) {
    const auto drift = [&](const char* projection, Real expected_radius, Real expected_position) {
      INFO(fmt::format("g = {:g}, dt = {:g}, {}", p.gravity, p.time_step, projection));
      const Run run = published(p.gravity, p.time_step, projection);
      const auto samples = trajectory(run);
      const Real found = largest(samples, run.end_time, radius_error);
      if (expected_radius > 0) CHECK(std::abs(found - expected_radius) <= two_digits(expected_radius));
      CHECK(std::abs(largest_distance(samples, exact_motion(p.gravity, samples)) - expected_position) <=
            two_digits(expected_position));
      return found;
    };
    const Real none = drift("none", p.radius_none, p.position_none);
    const Real velocity = drift("velocity", p.radius_velocity, p.position_velocity);
    drift("both", 0, p.position_both);
    if (p.gravity == 1 && p.time_step < 0.1) {
      CHECK(std::abs(std::log2(last_none / none) - 4) <= 0.1);
      CHECK(std::abs(std::log2(last_velocity / velocity) - 5) <= 0.1);
    }
    last_none = none;
    last_velocity = velocity;
  }
}

TEST_CASE("Pendulum: both projections hold the constraints with every integrator", "[contract]") {
  for (const auto& entry : registry<Integrator<2>>()) {
    CAPTURE(entry.name);
    Run run = published(1, 0.025, "both");
    run.integrator = entry.name;
    const auto samples = trajectory(run);
    CHECK(largest(samples, run.end_time, radius_error) <= 5e-16);
    CHECK(largest(samples, run.end_time, relative_rate) <= 1e-15);
  }
}

TEST_CASE("Pendulum: stored paths of a prototype, to 1e-9", "[contract]") {
  const auto rows = reference_rows(folder + "pendulum_drift.csv",
                                   "g,projection,t,x1,x2,v1,v2,radius,eps_pos,eps_vel,energy");
  const auto exact_rows = reference_rows(folder + "pendulum_exact.csv", "g,t,x1,x2,v1,v2");
  const std::pair<const char*, const char*> names[] = {
      {"none", "none"}, {"pos", "position"}, {"vel", "velocity"}, {"posvel", "both"}};
  for (const Real gravity : {1.0, 9.81}) {
    std::vector<Sample> last;
    for (const auto& [stored, projection] : names) {
      INFO(fmt::format("g = {:g}, {}", gravity, projection));
      last = trajectory(published(gravity, 0.1, projection));
      int n_rows = 0;
      for (const auto& row : rows) {
        if (std::stod(row[0]) != gravity || row[1] != stored) continue;
        ++n_rows;
        const Sample& s = at(last, std::stod(row[2]));
        const Real found[4] = {s.x[0], s.x[1], s.v[0], s.v[1]};
        for (std::size_t k = 0; k < 4; ++k) CHECK(std::abs(found[k] - std::stod(row[3 + k])) <= 1e-9);
      }
      CHECK(n_rows >= 19);
    }
    const auto exact = exact_motion(gravity, last);
    int n_exact = 0;
    for (const auto& row : exact_rows) {
      if (std::stod(row[0]) != gravity) continue;
      ++n_exact;
      const Sample& s = at(exact, std::stod(row[1]));
      CHECK(std::abs(s.x[0] - std::stod(row[2])) <= 1e-9);
      CHECK(std::abs(s.x[1] - std::stod(row[3])) <= 1e-9);
    }
    CHECK(n_exact > 0);
  }
}

TEST_CASE("Pendulum: a start off its constraints is put onto them", "[contract]") {
  RodChain chain(1, 9.81);
  ConstrainedMotion motion(chain);
  // |x| = 2.5: g = (6.25 - 1)/2, x.v = 12.5; all of the velocity is along the rod.
  std::vector<Real> x{1.5, 2}, v{3, 4};
  CHECK(motion.defects(x, v).position == Approx(2.625));
  CHECK(motion.defects(x, v).velocity == Approx(12.5));
  motion.stabilize(stabilization("both"), x, v);
  CHECK(x[0] == Approx(0.6).margin(1e-14));
  CHECK(v[1] == Approx(0).margin(1e-14));
}

// The first rod horizontal, the second hanging; g = 9.81, to 3 s. Compared with steps that are 16 times
// smaller.
TEST_CASE(
    "Double pendulum: drift is of order 4, positions of order 3.8 at least; what is projected is round-off",
    "[contract]") {
  const auto fine = trajectory(double_pendulum(0.005 / 16, "both"));
  const auto position_defect = [](const Sample& s) { return s.defects.position; };
  for (const char* projection : projections) {
    CAPTURE(projection);
    const Stabilization kind = stabilization(projection);
    Real drift[2] = {}, error[2] = {};
    for (int k = 0; k < 2; ++k) {
      const Run run = double_pendulum(k == 0 ? 0.01 : 0.005, projection);
      const auto samples = trajectory(run);
      std::vector<Sample> reference;
      for (const Sample& s : samples) reference.push_back(at(fine, s.t));
      drift[k] = largest(samples, run.end_time, position_defect);
      error[k] = largest_distance(samples, reference);
      if (kind.position) CHECK(drift[k] <= 1e-15);
      if (kind.velocity) CHECK(largest(samples, run.end_time, rate) <= 4e-15);
      const Real start_energy = samples.front().energy;
      const Real change =
          largest(samples, run.end_time, [&](const Sample& s) { return std::abs(s.energy - start_energy); });
      if (k == 1) CHECK(change <= (kind.velocity ? 1e-5 : 2e-4));
    }
    // One pendulum drifts with order 5 once its velocity is projected; two only do what the integrator
    // promises.
    if (!kind.position) CHECK(std::abs(std::log2(drift[0] / drift[1]) - 4) <= 0.2);
    CHECK(std::log2(error[0] / error[1]) >= 3.8);
  }
}

}  // namespace scree
