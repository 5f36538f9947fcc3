// Bodies of very different sizes: the same bits for every number of size classes of the neighbour search, on
// any number of ranks and after a restart, and blocks for every rank beside a boulder.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// Spheres of radii as in `radius` fly about in a box, periodic along x, above a floor.
std::string flying(const std::string& radius, int count) {
  return deck({.dimension = 3,
               .scheme = "dem",
               .lower = "[0, 0, 0]",
               .upper = "[0.4, 0.3, 0.3]",
               .periodic = "[true, false, false]",
               .step = 5e-5,
               .seed = 11,
               .gravity = "[0, 0, -9.81]"},
              R"(
[dem]
law = "linear"
overlap_limit = 1
[materials.stone]
density = 2500
[pairs."stone-stone"]
friction = 0.5
restitution = 0.6
stiffness = 2e4
[particles.grains]
material = "stone"
random_speed = 0.5
radius = { )" + radius +
                  R"( }
source = { type = "random", count = )" +
                  std::to_string(count) + R"(, region = { lower = [0, 0, 0.01], upper = [0.4, 0.3, 0.25] } }
[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0, 0]
normal = [0, 0, 1]
[obstacles.left]
type = "plane"
material = "stone"
point = [0, 0, 0]
normal = [0, 1, 0]
[obstacles.right]
type = "plane"
material = "stone"
point = [0, 0.3, 0]
normal = [0, -1, 0]
)");
}

const std::vector<std::string> distributions{
    flying("distribution = 'uniform', min = 0.008, max = 0.012", 1200),
    flying("distribution = 'discrete', values = [0.004, 0.04], weight = 'volume'", 1500),
    flying("distribution = 'sieve', sizes = [0.008, 0.02, 0.06, 0.12], fractions = [0.3, 0.4, 0.3]", 1500)};

}  // namespace

TEST_CASE(
    "size classes: runs with 1, 2 and as many as pay end in the same bits, on three distributions of radii "
    "and any number of ranks",
    "[mpi]") {
  for (const std::string& text : distributions) {
    CAPTURE(text);
    const Outcome one = check_invariant<3>(text, {"neighbors.classes=1"}, 120);
    CHECK(one.n_pushing > 0);
    CHECK(one.n_rebuilds > 1);
    for (const std::string classes : {"2", "8", "\"auto\""}) {
      CAPTURE(classes);
      CHECK(check_invariant<3>(text, {"neighbors.classes=" + classes}, 120).same_result(one));
    }
  }
}

TEST_CASE("size classes: sweeps of pbd and impulses do not depend on them either", "[mpi]") {
  const std::string pbd = R"([simulation]
dimension = 3
end_time = 1e9
allow_overlap = true
[domain]
lower = [0, 0, 0]
upper = [0.4, 0.3, 0.3]
periodic = [true, true, false]
[time]
step = 1e-3
[velocity]
type = "constant"
velocity = [1, 0.3, -1]
[pbd]
sweeps = 3
overlap_limit = 0
[particles.grains]
radius = { distribution = "discrete", values = [0.004, 0.04], weight = "volume" }
source = { type = "random", count = 1500 }
[obstacles.floor]
type = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
)";
  const Outcome one = check_invariant<3>(pbd, {"neighbors.classes=1"}, 25);
  CHECK(one.n_pushing > 20);
  CHECK(check_invariant<3>(pbd, {}, 25).same_result(one));
}

TEST_CASE("size classes: restarts of a mixture of 1 to 10 repeat the run, from and on any number of ranks",
          "[mpi]") {
  const Coverage covered = check_restarts<3>({.text = distributions[1], .overrides = {}});
  CHECK(covered.n_contacts > 0);
}

TEST_CASE("size classes: one boulder among 3000 grains leaves blocks for all ranks", "[mpi]") {
  std::string text = flying("distribution = 'constant', value = 0.004", 3000);
  text.insert(text.find("[particles.grains]"), R"([particles.boulder]
material = "stone"
radius = { distribution = "constant", value = 0.04 }
source = { type = "random", count = 1, region = { lower = [0, 0, 0], upper = [0.4, 0.3, 0.3] } }
)");
  const Comm world;
  Simulation<3> simulation(world, read_deck<3>(text));
  simulation.step();
  const auto n_blocks = static_cast<std::int64_t>(simulation.neighborhood().schedule().all_blocks().size());
  CHECK(world.min(n_blocks) >= 4);
  CHECK(world.min(std::int64_t{simulation.state().bodies.n_owned()}) >= 300);
  check_invariant<3>(text, {}, 20);
}

}  // namespace scree
