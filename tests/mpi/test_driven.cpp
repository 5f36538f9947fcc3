// Driven walls: the same bits on any number of ranks, and from a checkpoint on another number.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// Disks under a lid that carries a load, with a wall that has mass at their side and a vane under a torque;
/// the lid gets another load in the middle.
std::string pressed(const std::string& scheme, Real step, const std::string& keys) {
  return deck({.scheme = scheme,
               .lower = "[-0.2, -0.1]",
               .upper = "[1.2, 1.6]",
               .step = step,
               .seed = 11,
               .gravity = "[0, -9.81]",
               .skin = 0.06,
               .block_cells = 3},
              keys + R"(
[materials.stone]
density = 2500
[particles.stones]
radius = { distribution = "uniform", min = 0.02, max = 0.04 }
source = { type = "random", count = 150, region = { lower = [0, 0.12], upper = [1, 1.25] } }
velocity = [0, -1]
[obstacles.floor]
type = "plane"
point = [0, 0]
normal = [0, 1]
[obstacles.left]
type = "plane"
point = [0, 0]
normal = [1, 0]
[obstacles.right]
type = "plane"
point = [1, 0]
normal = [-1, 0]
motion = { type = "driven", axis = [-1, 0], load = "3 kN", control = "free", mass = 500, max_speed = 2 }
[obstacles.lid]
type = "plane"
point = [0, 1.3]
normal = [0, -1]
motion = { type = "driven", axis = [0, -1], pressure = "2 kPa", between = ["left", "right"], max_speed = 4 }
[obstacles.vane]
type = "box"
lower = [0.4, 0.05]
upper = [0.6, 0.07]
motion = { type = "driven", point = [0.5, 0.06], torque = "300 N m", max_rate = 5 }
[[stages]]
name = "press"
until = { load_within = 0.05, of = ["lid"], time = 0.06, max_time = 0.1 }
[[stages]]
name = "press harder"
drive = [{ obstacle = "lid", pressure = "9 kPa" }, { obstacle = "vane", rate = -2 }]
duration = 1
[measures.energy]
type = "energy"
balance = true
)");
}

const std::string soft = pressed("dem", 4e-4, R"(
[dem]
law = "linear"
overlap_limit = 1
[pairs."stone-stone"]
friction = 0.5
restitution = 0.4
stiffness = 3e6
)");
const std::string rigid = pressed("nonsmooth", 2e-3, R"(
[solver]
tolerance = 1e-4
[pairs."stone-stone"]
friction = 0.5
restitution = 0.1
)");

}  // namespace

TEST_CASE(
    "driven walls: soft bodies, the same bits on any ranks and through a restart in the middle of a stage",
    "[mpi]") {
  const Coverage covered = check_restarts<2>({soft, {}, 500, {1, 120, 240, 420}});
  CHECK(covered.n_contacts > 100);
  CHECK(covered.n_remembered > 100);
  if (Comm().size() > 1) CHECK(covered.n_shared_contacts > 0);
}

TEST_CASE(
    "driven walls: rigid bodies, the same bits on any ranks and through a restart in the middle of a stage",
    "[mpi]") {
  const Coverage covered = check_restarts<2>({rigid, {}, 60, {1, 20, 35, 50}});
  CHECK(covered.n_contacts > 10);
  CHECK(covered.n_remembered > 10);
  CHECK(covered.old_list);
}

TEST_CASE("driven walls: they go where their loads push them", "[mpi]") {
  const Comm world;
  Simulation<2> simulation(world, read_deck<2>(soft));
  for (int step = 0; step < 500; ++step) simulation.step();
  const auto walls = simulation.state().obstacles.driven();
  REQUIRE(walls.size() == 3);
  CHECK(walls[0].position > 1e-4);  // right
  CHECK(walls[1].position > 0.1);   // lid
  CHECK(walls[2].velocity == -2);   // vane
  CHECK(simulation.state().stage.index == 1);
}

}  // namespace scree
