#include <algorithm>
#include <cmath>

#include "verify/crowd_runs.hpp"

namespace scree {

namespace {

/// How good one step is, or the worst of several.
struct Optimality {
  Real stationarity = 0;     ///< max |V - U - sum of l n| [m/s]
  Real overlap = 0;          ///< linearised, after the step, of all pairs and walls there are [m]
  Real complementarity = 0;  ///< max |min(l, u)| dt [m]
  Real duality_gap = 0;      ///< over half the sum of |U|^2 [-]
  Real imbalance = 0;        ///< |sum of V - U + sum over walls of l n| over the sum over walls of l [-]
  Real wall_load = 0;        ///< sum over walls of l [m/s]
  Real slowed = 0;           ///< half the sum of |V - U|^2 over half that of |U|^2 [-]

  void take_worst(const Optimality& other) {
    stationarity = std::max(stationarity, other.stationarity);
    overlap = std::max(overlap, other.overlap);
    complementarity = std::max(complementarity, other.complementarity);
    duality_gap = std::max(duality_gap, other.duality_gap);
    imbalance = std::max(imbalance, other.imbalance);
    wall_load = std::max(wall_load, other.wall_load);
    slowed = std::max(slowed, other.slowed);
  }
};

/// What a person at x meets of a wall. If it answers no more though it is loaded, the contact was with the
/// part that it passed on from in the step.
SurfacePoint<2> wall_met(const ObstacleSet<2>& obstacles, int wall, const Vec<2>& x, bool is_loaded) {
  SurfacePoint<2> met;
  obstacles.nearest(wall, {&x, 1}, {&met, 1});
  if (!met.in_reach() && is_loaded)
    obstacles.for_each_neighbour(wall, [&](int other) {
      if (!met.in_reach()) obstacles.nearest(other, {&x, 1}, {&met, 1});
    });
  return met;
}

/// Takes a step with speed_law "none", where U is known, and finds out how good it is from positions before
/// it, velocities and multipliers alone: neither lists of neighbours nor what the scheme thinks of itself are
/// used. Cost O(people^2). Collective.
Optimality judged_step(Simulation<2>& simulation) {
  State<2>& state = simulation.state();
  const std::vector<Person> before = everybody(simulation);
  std::vector<Vec<2>> desired;
  for (const Person& person : before) desired.push_back(person.desired_speed * person.way);
  const Real dt = simulation.next_dt();
  // As Simulation::step(), with a look before anybody leaves.
  simulation.stepper().advance(state, dt, true);
  const std::vector<Person> after = everybody(simulation);
  const Loads loads(simulation);
  ++state.clock.step;
  state.clock.time += state.clock.last_dt;
  simulation.deck().events.apply(state, simulation.stepper(), simulation.deck().groups.size(),
                                 static_cast<std::uint64_t>(simulation.deck().seed));

  Optimality worst;
  std::vector<Vec<2>> reached = desired;  // U + sum of l n
  Real primal_minus_dual = 0;
  Vec<2> on_people{};
  const auto judge = [&](Real gap, Real approach, Real load) {
    const Real u = gap / dt + approach;
    worst.overlap = std::max(worst.overlap, -u * dt);
    worst.complementarity = std::max(worst.complementarity, std::abs(std::min(load, u)) * dt);
    primal_minus_dual += load * u;
  };
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Person& own = before[i];
    if (!own.is_here) continue;
    for (std::size_t j = i + 1; j < before.size(); ++j) {
      if (!before[j].is_here) continue;
      const Vec<2> d = before[j].position - own.position;
      const Vec<2> normal = (1 / norm(d)) * d;
      const Real load = loads.of_pair(i, j);
      reached[i] -= load * normal;
      reached[j] += load * normal;
      judge(norm(d) - own.radius - before[j].radius, dot(normal, after[j].velocity - after[i].velocity),
            load);
    }
    for (std::size_t w = 0; w < loads.n_walls(); ++w) {
      const Real load = loads.of_wall(i, w);
      const SurfacePoint<2> met = wall_met(state.obstacles, static_cast<int>(w), own.position, load > 0);
      if (!met.in_reach()) continue;
      reached[i] += load * met.normal;
      on_people += load * met.normal;
      worst.wall_load += load;
      judge(met.distance - own.radius, dot(met.normal, after[i].velocity), load);
    }
  }
  Vec<2> changed{};
  Real desired_squares = 0, changed_squares = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i].is_here) continue;
    worst.stationarity = std::max(worst.stationarity, norm(after[i].velocity - reached[i]));
    changed += after[i].velocity - desired[i];
    changed_squares += dot(after[i].velocity - desired[i], after[i].velocity - desired[i]);
    desired_squares += dot(desired[i], desired[i]);
  }
  // With V = U + sum of l n the value of the problem less that of its dual is sum of l u.
  if (desired_squares > 0) worst.duality_gap = std::abs(primal_minus_dual) / (desired_squares / 2);
  if (desired_squares > 0) worst.slowed = changed_squares / desired_squares;
  if (worst.wall_load > 0) worst.imbalance = norm(changed - on_people) / worst.wall_load;
  return worst;
}

/// 100 people who push for a door without any headway.
std::string room(const std::string& exit, const std::string& keys) {
  return fmt::format(
      "seed = 3\n[time]\nstep = 0.05\n[crowd]\nspeed_law = 'none'\n{}"
      "[walkable]\nwkt = 'POLYGON((0 0, 8 0, 8 2, 9 2, 9 3, 8 3, 8 5, 0 5, 0 0))'\n"
      "[exits.door]\nline = [[9, 2], [9, 3]]\n{}"
      "[populations.crowd]\nregion = [[0.3, 0.3], [7, 0.3], [7, 4.7], [0.3, 4.7]]\ncount = 100\n",
      keys, exit);
}

}  // namespace

void verify_optimality(CrowdTable& table) {
  struct Variant {
    std::string name, solver;
    Real tolerance;
  };
  for (const Variant& v :
       {Variant{"own sweeps, 1e-6 m", "", 1e-6}, Variant{"own sweeps, 1e-9 m", "", 1e-9},
        Variant{"nsgs, 1e-8 m", "solver = { type = 'nsgs', max_sweeps = 100000 }\n", 1e-8},
        Variant{"admm, 1e-8 m", "solver = { type = 'admm', max_iterations = 100000 }\n", 1e-8},
        Variant{"ipm, 1e-8 m", "solver = { type = 'ipm' }\n", 1e-8}}) {
    Simulation<2> simulation(
        table.comm(),
        read_crowd(room("", fmt::format("tolerance = {}\nmax_sweeps = 100000\n{}", v.tolerance, v.solver))));
    Optimality worst;
    Real more_than_certified = 0;
    constexpr int most_steps = 400;
    for (int n_steps = 0; n_steps < most_steps && simulation.running(); ++n_steps) {
      const Optimality step = judged_step(simulation);
      more_than_certified =
          std::max(more_than_certified, step.complementarity - simulation.certified("residual"));
      worst.take_worst(step);
    }
    const std::string which = v.name + ": ";
    table.at_most("s4", which + "|V - U - sum l n| [m/s]", worst.stationarity, 1e-12);
    table.at_most("s4", which + "overlap after a step [m]", worst.overlap, v.tolerance);
    table.at_most("s4", which + "|min(l, u)| dt [m]", worst.complementarity, v.tolerance);
    table.at_most("s4", which + "the same, beyond what is certified [m]", more_than_certified, 1e-12);
    // Most of l u is from few contacts, with u up to tolerance / dt and l of some people's speeds.
    table.at_most("s4", which + "duality gap over sum |U|^2 / 2 [-]", worst.duality_gap, 100 * v.tolerance);
    table.within("s4", which + "largest sum |V - U|^2 over sum |U|^2 [-]", worst.slowed, {0.1, 1});
  }
}

/// The same room with the door shut.
void verify_wall_balance(CrowdTable& table) {
  Simulation<2> simulation(table.comm(), read_crowd(room("open_from = [1000]\n", "max_sweeps = 100000\n")));
  Optimality worst;
  Real least_load = HUGE_VAL;
  constexpr int n_steps = 240, n_until_jam = 160;
  for (int step = 0; step < n_steps; ++step) {
    const Optimality judged = judged_step(simulation);
    worst.take_worst(judged);
    if (step >= n_until_jam) least_load = std::min(least_load, judged.wall_load);
  }
  table.at_most("s7", "imbalance over load of walls [-]", worst.imbalance, 1e-12);
  table.within("s7", "least load of walls in the jam [m/s]", least_load, {100, 1000});
}

}  // namespace scree
