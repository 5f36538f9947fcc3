#include <algorithm>
#include <array>
#include <numbers>

#include "contact/compliance.hpp"
#include "verify/rig_cases.hpp"
#include "verify/solid_cases.hpp"

namespace scree {

namespace {

constexpr Real g = 9.81;
const Elasticity rubber{1e7, 0.25};
constexpr Real work_of_adhesion = 0.1;                       // [J/m2]
constexpr Real reduced_radius = 0.5e-3;                      // [m]
const Real reduced_modulus = 1e7 / (2 * (1 - 0.25 * 0.25));  // E* of rubber on rubber [Pa]

Real mass_of(Real radius, Real density) {
  return 4.0 / 3 * std::numbers::pi * radius * radius * radius * density;
}

Grain<3> ball(const std::string& material, const Vec<3>& position, Real radius, const Vec<3>& velocity = {}) {
  return {material, position, radius, velocity, {}, ""};
}

/// Of the one contact that there is, 0 if there is none [N].
Real normal_force(const Comm& comm, Simulation<3>& simulation) {
  Real force = -HUGE_VAL;
  for (const Real f : simulation.find_contacts(0).force) force = std::max(force, f);
  force = comm.max(force);
  return std::isinf(force) ? 0 : force;
}

/// Two spheres so heavy that their force changes nothing approach from a gap, and go apart from an overlap.
GrainDeck<3> two_spheres(Real overlap, Real velocity, Real dt) {
  constexpr Real radius = 2 * reduced_radius;
  GrainDeck<3> deck(filled<3>(-0.01), filled<3>(0.01), dt);
  deck.soft("law = 'hertz'\n");
  deck.allow_overlap();
  deck.material("rubber", 1e20, rubber);
  deck.pair_keys(fmt::format("cohesion = {{ type = 'jkr', work_of_adhesion = {}, jkr_end = 'load' }}\n",
                             work_of_adhesion));
  deck.pair("rubber", "rubber", 0, 1);
  deck.add(ball("rubber", {{0, 0, 0}}, radius));
  deck.add(ball("rubber", {{2 * radius - overlap, 0, 0}}, radius, {{velocity, 0, 0}}));
  return deck;
}

/// The force of each row of the reference, on the way in and out: to 1e-9 F_c and the ten digits that the
/// file has. Its contact ends at the largest pull, as LAMMPS's does.
void jkr_force(GrainTable& table, const VerifyOptions& options) {
  constexpr Real speed = 0.01, dt = 1e-6, before = 1e-8;
  const std::string path = options.source + "/tests/reference/practice/jkr_force.csv";
  const auto rows = read_rows(table.comm(), path, "branch,overlap_m,force_closed_N,force_lammps_N");
  const Real pull_off = 1.5 * std::numbers::pi * work_of_adhesion * reduced_radius;
  std::vector<GrainRow> found;
  for (const std::string branch : {"approach", "retreat"}) {
    const bool closes = branch == "approach";
    std::vector<std::pair<Real, Real>> points;
    for (const auto& line : rows)
      if (line[0] == branch) points.emplace_back(number(line[1], path), number(line[2], path));
    const Real start = points.front().first + (closes ? -before : before);
    GrainDeck<3> deck = two_spheres(start, closes ? -speed : speed, dt);
    Simulation<3> simulation(table.comm(), deck.read());
    GrainRow worst = row("force [F_c]", branch, 0, 0, 1);
    std::int64_t step = 0;
    for (const auto& [overlap, force] : points) {
      const Real way = std::abs(overlap - start);
      for (const std::int64_t last = std::llround(way / (speed * dt)); step < last; ++step) simulation.step();
      const Real now = normal_force(table.comm(), simulation);
      const GrainRow one = row("force [F_c]", branch, force / pull_off, now / pull_off,
                               1e-9 + 5e-10 * std::abs(force) / pull_off);
      if (one.error * worst.bound >= worst.error * one.bound) worst = one;
    }
    found.push_back(worst);
    table.demand("JKR force", points.size() > 90, branch + " has few rows");
  }
  table.add("JKR force", found);
}

/// Soft or rigid, with a constant pull of `pull_off` between all.
GrainDeck<3> pulling_deck(bool soft, Real dt, const std::string& cohesion) {
  GrainDeck<3> deck({{-0.01, -0.01, -0.2}}, {{0.01, 0.01, 0.2}}, dt);
  deck.gravity({{0, 0, -g}});
  deck.allow_overlap();
  deck.pair_keys((soft ? "stiffness = 200\n" : "") + cohesion);
  if (soft) deck.soft("law = 'linear'\n");
  deck.material("grain", 2500);
  return deck;
}

std::string constant_pull(Real pull_off) {
  return fmt::format("cohesion = {{ type = 'force', pull_off = {:.17g} }}\n", pull_off);
}
std::string dmt_pull(Real pull_off, Real radius) {
  return fmt::format("cohesion = {{ type = 'dmt', work_of_adhesion = {:.17g} }}\n",
                     pull_off / (2 * std::numbers::pi * radius));
}

/// Puts the one body of a run where the deck could not: into an obstacle. Before the first step. Collective.
void put(Simulation<3>& simulation, const Vec<3>& place) {
  State<3>& state = simulation.state();
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    state.bodies.position()[i] = place;
  simulation.stepper().bodies_changed(state);
}

/// Below a ceiling: hangs if the pull-off force is more than the weight.
void ceiling(GrainTable& table) {
  constexpr Real radius = 0.5e-3;
  const Real weight = mass_of(radius, 2500) * g;
  for (const bool soft : {false, true}) {
    const Real time = soft ? 0.01 : 0.1;
    std::vector<GrainRow> rows;
    for (const std::string type : {"force", "dmt"})
      for (const Real factor : {1.001, 0.999}) {
        const Real pull = factor * weight, dt = soft ? 5e-8 : 1e-3;
        GrainDeck<3> deck =
            pulling_deck(soft, dt, type == "dmt" ? dmt_pull(pull, radius) : constant_pull(pull));
        deck.pair("grain", "grain", 0.5, 0.5);
        deck.obstacle("ceiling", "grain", "type = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 0, -1]");
        // Of a soft sphere where the contact pushes with what the pull has too much. The first half step
        // knows no contact yet; it must be so short that the sphere does not swing out of this little
        // overlap.
        const Real overlap = soft ? 0.001 * weight / 200 : 0;
        deck.add(ball("grain", {{0, 0, -radius}}, radius));
        Simulation<3> simulation(table.comm(), deck.read());
        put(simulation, {{0, 0, -radius + overlap}});
        step_until(simulation, time);
        const Real drop = overlap - radius - states_of(simulation).position[0][2];
        const Real fall = 0.5 * g * time * time;
        // What falls leaves the contact a little late.
        rows.push_back(factor > 1 ? row("drop [m]", type + " 1.001", 0, drop, 1e-9)
                                  : row("drop [m]", type + " 0.999", fall, drop, 0.2 * fall));
      }
    table.add(soft ? "ceiling, soft" : "ceiling, rigid", rows);
  }
}

/// At a vertical wall that does not press: stays if mu F_c is more than the weight.
void vertical_wall(GrainTable& table) {
  constexpr Real radius = 0.5e-3, time = 0.1, mu = 0.5;
  const Real weight = mass_of(radius, 2500) * g;
  for (const bool soft : {false, true}) {
    std::vector<GrainRow> rows;
    // A spring that takes up a weight at once swings to more than it.
    const Real off = soft ? 0.05 : 0.001;
    for (const Real factor : {1 + off, 1 - off}) {
      const Real pull = factor * weight / mu, dt = soft ? 5e-6 : 1e-3;
      GrainDeck<3> deck = pulling_deck(soft, dt, constant_pull(pull));
      deck.pair("grain", "grain", mu, 0.5);
      deck.obstacle("wall", "grain", "type = 'plane'\npoint = [0, 0, 0]\nnormal = [1, 0, 0]");
      const Real overlap = soft ? pull / 200 : 0;
      deck.add({"grain", {{radius, 0, 0}}, radius, {}, {}, "rotates = false"});
      Simulation<3> simulation(table.comm(), deck.read());
      put(simulation, {{radius - overlap, 0, 0}});
      step_until(simulation, time);
      const Real speed = -states_of(simulation).velocity[0][2];
      const Real free = std::max(0.0, 1 - factor) * g * time;
      rows.push_back(row("speed [m/s]", fmt::format("mu F_c / m g = {}", factor), free, speed,
                         free > 0 ? 0.05 * free : 1e-6));
    }
    table.add(soft ? "vertical wall, soft" : "vertical wall, rigid", rows);
  }
}

/// Spheres that hang on each other: part at the top if their weight is more than the pull-off force.
void chain(GrainTable& table) {
  constexpr Real radius = 0.5e-3, time = 0.05, longest = 1e-3;
  constexpr int n = 6;
  const Real weight = mass_of(radius, 2500) * g;
  std::vector<GrainRow> rows;
  for (const Real share : {1.0, 0.125})
    for (const Real factor : {1.01, 0.99}) {
      const Real dt = share * longest;
      GrainDeck<3> deck = pulling_deck(false, dt, constant_pull(factor * n * weight));
      deck.pair("grain", "grain", 0.5, 0.5);
      deck.obstacle("ceiling", "grain", "type = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 0, -1]");
      for (int i = 0; i < n; ++i) deck.add(ball("grain", {{0, 0, -(2 * i + 1) * radius}}, radius));
      Simulation<3> simulation(table.comm(), deck.read());
      step_until(simulation, time);
      const auto position = states_of(simulation).position;
      const Real drop = -radius - position[0][2];
      const Real length = position[0][2] - position[n - 1][2];
      const Real fall = 0.5 * g * time * time;
      const std::string variant = fmt::format("F_c = {} n m g, dt {:g} s", factor, dt);
      rows.push_back(factor > 1 ? row("drop [m]", variant, 0, drop, 1e-7)
                                : row("drop [m]", variant, fall, drop, 0.2 * fall));
      rows.push_back(row("length [m]", variant, 2 * radius * (n - 1), length, 1e-6));
    }
  table.add("hanging chain, rigid", rows);
}

/// The constants are integrals of the force over the overlap, from the end of a contact to 0, to seven
/// digits. A JKR sphere that hits a plane: sticks below the speed whose energy a separation takes, else
/// leaves with what is left.
void sticking(GrainTable& table) {
  constexpr Real radius = reduced_radius, density = 2500, dt = 2e-9, gap = 1e-9;
  const Real mass = mass_of(radius, density);
  const Real unit =
      std::cbrt(std::pow(work_of_adhesion, 5) * std::pow(radius, 4) / (reduced_modulus * reduced_modulus));
  std::vector<GrainRow> rows;
  for (const auto& [end, loss] : {std::pair<std::string, Real>{"displacement", 7.092196}, {"load", 3.502602}})
    for (const Real factor : {0.9, 1.1}) {
      const Real sticking_speed = std::sqrt(2 * loss * unit / mass);
      const Real speed = factor * sticking_speed;
      GrainDeck<3> deck(filled<3>(-0.01), filled<3>(0.01), dt);
      deck.soft("law = 'hertz'\n");
      deck.material("rubber", density, rubber);
      deck.pair_keys(fmt::format("cohesion = {{ type = 'jkr', work_of_adhesion = {}, jkr_end = '{}' }}\n",
                                 work_of_adhesion, end));
      deck.pair("rubber", "rubber", 0, 1);
      deck.floor("rubber");
      deck.add(ball("rubber", {{0, 0, radius + gap}}, radius, {{0, 0, -speed}}));
      Simulation<3> simulation(table.comm(), deck.read());
      step_until(simulation, 5e-4);
      const auto states = states_of(simulation);
      const Real left = states.position[0][2] - radius;
      const std::string variant = fmt::format("{}, {} v_s", end, factor);
      if (factor < 1)
        rows.push_back(row("leaves [-]", variant, 0, left > 2e-6 ? 1 : 0, 0.5));
      else
        rows.push_back(row("speed [v_s]", variant, std::sqrt(factor * factor - 1),
                           states.velocity[0][2] / sticking_speed, 1e-4));
    }
  table.add("sticking, JKR", rows);
}

/// A liquid bridge pulls as its closed form says while two heavy spheres part, and breaks where it says.
void bridge(GrainTable& table) {
  constexpr Real radius = 1e-3, tension = 0.072, volume = 1e-11, speed = 0.1, dt = 1e-6;
  GrainDeck<3> deck(filled<3>(-0.01), filled<3>(0.01), dt);
  deck.soft("law = 'hertz'\n");
  deck.allow_overlap();
  deck.material("glass", 1e20, rubber);
  deck.pair_keys(fmt::format(
      "cohesion = {{ type = 'bridge', surface_tension = {}, contact_angle = '30 deg', volume = {} }}\n",
      tension, volume));
  deck.pair("glass", "glass", 0, 1);
  deck.add(ball("glass", {{0, 0, 0}}, radius));
  deck.add(ball("glass", {{2 * radius - 1e-8, 0, 0}}, radius, {{speed, 0, 0}}));
  Simulation<3> simulation(table.comm(), deck.read());
  const Real angle = std::numbers::pi / 6;
  const Real end = (1 + 0.5 * angle) * std::cbrt(volume);
  std::vector<GrainRow> rows;
  Real last_gap = 0;
  for (std::int64_t step = 1; last_gap < 1.1 * end && step < 10000; ++step) {
    simulation.step();
    const Real gap = speed * dt * static_cast<Real>(step) - 1e-8;
    const Real force = normal_force(table.comm(), simulation);
    if (force == 0) break;
    last_gap = gap;
    if (step % 500 != 0) continue;
    const Real s = gap * std::sqrt(radius / volume);
    const Real most = 2 * std::numbers::pi * radius * tension * std::cos(angle);
    rows.push_back(row("force [F_c]", fmt::format("gap {:.3g} m", gap), -1 / (1 + 1.05 * s + 2.5 * s * s),
                       force / most, 1e-9));
  }
  rows.push_back(row("breaks at [m]", "", end, last_gap, speed * dt));
  table.add("liquid bridge", rows);
}

/// The column of the shipped deck beside LAMMPS: stands or falls, and how far it runs.
void column(GrainTable& table, const VerifyOptions& options) {
  const std::string path = options.source + "/tests/reference/practice/cohesive_column.csv";
  const auto lines = read_rows(table.comm(), path, "bond_number,bodies,mean_x,mean_z,x_q50,x_q90,top");
  std::vector<GrainRow> rows;
  for (const auto& line : lines) {
    const std::string bond_number = line[0];
    Simulation<3> simulation(
        table.comm(), read_run_deck<3>(Deck::read(
                          table.comm(), options.source + "/inputs/granular/cohesive_column.toml",
                          std::vector<std::string>{"pairs.grain-grain.cohesion.bond_number=" + bond_number,
                                                   "measures.energy.balance=false"})));
    while (simulation.running()) simulation.step();
    const BodyStore<3>& bodies = simulation.state().bodies;
    std::vector<Real> x;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
      x.push_back(bodies.position()[i][0]);
    const Real mean = ReproducibleSum::sum(table.comm(), x) / static_cast<Real>(simulation.n_bodies());
    const Real expected = number(line[2], path);
    rows.push_back(row("mean x [m]", "Bond number " + bond_number, expected, mean, 0.08 * expected));
  }
  table.add("cohesive column", rows);
}

}  // namespace

void verify_rig_cohesion(GrainTable& table, const VerifyOptions& options) {
  jkr_force(table, options);
  bridge(table);
  ceiling(table);
  vertical_wall(table);
  chain(table);
  sticking(table);
  if (!options.quick) column(table, options);
}

}  // namespace scree
