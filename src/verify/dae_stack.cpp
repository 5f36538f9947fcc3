#include <algorithm>
#include <array>
#include <numbers>

#include "core/error.hpp"
#include "state/energy_balance.hpp"
#include "verify/dae_cases.hpp"
#include "verify/positions.hpp"

namespace scree {

namespace {

constexpr std::array sizes{3, 6, 10};
/// Share of critical damping of a pair; at the floor, which gives way as much but does not move, the same
/// damping is less.
constexpr Real pair_damping = 0.2;
constexpr Real floor_damping = pair_damping / std::numbers::sqrt2;
constexpr Real stiffness = 1e5;        // [N/m]
constexpr Real sample_time = 0.1;      // [s]
constexpr Real floor_share = 2.0 / 3;  // of a run, after which its energy is at the floor

struct Run {
  int n_disks = 3;
  bool projection = true;
  std::string integrator = "gear";
  Real time_step = 2e-4, end_time = 3, gravity = 10, mu = 0.5;
};

struct StackSample {
  Real t = 0;
  Real kinetic = 0;  ///< [J]
  int n_contacts = 0, n_sticking = 0;
  Vec<2> top{};   ///< centre of the uppermost disk [m]
  Real slip = 0;  ///< largest of sticking contacts since the last sample [m/s]
};

struct Course {
  std::vector<StackSample> samples;
  std::int64_t n_released = 0;
  std::int64_t n_steps = 0;
};

Real restitution_of(Real damping) {
  return std::exp(-std::numbers::pi * damping / std::sqrt(1 - damping * damping));
}

Course follow(const DaeTable& table, const Run& run) {
  steps_until(run.end_time, run.time_step);
  std::vector<std::string> overrides{"simulation.scheme=dem",
                                     "dem.law=linear",
                                     "dem.friction=dae",
                                     fmt::format("dem.integrator={}", run.integrator),
                                     fmt::format("dem.projection={}", run.projection),
                                     fmt::format("time.step={:e}", run.time_step),
                                     fmt::format("simulation.end_time={}", run.end_time),
                                     fmt::format("physics.gravity=[0, {}]", -run.gravity)};
  for (const auto& [pair, damping] : {std::pair{"body-body", pair_damping}, {"body-floor", floor_damping}}) {
    const std::string key = fmt::format("pairs.{}.", pair);
    overrides.push_back(key + fmt::format("stiffness={:e}", stiffness));
    overrides.push_back(key + fmt::format("restitution={:.17g}", restitution_of(damping)));
    overrides.push_back(key + fmt::format("friction={:.17g}", run.mu));
  }
  Simulation<2> simulation(table.comm(),
                           read_run_deck<2>(Deck::read(table.comm(),
                                                       fmt::format("{}/inputs/verification/stack{}.toml",
                                                                   table.options().source, run.n_disks),
                                                       overrides)));
  Course course;
  Real slip = 0;
  const auto steps_per_sample = std::max<std::int64_t>(1, std::llround(sample_time / run.time_step));
  while (simulation.running()) {
    simulation.step();
    slip = std::max(slip, simulation.certified("slip"));
    course.n_released += std::llround(simulation.certified("releases"));
    if (++course.n_steps % steps_per_sample != 0 && simulation.running()) continue;
    course.samples.push_back({.t = simulation.state().clock.time,
                              .kinetic = mechanical_energy(simulation.state()).kinetic,
                              .n_contacts = static_cast<int>(simulation.certified("contacts")),
                              .n_sticking = static_cast<int>(simulation.certified("sticking")),
                              .top = positions_of(simulation).back(),
                              .slip = slip});
    slip = 0;
  }
  return course;
}

void write(DaeTable& table, const Run& run, const Course& course) {
  if (table.csv.empty())
    table.csv =
        "disks,projection,integrator,mu,time_step[s],time[s],kinetic_energy[J],contacts,sticking,x_top[m],"
        "y_top[m],slip[m/s]\n";
  for (const StackSample& s : course.samples)
    table.csv += fmt::format("{},{},{},{},{},{:.10g},{:.6e},{},{},{:.12g},{:.12g},{:.3e}\n", run.n_disks,
                             run.projection ? "velocity" : "none", run.integrator, run.mu, run.time_step, s.t,
                             s.kinetic, s.n_contacts, s.n_sticking, s.top[0], s.top[1], s.slip);
}

/// Least and largest kinetic energy late in a run.
Interval floor_of(const Run& run, const Course& course) {
  Interval floor{HUGE_VAL, 0};
  for (const StackSample& s : course.samples) {
    if (s.t < floor_share * run.end_time) continue;
    floor.least = std::min(floor.least, s.kinetic);
    floor.most = std::max(floor.most, s.kinetic);
  }
  return floor;
}

struct Published {
  Real t = 0, kinetic = 0;
  int n_sticking = 0;
  Real y_top = 0;
};

/// Of [projection] of one size.
std::array<std::vector<Published>, 2> read_published(const DaeTable& table, int n_disks) {
  const std::string path = table.reference("cannonball.csv");
  std::array<std::vector<Published>, 2> published;
  for (const auto& row :
       read_rows(table.comm(), path, "disks,stabilised,t,kinetic_energy,n_static,n_contacts,x_top,y_top")) {
    const auto value = [&](std::size_t column) { return number(row[column], path); };
    if (value(0) == n_disks)
      published[value(1) == 1 ? 1 : 0].push_back({value(2), value(3), static_cast<int>(value(4)), value(7)});
  }
  return published;
}

const StackSample& at(const Course& course, Real time) {
  return *std::ranges::min_element(course.samples, {},
                                   [&](const StackSample& s) { return std::abs(s.t - time); });
}

void compare(DaeTable& table, int n_disks) {
  // Above this energy the prototype and this code differ by what restitution and geometry round to.
  constexpr Real comparable = 1e-15;
  constexpr Real height_scatter = 1e-5;
  const auto published = read_published(table, n_disks);
  const Run with{.n_disks = n_disks}, without{.n_disks = n_disks, .projection = false};
  const Course projected = follow(table, with), drifting = follow(table, without);
  write(table, with, projected);
  write(table, without, drifting);
  table.show(
      fmt::format("stack of {} disks, mu = {:g}, k = {:g} N/m, steps of {:g} s: kinetic energy [J] (in "
                  "brackets: published)",
                  n_disks, with.mu, stiffness, with.time_step));
  table.show(fmt::format("{:>8} {:>12} {:>12} {:>10} {:>14} {:>12}", "time [s]", "projected", "(published)",
                         "sticking", "not projected", "(published)"));
  for (std::size_t k = 0; k < published[1].size(); ++k) {
    const Published& p = published[1][k];
    const StackSample& mine = at(projected, p.t);
    table.show(fmt::format("{:>8g} {:>12.1e} {:>12} {:>10} {:>14.1e} {:>12}", p.t, mine.kinetic,
                           fmt::format("({:.1e})", p.kinetic), mine.n_sticking, at(drifting, p.t).kinetic,
                           fmt::format("({:.1e})", published[0][k].kinetic)));
    if (p.kinetic > comparable)
      table.count(mine.kinetic > 0.5 * p.kinetic && mine.kinetic < 2 * p.kinetic,
                  fmt::format("{} disks: kinetic energy {:.3g} J at t = {:g} s, published {:.3g} J", n_disks,
                              mine.kinetic, p.t, p.kinetic));
  }
  const Interval rest = floor_of(with, projected), creep = floor_of(without, drifting);
  table.show(
      fmt::format("energy floors: {:.1e} J projected, {:.1e} J not; contacts let go {} and {} times in "
                  "{} steps",
                  rest.most, creep.least, projected.n_released, drifting.n_released, projected.n_steps));
  const std::string name = fmt::format("{} disks", n_disks);
  const StackSample& end = projected.samples.back();
  table.head("checks");
  table.at_most(name, "energy floor, projected [J]", rest.most, 1e-24);
  table.at_least(name, "energy floor, not projected [J]", creep.least, 1e-13);
  table.row(name, "height of the top [m]", published[1].back().y_top, end.top[1], height_scatter);
  table.row(name, "sticking contacts", published[1].back().n_sticking, end.n_sticking, 0);
  Real slip = 0;
  for (const StackSample& s : projected.samples) slip = std::max(slip, s.slip);
  table.at_most(name, "slip where it sticks [m/s]", slip, 1e-15);
  table.show("");
}

}  // namespace

void verify_stack(DaeTable& table) {
  const auto wanted = table.options().disks;
  if (wanted) {
    compare(table, *wanted);
    return;
  }
  for (const int n : sizes)
    if (n == sizes.front() || !table.options().quick) compare(table, n);
}

void run_stack(DaeTable& table) {
  const DaeOptions& options = table.options();
  Run run{.n_disks = options.disks.value_or(sizes.front())};
  if (!options.projection.empty() && options.projection != "none" && options.projection != "velocity")
    throw InputError("--projection: friction has no constraint on positions; stack knows none and velocity");
  run.projection = options.projection != "none";
  if (!options.integrator.empty()) run.integrator = options.integrator;
  dae_integrator(run.integrator);
  run.time_step = options.time_step.value_or(run.time_step);
  run.end_time = options.end_time.value_or(run.end_time);
  run.gravity = options.gravity.value_or(run.gravity);
  run.mu = options.mu.value_or(run.mu);
  const Course course = follow(table, run);
  write(table, run, course);
  table.show(fmt::format("{:>8} {:>14} {:>9} {:>9} {:>13} {:>13} {:>11}", "time [s]", "kinetic [J]",
                         "contacts", "sticking", "x top [m]", "y top [m]", "slip [m/s]"));
  for (const StackSample& s : course.samples)
    table.show(fmt::format("{:>8.4g} {:>14.3e} {:>9} {:>9} {:>13.9f} {:>13.9f} {:>11.1e}", s.t, s.kinetic,
                           s.n_contacts, s.n_sticking, s.top[0], s.top[1], s.slip));
  const Interval floor = floor_of(run, course);
  table.show(
      fmt::format("energy floor of the last third: {:.1e} to {:.1e} J; contacts let go {} times in {} "
                  "steps",
                  floor.least, floor.most, course.n_released, course.n_steps));
}

}  // namespace scree
