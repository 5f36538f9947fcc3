// Smoke and toxic gas in a crowd: the same bits on any number of ranks and through restarts, and who is
// incapacitated does not move.
#include <map>

#include "crowd/agent_fields.hpp"
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

using namespace scree;

namespace {

/// 120 people before a door in gas that is worse where they wait: the first fall after some 2 s.
const std::string hall =
    deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 3, .block_cells = 1}, R"(
[walkable]
polygon = [[0, 0], [12, 0], [12, 8], [0, 8]]
[exits.east]
line = [[12, 3.4], [12, 4.6]]
[navigation]
cell = 0.2
[populations.crowd]
region = [[5, 1], [11.5, 1], [11.5, 7], [5, 7]]
count = 120
[sources.late]
region = [[1, 1], [3, 1], [3, 7], [1, 7]]
rate = 5
limit = 15
[hazard]
file = "FILE"
)");

std::string with_gas(const Scratch& folder) {
  const std::string path = folder / "gas.csv";
  if (Comm().is_root())
    std::ofstream(path)
        << "t,x,y,K,CO,CO2,O2\n"
           "0,0,0,0,0,0,0.209\n0,12,0,1,0.09,0.1,0.12\n0,0,8,0,0,0,0.209\n0,12,8,1,0.1,0.1,0.1\n"
           "5,0,0,0,0.01,0.02,0.15\n5,12,0,4,0.09,0.12,0.08\n5,0,8,0,0,0,0.209\n"
           "5,12,8,4,0.1,0.12,0.05\n";
  Comm().barrier();
  std::string text = hall;
  text.replace(text.find("FILE"), 4, path);
  return text;
}

const std::vector<Overrides> variants{{}, {"hazard.fallen=vanish"}, {"crowd.model=pbd"}};

}  // namespace

TEST_CASE("hazard: doses and who falls have the same bits on any number of ranks", "[mpi]") {
  const Scratch folder;
  const std::string text = with_gas(folder);
  for (const Overrides& variant : variants) {
    check_invariant<2>(text, variant, 30);  // before the door, in contact
    const Outcome outcome = check_invariant<2>(text, variant, 120);
    // 4 have left and 15 came by then; who vanished is no longer there.
    const bool vanish = !variant.empty() && variant[0] == "hazard.fallen=vanish";
    CHECK((outcome.n_bodies < 131) == vanish);
  }
}

TEST_CASE("hazard: checkpoints go on as if there had been none", "[mpi]") {
  const Scratch folder;
  const std::string text = with_gas(folder);
  for (const Overrides& variant : variants)
    check_restarts<2>({.text = text, .overrides = variant, .n_steps = 90, .splits = {3, 40, 70}});
}

TEST_CASE("hazard: who is incapacitated stays in place to the last bit, and nobody overlaps", "[mpi]") {
  const Scratch folder;
  Simulation<2> simulation(Comm(), read_deck<2>(with_gas(folder)));
  State<2>& state = simulation.state();
  std::map<GlobalId, Vec<2>> fell_at;
  Real overlap = 0;
  std::int64_t n_fallen = 0;
  for (int step = 0; step < 160; ++step) {
    simulation.step();
    const BodyStore<2>& bodies = state.bodies;
    // Positions of all who lie: by id, on all ranks.
    std::vector<Real> x(state.next_id, -HUGE_VAL), y = x;
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i) {
      if (agent::dose(bodies)[i] < 1) continue;
      x[bodies.id()[i]] = bodies.position()[i][0];
      y[bodies.id()[i]] = bodies.position()[i][1];
      CHECK(bodies.mobility()[i] == 0);
    }
    state.comm.max(x);
    state.comm.max(y);
    n_fallen = 0;
    for (std::size_t id = 0; id < x.size(); ++id) {
      if (!std::isfinite(x[id])) continue;
      ++n_fallen;
      const Vec<2> at{{x[id], y[id]}};
      const auto [entry, is_new] = fell_at.emplace(static_cast<GlobalId>(id), at);
      if (!is_new) CHECK(entry->second == at);
    }
    CHECK(n_fallen == static_cast<std::int64_t>(fell_at.size()));  // nobody leaves who has fallen
    for (const CertificateEntry& entry : simulation.stepper().certificate()) {
      if (std::string(entry.name) == "max_overlap") overlap = std::max(overlap, entry.value);
      if (std::string(entry.name) == "solved") CHECK(entry.value == 1);
    }
  }
  CHECK(n_fallen > 40);
  CHECK(overlap <= 1e-6);
}
