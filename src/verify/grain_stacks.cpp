#include <algorithm>

#include "verify/grain_cases.hpp"

namespace scree {

namespace {

constexpr Real g = 9.81;  // [m/s2]

/// Normal forces of a column: on body i from what is below it, on every rank. Collective.
template <int D>
std::vector<Real> column_forces(Simulation<D>& simulation, int n) {
  std::vector<Real> forces(static_cast<std::size_t>(n), -HUGE_VAL);
  const ContactGraph<D>& contacts = simulation.find_contacts(1e-3);
  const auto id = std::as_const(simulation.state().bodies).id();
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const GlobalId upper = id[static_cast<std::size_t>(contacts.b[c] < 0 ? contacts.a[c] : contacts.b[c])];
    forces[static_cast<std::size_t>(upper)] = contacts.force[c];
  }
  simulation.state().comm.max(forces);
  return forces;
}

struct Column {
  std::string name;
  int n = 10;
  Real seconds = 1;
  std::string solver = "nsgs";
  Real tolerance = 1e-10;
  Real dt = 1e-3;
};

/// Spheres or disks on top of each other, touching: every contact carries what lies above it.
template <int D>
void column(GrainTable& table, const Column& c) {
  constexpr Real r = 5e-3, d = 2 * r;
  Vec<D> upper = filled<D>(8 * r);
  upper[D - 1] = (c.n + 2) * d;
  GrainDeck<D> deck({}, upper, c.dt);
  deck.gravity(unit_vector<D>(D - 1, -g));
  deck.solver(c.solver);
  deck.tolerance(c.tolerance);
  deck.material("floor", 1);
  deck.material("body", 2500);
  deck.pair("body", "body", 0.5, 0);
  deck.pair("body", "floor", 0.5, 0);
  deck.floor("floor");
  Vec<D> low = filled<D>(3 * r), high = filled<D>(5 * r);
  low[D - 1] = 0;
  high[D - 1] = c.n * d;
  deck.group("body", r,
             fmt::format("type = 'lattice', spacing = {}, region = {{ lower = {}, upper = {} }}", d,
                         text_of<D>(low), text_of<D>(high)),
             "");
  Simulation<D> simulation(table.comm(), deck.read());
  const auto n_steps = std::llround(c.seconds / c.dt);
  Real unsolved = 0;
  for (std::int64_t step = 0; step < n_steps; ++step) {
    simulation.step();
    unsolved += 1 - simulation.certified("solved");
  }
  const GrainStates<D> end = states_of(simulation);
  const std::vector<Real> forces = column_forces(simulation, c.n);
  const auto n = static_cast<std::size_t>(c.n);
  Real fastest = 0, narrowest = HUGE_VAL, worst_force = 0;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    fastest = std::max(fastest, norm(end.velocity[i]));
    if (i > 0) narrowest = std::min(narrowest, norm(end.position[i] - end.position[i - 1]));
    const Real off = std::abs(forces[i] - static_cast<Real>(n - i) * end.mass[i] * g);
    if (off > worst_force) worst_force = off, worst = i;
  }
  const Real weight = static_cast<Real>(n) * end.mass[0] * g;
  // An error of the residual in each of n contacts at once moves forces by n times as much, and by the step.
  const Real allowed = static_cast<Real>(n) * c.tolerance;
  std::vector<GrainRow> rows;
  const std::string variant = fmt::format("{} {:g}", c.solver, c.tolerance);
  rows.push_back(row("steps not solved [-]", variant, 0, unsolved, 0));
  rows.push_back(row("force / weight of all [-]", variant,
                     static_cast<Real>(n - worst) / static_cast<Real>(n), forces[worst] / weight, allowed));
  const Real creep = allowed * g * c.dt;
  rows.push_back(row("fastest [m/s]", variant, 0, fastest, creep));
  rows.push_back(row("closest / diameter [-]", variant, 1, narrowest / d, creep * c.seconds / d));
  table.add(c.name, rows);
}

/// Two disks on a rough floor and a third on both, all touching, none turns. With N, mu N at the contacts of
/// 60 degrees and mu at the floor, and k = (1 - sqrt(3) mu) / (sqrt(3) + mu), the lower ones part with
///     a = g ((k - mu)/2 - mu) / (1 + (k - mu) / (2 sqrt(3)))
/// and the upper one sinks with a / sqrt(3). It stands if and only if a <= 0, which is
/// mu >= (sqrt(15) - 2 sqrt(3)) / 3 = 0.136294.
Real sinking(Real mu) {
  const Real root = std::sqrt(3.0);
  const Real k = (1 - root * mu) / (root + mu) - mu;
  return std::max(0.0, g * (k / 2 - mu) / (1 + k / (2 * root)) / root);
}

void pyramid(GrainTable& table) {
  constexpr Real r = 0.5, dt = 1e-2;
  constexpr int n_steps = 100;
  const std::string name = "pyramid of three disks";
  std::vector<GrainRow> rows;
  for (const Real mu : {0.0, 0.1, 0.1355, 0.137, 0.2}) {
    GrainDeck<2> deck({{-4, 0}}, {{4, 4}}, dt);
    deck.gravity({{0, -g}});
    deck.material("floor", 1);
    deck.material("body", 1000);
    deck.pair("body", "body", mu, 0);
    deck.pair("body", "floor", mu, 0);
    deck.floor("floor");
    const std::vector<Vec<2>> places{{{-r, r}}, {{r, r}}, {{0, r + std::sqrt(3.0) * r}}};
    for (const Vec<2>& at : places) deck.add({"body", at, r, {}, {}, "rotates = false\n"});
    Simulation<2> simulation(table.comm(), deck.read());
    const std::string variant = fmt::format("mu = {}", mu);
    simulation.step();
    rows.push_back(row("sinks at first [m/s2]", variant, sinking(mu),
                       -states_of(simulation).velocity[2][1] / dt, 1e-8 * g));
    for (int step = 1; step < n_steps; ++step) simulation.step();
    const Real sunk = places[2][1] - states_of(simulation).position[2][1];
    if (sinking(mu) == 0)
      rows.push_back(row("sunk after 1 s [m]", variant, 0, sunk, 1e-8));
    else
      table.demand(name, sunk > 0.9 * std::min(sinking(mu) / 2, 2 * r),
                   fmt::format("{}: it has sunk by {:.3g} m only", variant, sunk));
  }
  table.add(name, rows);
}

}  // namespace

void verify_stacks(GrainTable& table) {
  column<3>(table, {.name = "column of 10 spheres"});
  column<2>(table, {.name = "column of 10 disks"});
  column<3>(table, {.name = "column of 60, sweeps", .n = 60, .seconds = 0.5, .tolerance = 1e-6});
  column<3>(table,
            {.name = "column of 60, auto", .n = 60, .seconds = 0.5, .solver = "auto", .tolerance = 1e-6});
  pyramid(table);
}

}  // namespace scree
