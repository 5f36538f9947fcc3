// Bodies with shapes in the scheme "nonsmooth": the same bits on any number of ranks and after a restart, a
// closed energy balance, and one motion whatever solver finds it.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"
#include "particles/shape_text.hpp"
#include "support/solve_serial.hpp"

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
rounding_radius = 0.002
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

/// Where boxes, capsules, hulls of a mesh and spheres move: `head`, where they start, and walls.
struct Scene {
  DeckHead head;
  int pieces, spheres;
  std::string pieces_in, spheres_in, walls;
};

std::string grains_3d(const Scene& scene, const std::string& mesh) {
  DeckHead head = scene.head;
  head.dimension = 3;
  head.scheme = "nonsmooth";
  head.step = 0.003;
  head.seed = 8;
  head.skin = 0.02;
  head.block_cells = 2;
  return deck(head, of_all + R"(
[shapes.brick]
type = "box"
size = [0.1, 0.06, 0.05]
[shapes.rod]
type = "capsule"
length = 0.08
width = 0.03
[shapes.stone]
type = "hull"
file = ")" + mesh + R"("
scale = 1e-3
[particles.pieces]
material = "stone"
shapes = ["brick", "rod", "stone"]
shape_shares = [1, 1, 2]
orientation = "random"
random_speed = 1.5
angular_velocity = [9, 0, -4]
[particles.spheres]
material = "stone"
radius = { distribution = "uniform", min = 0.03, max = 0.05 }
)" +
                        fmt::format("source = {{ type = \"random\", count = {}, region = {{ {} }} }}\n",
                                    scene.spheres, scene.spheres_in) +
                        fmt::format(
                            "[particles.pieces.source]\ntype = \"random\"\ncount = {}\nregion = {{ {} }}\n",
                            scene.pieces, scene.pieces_in) +
                        scene.walls);
}

/// They fall on a floor that shakes; periodic along x and y.
const Scene shaken{.head = {.lower = "[0, 0, -0.2]",
                            .upper = "[0.8, 0.8, 2]",
                            .periodic = "[true, true, false]",
                            .gravity = "[0.5, 0, -9.81]"},
                   .pieces = 70,
                   .spheres = 20,
                   .pieces_in = "lower = [0, 0, 0.1], upper = [0.8, 0.8, 0.6]",
                   .spheres_in = "lower = [0, 0, 0.7], upper = [0.8, 0.8, 0.9]",
                   .walls = R"([obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0, 0]
normal = [0, 0, 1]
motion = { type = "oscillate", amplitude = [0, 0, 0.01], frequency = 6 }
)"};

/// A drum turns them over; periodic along its axis.
const Scene drum{.head = {.lower = "[-0.5, 0, -0.5]",
                          .upper = "[0.5, 0.5, 0.5]",
                          .periodic = "[false, true, false]",
                          .gravity = "[0, 0, -9.81]"},
                 .pieces = 56,
                 .spheres = 12,
                 .pieces_in = "lower = [-0.32, 0, -0.3], upper = [0.32, 0.5, 0.16]",
                 .spheres_in = "lower = [-0.2, 0, 0.22], upper = [0.2, 0.5, 0.4]",
                 .walls = R"([obstacles.drum]
type = "cylinder"
a = [0, 0, 0]
b = [0, 0.5, 0]
radius = 0.48
side = "inside"
endless = true
material = "stone"
motion = { type = "rotate", point = [0, 0, 0], axis = [0, 1, 0], rate = 4 }
)"};

/// They fall into a funnel, and some leave it through its outlet.
const Scene hopper{
    .head = {.lower = "[-0.5, -0.5, -0.5]", .upper = "[0.5, 0.5, 1]", .gravity = "[0, 0, -9.81]"},
    .pieces = 56,
    .spheres = 15,
    .pieces_in = "lower = [-0.26, -0.26, 0.02], upper = [0.26, 0.26, 0.6]",
    .spheres_in = "lower = [-0.25, -0.25, 0.68], upper = [0.25, 0.25, 0.95]",
    .walls = R"([obstacles.funnel]
type = "cone"
a = [0, 0, -0.2]
b = [0, 0, 0.2]
radius_a = 0.1
radius_b = 0.45
material = "stone"
[obstacles.pipe]
type = "cylinder"
a = [0, 0, 0.2]
b = [0, 0, 1.2]
radius = 0.45
side = "inside"
endless = true
material = "stone"
[outlets.below]
region = { lower = [-0.5, -0.5, -0.5], upper = [0.5, 0.5, -0.3] }
)"};

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
  check_pushing<3>(grains_3d(shaken, mesh), {}, 150);

  const Coverage in_2d = check_restarts<2>({grains_2d, {}, 150, {130}});
  CHECK(in_2d.n_remembered > 30);
  const Coverage in_3d = check_restarts<3>({grains_3d(shaken, mesh), {}, 160, {150}});
  CHECK(in_3d.n_remembered > 20);
  if (Comm().size() > 1) {
    CHECK(in_2d.n_shared_contacts > 0);
    CHECK(in_3d.n_shared_contacts > 0);
  }

  Simulation<2> flat(Comm(), read_deck<2>(grains_2d));
  Simulation<3> solid(Comm(), read_deck<3>(grains_3d(shaken, mesh)));
  for (int step = 0; step < 150; ++step) flat.step(), solid.step();
  check_balance(flat.state());
  check_balance(solid.state());
}

TEST_CASE("shapes: the same bits in a drum and in a hopper, through restarts too", "[mpi][convex]") {
  const Scratch folder;
  const std::string mesh = folder / "stone.obj";
  if (Comm().is_root()) put(mesh, stone);
  Comm().barrier();
  check_pushing<3>(grains_3d(drum, mesh), {}, 150);
  CHECK(check_pushing<3>(grains_3d(hopper, mesh), {}, 150).n_bodies < hopper.pieces + hopper.spheres);
  CHECK(check_restarts<3>({grains_3d(drum, mesh), {}, 140, {120}}).n_remembered > 20);
  CHECK(check_restarts<3>({grains_3d(hopper, mesh), {}, 150, {60, 120}}).n_remembered > 20);
}

TEST_CASE("shapes: all solvers find one motion", "[mpi][convex]") {
  const Scratch folder;
  const std::string mesh = folder / "stone.obj", path = folder / "pile.scree";
  if (Comm().is_root()) put(mesh, stone);
  Comm().barrier();
  const std::string text = grains_3d(shaken, mesh);
  Simulation<3> before(Comm(), read_deck<3>(text));
  for (int step = 0; step < 160; ++step) before.step();
  save(before, path);
  // Each rank looks at its own bodies, which are the same ones whatever the solver.
  std::vector<Vec<3>> expected;
  for (const std::string& solver : solver_names<3>()) {
    // Needs a compliance: rigid bodies that touch at several points leave its matrix singular.
    if (solver == "newton") continue;
    CAPTURE(solver);
    Simulation<3> after(Comm(), read_deck<3>(text, {"solver.type=" + solver, "solver.tolerance=1e-9"}), path);
    after.step();
    for (const CertificateEntry& entry : after.stepper().certificate()) {
      if (entry.name == "solved") CHECK(entry.value == 1);
      if (entry.name == "contacts") CHECK(entry.value > 100);
    }
    const BodyStore<3>& bodies = after.state().bodies;
    std::vector<Vec<3>> found(shaken.pieces + shaken.spheres, Vec<3>{});
    for (int i = 0; i < bodies.n_owned(); ++i) found[bodies.id()[i]] = bodies.velocity()[i];
    if (expected.empty()) expected = found;
    Real difference = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      difference = std::max(difference, norm(found[i] - expected[i]));
    CHECK(difference <= 1e-7);  // [m/s]; the residual they are held to is relative to a speed near 1 m/s
  }
}

TEST_CASE("shapes: a checkpoint brings them along, whatever has become of their files", "[mpi][convex]") {
  const Scratch folder;
  const std::string mesh = folder / "stone.obj", path = folder / "shapes.scree";
  if (Comm().is_root()) put(mesh, stone);
  Comm().barrier();
  const std::string text = grains_3d(shaken, mesh);
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
