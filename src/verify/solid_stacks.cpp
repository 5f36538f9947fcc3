#include <algorithm>
#include <cmath>
#include <numbers>

#include "verify/solid_cases.hpp"

namespace scree {

namespace {

constexpr Real g = 9.81;  // [m/s2]

struct Tent {
  Real length, thickness, rounding;  // [m]
  std::string name;
};

constexpr Real lean = 65 * std::numbers::pi / 180;

/// The least friction that holds a tent of two cards. A card's weight and the other's push, which friction on
/// the floor must hold, turn about the foot; cot(lean)/2 - t/(2 L) for sharp edges.
Real holding_friction(const Tent& tent) {
  const Real along = tent.length / 2 - tent.rounding, across = tent.thickness / 2 - tent.rounding;
  return (along * std::cos(lean) - across * std::sin(lean)) / (2 * along * std::sin(lean) + tent.rounding);
}

/// What a tent with this friction has sunk by after 5 s, as a share of the height of its centre.
template <int D>
Real sunk(const Comm& comm, const Tent& tent, Real mu, Real dt, Real& unsolved) {
  const Real l = tent.length, along = l / 2 - tent.rounding, across = tent.thickness / 2 - tent.rounding;
  SolidDeck<D> deck(filled<D>(-4 * l), filled<D>(8 * l), dt);
  deck.gravity(unit_vector<D>(D - 1, -g));
  deck.solver("auto");
  deck.tolerance(1e-6);
  deck.nonsmooth("on_overlap = 'warn'\n");
  deck.material("floor", 1);
  deck.material("card", 500);
  deck.pair("card", "card", mu, 0);
  deck.pair("card", "floor", mu, 0);
  deck.floor("floor");
  Vec<D> size = filled<D>(l / 2);
  size[0] = l, size[D - 1] = tent.thickness;
  deck.box("card", size, tent.rounding);
  const Real height = along * std::sin(lean) + across * std::cos(lean) + tent.rounding;
  for (const Real side : {-1.0, 1.0}) {
    Vec<D> at;
    at[0] = side * (along * std::cos(lean) + across * std::sin(lean) + tent.rounding);
    at[D - 1] = height;
    deck.add({.shape = "card", .material = "card", .position = at, .turn = leaning<D>(-side * lean)});
  }
  Simulation<D> simulation(comm, deck.read());
  deck.put(simulation);
  constexpr Real fallen = 0.5;
  Real share = 0;
  unsolved += step_until(simulation, 5, [&] {
    const Real now = states_of(simulation).position[0][D - 1];
    share = std::max(share, 1 - now / height);
    // What falls need not be followed to the floor.
    if (share > fallen) simulation.deck().end_time = simulation.state().clock.time;
  });
  return share;
}

/// Falls with 0.98 of the friction that holds it and stands with 1.03 of it.
template <int D>
void tents(GrainTable& table, bool quick) {
  std::vector<GrainRow> rows;
  for (const Tent& tent : {Tent{2.5, 0.05, 1e-3, "2.5 m"}, Tent{0.1, 1e-3, 5e-5, "0.1 m"}})
    for (const Real dt : quick ? std::vector<Real>{5e-3} : std::vector<Real>{5e-3, 1e-2}) {
      Real unsolved = 0;
      for (const Real share : {0.98, 1.03}) {
        const Real found = sunk<D>(table.comm(), tent, share * holding_friction(tent), dt, unsolved);
        const std::string variant = fmt::format("{}, {:g} mu_c, {:g} ms", tent.name, share, 1000 * dt);
        if (share < 1)
          rows.push_back(row("falls by / height [-]", variant, 1, found, 0.5));
        else
          rows.push_back(row("stands: sinks by / height [-]", variant, 0, found, 1e-3));
      }
      rows.push_back(
          row("steps not solved [-]", fmt::format("{}, {:g} ms", tent.name, 1000 * dt), 0, unsolved, 0));
    }
  table.add(fmt::format("tent of two cards, {}D", D), rows);
}

/// n cubes of 1 m on top of each other for 5 s. What is left of speed, offset and tilt is in proportion to
/// the tolerance of the solver, and grows with n. `stays`: offset and tilt are held against their bounds.
template <int D>
void stack(GrainTable& table, int n, bool stays) {
  constexpr Real dt = 0.01, since = 4, until = 5;
  Vec<D> upper = filled<D>(5);
  upper[D - 1] = n + 5;
  SolidDeck<D> deck(filled<D>(-5), upper, dt);
  deck.gravity(unit_vector<D>(D - 1, -g));
  deck.solver("auto");
  deck.tolerance(1e-10);
  deck.material("floor", 1);
  deck.material("cube", 1000);
  deck.pair("cube", "cube", 0.5, 0);
  deck.pair("cube", "floor", 0.5, 0);
  deck.floor("floor");
  deck.box("cube", filled<D>(1), 1e-3);
  for (int i = 0; i < n; ++i)
    deck.add({.shape = "cube", .material = "cube", .position = unit_vector<D>(D - 1, i + 0.5)});
  Simulation<D> simulation(table.comm(), deck.read());
  deck.put(simulation);
  Real fastest = 0;
  const int unsolved = step_until(simulation, until, [&] {
    if (simulation.state().clock.time > since)
      for (const Vec<D>& v : states_of(simulation).velocity) fastest = std::max(fastest, norm(v));
  });
  Real offset = 0, tilt = 0;
  const GrainStates<D> end = states_of(simulation);
  for (Vec<D> at : end.position) {
    at[D - 1] = 0;
    offset = std::max(offset, norm(at));
  }
  for (const Orientation<D>& turn : turns_of(simulation)) {
    Vec<D> axis = axes_of<D>(turn)[D - 1];
    axis[D - 1] = 0;
    tilt = std::max(tilt, norm(axis));
  }
  std::vector<GrainRow> rows{row("late speed [m/s]", "after 4 s", 0, fastest, 2e-8),
                             row("steps not solved [-]", "5 s", 0, unsolved, 0)};
  if (stays) {
    rows.push_back(row("offset [m]", "after 5 s", 0, offset, 1e-9));
    rows.push_back(row("tilt [rad]", "after 5 s", 0, tilt, 1e-9));
  }
  table.add(fmt::format("stack of {} cubes, {}D", n, D), rows);
}

RunDeck<3> wall_deck(const GrainTable& table, const std::string& source,
                     const std::vector<std::string>& overrides) {
  return read_run_deck<3>(Deck::read(table.comm(), source + "/inputs/convex/wall.toml", overrides));
}

/// The deck wall.toml, whose last body is the ball: at rest without its speed, and hit.
void brick_wall(GrainTable& table, const std::string& source) {
  Simulation<3> rest(table.comm(), wall_deck(table, source, {"particles.ball.velocity=[0,0,0]"}));
  const std::vector<Vec<3>> start = states_of(rest).position;
  Real moved = 0;
  const int unsolved = step_until(rest, 2);
  const std::vector<Vec<3>> end = states_of(rest).position;
  for (std::size_t i = 0; i + 1 < start.size(); ++i) moved = std::max(moved, norm(end[i] - start[i]));
  Simulation<3> hit(table.comm(), wall_deck(table, source, {}));
  Real worst = 0, most = 0;
  step_until(hit, 1, [&] {
    const MechanicalEnergy now = mechanical_energy(hit.state());
    most = std::max(most, now.kinetic);
    worst = std::max(worst, std::abs(now.total() - hit.state().energy_balance.total()));
  });
  Real farthest = 0;
  const std::vector<Vec<3>> after = states_of(hit).position;
  for (std::size_t i = 0; i + 1 < start.size(); ++i) farthest = std::max(farthest, norm(after[i] - start[i]));
  table.demand("wall of bricks", farthest > 0.2, "the ball moves no brick");
  table.add("wall of bricks", {row("at rest: moved [m]", "after 2 s", 0, moved, 2e-3),
                               row("at rest: steps not solved [-]", "2 s", 0, unsolved, 4),
                               row("impact: ledger / kinetic [-]", "worst of 1 s", 0, worst / most, 1e-10)});
}

}  // namespace

void verify_solid_stacks(GrainTable& table, const VerifyOptions& options) {
  tents<2>(table, options.quick);
  tents<3>(table, options.quick);
  stack<2>(table, 10, true);
  stack<3>(table, 10, true);
  if (!options.quick) stack<3>(table, 30, false);
  brick_wall(table, options.source);
}

}  // namespace scree
