// Measures of one floor of a building, and obstacles on one: what happens above or below does not count.
#include "analysis/measure.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/crowd_environment.hpp"
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

using namespace scree;

namespace {

constexpr int n_upper = 40, n_ground = 10;

/// People of two floors, one above the other, walk to the left: those above over a stair at x from 2 m to 5
/// m.
const std::string house =
    deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 6, .block_cells = 1}, R"(
[floors.ground]
elevation = 0
[floors.ground.walkable]
polygon = [[0, 0], [16, 0], [16, 8], [0, 8]]
[floors.ground.walkable.obstacles.well]
polygon = [[2, 3], [5, 3], [5, 5], [2, 5]]
[floors.upper]
elevation = 3
[floors.upper.walkable]
polygon = [[0, 0], [16, 0], [16, 8], [0, 8]]
[floors.upper.walkable.obstacles.well]
polygon = [[2, 3], [5, 3], [5, 5], [2, 5]]
[connectors.stair]
polygon = [[2, 3], [5, 3], [5, 5], [2, 5]]
bottom = { floor = "ground", line = [[2, 3], [2, 5]] }
top = { floor = "upper", line = [[5, 3], [5, 5]] }
[exits.door]
floor = "ground"
line = [[0, 3], [0, 5]]
[navigation]
cell = 0.2
[populations.upper]
floor = "upper"
region = [[9, 0.5], [15, 0.5], [15, 7.5], [9, 7.5]]
count = 40
[populations.ground]
floor = "ground"
region = [[9, 0.5], [15, 0.5], [15, 1.5], [9, 1.5]]
count = 10
[obstacles.post]
type = "disk"
floor = "ground"
center = [7.5, 4]
radius = 1
[obstacles.column]
type = "disk"
floor = "upper"
center = [12, 4]
radius = 0.7
[measures.across_upper]
type = "line_flow"
floor = "upper"
line = [[8, 0], [8, 8]]
[measures.across_ground]
type = "line_flow"
floor = "ground"
line = [[8, 0], [8, 8]]
[measures.top_of_upper]
type = "line_flow"
floor = "upper"
line = [[5, 3], [5, 5]]
[measures.top_of_stair]
type = "line_flow"
floor = "stair"
line = [[5, 3], [5, 5]]
[measures.foot_of_stair]
type = "line_flow"
floor = "stair"
line = [[2, 3], [2, 5]]
[measures.foot_of_ground]
type = "line_flow"
floor = "ground"
line = [[2, 3], [2, 5]]
[measures.top_of_ground]
type = "line_flow"
floor = "ground"
line = [[5, 3], [5, 5]]
[measures.plane]
type = "flow"
floor = "ground"
point = [8, 0]
normal = [1, 0]
[measures.file]
type = "one_dimensional"
floor = "upper"
[measures.bins]
type = "profile"
floor = "ground"
axis = "x"
bins = 1
[measures.solid]
type = "solid_fraction"
floor = "upper"
[measures.touching]
type = "coordination"
floor = "ground"
[measures.normals]
type = "fabric"
floor = "upper"
tolerance = 0.1
[analysis]
contact_tolerance = 0.7
)");

/// A column of a measure at this moment.
Real value(Simulation<2>& simulation, const std::string& name, const std::string& column) {
  const State<2>& state = simulation.state();
  for (const NamedMeasure<2>& m : simulation.deck().measures) {
    if (m.name != name) continue;
    for (const MeasuredValue& number : m.measure->record({state, simulation.find_contacts(0.5)}))
      if (number.name == column) return number.value;
  }
  FAIL("no such column: " << name << "_" << column);
  return 0;
}

}  // namespace

TEST_CASE("measures of a floor count those on it, and on a line of two levels those of both", "[mpi]") {
  Simulation<2> simulation(Comm(), read_deck<2>(house, {}));
  const State<2>& state = simulation.state();
  const int upper = crowd_world(state)->building->find("upper");
  simulation.step();
  CHECK(value(simulation, "file", "n_bodies") == n_upper);
  CHECK(value(simulation, "bins", "n_bodies_0") == n_ground);
  CHECK(value(simulation, "solid", "n_bodies") == n_upper);

  const Vec<2> post{{7.5, 4}}, column{{12, 4}};
  Real nearest_to_post = HUGE_VAL, gap_to_column = HUGE_VAL;
  while (state.clock.time < 60 && state.outlets[0].n_removed < n_upper + n_ground) {
    simulation.step();
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) {
      if (state.bodies.level()[i] != upper) continue;
      nearest_to_post = std::min(nearest_to_post, norm(state.bodies.position()[i] - post));
      gap_to_column =
          std::min(gap_to_column, norm(state.bodies.position()[i] - column) - 0.7 - state.bodies.radius()[i]);
    }
  }
  REQUIRE(state.outlets[0].n_removed == n_upper + n_ground);
  CHECK(state.comm.min(nearest_to_post) < 0.5);  // it stands on the floor below
  CHECK(state.comm.min(gap_to_column) > -1e-4);
  CHECK(state.comm.min(gap_to_column) < 0.5);

  CHECK(value(simulation, "across_upper", "net") == -n_upper);
  CHECK(value(simulation, "across_ground", "net") == -n_ground);
  CHECK(value(simulation, "plane", "n_bodies") == -n_ground);
  for (const char* line : {"top_of_upper", "top_of_stair", "foot_of_stair", "foot_of_ground"})
    CHECK(value(simulation, line, "net") == -n_upper);
  CHECK(value(simulation, "top_of_ground", "total") == 0);
  CHECK(value(simulation, "file", "n_bodies") == 0);
}

TEST_CASE("measures of floors have the same rows on any number of ranks", "[mpi]") {
  const auto rows = [](const Comm& comm) {
    Simulation<2> simulation(comm, read_deck<2>(house, {}));
    for (int step = 0; step < 90; ++step) simulation.step();
    std::vector<Real> all;
    for (const NamedMeasure<2>& m : simulation.deck().measures)
      for (const MeasuredValue& column :
           m.measure->record({simulation.state(), simulation.find_contacts(0.5)}))
        all.push_back(column.value);
    return all;
  };
  const std::vector<Real> together = rows(Comm()), alone = rows(Comm(MPI_COMM_SELF));
  REQUIRE(together.size() == alone.size());
  CHECK(std::memcmp(together.data(), alone.data(), alone.size() * sizeof(Real)) == 0);
}

TEST_CASE("measures and obstacles of floors: restarts go on as if there had been none", "[mpi]") {
  check_restarts<2>({.text = house, .overrides = {}, .n_steps = 90, .splits = {20, 60}});
}
