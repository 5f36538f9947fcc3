// Queues: bit for bit the same run on any number of ranks and through restarts.
#include "crowd/crowd_environment.hpp"
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

using namespace scree;

namespace {

/// Families and others come in, stand in line before two servers, or in a longer line than there is, and
/// leave.
const std::string hall =
    deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 5, .block_cells = 1}, R"(
[walkable]
polygon = [[0, 0], [14, 0], [14, 8], [0, 8]]
[exits.east]
line = [[14, 3], [14, 5]]
[[journeys.visit.steps]]
queue = { line = [[9, 2], [5, 2], [5, 3.2]], spacing = 0.6, servers = 2, service = { distribution = "lognormal", median = 1.5, sigma = 0.5 } }
[[journeys.visit.steps]]
exits = ["east"]
[[journeys.ask.steps]]
queue = { name = "desk", line = [[9, 6], [7.8, 6]], service = { distribution = "uniform", min = 0.5, max = 1 } }
[[journeys.ask.steps]]
choice = "nearest"
[navigation]
cell = 0.2
[populations.visitors]
region = [[0.5, 0.5], [6, 0.5], [6, 5], [0.5, 5]]
count = 16
journey = "visit"
[populations.visitors.groups]
sizes = [1, 3]
shares = [1, 1]
[populations.others]
region = [[0.5, 5], [7, 5], [7, 7.5], [0.5, 7.5]]
count = 10
journey = "ask"
[sources.more]
region = [[1, 1], [2, 1], [2, 7], [1, 7]]
rate = 1
limit = 5
journey = "ask"
)");

}  // namespace

TEST_CASE("queues: 31 people in two queues", "[mpi]") {
  check_invariant<2>(hall, {}, 400);
  check_invariant<2>(hall, {"crowd.model=pbd"}, 200);
}

TEST_CASE("queues: everybody is served once and leaves", "[mpi]") {
  Simulation<2> simulation(Comm(), read_deck<2>(hall));
  const State<2>& state = simulation.state();
  CrowdEnvironment& environment = *crowd_world(state)->environment;
  std::vector<Served> served;
  while (simulation.running() && state.clock.time < 120) {
    simulation.step();
    served.insert(served.end(), environment.queues().served().begin(), environment.queues().served().end());
    environment.queues().served().clear();
  }
  CHECK(state.comm.sum(static_cast<std::int64_t>(state.bodies.n_owned())) == 0);
  CHECK(environment.queues().n_served() == 31);
  CHECK(state.comm.sum(static_cast<std::int64_t>(served.size())) == 31);
  const std::vector<QueueReport> reports = environment.queues().reports(state);
  CHECK(reports[0].n_served == 16);
  CHECK(reports[1].n_served == 15);
  CHECK(reports[0].longest_wait > reports[0].mean_wait);
}

TEST_CASE("queues: checkpoints go on as if there had been none", "[mpi]") {
  check_restarts<2>({.text = hall, .overrides = {}, .n_steps = 320, .splits = {1, 60, 150, 260}});
}
