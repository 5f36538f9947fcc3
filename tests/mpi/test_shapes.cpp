// Bodies with shapes in the scheme "nonsmooth": the same bits on any number of ranks and after a restart, a
// closed energy balance, and one motion whatever solver finds it.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"
#include "particles/shape_text.hpp"

namespace scree {

namespace {

const std::string of_all = R"(
[solver]
type = "nsgs"
tolerance = 1e-2
[materials.stone]
density = 2500
[pairs."stone-stone"]
friction = 0.4
restitution = 0.3
)";

/// Rectangles, rods, triangles and disks fall on a floor that shakes; periodic along x.
const std::string grains_2d = deck({.scheme = "nonsmooth",
                                    .lower = "[0, -0.2]",
                                    .upper = "[1.5, 3]",
                                    .periodic = "[true, false]",
                                    .step = 0.003,
                                    .seed = 7,
                                    .gravity = "[0, -9.81]",
                                    .skin = 0.02,
                                    .block_cells = 3},
                                   of_all + R"(
[shapes.brick]
type = "box"
size = [0.09, 0.05]
[shapes.rod]
type = "capsule"
length = 0.08
width = 0.02
[shapes.wedge]
type = "polygon"
points = [[0, 0], [0.08, 0], [0.02, 0.05]]
rounding = 0.002
[particles.pieces]
material = "stone"
shapes = ["brick", "rod", "wedge"]
orientation = "random"
source = { type = "random", count = 90, region = { lower = [0, 0.1], upper = [1.5, 1.6] } }
random_speed = 1.5
angular_velocity = [9]
[particles.disks]
material = "stone"
radius = { distribution = "uniform", min = 0.02, max = 0.04 }
source = { type = "random", count = 30, region = { lower = [0, 1.65], upper = [1.5, 2] } }
[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0]
normal = [0, 1]
motion = { type = "oscillate", amplitude = [0, 0.01], frequency = 6 }
)");

/// Boxes, capsules, hulls of a mesh and spheres, the same way; periodic along x and y.
std::string grains_3d(const std::string& mesh) {
  return deck({.dimension = 3,
               .scheme = "nonsmooth",
               .lower = "[0, 0, -0.2]",
               .upper = "[0.8, 0.8, 2]",
               .periodic = "[true, true, false]",
               .step = 0.003,
               .seed = 8,
               .gravity = "[0.5, 0, -9.81]",
               .skin = 0.02,
               .block_cells = 2},
              of_all + R"(
[shapes.brick]
type = "box"
size = [0.1, 0.06, 0.05]
[shapes.rod]
type = "capsule"
length = 0.08
width = 0.03
[shapes.stone]
type = "hull"
file = ")" + mesh +
                  R"("
scale = 1e-3
[particles.pieces]
material = "stone"
shapes = ["brick", "rod", "stone"]
shape_shares = [1, 1, 2]
orientation = "random"
source = { type = "random", count = 70, region = { lower = [0, 0, 0.1], upper = [0.8, 0.8, 0.6] } }
random_speed = 1.5
angular_velocity = [9, 0, -4]
[particles.balls]
material = "stone"
radius = { distribution = "uniform", min = 0.03, max = 0.05 }
source = { type = "random", count = 20, region = { lower = [0, 0, 0.7], upper = [0.8, 0.8, 0.9] } }
[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0, 0]
normal = [0, 0, 1]
motion = { type = "oscillate", amplitude = [0, 0, 0.01], frequency = 6 }
)");
}

/// An irregular stone of eight corners [mm].
const std::string stone =
    "v 40 0 0\nv -35 5 2\nv 3 30 -4\nv 0 -33 6\nv 4 -5 28\nv -2 3 -26\nv 22 20 12\nv -20 -18 -14\n"
    "f 1 3 7\nf 1 7 5\nf 1 5 4\nf 1 4 6\nf 1 6 3\nf 2 7 3\nf 2 5 7\nf 2 8 4\nf 2 4 5\nf 2 3 6\nf 2 6 8\nf 8 "
    "6 4\n";

template <int D>
void check_balance(const State<D>& state) {
  const EnergyBalance& balance = state.energy_balance;
  CHECK(std::abs(balance.impact + balance.friction) > 1e-3 * balance.start);
  CHECK(mechanical_energy(state).total() ==
        Approx(balance.total()).margin(1e-11 * std::abs(balance.start) + 1e-11).epsilon(0));
}

}  // namespace

TEST_CASE("shapes: the same bits on any number of ranks, exact restarts, a closed energy balance",
          "[mpi][convex]") {
  const Scratch folder;
  const std::string mesh = folder / "stone.obj";
  if (Comm().is_root()) put(mesh, stone);
  Comm().barrier();
  check_pushing<2>(grains_2d, {}, 160);
  check_pushing<3>(grains_3d(mesh), {}, 150);

  const Seen in_2d = check_restarts<2>({grains_2d, {}, 150, {130}});
  CHECK(in_2d.n_remembered > 30);
  const Seen in_3d = check_restarts<3>({grains_3d(mesh), {}, 160, {150}});
  CHECK(in_3d.n_remembered > 20);
  if (Comm().size() > 1) {
    CHECK(in_2d.n_shared_contacts > 0);
    CHECK(in_3d.n_shared_contacts > 0);
  }

  Simulation<2> flat(Comm(), read_deck<2>(grains_2d));
  Simulation<3> solid(Comm(), read_deck<3>(grains_3d(mesh)));
  for (int step = 0; step < 150; ++step) flat.step(), solid.step();
  check_balance(flat.state());
  check_balance(solid.state());
}

TEST_CASE("shapes: a checkpoint brings them along, whatever has become of their files", "[mpi][convex]") {
  const Scratch folder;
  const std::string mesh = folder / "stone.obj", path = folder / "shapes.scree";
  if (Comm().is_root()) put(mesh, stone);
  Comm().barrier();
  const std::string text = grains_3d(mesh);
  Simulation<3> before(Comm(), read_deck<3>(text));
  for (int step = 0; step < 20; ++step) before.step();
  save(before, path);
  // Half as large: what bodies were made of must not change.
  std::string smaller = stone;
  smaller.replace(smaller.find("v 40"), 4, "v 36");
  if (Comm().is_root()) put(mesh, smaller);
  Comm().barrier();
  Simulation<3> after(Comm(), read_deck<3>(text), path);
  CHECK(text_of(after.state().shapes) == text_of(before.state().shapes));
  for (int step = 0; step < 5; ++step) before.step(), after.step();
  CHECK(after.hash() == before.hash());
}

}  // namespace scree
