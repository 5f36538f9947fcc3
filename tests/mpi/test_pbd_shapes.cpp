// Bodies with shapes in the scheme "pbd" and in dense starts: the same bits on any number of ranks and after
// a restart.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// Rectangles, rods, triangles and disks are drawn to a point above a floor that shakes; periodic along x.
const std::string pieces_2d = deck({.lower = "[0, -0.2]",
                                    .upper = "[1.5, 3]",
                                    .periodic = "[true, false]",
                                    .step = 0.01,
                                    .seed = 7,
                                    .skin = 0.02,
                                    .block_cells = 3},
                                   R"(
[velocity]
type = "attraction"
point = [0.7, 0.2]
rate = 1
[pbd]
sweeps = 2
overlap_limit = 0
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
shapes = ["brick", "rod", "wedge"]
orientation = "random"
source = { type = "random", count = 90, region = { lower = [0, 0.1], upper = [1.5, 1.6] } }
[particles.disks]
mobility = 0.5
radius = { distribution = "uniform", min = 0.02, max = 0.04 }
source = { type = "random", count = 30, region = { lower = [0, 1.65], upper = [1.5, 2] } }
[obstacles.floor]
type = "plane"
point = [0, 0]
normal = [0, 1]
motion = { type = "oscillate", amplitude = [0, 0.01], frequency = 2 }
)");

/// Boxes, capsules and spheres, the same way; periodic along x and y. A solid box stands in their way.
const std::string pieces_3d = deck({.dimension = 3,
                                    .lower = "[0, 0, -0.2]",
                                    .upper = "[0.8, 0.8, 2]",
                                    .periodic = "[true, true, false]",
                                    .step = 0.01,
                                    .seed = 8,
                                    .skin = 0.02,
                                    .block_cells = 2},
                                   R"(
[velocity]
type = "attraction"
point = [0.4, 0.3, 0.1]
rate = 1
[pbd]
sweeps = 2
overlap_limit = 0
[shapes.brick]
type = "box"
size = [0.1, 0.06, 0.05]
[shapes.rod]
type = "capsule"
length = 0.08
width = 0.03
[particles.pieces]
shapes = ["brick", "rod"]
orientation = "random"
source = { type = "random", count = 70, region = { lower = [0, 0, 0.2], upper = [0.8, 0.8, 0.8] } }
[particles.balls]
radius = { distribution = "uniform", min = 0.03, max = 0.05 }
source = { type = "random", count = 20, region = { lower = [0, 0, 0.85], upper = [0.8, 0.8, 1.1] } }
[obstacles.floor]
type = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
[obstacles.block]
type = "box"
lower = [0.5, 0.5, 0]
upper = [0.6, 0.6, 0.1]
)");

/// A dense start of pieces of two shapes, with a ball that stands where it is. `source`: of the pieces.
template <int D>
std::string dense(const std::string& source) {
  const bool flat = D == 2;
  return deck({.dimension = D,
               .lower = flat ? "[0, 0]" : "[0, 0, 0]",
               .upper = flat ? "[0.8, 0.8]" : "[0.4, 0.4, 0.4]",
               .periodic = flat ? "[true, false]" : "[true, true, false]",
               .step = 0.001},
              std::string("[velocity]\ntype = 'rest'\n[shapes.brick]\ntype = 'box'\nsize = ") +
                  (flat ? "[0.1, 0.06]" : "[0.1, 0.06, 0.05]") +
                  "\n[shapes.rod]\ntype = 'capsule'\nlength = 0.08\nwidth = 0.03\n"
                  "[particles.post]\nmobility = 0\nradius = { distribution = 'constant', value = 0.05 }\n"
                  "source = { type = 'lattice', count = 1, region = { lower = " +
                  (flat ? "[0.3, 0.3], upper = [0.5, 0.5]" : "[0.1, 0.1, 0.1], upper = [0.3, 0.3, 0.3]") +
                  " } }\n[particles.pieces]\nshapes = ['brick', 'rod']\norientation = 'random'\n"
                  "source = { " +
                  source + " }\n");
}

/// They are there on any number of ranks, and nothing overlaps by more than `limit` [m]. Collective.
template <int D>
void check_dense(const std::string& source, std::int64_t min, Real limit) {
  CAPTURE(D, source);
  const Outcome outcome = check_invariant<D>(dense<D>(source), {}, 1);
  CHECK(outcome.n_bodies >= min);
  Simulation<D> simulation(Comm(), read_deck<D>(dense<D>(source), {"pbd.sweeps=1", "pbd.warm_start=0"}));
  simulation.step();
  bool is_reported = false;
  for (const CertificateEntry& entry : simulation.stepper().certificate()) {
    if (entry.name != "overlap_met") continue;
    is_reported = true;
    CHECK(entry.value <= limit);
  }
  CHECK(is_reported);
}

}  // namespace

TEST_CASE("pbd with shapes: the same bits on any number of ranks, for each way to sweep", "[mpi][convex]") {
  check_pushing<2>(pieces_2d, {}, 130);
  check_pushing<3>(pieces_3d, {}, 90);
  for (const Overrides& overrides :
       {Overrides{"pbd.warm_start=0"}, Overrides{"pbd.compliance=0.001", "pbd.sweeps=3"},
        Overrides{"pbd.sweeps='converged'", "pbd.max_sweeps=8", "pbd.relative_tolerance=1e-6"},
        Overrides{"pbd.overlap_limit=0.3", "pbd.on_overlap='halve'", "pbd.sweeps=5"}}) {
    check_invariant<2>(pieces_2d, overrides, 100);
    check_invariant<3>(pieces_3d, overrides, 60);
  }
}

TEST_CASE("pbd with shapes: exact restarts with what points remember", "[mpi][convex]") {
  const Coverage in_2d = check_restarts<2>({pieces_2d, {}, 130, {100, 121}});
  const Coverage in_3d = check_restarts<3>({pieces_3d, {}, 90, {70, 84}});
  CHECK(in_2d.n_remembered > 30);
  CHECK(in_3d.n_remembered > 20);
  CHECK(check_restarts<2>({pieces_2d, {"pbd.overlap_limit=0.3", "pbd.on_overlap='halve'"}, 90, {80}})
            .n_halvings > 0);
}

TEST_CASE("packed: shapes start at the same places, turned alike, without overlap", "[mpi][convex]") {
  // 1 + 0.7 of the free area over the mean area of a piece, 1 + 0.4 of the free volume over the mean volume.
  check_dense<2>("type = 'packed', solid_fraction = 0.7", 95, 1e-7);
  check_dense<3>("type = 'packed', solid_fraction = 0.4", 120, 1e-7);
}

TEST_CASE("random: by their true shapes bodies find places closer together", "[mpi][convex]") {
  // By circumscribed balls that many have no room.
  check_dense<2>("type = 'random', fit = 'shape', tries = 2000, count = 62", 63, 1e-12);
  check_dense<3>("type = 'random', fit = 'shape', tries = 2000, count = 60", 61, 1e-12);
  CHECK_THROWS(Simulation<2>(Comm(), read_deck<2>(dense<2>("type = 'random', count = 62"))));
  CHECK_THROWS(Simulation<3>(Comm(), read_deck<3>(dense<3>("type = 'random', count = 60"))));
}

}  // namespace scree
