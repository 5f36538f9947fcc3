#pragma once
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "run/simulation.hpp"
#include "support/deck.hpp"

namespace scree {

using Overrides = std::vector<std::string>;

/// What a deck text with overrides ("pbd.sweeps=3") says.
template <int D>
RunDeck<D> read_deck(const std::string& text, const Overrides& overrides = {}) {
  Deck deck = Deck::from_text(text, "test.toml", overrides);
  RunDeck<D> content;
  content.describe(deck.root());
  deck.require_all_read();
  return content;
}

/// The state of a run, and how it came about.
struct Outcome {
  std::uint64_t state = 0;           ///< Simulation::hash()
  std::uint64_t contacts = 0;        ///< of the contact graph: ids, gaps, normals, branches, forces, friction
  std::uint64_t time = 0;            ///< the bits of clock and last step
  std::uint64_t energy_balance = 0;  ///< the bits of the energy balance
  std::int64_t n_bodies = 0;
  std::int64_t n_removed = 0;
  std::int64_t n_contacts = 0;
  std::int64_t n_pushing = 0;  ///< contacts with a force
  std::int64_t n_rebuilds = 0;
  std::int64_t n_halvings = 0;
  // From here on the number of ranks matters.
  std::int64_t n_shared_contacts =
      0;  ///< contacts with an end that belongs to another rank, every third step
  std::int64_t n_rebalances = 0;
  std::int64_t n_migrated = 0;

  bool same_result(const Outcome& other) const {
    return state == other.state && contacts == other.contacts && time == other.time &&
           energy_balance == other.energy_balance && n_bodies == other.n_bodies &&
           n_removed == other.n_removed && n_contacts == other.n_contacts && n_pushing == other.n_pushing &&
           n_rebuilds == other.n_rebuilds && n_halvings == other.n_halvings;
  }
};

inline std::ostream& operator<<(std::ostream& stream, const Outcome& o) {
  return stream << std::hex << "state " << o.state << ", contacts " << o.contacts << ", time " << o.time
                << ", energy balance " << o.energy_balance << std::dec << "; " << o.n_bodies << " bodies, "
                << o.n_removed << " removed, " << o.n_contacts << " contacts (" << o.n_pushing << " pushing, "
                << o.n_shared_contacts << " shared), " << o.n_rebuilds << " rebuilds, " << o.n_halvings
                << " halvings, " << o.n_rebalances << " rebalances, " << o.n_migrated << " migrated";
}

/// Number of contacts that this rank keeps with a body of another one.
template <int D>
std::int64_t n_shared(const ContactGraph<D>& graph, const State<D>& state) {
  std::int64_t n = 0;
  for (std::size_t c = 0; c < graph.size(); ++c)
    n += graph.a[c] >= state.bodies.n_owned() || graph.b[c] >= state.bodies.n_owned();
  return n;
}

/// Takes `n_steps` steps, with forces in the last.
template <int D>
void take_steps(Simulation<D>& simulation, int n_steps, Outcome& outcome) {
  std::int64_t shared = 0;
  for (int step = 0; step < n_steps; ++step) {
    simulation.step(step + 1 == n_steps);
    for (const CertificateEntry& entry : simulation.stepper().certificate())
      if (entry.name == "halvings") outcome.n_halvings += static_cast<std::int64_t>(entry.value);
    if (step % 3 == 0) shared += n_shared(simulation.find_contacts(0), simulation.state());
  }
  outcome.n_shared_contacts += simulation.state().comm.sum(shared);
}

template <int D>
void look_at(Simulation<D>& simulation, Outcome& outcome) {
  const State<D>& state = simulation.state();
  const Comm& comm = state.comm;
  const auto bits = [](auto number) {
    std::uint64_t b = 0;
    std::memcpy(&b, &number, sizeof number);
    return b;
  };
  outcome.state = simulation.hash();
  outcome.time = bits(state.clock.time) ^ std::rotl(bits(state.clock.last_dt), 7);
  outcome.energy_balance = 0;
  const auto add_energy = [&](const char*, Real energy) {
    outcome.energy_balance = std::rotl(outcome.energy_balance, 11) ^ bits(energy);
  };
  EnergyBalance::for_each(state.energy_balance, add_energy);
  EnergyBalance::for_each_stored(state.energy_balance, add_energy);
  EnergyBalance::for_each_remembered(state.energy_balance, add_energy);
  outcome.n_bodies = simulation.n_bodies();
  outcome.n_removed = simulation.neighborhood().n_removed();
  outcome.n_rebuilds = simulation.neighborhood().n_rebuilds();
  outcome.n_rebalances = simulation.neighborhood().n_rebalances();
  outcome.n_migrated = simulation.neighborhood().n_migrated();

  // Contacts come in an order that depends on the ranks: their hashes are added up.
  const ContactGraph<D>& graph = simulation.find_contacts(1e-3);
  outcome.n_contacts = comm.sum(static_cast<std::int64_t>(graph.size()));
  outcome.n_pushing =
      comm.sum(static_cast<std::int64_t>(std::ranges::count_if(graph.force, [](Real f) { return f > 0; })));
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < graph.size(); ++c) {
    std::uint64_t h = 0;
    const auto add = [&](auto number) {
      h = (std::rotl(h, 23) ^ bits(number)) * 0x9e3779b97f4a7c15U;
      h ^= h >> 29;
    };
    const auto id = [&](Index i) { return state.bodies.id()[i]; };
    add(id(graph.a[c]));
    add(graph.b[c] < 0 ? GlobalId{-1} : id(graph.b[c]));
    add(graph.wall[c]);
    add(graph.gap[c]);
    add(graph.force[c]);
    for (int k = 0; k < D; ++k) {
      add(graph.normal[c][k]);
      add(graph.branch[c][k]);
      if (!graph.friction.empty()) add(graph.friction[c][k]);
    }
    sum += h;
  }
  outcome.contacts = std::bit_cast<std::uint64_t>(comm.sum(std::bit_cast<std::int64_t>(sum)));
}

/// Runs a deck for `n_steps` steps on the ranks of `comm`.
template <int D>
Outcome simulate(const Comm& comm, const std::string& text, const Overrides& overrides, int n_steps) {
  Simulation<D> simulation(comm, read_deck<D>(text, overrides));
  Outcome outcome;
  take_steps(simulation, n_steps, outcome);
  look_at(simulation, outcome);
  return outcome;
}

/// 200 disks of mixed size are drawn to a point near a corner of a box and pack there.
inline const std::string disks_deck =
    deck({.lower = "[-1, -2]", .upper = "[9, 8]", .step = 0.05, .seed = 5, .skin = 0.1, .block_cells = 3}, R"(
[velocity]
type = "attraction"
point = [1, -0.5]
rate = 0.7
[pbd]
sweeps = 2
overlap_limit = 0
[particles.small]
radius = { distribution = "uniform", min = 0.1, max = 0.2 }
source = { type = "random", count = 130 }
[particles.large]
radius = { distribution = "uniform", min = 0.25, max = 0.35 }
source = { type = "random", count = 70 }
)");

/// 150 spheres, the same way.
inline const std::string spheres_deck = deck({.dimension = 3,
                                              .lower = "[-1, -2, 0]",
                                              .upper = "[4, 3, 5]",
                                              .step = 0.05,
                                              .seed = 6,
                                              .skin = 0.1,
                                              .block_cells = 2},
                                             R"(
[velocity]
type = "attraction"
point = [0, -0.5, 1]
rate = 0.7
[pbd]
sweeps = 2
overlap_limit = 0
[particles.small]
radius = { distribution = "uniform", min = 0.15, max = 0.2 }
source = { type = "random", count = 110 }
[particles.large]
radius = { distribution = "uniform", min = 0.3, max = 0.4 }
source = { type = "random", count = 40 }
)");

/// Walls along all faces of the box of disks_deck or spheres_deck.
template <int D>
std::string walls() {
  const std::vector<std::string> lower =
      D == 2 ? std::vector<std::string>{"[-1, 0]", "[0, -2]"}
             : std::vector<std::string>{"[-1, 0, 0]", "[0, -2, 0]", "[0, 0, 0]"};
  const std::vector<std::string> upper =
      D == 2 ? std::vector<std::string>{"[9, 0]", "[0, 8]"}
             : std::vector<std::string>{"[4, 0, 0]", "[0, 3, 0]", "[0, 0, 5]"};
  std::string text;
  for (std::size_t k = 0; k < D; ++k) {
    std::string up = D == 2 ? "[0, 0]" : "[0, 0, 0]";
    up[1 + 3 * k] = '1';
    std::string down = up;
    down.insert(1 + 3 * k, "-");
    text += "[obstacles.low" + std::to_string(k) + "]\ntype = 'plane'\npoint = " + lower[k] +
            "\nnormal = " + up + "\n[obstacles.high" + std::to_string(k) +
            "]\ntype = 'plane'\npoint = " + upper[k] + "\nnormal = " + down + "\n";
  }
  return text;
}

}  // namespace scree
