// A building of three floors with two lifts and a stair: bit for bit the same run on any number of ranks,
// through checkpoints at every phase of a trip, and never more in a cabin than it holds.
#include "crowd/crowd_environment.hpp"
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

using namespace scree;

namespace {

const std::string house =
    deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 5, .block_cells = 1}, R"(
[floors.ground]
elevation = 0
walkable = { polygon = [[0, 0], [12, 0], [12, 8], [0, 8]] }
[floors.middle]
elevation = 3
walkable = { polygon = [[0, 0], [12, 0], [12, 8], [0, 8]] }
[floors.top]
elevation = 6
walkable = { polygon = [[0, 0], [12, 0], [12, 8], [0, 8]] }
[connectors.stair]
polygon = [[12, 0], [16, 0], [16, -1.5], [12, -1.5]]
bottom = { floor = "ground_annex", line = [[12, 0], [12, -1.5]] }
top = { floor = "middle_annex", line = [[16, 0], [16, -1.5]] }
[floors.ground_annex]
elevation = 0
walkable = { polygon = [[0, -1.5], [12, -1.5], [12, 0], [0, 0]] }
[floors.middle_annex]
elevation = 3
walkable = { polygon = [[16, -1.5], [18, -1.5], [18, 0], [16, 0]] }
[lifts.east]
cabin = [[12, 2], [13.6, 2], [13.6, 3.6], [12, 3.6]]
door = [[12, 2.2], [12, 3.4]]
floors = ["ground", "middle", "top"]
to = "ground"
capacity = 5
speed = 5
door_time = 0.4
dwell = 0.5
[lifts.west]
cabin = [[0, 4], [-1.6, 4], [-1.6, 5.6], [0, 5.6]]
door = [[0, 4.2], [0, 5.4]]
floors = ["top", "ground"]
to = "ground"
capacity = 4
speed = 4
door_time = 0.2
dwell = 0.4
closed_from = 7
[exits.door]
floor = "ground"
line = [[4, 8], [6, 8]]
[exits.annex]
floor = "ground_annex"
line = [[0, -1.5], [0, 0]]
[populations.middle]
floor = "middle"
count = 25
region = [[8, 1], [12, 1], [12, 5], [8, 5]]
[populations.top]
floor = "top"
count = 40
[populations.ground]
floor = "ground"
count = 10
[populations.annex]
floor = "middle_annex"
count = 3
[populations.riders]
floor = "east"
count = 2
)");

const CrowdEnvironment& environment_of(const State<2>& state) {
  return *crowd_world(state)->environment;
}

/// Steps at which, for the first time, somebody stands in a door above, rides, and stands in the door below.
std::vector<int> steps_of_a_trip() {
  Simulation<2> simulation(Comm(MPI_COMM_SELF), read_deck<2>(house, {}));
  const State<2>& state = simulation.state();
  const BuildingPlan& building = *crowd_world(state)->building;
  std::vector<int> steps;
  for (int step = 1; step < 200 && steps.size() < 3; ++step) {
    simulation.step();
    bool is_there = false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      const int level = state.bodies.level()[i];
      if (steps.size() == 1) {
        const Real height = building.level(level).elevation;
        is_there = is_there || (building.level(level).lift && height != 0 && height != 3 && height != 6);
        continue;
      }
      for (const LevelLine& line : building.map()->lines()) {
        if (!line.is_open || !building.level(line.level[1]).lift) continue;
        if ((line.level[0] == 0) != (steps.size() == 2)) continue;
        if (line.level[0] != level && line.level[1] != level) continue;
        const Edge door(line.a, line.b);
        is_there = is_there || foot_on(door, state.bodies.position()[i], door.normal).distance < 0.1;
      }
    }
    if (is_there) steps.push_back(step);
  }
  return steps;
}

}  // namespace

TEST_CASE("lifts: 80 people and two cabins", "[mpi]") {
  for (const Overrides& model : std::vector<Overrides>{{}, {"crowd.noise=0.02"}}) {
    const Outcome outcome = check_invariant<2>(house, model, 120);
    CHECK(outcome.n_contacts > 5);
    if (Comm().size() > 1) CHECK(outcome.n_migrated > 0);
  }
}

TEST_CASE("lifts: checkpoints in mid trip go on as if there had been none", "[mpi]") {
  const std::vector<int> steps = steps_of_a_trip();
  REQUIRE(steps.size() == 3);
  const Coverage covered = check_restarts<2>({house, {}, steps.back() + 20, steps});
  CHECK(covered.n_remembered > 0);
}

TEST_CASE("lifts: nobody is lost, no cabin is too full, nobody is in a closed door", "[mpi]") {
  Simulation<2> simulation(Comm(), read_deck<2>(house, {}));
  const State<2>& state = simulation.state();
  const BuildingPlan& building = *crowd_world(state)->building;
  std::int64_t outside = 0, too_many = 0, in_door = 0, seen_inside = 0;
  std::vector<std::int64_t> n_in(building.n_levels());
  while (simulation.running() && state.clock.time < 200) {
    simulation.step();
    std::ranges::fill(n_in, 0);
    std::int64_t n_here = 0, n_left = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      const Vec<2>& x = state.bodies.position()[i];
      const int level = state.bodies.level()[i];
      ++n_here;
      ++n_in[level];
      outside += building.plan(level).contains(x) ? 0 : 1;
      // Of each line: whoever overlaps one must be where it is open.
      for (const LevelLine& line : building.map()->lines()) {
        if (line.is_open || (line.level[0] != level && line.level[1] != level)) continue;
        const Edge door(line.a, line.b);
        bool is_open_elsewhere = false;
        for (const LevelLine& other : building.map()->lines())
          is_open_elsewhere = is_open_elsewhere || (other.is_open && other.level[1] == line.level[1] &&
                                                    (other.level[0] == level || other.level[1] == level));
        if (!is_open_elsewhere && foot_on(door, x, door.normal).distance < state.bodies.radius()[i] - 1e-6)
          ++in_door;
      }
    }
    for (const OutletProgress& outlet : state.outlets) n_left += outlet.n_removed;
    REQUIRE(state.comm.sum(n_here) + n_left == state.next_id);
    state.comm.sum(n_in);
    for (int level = 0; level < building.n_levels(); ++level) {
      const auto& lift = building.level(level).lift;
      if (!lift) continue;
      seen_inside += n_in[level];
      too_many += n_in[level] > lift->capacity ? 1 : 0;
    }
  }
  CHECK(state.comm.sum(outside) == 0);
  CHECK(state.comm.sum(in_door) == 0);
  CHECK(too_many == 0);
  CHECK(seen_inside > 0);
  std::int64_t persons = 0, trips = 0;
  for (const LiftReport& report : environment_of(state).lifts().reports()) {
    CHECK(report.trips > 0);
    persons += report.persons;
    trips += report.trips;
  }
  CHECK(persons == 25 + 40 + 2);
  CHECK(trips >= 67 / 5 + 1);
  CHECK(state.comm.sum(static_cast<std::int64_t>(state.bodies.n_owned())) == 0);
}
