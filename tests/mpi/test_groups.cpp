// People in groups: bit for bit the same run on any number of ranks and through restarts, with members of a
// group on several ranks.
#include <map>

#include "crowd/agent_fields.hpp"
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

using namespace scree;

namespace {

/// Two halls and a passage; groups of up to six with slow members, who wait for each other, walk by a
/// waypoint to the quickest of two exits, one of which lets few through.
const std::string halls =
    deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 4, .block_cells = 1}, R"(
[crowd]
noise = 0.02
[walkable]
polygon = [[0, 0], [8, 0], [8, 3], [10, 3], [10, 0], [18, 0], [18, 8], [10, 8], [10, 5], [8, 5], [8, 8], [0, 8]]
[exits.east]
line = [[18, 3], [18, 4.5]]
max_flow = 2
[exits.north]
line = [[12, 8], [14, 8]]
[waypoints.passage]
polygon = [[8.5, 3], [9.5, 3], [9.5, 5], [8.5, 5]]
[[journeys.go.steps]]
waypoint = "passage"
[[journeys.go.steps]]
choice = "quickest"
update = 0.3
[navigation]
cell = 0.2
[agents.able]
[agents.slow]
speed = { distribution = "constant", value = 0.5 }
[populations.crowd]
agents = ["able", "slow"]
shares = [0.7, 0.3]
region = [[0.5, 0.5], [17.5, 0.5], [17.5, 7.5], [0.5, 7.5]]
count = 60
premovement = { distribution = "uniform", min = 0, max = 0.8 }
[populations.crowd.groups]
sizes = [1, 2, 4, 6]
shares = [1, 1, 1, 1]
reach = 1
side_by_side = true
[populations.others]
region = [[1, 1], [7, 1], [7, 7], [1, 7]]
count = 10
)");

const std::vector<Overrides> models{{}, {"crowd.model=pbd"}};

}  // namespace

TEST_CASE("groups: 70 people, most of them in groups on several ranks", "[mpi]") {
  for (const Overrides& model : models) {
    const Outcome outcome = check_invariant<2>(halls, model, 120);
    CHECK(outcome.n_contacts > 0);
  }
}

TEST_CASE("groups: members on several ranks slow each other down and wait", "[mpi]") {
  Simulation<2> simulation(Comm(), read_deck<2>(halls));
  const State<2>& state = simulation.state();
  std::int64_t max_split = 0;
  for (int step = 0; step < 200; ++step) {
    simulation.step();
    // By group: on how many ranks it is.
    std::vector<std::int64_t> ranks_of(state.next_id, 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
      if (agent::group(state.bodies)[i] >= 0) ranks_of[agent::group(state.bodies)[i]] = 1;
    state.comm.sum(ranks_of);
    max_split = std::max(max_split, *std::ranges::max_element(ranks_of));
  }
  Real waited = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    waited = std::max(waited, agent::group_waited(state.bodies)[i]);
  CHECK(state.comm.max(waited) > 0.5);
  if (state.comm.size() > 1) CHECK(max_split > 1);
}

TEST_CASE("groups: checkpoints go on as if there had been none", "[mpi]") {
  for (const Overrides& model : models)
    check_restarts<2>({.text = halls, .overrides = model, .n_steps = 160, .splits = {1, 9, 77, 120}});
}

TEST_CASE("groups: starts are the same for any number of ranks", "[mpi]") {
  for (const std::string people : {"count = 9", "count = 60", "density = 2.5"})
    for (const std::string placement : {"random", "lattice"}) {
      CAPTURE(people, placement);
      std::string text = halls;
      const std::string count = "count = 60";
      text.replace(text.find(count), count.size(), people + "\nplacement = '" + placement + "'");
      check_invariant<2>(text, {}, 3);
    }
}
