// A building of three floors with stairs, an escalator and doors: bit for bit the same run on any number of
// ranks, through checkpoints too, and nobody lost on the way from level to level.
#include "crowd/crowd_environment.hpp"
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

using namespace scree;

namespace {

const std::string house =
    deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 5, .block_cells = 1}, R"(
[floors.ground]
elevation = 0
[floors.ground.walkable]
polygon = [[0, 0], [24, 0], [24, 8], [0, 8]]
[floors.ground.walkable.obstacles.well]
polygon = [[5, 3], [9, 3], [9, 5], [5, 5]]
[floors.ground.walkable.obstacles.escalator]
polygon = [[16, 1], [21, 1], [21, 2], [16, 2]]
[floors.middle]
elevation = 3
[floors.middle.walkable]
polygon = [[0, 0], [16, 0], [16, 8], [0, 8]]
[floors.middle.walkable.obstacles.well]
polygon = [[5, 3], [9, 3], [9, 5], [5, 5]]
[floors.top]
elevation = 6
[floors.top.walkable]
polygon = [[0, 0], [16, 0], [16, 8], [0, 8]]
[floors.top.walkable.obstacles.well]
polygon = [[5, 3], [9, 3], [9, 5], [5, 5]]
[floors.top.walkable.obstacles.post]
circles = [[12, 4, 0.3]]
[connectors.lower]
polygon = [[5, 3], [9, 3], [9, 5], [5, 5]]
bottom = { floor = "ground", line = [[5, 3], [5, 5]] }
top = { floor = "middle", line = [[9, 3], [9, 5]] }
[connectors.upper]
polygon = [[5, 3], [9, 3], [9, 5], [5, 5]]
bottom = { floor = "middle", line = [[5, 3], [5, 5]] }
top = { floor = "top", line = [[9, 3], [9, 5]] }
[connectors.escalator]
type = "escalator"
speed = 0.5
direction = "down"
walk = 0.4
polygon = [[16, 1], [21, 1], [21, 2], [16, 2]]
top = { floor = "middle", line = [[16, 1], [16, 2]] }
bottom = { floor = "ground", line = [[21, 1], [21, 2]] }
[exits.door]
floor = "ground"
line = [[0, 3], [0, 5]]
[exits.back]
floor = "ground"
line = [[24, 6], [24, 7]]
open_from = [0.5]
[zones.carpet]
floor = "middle"
polygon = [[2, 0], [5, 0], [5, 8], [2, 8]]
speed_factor = 0.8
[journeys.leave]
[[journeys.leave.steps]]
choice = "quickest"
update = 0.3
[navigation]
cell = 0.2
[navigation.density_cost]
weight = 0.5
update = 0.4
[populations.ground]
floor = "ground"
count = 60
[populations.middle]
floor = "middle"
count = 90
[populations.top]
floor = "top"
count = 70
[populations.on_the_stair]
floor = "upper"
count = 8
[sources.late]
floor = "top"
region = [[10, 1], [12, 1], [12, 2], [10, 2]]
rate = 6
limit = 9
)");

}  // namespace

TEST_CASE("levels: 230 people on three floors", "[mpi]") {
  for (const Overrides& model :
       std::vector<Overrides>{{}, {"crowd.solver.type=nsgs"}, {"crowd.noise=0.02"}}) {
    const Outcome outcome = check_invariant<2>(house, model, 60);
    CHECK(outcome.n_contacts > 5);
    CHECK(outcome.n_pushing > 5);
    if (Comm().size() > 1) CHECK(outcome.n_migrated > 0);
  }
}

TEST_CASE("levels: checkpoints go on as if there had been none", "[mpi]") {
  const Coverage covered = check_restarts<2>({house, {}});
  CHECK(covered.n_remembered > 0);
}

TEST_CASE("levels: nobody is lost on the way from level to level", "[mpi]") {
  Simulation<2> simulation(Comm(), read_deck<2>(house, {}));
  const State<2>& state = simulation.state();
  const BuildingPlan& building = *crowd_world(state)->building;
  std::vector<std::int64_t> seen(building.n_levels(), 0);
  std::int64_t outside = 0;
  while (simulation.running() && state.clock.time < 30) {
    simulation.step();
    std::int64_t n_here = 0, n_left = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      const int level = state.bodies.level()[i];
      ++n_here;
      ++seen[level];
      outside += building.plan(level).contains(state.bodies.position()[i]) ? 0 : 1;
    }
    for (const OutletProgress& outlet : state.outlets) n_left += outlet.n_removed;
    REQUIRE(state.comm.sum(n_here) + n_left == state.next_id);
  }
  CHECK(state.comm.sum(outside) == 0);
  state.comm.sum(seen);
  for (const std::int64_t n : seen) CHECK(n > 0);
}
