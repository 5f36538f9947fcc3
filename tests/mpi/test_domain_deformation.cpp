// Deforming domains: the same bits on any number of ranks, and from a checkpoint on another number.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// Grains of `radii` [m] in a cell that begins with this upper corner; how it deforms and what else there is
/// say the tables. Those begin within [domain.deformation].
struct Cell {
  int dimension;
  std::string upper;
  int seed;
  std::string stiffness;  // [N/m]; empty: they are rigid
  std::string radii;
  int count;
  std::string more{};  // keys of the grains
};
std::string deck_of(const Cell& cell, const std::string& tables) {
  const bool plane = cell.dimension == 2;
  const DeckHead head{.dimension = cell.dimension,
                      .scheme = cell.stiffness.empty() ? "nonsmooth" : "dem",
                      .lower = plane ? "[0, 0]" : "[0, 0, 0]",
                      .upper = cell.upper,
                      .periodic = plane ? "[true, true]" : "[true, true, true]",
                      .step = 4e-4,
                      .seed = cell.seed,
                      .block_cells = 2};
  const std::string soft = cell.stiffness.empty() ? "" : "[dem]\nlaw = \"linear\"\noverlap_limit = 1\n";
  return deck(head, soft + fmt::format(R"(
[materials.grain]
density = 2500
[pairs."grain-grain"]
friction = 0.5
restitution = 0.6
{}
[particles.grains]
material = "grain"
radius = {{ distribution = "uniform", {} }}
source = {{ type = "random", count = {} }}
{}
[domain.deformation]
)",
                                       cell.stiffness.empty() ? "" : "stiffness = " + cell.stiffness,
                                       cell.radii, cell.count, cell.more)) +
         tables;
}

/// Disks that are sheared at a constant stress, faster and under a pressure from a moment on. The cell flips
/// about every 70 steps.
std::string plane(const std::string& stiffness = "1e6") {
  return deck_of({2, "[1.0, 0.8]", 3, stiffness, "min = 0.015, max = 0.025", 260}, R"(
flow = "x"
gradient = "y"
shear_rate = 25
stress = { y = 200 }
max_rate = 3
[[stages]]
name = "shear"
until = { stress_within = 0.2, max_time = 0.08 }
[[stages]]
name = "faster"
deformation = { shear_rate = -40, pressure = 900 }
duration = 1
[measures.energy]
type = "energy"
balance = true
[measures.stress]
type = "stress"
[measures.cell]
type = "cell"
)");
}

/// Spheres in a cell that gets shorter along one axis and longer along another, and is sheared across the
/// third.
std::string space(const std::string& stiffness = "1e5", const std::string& more = "",
                  const std::string& strain = "strain_rate = { x = 1, z = -0.5 }") {
  return deck_of({3, "[0.5, 0.45, 0.5]", 5, stiffness, "min = 0.02, max = 0.03", 400, more}, R"(
flow = "z"
gradient = "y"
shear_rate = 15
)" + strain + "\n");
}

}  // namespace

TEST_CASE("deforming domains in the plane: the same bits on any ranks and through restarts", "[mpi]") {
  const Coverage covered = check_restarts<2>({plane(), {}, 400, {1, 90, 150, 320}});
  CHECK(covered.n_contacts > 15);
  CHECK(covered.n_remembered > 15);
  CHECK(covered.old_list);
  if (Comm().size() > 1) CHECK(covered.n_shared_contacts > 0);
}

TEST_CASE("deforming domains that follow a shear stress: the same bits on any ranks and through restarts",
          "[mpi]") {
  for (const std::string stiffness : {"1e6", ""}) {
    INFO((stiffness.empty() ? "rigid" : "soft"));
    std::string pulled = plane(stiffness);
    const std::string rates = "shear_rate = -40, ";
    pulled.replace(pulled.find(rates), rates.size(), "shear_stress = -90, ");
    const Coverage covered = check_restarts<2>({pulled, {}, 400, {1, 90, 230, 320}});
    CHECK(covered.n_remembered > 15);
    CHECK(covered.old_list);
  }
}

TEST_CASE("deforming domains in space: the same bits on any ranks and through restarts", "[mpi]") {
  const Coverage covered = check_restarts<3>({space(), {}, 200, {1, 60, 120, 170}});
  CHECK(covered.n_contacts > 15);
  CHECK(covered.old_list);
  if (Comm().size() > 1) CHECK(covered.n_shared_contacts > 0);
}

TEST_CASE("deforming domains of rigid disks: the same bits on any ranks and through restarts", "[mpi]") {
  const Coverage covered = check_restarts<2>({plane(""), {}, 400, {1, 90, 150, 320}});
  CHECK(covered.n_remembered > 15);  // of impacts few touch at any moment
  CHECK(covered.old_list);
  if (Comm().size() > 1) CHECK(covered.n_shared_contacts > 0);
}

TEST_CASE("deforming domains of rigid bodies of many shapes: the same bits on any ranks and through restarts",
          "[mpi]") {
  const std::string shapes = R"(shapes = ["rod", "brick"]
orientation = "random"
[shapes.rod]
type = "capsule"
length = "5 cm"
width = "2 cm"
[shapes.brick]
type = "box"
size = [0.04, 0.03, 0.02])";
  const std::string pressed = "strain_rate = { x = -15, z = -10 }";
  const Coverage covered = check_restarts<3>({space("", shapes, pressed), {}, 60, {1, 25, 40, 50}});
  CHECK(covered.n_remembered > 3);  // of impacts few touch at any moment
  CHECK(covered.old_list);
}

TEST_CASE(
    "deforming domains: stages change what the domain is asked for, and the tilt stays within half a period",
    "[mpi]") {
  const Comm world;
  Simulation<2> simulation(world, read_deck<2>(plane()));
  Real max = 0;
  int n_flips = 0;
  for (int step = 0; step < 400; ++step) {
    const Real before = simulation.state().box.offset;
    simulation.step();
    const Box<2>& box = simulation.state().box;
    if (std::abs(box.offset - before) > 0.5 * box.length(0)) ++n_flips;
    max = std::max(max, std::abs(box.offset) / box.length(0));
  }
  CHECK(n_flips >= 4);
  CHECK(max < 0.6);
  CHECK(simulation.state().stage.index == 1);
  CHECK(std::abs(simulation.state().deformation.shear_rate(simulation.state().box) + 40) <
        0.2);  // lengths change in a step
  const Vec<2> length{{simulation.state().box.length(0), simulation.state().box.length(1)}};
  CHECK(length[1] != 0.8);
  CHECK(length[0] != 1.0);
}

}  // namespace scree
