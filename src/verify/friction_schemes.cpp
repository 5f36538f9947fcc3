#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "run/simulation.hpp"
#include "state/energy_balance.hpp"
#include "verify/checks.hpp"
#include "verify/grain_cases.hpp"

namespace scree {

namespace {

using Overrides = std::vector<std::string>;

constexpr Real radius = 0.5;  // [m], and 1 kg, of all disks

/// A scheme with its treatment of friction, as overrides of a deck.
struct Variant {
  std::string name;
  bool soft = false;
  bool spring = false;  ///< friction is that of a tangential spring
  Real dt = 0;          ///< [s]
  Overrides overrides;
};

/// How stiff contacts of soft schemes are, and the steps that go with it: 70 and 44 to a contact's period.
struct Softness {
  Real stiffness = 0;  ///< [N/m]
  Real dt = 0;         ///< [s]
};
constexpr Softness for_comparison{1e5, 2e-4};
constexpr Softness for_threshold{1e6, 1e-4};

/// What the solvers of contact problems reach for such small systems, so that what is left are errors of
/// schemes.
constexpr Real sweep_tolerance = 1e-12;

Variant rigid(const std::string& solver, Real tolerance, Real dt) {
  return {"nonsmooth " + solver,
          false,
          false,
          dt,
          {"simulation.scheme=nonsmooth", "solver.type=" + solver,
           fmt::format("solver.tolerance={:e}", tolerance)}};
}

Variant soft(const std::string& friction, const Softness& softness) {
  return {"dem " + friction,
          true,
          friction == "spring",
          softness.dt,
          {"simulation.scheme=dem", "dem.friction=" + friction,
           fmt::format("pairs.body-body.stiffness={:e}", softness.stiffness),
           fmt::format("pairs.body-floor.stiffness={:e}", softness.stiffness)}};
}

std::vector<Variant> variants(const Softness& softness, Real interior_tolerance, bool several_steps = false) {
  std::vector<Variant> all{rigid("nsgs", sweep_tolerance, 1e-2)};
  if (several_steps) all.push_back(rigid("nsgs", sweep_tolerance, 1e-3));
  all.push_back(rigid("ipm", interior_tolerance, 1e-2));
  all.push_back(soft("spring", softness));
  all.push_back(soft("dae", softness));
  return all;
}

/// The places of bodies by id, and how fast the fastest is.
struct Look {
  std::vector<Vec<2>> position;
  std::vector<Vec<2>> velocity;
  Real fastest = 0;  ///< [m/s]
  Real kinetic = 0;  ///< [J]
};

Look look(const Simulation<2>& simulation) {
  const GrainStates<2> states = states_of(simulation);
  Look seen{states.position, states.velocity, 0, mechanical_energy(simulation.state()).kinetic};
  for (const Vec<2>& v : seen.velocity) seen.fastest = std::max(seen.fastest, norm(v));
  return seen;
}

/// What became of a deck.
struct Course {
  Look start, end;
  Vec<2> before_end{};  ///< place of the last body 1 s before the end
  std::int64_t n_steps = 0;
  Real seconds = 0;  ///< of real time
};

/// Runs a deck of inputs/verification for `duration` [s], or until the last body has sunk by `sunk_limit`.
Course follow(const Comm& comm, const std::string& source, const std::string& deck_name,
              const Variant& variant, Overrides overrides, Real duration, Real sunk_limit = HUGE_VAL) {
  overrides.insert(overrides.end(), variant.overrides.begin(), variant.overrides.end());
  overrides.push_back(fmt::format("time.step={:e}", variant.dt));
  overrides.push_back(fmt::format("simulation.end_time={}", duration));
  RunDeck<2> deck =
      read_run_deck<2>(Deck::read(comm, source + "/inputs/verification/" + deck_name + ".toml", overrides));
  const auto begin = std::chrono::steady_clock::now();
  Simulation<2> simulation(comm, std::move(deck));
  Course course;
  course.start = look(simulation);
  course.before_end = course.start.position.back();
  const Real late = duration - 1;
  // Looking at all bodies is a reduction; a collapse shows in a hundredth of a second.
  const auto look_every = std::max<std::int64_t>(1, std::llround(1e-2 / variant.dt));
  while (simulation.running()) {
    const Real before = simulation.state().clock.time;
    simulation.step();
    ++course.n_steps;
    const Real now = simulation.state().clock.time;
    const bool passes = before < late && now >= late;
    if (passes) course.before_end = states_of(simulation).position.back();
    if (std::isinf(sunk_limit) || course.n_steps % look_every != 0) continue;
    const Real height = states_of(simulation).position.back()[1];
    if (course.start.position.back()[1] - height > sunk_limit) break;
  }
  course.end = look(simulation);
  course.seconds = comm.max(std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin).count());
  return course;
}

/// One row of the comparison.
struct Row {
  std::string name;
  Real error = 0;        ///< of a place [m]
  Real error_bound = 0;  ///< [m]
  Real speed = 0;        ///< that should be 0, or its error [m/s]
  Real speed_bound = 0;  ///< [m/s]
};

/// The rows of all cases: shown, checked and kept as CSV.
class Table : public Checks {
 public:
  Table(const Comm& comm, const Show& show_line)
      : Checks(
            comm, show_line,
            "case,scheme,dt[s],error[m],error_bound[m],speed[m/s],speed_bound[m/s],kinetic_energy[J],steps,"
            "wall[s]\n") {
    show(
        "One system, three schemes: error of the place at the end (of stacks: how far the top moves in the "
        "last second)\nand error of the speed, for rest the speed itself.\n");
    show(fmt::format("{:<24} {:<14} {:>7} {:>10} {:>8} {:>10} {:>8} {:>9} {:>7} {:>8}", "case", "scheme",
                     "dt [s]", "error [m]", "bound", "speed[m/s]", "bound", "E_kin [J]", "steps",
                     "wall [s]"));
  }
  void add(const Variant& variant, const Course& course, const Row& row) {
    show(fmt::format("{:<24} {:<14} {:>7g} {:>10.2e} {:>8.1e} {:>10.2e} {:>8.1e} {:>9.1e} {:>7} {:>8.2f}",
                     row.name, variant.name, variant.dt, row.error, row.error_bound, row.speed,
                     row.speed_bound, course.end.kinetic, course.n_steps, course.seconds));
    csv += fmt::format("{},{},{:g},{},{:g},{},{:g},{},{},{:.3g}\n", row.name, variant.name, variant.dt,
                       row.error, row.error_bound, row.speed, row.speed_bound, course.end.kinetic,
                       course.n_steps, course.seconds);
    const std::string what = fmt::format("{}, {}, dt = {:g}: ", row.name, variant.name, variant.dt);
    count(row.error <= row.error_bound, what + "the error of the place is above its bound");
    count(row.speed <= row.speed_bound, what + "the speed is above its bound");
  }
};

/// Speed that counts as rest [m/s]: what solvers and the last oscillations of a contact leave, with room to
/// spare.
constexpr Real rest_speed = 1e-11;
/// Kinetic energy that counts as rest [J]: the smaller one for forces that stop all motion, the larger one
/// for what the tolerance of interior points leaves.
constexpr Real soft_rest_energy = 1e-24;
constexpr Real rigid_rest_energy = 1e-22;
/// If friction just holds, interior points find the solution to about the root of round-off only.
constexpr Real degenerate_rest_speed = 1e-8;

/// A block on a slope after some time, from 0 with velocity v0 (docs/verification.md).
struct Slide {
  Real place = 0;      ///< [m]
  Real velocity = 0;   ///< [m/s]
  Real turnover = 0;   ///< total variation of the velocity [m/s]
  bool stops = false;  ///< once, on the way
  Real after = 0;      ///< acceleration once it has stopped [m/s2]
};
Slide slide_exactly(Real weight, Real limit, Real v0, Real time) {
  // Round-off in mu = tan(angle) does not make a block move.
  const Real rounding = 1e-12 * weight;
  const auto net = [&](Real direction) {
    const Real a = weight - direction * limit;
    return std::abs(a) < rounding ? 0 : a;
  };
  const Real a = net(v0 > 0 ? 1 : -1);
  const Real stop = a * v0 < 0 ? -v0 / a : HUGE_VAL;
  if (stop > time) return {v0 * time + a * time * time / 2, v0 + a * time, std::abs(a) * time, false, 0};
  const Real after = std::max(net(1), 0.0);
  const Real left = time - stop;
  return {v0 * stop / 2 + after * left * left / 2, after * left, std::abs(v0) + after * left, true, after};
}

/// How far results may be from those of a block of 1 kg and rigid contact.
///
/// Rigid: positions follow the new velocity, which is half a step of its changes too much; a block that turns
/// back starts up to a step late. Soft, k: contact starts without its overlap N/k, so that friction is late
/// by mu N/k in place. A tangential spring of 2/7 k holds mu N when it is stretched by d = 7/2 mu N/k. It
/// takes a block that stops up to 2 d back, and pushes one that turns back: the weight W does the work 2 d W,
/// with no friction on balance, so it is too fast by up to 2 sqrt(d W).
Row slope_bounds(const Variant& variant, const Slide& exact, Real weight, Real limit, Real time) {
  constexpr Real solver = 1e-6;  // what residuals add up to in all steps
  Row row;
  const Real a_step_late = exact.after * variant.dt;
  // Where friction just holds, what a spring pushes back goes on for ever: no force is left to stop it.
  const Real turns = exact.stops && limit < weight * (1 + 1e-12) ? 1 : 0;
  if (variant.soft) {
    const Real late = limit / for_comparison.stiffness;
    const Real stretch = variant.spring ? 3.5 * late : 0;
    row.speed_bound = turns * (2 * std::sqrt(stretch * weight) + a_step_late);
    row.error_bound = 1.1 * (late + 2 * stretch) + row.speed_bound * time;
  } else {
    row.speed_bound = a_step_late;
    row.error_bound = 0.51 * variant.dt * exact.turnover + a_step_late * time + solver;
  }
  row.speed_bound += exact.velocity == 0 ? rest_speed : solver;
  return row;
}

void compare_slopes(const VerifyOptions& options, Table& table) {
  constexpr Real g = 9.81;
  const Real time = options.quick ? 0.5 : 3;
  const Real angle = std::numbers::pi / 6;
  const Real weight = g * std::sin(angle);
  for (const Real factor : {0.5, 1.0, 3.0})
    for (const Real v0 : {1.0, -1.0}) {
      if (options.quick && (factor < 3 || v0 < 0)) continue;
      const Real mu = factor * std::tan(angle);
      const Real limit = mu * g * std::cos(angle);
      const Slide exact = slide_exactly(weight, limit, v0, time);
      for (const Variant& variant : variants(for_comparison, 1e-11, !options.quick)) {
        const Course course = follow(table.comm(), options.source, "slope", variant,
                                     {fmt::format("pairs.body-floor.friction={:.17g}", mu),
                                      fmt::format("particles.disk.velocity=[{}, 0]", v0)},
                                     time);
        Row row = slope_bounds(variant, exact, weight, limit, time);
        row.name = fmt::format("slope {:g} tan {}", factor, v0 > 0 ? "down" : "up");
        row.error = std::abs((course.end.position[0] - course.start.position[0])[0] - exact.place);
        row.speed = std::abs(course.end.velocity[0][0] - exact.velocity);
        if (factor == 1 && exact.stops && !variant.spring) row.speed_bound = degenerate_rest_speed;
        table.add(variant, course, row);
      }
    }
}

/// Where an oscillator with dry friction comes to rest that starts at rest at x0: it swings about -limit and
/// limit in turn.
Real rest_of_oscillator(Real x0, Real limit) {
  Real x = x0;
  while (std::abs(x) > limit) x = (x > 0 ? 2 : -2) * limit - x;
  return x;
}

void compare_oscillators(const VerifyOptions& options, Table& table) {
  constexpr Real limit = 0.2;  // mu m g / k [m]
  for (const Real x0 : {2.5, -1.7, 0.65}) {
    if (options.quick && x0 != 0.65) continue;
    const Real exact = rest_of_oscillator(x0, limit);
    for (const Variant& variant : variants(for_comparison, 1e-11, !options.quick)) {
      if (options.quick && variant.soft) continue;  // 32000 steps
      const Course course =
          follow(table.comm(), options.source, "oscillator", variant,
                 {fmt::format("particles.disk.source.region.lower=[{}, 0]", x0 - radius),
                  fmt::format("particles.disk.source.region.upper=[{}, {}]", x0 + radius, 2 * radius)},
                 options.quick ? 6.5 : 25);
      Row row{fmt::format("oscillator x0 = {:g}", x0)};
      row.error = std::abs(course.end.position[0][0] - exact);
      // Of second order, since the errors of two half cycles cancel. Soft contact is late by mu N/k, and at
      // each of up to six turns a tangential spring gives way on both sides.
      const Real late = limit / for_comparison.stiffness;
      row.error_bound = !variant.soft ? variant.dt * variant.dt : variant.spring ? 70 * late : 1.1 * late;
      row.speed = course.end.fastest;
      row.speed_bound = rest_speed;
      table.add(variant, course, row);
    }
  }
}

void compare_stacks(const VerifyOptions& options, Table& table) {
  for (const int n : {3, 6, 10}) {
    if (options.quick && n > 3) continue;
    for (const Variant& variant : variants(for_comparison, 1e-11, !options.quick)) {
      const Course course =
          follow(table.comm(), options.source, fmt::format("stack{}", n), variant, {}, options.quick ? 2 : 3);
      Row row{fmt::format("stack of {}", n)};
      row.error = norm(course.end.position.back() - course.before_end);
      row.error_bound = rest_speed;
      row.speed = course.end.fastest;
      row.speed_bound = rest_speed;
      table.add(variant, course, row);
      table.count(course.end.kinetic < (variant.soft ? soft_rest_energy : rigid_rest_energy),
                  fmt::format("{}, {}: kinetic energy {:.1e} J", row.name, variant.name, course.end.kinetic));
    }
  }
}

/// Whether three disks stand with this coefficient of friction: the upper one sinks by less than 1e-6 m in
/// the last second of two. Just below the threshold it gathers way at 10 m/s2 per unit of mu: 7e-8 less are
/// seen.
bool stands(const Comm& comm, const std::string& source, const Variant& variant, Real mu) {
  constexpr Real most = 1e-6;
  constexpr Real duration = 2;
  constexpr Real collapsed = 0.1 * radius;
  const Course course = follow(comm, source, "stack3", variant,
                               {fmt::format("pairs.body-floor.friction={:.17g}", mu),
                                fmt::format("pairs.body-body.friction={:.17g}", mu)},
                               duration, collapsed);
  const Real sunk = course.start.position.back()[1] - course.end.position.back()[1];
  return sunk < collapsed && course.before_end[1] - course.end.position.back()[1] < most;
}

}  // namespace

bool compare_friction_schemes(const Comm& comm, const VerifyOptions& options, const Show& show) {
  Table table(comm, show);
  compare_slopes(options, table);
  compare_oscillators(options, table);
  compare_stacks(options, table);
  table.show("");
  return table.finish(options.csv);
}

bool find_friction_threshold(const Comm& comm, const VerifyOptions& options, const Show& show) {
  const Real exact = (std::sqrt(15.0) - 2 * std::sqrt(3.0)) / 3;
  const Real width = options.quick ? 1e-3 : 1e-5;
  Checks checks(comm, show, "scheme,dt[s],mu_c,error,falls,stands,runs,wall[s]\n");
  show(fmt::format(
      "Three disks that cannot turn stand if mu >= (sqrt(15) - 2 sqrt(3))/3 = {:.6f}: by bisection from "
      "0.1 to 0.2.\n",
      exact));
  show(fmt::format("{:<15} {:>7} {:>9} {:>10} {:>10} {:>10} {:>5} {:>8}", "scheme", "dt [s]", "mu_c", "error",
                   "falls", "stands", "runs", "wall [s]"));
  for (const Variant& variant : variants(for_threshold, 1e-10)) {
    const auto begin = std::chrono::steady_clock::now();
    Real falls = 0.1;
    Real holds = 0.2;
    int n_runs = 2;
    bool bracketed =
        !stands(comm, options.source, variant, falls) && stands(comm, options.source, variant, holds);
    for (; bracketed && holds - falls > width; ++n_runs) {
      const Real middle = (falls + holds) / 2;
      (stands(comm, options.source, variant, middle) ? holds : falls) = middle;
    }
    const Real seconds =
        comm.max(std::chrono::duration<Real>(std::chrono::steady_clock::now() - begin).count());
    const Real found = bracketed ? (falls + holds) / 2 : std::numeric_limits<Real>::quiet_NaN();
    show(fmt::format("{:<15} {:>7g} {:>9.6f} {:>10.1e} {:>10.6f} {:>10.6f} {:>5} {:>8.2f}", variant.name,
                     variant.dt, found, found - exact, falls, holds, n_runs, seconds));
    checks.csv += fmt::format("{},{:g},{},{},{},{},{},{:.3g}\n", variant.name, variant.dt, found,
                              found - exact, falls, holds, n_runs, seconds);
    // Soft disks fall into their overlap at first, and slip while they do; springs give way besides.
    const Real bound = (variant.spring ? 1e-3 : variant.soft ? 3e-4 : 0) + width;
    checks.count(std::abs(found - exact) <= bound,
                 fmt::format("{}: mu_c differs from the exact one by more than {:.1e}", variant.name, bound));
  }
  show("");
  return checks.finish(options.csv);
}

}  // namespace scree
