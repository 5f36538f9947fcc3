#include <algorithm>
#include <array>

#include "verify/rod_chain.hpp"

namespace scree {

using namespace rods;

namespace {

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
  Real most = 0;
  for (const Sample& s : samples)
    if (s.t <= until + 1e-9) most = std::max(most, f(s));
  return most;
}

Real largest_distance(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  Real most = 0;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) most = std::max(most, distance(a[k], b[k]));
  return most;
}

void add_csv(DaeTable& table, const Run& run, const std::vector<Sample>& samples,
             const std::vector<Sample>& exact) {
  if (table.csv.empty())
    table.csv =
        "bodies,g,projection,integrator,dt,t,body,x1,x2,v1,v2,g_max,Gv_max,energy,x1_exact,x2_exact\n";
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const Sample& s = samples[k];
    for (std::size_t i = 0; i < s.x.size(); i += 2)
      table.csv += fmt::format("{},{},{},{},{},{:.12g},{},{},{},{},{},{},{},{},{},{}\n", s.x.size() / 2,
                               run.gravity, run.projection, run.integrator, run.time_step, s.t, i / 2 + 1,
                               s.x[i], s.x[i + 1], s.v[i], s.v[i + 1], s.defects.position, s.defects.velocity,
                               s.energy, k < exact.size() ? fmt::format("{}", exact[k].x[i]) : "",
                               k < exact.size() ? fmt::format("{}", exact[k].x[i + 1]) : "");
  }
}

Run published(Real gravity, Real time_step, const std::string& projection) {
  return {.gravity = gravity, .time_step = time_step, .projection = projection, .x = {1, 0}, .v = {0, 0}};
}

/// Runs whose paths are stored, compared row by row.
void compare_with_stored(DaeTable& table) {
  const std::string path = table.reference("pendulum_drift.csv");
  const auto rows = read_rows(table.comm(), path, "g,projection,t,x1,x2,v1,v2,radius,eps_pos,eps_vel,energy");
  const std::pair<const char*, const char*> names[] = {
      {"none", "none"}, {"pos", "position"}, {"vel", "velocity"}, {"posvel", "both"}};
  for (const Real gravity : {1.0, 9.81})
    for (const auto& [stored, projection] : names) {
      Real off = 0;
      int n_rows = 0;
      const auto samples = trajectory(published(gravity, 0.1, projection));
      for (const auto& row : rows) {
        if (number(row[0], path) != gravity || row[1] != stored) continue;
        const Sample& s = at(samples, number(row[2], path));
        const Real found[4] = {s.x[0], s.x[1], s.v[0], s.v[1]};
        for (std::size_t k = 0; k < 4; ++k)
          off = std::max(off, std::abs(found[k] - number(row[3 + k], path)));
        ++n_rows;
      }
      if (n_rows < 19)
        throw InputError(fmt::format("{}: rows of {} at g = {} are missing", path, stored, gravity));
      table.at_most(fmt::format("g = {:g}, {}", gravity, projection),
                    fmt::format("off {} stored points", n_rows), off, 1e-9);
    }
  const std::string exact_path = table.reference("pendulum_exact.csv");
  for (const Real gravity : {1.0, 9.81}) {
    const auto exact = exact_motion(gravity, trajectory(published(gravity, 0.1, "both")));
    Real off = 0;
    for (const auto& row : read_rows(table.comm(), exact_path, "g,t,x1,x2,v1,v2")) {
      if (number(row[0], exact_path) != gravity) continue;
      const Sample& s = at(exact, number(row[1], exact_path));
      off = std::max({off, std::abs(s.x[0] - number(row[2], exact_path)),
                      std::abs(s.x[1] - number(row[3], exact_path))});
    }
    table.at_most(fmt::format("g = {:g}, exact", gravity), "off the stored points", off, 1e-9);
  }
}

/// Half a unit of the last of two digits that a number was published with, and as much again.
Real two_digits(Real value) {
  return 0.1 * std::pow(10.0, std::floor(std::log10(value)));
}

Run wanted(const DaeOptions& options, const Run& defaults) {
  Run run = defaults;
  run.gravity = options.gravity.value_or(run.gravity);
  run.time_step = options.time_step.value_or(run.time_step);
  run.end_time = options.end_time.value_or(run.end_time);
  if (!options.integrator.empty()) run.integrator = options.integrator;
  if (!options.projection.empty()) run.projection = options.projection;
  if (!options.start.empty()) run.x = options.start;
  if (!options.velocity.empty()) run.v = options.velocity;
  run.strict = options.strict;
  return run;
}

void show_samples(DaeTable& table, const Run& run, const std::vector<Sample>& samples,
                  const std::vector<Sample>& exact) {
  table.show(fmt::format("g = {:g} m/s2, dt = {:g} s, projection {}, {}", run.gravity, run.time_step,
                         run.projection, run.integrator));
  table.show(fmt::format("{:>10} {:>12} {:>12} {:>12} {:>12}", "t [s]", "|g| [m2]", "|G v| [m2/s]",
                         "energy [J]", "error [m]"));
  constexpr std::size_t n_lines = 10;
  for (std::size_t line = 0; line <= n_lines; ++line) {
    const std::size_t k = line * (samples.size() - 1) / n_lines;
    const Sample& s = samples[k];
    table.show(fmt::format("{:>10.4g} {:>12.3g} {:>12.3g} {:>12.6g} {:>12}", s.t, s.defects.position,
                           s.defects.velocity, s.energy,
                           k < exact.size() ? fmt::format("{:.3g}", distance(s, exact[k])) : "-"));
  }
  if (blew_up(run, samples)) table.show(fmt::format("the run blew up at t = {:g} s", samples.back().t));
}

}  // namespace

void verify_pendulum(DaeTable& table) {
  table.head("Pendulum of unit length and mass from the horizontal, classical Runge-Kutta unless named.\n");
  constexpr Real g = 9.81;
  const auto name_of = [](const Run& run) {
    return fmt::format("g = {:g}, dt = {:g}, {}", run.gravity, run.time_step, run.projection);
  };
  const std::array<Real, 4> times{2.4, 4.7, 7.1, 10};
  const auto coarse = [&](const char* projection) {
    const Run run = published(g, 0.1, projection);
    auto samples = trajectory(run);
    add_csv(table, run, samples, exact_motion(g, samples));
    return std::pair(name_of(run), std::move(samples));
  };
  const auto radii = [&](const std::string& name, const std::vector<Sample>& samples,
                         const std::array<Real, 4>& expected, Real band) {
    for (std::size_t k = 0; k < times.size(); ++k)
      table.row(name, fmt::format("radius at t = {:g}", times[k]), expected[k], radius(at(samples, times[k])),
                band);
  };
  const auto rate = [](const Sample& s) { return s.defects.velocity; };

  {
    const auto [name, samples] = coarse("none");
    radii(name, samples, {0.98096, 0.92266, 0.80071, 0.44152}, 1e-5);
    table.row(name, "largest |x.v| to t = 10", 9e-2, largest(samples, 10, rate), 1e-2);
    table.holds(name, "blows up before t = 20", blew_up(published(g, 0.1, "none"), samples));
  }
  {
    const auto [name, samples] = coarse("position");
    table.holds(name, "blows up before t = 20", blew_up(published(g, 0.1, "position"), samples));
  }
  {
    const auto [name, samples] = coarse("velocity");
    radii(name, samples, {0.99912, 0.99825, 0.99738, 0.99634}, 1e-5);
    table.row(name, "radius at t = 20", 0.99269, radius(samples.back()), 1e-5);
    table.at_most(name, "largest |x.v|/(|x||v|)", largest(samples, 20, relative_rate), 1e-15);
  }
  {
    const auto [name, samples] = coarse("both");
    radii(name, samples, {1, 1, 1, 1}, 5e-16);
    table.at_most(name, "largest |x.v|/(|x||v|)", largest(samples, 20, relative_rate), 1e-15);
    const Real start_energy = samples.front().energy;
    table.row(name, "largest loss of energy [J]", 0.286,
              largest(samples, 20, [&](const Sample& s) { return start_energy - s.energy; }), 5e-4);
    const auto exact = exact_motion(g, samples);
    table.row(name, "largest position error [m]", 0.26, largest_distance(samples, exact), 5e-3);
  }

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
    const auto errors = [&](const char* projection, Real expected_radius, Real expected_position) {
      const Run run = published(p.gravity, p.time_step, projection);
      const auto samples = trajectory(run);
      const Real drift = largest(samples, run.end_time, radius_error);
      if (expected_radius > 0)
        table.row(name_of(run), "largest radius error [m]", expected_radius, drift,
                  two_digits(expected_radius));
      table.row(name_of(run), "largest position error [m]", expected_position,
                largest_distance(samples, exact_motion(p.gravity, samples)), two_digits(expected_position));
      return drift;
    };
    const Real none = errors("none", p.radius_none, p.position_none);
    const Real velocity = errors("velocity", p.radius_velocity, p.position_velocity);
    errors("both", 0, p.position_both);
    if (p.gravity == 1 && p.time_step < 0.1) {
      table.row(fmt::format("g = 1, dt = {:g}", p.time_step), "order of the radius, none", 4,
                std::log2(last_none / none), 0.1);
      table.row(fmt::format("g = 1, dt = {:g}", p.time_step), "order of the radius, velocity", 5,
                std::log2(last_velocity / velocity), 0.1);
    }
    last_none = none;
    last_velocity = velocity;
  }
  for (const char* integrator : {"gear", "symplectic_euler"}) {
    Run run = published(1, 0.025, "both");
    run.integrator = integrator;
    const auto samples = trajectory(run);
    add_csv(table, run, samples, exact_motion(1, samples));
    table.at_most(name_of(run), std::string(integrator) + ": largest radius error",
                  largest(samples, run.end_time, radius_error), 5e-16);
    table.at_most(name_of(run), std::string(integrator) + ": |x.v|/(|x||v|)",
                  largest(samples, run.end_time, relative_rate), 1e-15);
  }
  compare_with_stored(table);
}

void run_pendulum(DaeTable& table) {
  const Run run = wanted(table.options(), published(9.81, 0.1, "velocity"));
  const auto samples = trajectory(run);
  const auto exact = exact_motion(run.gravity, samples);
  add_csv(table, run, samples, exact);
  show_samples(table, run, samples, exact);
  if (stabilization(run.projection).velocity)
    table.at_most("this run", "largest |x.v|/(|x||v|)", largest(samples, run.end_time, relative_rate), 1e-15);
}

namespace {

Run double_pendulum(Real time_step, const std::string& projection) {
  return {
      .time_step = time_step, .end_time = 3, .projection = projection, .x = {1, 0, 1, -1}, .v = {0, 0, 0, 0}};
}

}  // namespace

void verify_double_pendulum(DaeTable& table) {
  table.head(
      "Double pendulum of unit rods and masses, the first rod horizontal, the second hanging; g = 9.81, to t "
      "= 4.\n");
  const auto fine = trajectory(double_pendulum(0.005 / 16, "both"));
  const auto reference_at = [&](const std::vector<Sample>& samples) {
    std::vector<Sample> found;
    for (const Sample& s : samples) found.push_back(at(fine, s.t));
    return found;
  };
  for (const char* projection : projections) {
    Real drift[2] = {}, error[2] = {};
    for (int k = 0; k < 2; ++k) {
      const Run run = double_pendulum(k == 0 ? 0.01 : 0.005, projection);
      const auto samples = trajectory(run);
      const auto reference = reference_at(samples);
      if (k == 1) add_csv(table, run, samples, reference);
      drift[k] = largest(samples, run.end_time, [](const Sample& s) { return s.defects.position; });
      error[k] = largest_distance(samples, reference);
      const std::string name = fmt::format("dt = {:g}, {}", run.time_step, projection);
      const Stabilization kind = stabilization(projection);
      if (kind.position) table.at_most(name, "largest |g| [m2]", drift[k], 1e-15);
      if (kind.velocity)
        table.at_most(name, "largest |G v| [m2/s]",
                      largest(samples, run.end_time, [](const Sample& s) { return s.defects.velocity; }),
                      4e-15);
      if (k == 1)
        table.at_most(name, "largest change of energy [J]",
                      largest(samples, run.end_time,
                              [&](const Sample& s) { return std::abs(s.energy - samples.front().energy); }),
                      kind.velocity ? 1e-5 : 2e-4);
    }
    // One pendulum drifts with order 5 once its velocity is projected; two only do what the integrator
    // promises.
    if (!stabilization(projection).position)
      table.row(projection, "order of |g|", 4, std::log2(drift[0] / drift[1]), 0.2);
    table.at_least(projection, "order of positions", std::log2(error[0] / error[1]), 3.8);
  }
}

void run_double_pendulum(DaeTable& table) {
  const Run run = wanted(table.options(), double_pendulum(0.01, "velocity"));
  const auto samples = trajectory(run);
  add_csv(table, run, samples, {});
  show_samples(table, run, samples, {});
  if (stabilization(run.projection).velocity)
    table.at_most("this run", "largest |G v| [m2/s]",
                  largest(samples, run.end_time, [](const Sample& s) { return s.defects.velocity; }), 1e-13);
}

}  // namespace scree
