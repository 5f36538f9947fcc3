#include <array>
#include <utility>

#include "state/energy_balance.hpp"
#include "verify/grain_cases.hpp"

namespace scree {

namespace {

/// What a run shows of its energy balance.
struct SoftLedger {
  Real worst = 0;        ///< largest imbalance after any step [J]
  Real turned_over = 0;  ///< kinetic energy that came and went [J]
  EnergyBalance end;
};

SoftLedger watch_ledger(const Comm& comm, const GrainDeck<3>& deck, Real duration) {
  Simulation<3> simulation(comm, deck.read());
  const State<3>& state = std::as_const(simulation).state();
  SoftLedger seen;
  Real last = mechanical_energy(state).kinetic;
  for (std::int64_t step = 0; step < std::llround(duration / deck.dt()); ++step) {
    simulation.step();
    const MechanicalEnergy now = mechanical_energy(state);
    seen.turned_over += std::abs(now.kinetic - std::exchange(last, now.kinetic));
    seen.worst = std::max(seen.worst, std::abs(now.total() - state.energy_balance.total()));
  }
  seen.end = state.energy_balance;
  return seen;
}

/// Two spheres meet at an angle, spinning; then one of them meets a wall that moves.
GrainDeck<3> pair_and_wall(Real dt, const std::string& dem, const std::string& pair_keys) {
  constexpr Real r = 2e-3;
  GrainDeck<3> deck({{-0.1, -0.1, -0.1}}, {{0.1, 0.1, 0.1}}, dt);
  deck.soft(dem);
  deck.energy_balance();
  deck.material("glass", 2500, Elasticity{5e7, 0.2});
  deck.pair_keys(pair_keys);
  deck.pair("glass", "glass", 0.3, 0.6);
  deck.add({"glass", {{0, 0, 0}}, r, {{0.5, 0.1, 0}}, {{10, 20, 30}}, ""});
  deck.add({"glass", {{2.025 * r, 0.5 * r, 0.05 * r}}, r, {{-0.5, 0, 0}}, {}, ""});
  deck.obstacle("wall", "glass",
                "type = 'plane'\npoint = [-3e-3, 0, 0]\nnormal = [1, 0, 0]\n"
                "motion = { type = 'translate', velocity = [0.2, 0.1, 0] }");
  return deck;
}

/// Rows of runs with steps of dt, dt/2 and so on: what is missing in the ledger as a share of `scale`, and
/// with which power of the step it falls from the first to the last.
template <class Run, class Scale>
void closes(GrainTable& table, const std::string& name, const std::string& variant,
            const std::array<Real, 3>& steps, Real bound, Real order_bound, const Run& run,
            const Scale& scale) {
  std::vector<GrainRow> rows;
  std::array<Real, 3> missing{};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const SoftLedger seen = run(steps[k]);
    missing[k] = seen.worst / scale(seen);
    rows.push_back(row(fmt::format("missing at {:g} s [-]", steps[k]), variant, 0, missing[k], bound));
    bound *= std::pow(steps[std::min<std::size_t>(k + 1, 2)] / steps[k], 2);
    table.demand(name, std::min({seen.end.friction, seen.end.impact, std::abs(seen.end.wall_work)}) > 0,
                 "walls, friction or impacts play no part");
  }
  const Real order = std::log(missing[0] / missing[2]) / std::log(steps[0] / steps[2]);
  rows.push_back(row("order [-]", variant, 2, order, order_bound));
  table.add(name, rows);
}

}  // namespace

void verify_soft_energy(GrainTable& table) {
  struct Law {
    std::string name, dem, pair_keys;
  };
  for (const Law& law :
       {Law{"whole", "", ""}, Law{"increments", "tangential = 'increments'\n", ""},
        Law{"rescaled", "tangential = 'rescaled'\n", ""}, Law{"no pull", "attraction = false\n", ""},
        Law{"linear", "law = 'linear'\n", "stiffness = 1e4\n"}})
    closes(
        table, "energy, soft pair", law.name, {8e-6, 2e-6, 5e-7}, 5e-3, 0.25,
        [&](Real dt) { return watch_ledger(table.comm(), pair_and_wall(dt, law.dem, law.pair_keys), 4e-3); },
        [](const SoftLedger& seen) { return seen.end.start; });
  closes(
      table, "energy, 200 soft spheres", "whole", {8e-5, 4e-5, 2e-5}, 1e-3, 0.5,
      [&](Real dt) {
        GrainDeck<3> deck = stirred_box(dt, Elasticity{5e6, 0.3});
        deck.soft("");
        deck.energy_balance();
        return watch_ledger(table.comm(), deck, 0.3);
      },
      [](const SoftLedger& seen) { return seen.turned_over; });
}

}  // namespace scree
