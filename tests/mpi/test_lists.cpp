// Runs do not end for their own lists of neighbours: where bodies or obstacles move further in a step than
// the skin allows, the skin is widened or the step is cut, alike on any number of ranks and after a restart.
#include <fstream>

#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

const std::string closed_box = R"(
[domain]
lower = [0, 0]
upper = [1.2, 0.8]
[materials.stone]
density = 2500
[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0]
normal = [0, 1]
[obstacles.ceiling]
type = "plane"
material = "stone"
point = [0, 0.8]
normal = [0, -1]
[obstacles.left]
type = "plane"
material = "stone"
point = [0, 0]
normal = [1, 0]
[obstacles.right]
type = "plane"
material = "stone"
point = [1.2, 0]
normal = [-1, 0]
[neighbors]
skin = 0.002
[decomposition]
block_cells = 2
[particles.grains]
material = "stone"
random_speed = 2
radius = { distribution = "uniform", min = 0.02, max = 0.03 }
source = { type = "random", count = 90, region = { lower = [0, 0], upper = [1.2, 0.8] } }
)";
const std::string rigid_grains = deck({.scheme = "nonsmooth", .seed = 3, .gravity = "[0, -9.81]"}, R"(
[solver]
type = "nsgs"
tolerance = 1e-2
[nonsmooth]
overlap_limit = 3
on_overlap = "warn"
[pairs]
"stone-stone" = { friction = 0.5, restitution = 0.2 }
)") + closed_box;
const std::string soft_grains = deck({.scheme = "dem", .step = 5e-4, .seed = 3, .gravity = "[0, -9.81]"}, R"(
[dem]
law = "linear"
overlap_limit = 2
[pairs]
"stone-stone" = { friction = 0.5, restitution = 0.2, stiffness = 3e6 }
)") + closed_box;

struct Counts {
  std::int64_t widened, cut, beyond;
  Real skin;
};
template <int D>
Counts run(const std::string& text, const Overrides& overrides, int n_steps) {
  Simulation<D> simulation(Comm(), read_deck<D>(text, overrides));
  for (int step = 0; step < n_steps; ++step) simulation.step();
  const NeighborList<D>& lists = simulation.neighborhood().list();
  return {lists.n_widened(), lists.n_cut_steps(), lists.n_steps_beyond_list(),
          simulation.state().lattice.skin};
}

}  // namespace

TEST_CASE("lists: nonsmooth: long steps and fast grains with a small skin", "[mpi]") {
  const Counts counts = run<2>(rigid_grains, {}, 60);
  CHECK(counts.widened > 0);
  check_invariant<2>(rigid_grains, {}, 60);
  check_restarts<2>({rigid_grains, {}, 30, {2, 11, 24}});
  // So fast that the widest list does not reach far enough.
  const Overrides fast{"particles.grains.random_speed=15"};
  CHECK(run<2>(rigid_grains, fast, 30).cut > 0);
  check_invariant<2>(rigid_grains, fast, 30);
  check_restarts<2>({rigid_grains, fast, 25, {3, 17}});
  // With the policies that do steps again.
  check_invariant<2>(rigid_grains, {"nonsmooth.on_failure='halve'", "solver.max_sweeps=40"}, 20);
  check_invariant<2>(rigid_grains, {"nonsmooth.max_travel=0.5"}, 40);
}

TEST_CASE("lists: nonsmooth: a skin that becomes too wide goes back to the usual one", "[mpi]") {
  // Grains come to rest in a heap, and the skin with them; not with every seed before lists are no longer
  // made.
  const Overrides fast{"particles.grains.random_speed=6", "neighbors.skin=0.004", "simulation.seed=1"};
  Simulation<2> simulation(Comm(), read_deck<2>(rigid_grains, fast));
  Real widest = 0;
  bool goes_back = false;
  for (int step = 0; step < 400; ++step) {
    simulation.step();
    const Real skin = simulation.state().lattice.skin;
    widest = std::max(widest, skin);
    goes_back = goes_back || skin < 0.5 * widest;
  }
  CHECK(widest > 0.05);
  CHECK(goes_back);
}

TEST_CASE("lists: dem: fast grains with a small skin", "[mpi]") {
  const Overrides fast{"particles.grains.random_speed=12", "neighbors.skin=0.0005"};
  CHECK(run<2>(soft_grains, fast, 150).widened > 0);
  check_invariant<2>(soft_grains, fast, 150);
  check_restarts<2>({soft_grains, fast, 80, {2, 31, 66}});
  // A bullet that crosses the box in a step or two.
  const std::string bullet = R"(
[particles.bullet]
material = "stone"
velocity = [1500, 0]
radius = { distribution = "constant", value = 0.02 }
source = { type = "file", path = "PATH" }
)";
  const Scratch scratch{Comm()};
  const std::string path = scratch / "bullet.csv";
  if (Comm().is_root()) std::ofstream(path) << "x,y\n0.1,0.5\n";
  Comm().barrier();
  std::string with_bullet = soft_grains + bullet;
  with_bullet.replace(with_bullet.find("PATH"), 4, path);
  const Overrides fewer{"particles.grains.source.count=20", "particles.grains.source.region.lower=[0.2, 0]",
                        "dem.overlap_limit=100"};
  CHECK(run<2>(with_bullet, fewer, 5).cut > 0);
  check_invariant<2>(with_bullet, fewer, 5);
}

TEST_CASE("lists: pbd: corrections that go further than the list", "[mpi]") {
  const Overrides rough{"time.step=1", "neighbors.skin=0.01", "pbd.sweeps=20"};
  CHECK(run<2>(disks_deck, rough, 8).widened > 0);
  check_invariant<2>(disks_deck, rough, 8);
  check_invariant<2>(
      disks_deck, {"time.step=1", "neighbors.skin=0.01", "pbd.overlap_limit=0.3", "pbd.on_overlap='halve'"},
      6);
  check_restarts<2>({disks_deck, rough, 7, {1, 3, 5}});
  check_restarts<3>({spheres_deck, {"time.step=1", "neighbors.skin=0.01", "pbd.sweeps=6"}, 5, {1, 3}});
}

#ifdef SCREE_CROWD
TEST_CASE("lists: crowd: people pushed faster than the list allows", "[mpi]") {
  const std::string pushed = deck({.scheme = "crowd", .step = 0.2, .end_time = 1000, .seed = 4}, R"(
[walkable]
polygon = [[0, 0], [40, 0], [40, 3], [0, 3]]
[exits.door]
line = [[40, 0.5], [40, 2.5]]
[populations.crowd]
region = [[3, 0.2], [12, 0.2], [12, 2.8], [3, 2.8]]
count = 40
[obstacles.piston]
type = "plane"
point = [0, 0]
normal = [1, 0]
motion = { type = "translate", velocity = [11, 0] }
)");
  CHECK(run<2>(pushed, {}, 8).widened + run<2>(pushed, {}, 8).cut > 0);
  check_invariant<2>(pushed, {}, 8);
  check_restarts<2>({pushed, {}, 8, {2, 4, 6}});
}
#endif

TEST_CASE("lists: surfaces that move in themselves use up no skin, however fast", "[mpi]") {
  const std::string on_belt = deck({.dimension = 3,
                                    .scheme = "nonsmooth",
                                    .lower = "[0, 0, -0.1]",
                                    .upper = "[1, 1, 1]",
                                    .gravity = "[0, 0, -9.81]",
                                    .skin = 0.02},
                                   R"(
[solver]
type = "nsgs"
tolerance = 1e-4
[materials.stone]
density = 2500
[pairs]
"stone-stone" = { friction = 0, restitution = 0 }
[particles.grains]
material = "stone"
radius = { distribution = "constant", value = 0.05 }
source = { type = "lattice", spacing = 0.11, region = { lower = [0, 0, 0], upper = [1, 1, 0.12] } }
[obstacles.belt]
type = "plane"
material = "stone"
point = [0, 0, 0]
normal = [0, 0, 1]
motion = { type = "translate", velocity = [50, 20, 0] }
[obstacles.drum]
type = "cylinder"
material = "stone"
a = [0.5, 0.5, -1]
b = [0.5, 0.5, 2]
radius = 2
side = "inside"
motion = { type = "rotate", point = [0.5, 0.5, 0], axis = [0, 0, 1], rate = 300 }
)");
  Simulation<3> simulation(Comm(), read_deck<3>(on_belt));
  for (int step = 0; step < 20; ++step) simulation.step();
  CHECK(simulation.neighborhood().list().n_widened() == 0);
  CHECK(simulation.neighborhood().list().n_cut_steps() == 0);
  CHECK(simulation.neighborhood().n_rebuilds() < 4);
}

TEST_CASE("lists: velocities that are not finite name the body", "[mpi]") {
  Simulation<2> simulation(Comm(), read_deck<2>(rigid_grains));
  const auto id = simulation.state().bodies.id();
  for (std::size_t i = 0; i < static_cast<std::size_t>(simulation.state().bodies.n_owned()); ++i)
    if (id[i] == 17) simulation.state().bodies.velocity()[i][0] = std::numeric_limits<Real>::quiet_NaN();
  CHECK_THROWS_WITH(simulation.step(), Catch::Contains("body 17") && Catch::Contains("not finite"));
}

}  // namespace scree
