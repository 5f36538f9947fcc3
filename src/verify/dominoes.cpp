#include <cmath>

#include "verify/domino_row.hpp"
#include "verify/solid_cases.hpp"

namespace scree {

namespace {

constexpr Real g = 9.81;  // [m/s2]

/// A row in the plane, its first domino pushed so that it falls freely. Speeds are those over the dominoes
/// from `from` to `to`, of the run and of the reference alike.
void domino_wave(std::vector<GrainRow>& rows, const Comm& comm, Real gap, std::size_t from, std::size_t to) {
  constexpr Real h = 1, d = 0.15625, rho = 1e-4;
  const Real push = std::sqrt(g / h), dt = h / (100 * std::sqrt(g * h)), pitch = gap + d;
  const std::size_t n = to + 3;
  SolidDeck<2> deck({{-4, -4}}, {{static_cast<Real>(n) * pitch + 4, 8}}, dt);
  deck.gravity({{0, -g}});
  deck.solver("auto");
  deck.tolerance(1e-6);
  deck.material("floor", 1);
  deck.material("body", 1000);
  constexpr Real no_slip = 10;
  deck.pair("floor", "body", no_slip, 0);
  deck.floor("floor");
  deck.box("domino", {{d, h}}, rho);
  for (std::size_t i = 0; i < n; ++i)
    deck.add({.shape = "domino",
              .material = "body",
              .position = {{static_cast<Real>(i) * pitch, h / 2}},
              .velocity = i == 0 ? Vec<2>{{push * h / 2, push * d / 2}} : Vec<2>{},
              .spin = {{i == 0 ? -push : 0.0}}});
  Simulation<2> simulation(comm, deck.read());
  deck.put(simulation);
  // A domino that is hit turns at once as fast as a row does.
  const Real moves = 0.2 * std::sqrt(g / h);
  std::vector<Real> times(n, HUGE_VAL);
  const int unsolved = step_until(simulation, 2 * static_cast<Real>(n) * pitch / std::sqrt(g * h), [&] {
    const GrainStates<2> now = states_of(simulation);
    for (std::size_t i = 0; i < n; ++i)
      if (-now.spin[i][0] > moves) times[i] = std::min(times[i], simulation.state().clock.time);
    if (times[to] < HUGE_VAL) simulation.deck().end_time = simulation.state().clock.time;
  });
  const DominoRow exact{.height = h, .thickness = d, .gap = gap, .gravity = g};
  const std::vector<Real> reference = exact.impact_times(n, push);
  const auto speed = [&](const std::vector<Real>& t) {
    return static_cast<Real>(to - from) * pitch / (t[to] - t[from]) / std::sqrt(g * h);
  };
  const std::string variant = fmt::format("s/h = {:.4f}, {} to {}", gap / h, from, to);
  const Real known = speed(reference);
  rows.push_back(row("v / sqrt(g h) [-]", variant, known, speed(times), 0.02 * known));
  rows.push_back(row("steps not solved [-]", variant, 0, unsolved, 0));
}

}  // namespace

void verify_dominoes(GrainTable& table, bool quick) {
  std::vector<GrainRow> rows;
  domino_wave(rows, table.comm(), 1.0 / 3, 12, 20);
  if (!quick) {
    domino_wave(rows, table.comm(), 1.0 / 2, 12, 20);
    domino_wave(rows, table.comm(), 1.0 / 6, 12, 20);
    domino_wave(rows, table.comm(), 1.0 / 6, 20, 25);
    domino_wave(rows, table.comm(), 1.0 / 6, 35, 40);
  }
  table.add("dominoes", rows);
}

}  // namespace scree
