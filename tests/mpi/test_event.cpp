// Event-driven impacts: the same bits on any number of ranks and after a restart.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// Disks of two materials fall into a V of planes with a thin wall and a post in it.
const std::string disks = deck({.scheme = "event",
                                .lower = "[-5, 0]",
                                .upper = "[5, 5]",
                                .step = 0.05,
                                .seed = 11,
                                .gravity = "[0, -9.81]",
                                .skin = 0.1,
                                .block_cells = 2},
                               R"(
[event]
impact_law = "multiple"
rest_speed = 0.02
[materials.stone]
density = 2500
[materials.steel]
density = 7800
[pairs."stone-stone"]
friction = 0
restitution = 0.6
[pairs."stone-steel"]
friction = 0
restitution = 0.9
[particles.grains]
material = "stone"
radius = { distribution = "uniform", min = 0.08, max = 0.14 }
source = { type = "random", count = 24, region = { lower = [-1.2, 2], upper = [1.2, 3.6] } }
random_speed = 1
angular_velocity = [3]
[obstacles.left]
type = "plane"
material = "steel"
point = [0, 0.2]
normal = [0.4, 1]
[obstacles.right]
type = "plane"
material = "steel"
point = [0, 0.2]
normal = [-0.4, 1]
[obstacles.wall]
type = "segment"
material = "steel"
a = [-0.3, 1.3]
b = [0.4, 1.5]
[obstacles.post]
type = "disk"
material = "steel"
center = [0.9, 1.2]
radius = 0.15
)");

/// Elastic spheres in a container without gravity.
const std::string spheres = deck({.dimension = 3,
                                  .scheme = "event",
                                  .lower = "[-1, -1, -1]",
                                  .upper = "[1, 1, 1]",
                                  .step = 0.1,
                                  .seed = 12,
                                  .skin = 0.1,
                                  .block_cells = 2},
                                 R"(
[event]
impact_law = "sequential"
[materials.ball]
density = 1000
[pairs."ball-ball"]
friction = 0
restitution = 1
[particles.balls]
material = "ball"
radius = { distribution = "uniform", min = 0.1, max = 0.2 }
source = { type = "random", count = 20 }
random_speed = 2
[obstacles.box]
type = "box"
side = "inside"
material = "ball"
lower = [-1, -1, -1]
upper = [1, 1, 1]
)");

/// A large disk bounces until it rests; a small one leaves the domain.
const std::string lost_body =
    deck({.scheme = "event", .step = 0.047904, .gravity = "[0, -10]", .skin = 0.1}, R"(
[domain]
lower = [0, 0]
upper = [3, 4]
outside = "delete"
[event]
impact_law = "multiple"
[materials.ball]
density = 1000
[pairs."ball-ball"]
friction = 0
restitution = 0.5
[particles.big]
material = "ball"
radius = { distribution = "constant", value = 0.2 }
source = { type = "lattice", spacing = 0.4, region = { lower = [0.3, 1], upper = [0.7, 1.4] } }
[particles.small]
material = "ball"
velocity = [5, 2]
radius = { distribution = "constant", value = 2e-5 }
source = { type = "lattice", spacing = 4e-5, region = { lower = [2.5, 1], upper = [2.50004, 1.00004] } }
[obstacles.floor]
type = "plane"
material = "ball"
point = [0, 0]
normal = [0, 1]
)");

/// Sum of a column of the certificates of n steps.
template <int D>
Real total(Simulation<D>& simulation, int n_steps, const std::string& name) {
  Real sum = 0;
  for (int i = 0; i < n_steps; ++i) {
    simulation.step(false);
    for (const CertificateEntry& entry : simulation.stepper().certificate())
      if (entry.name == name) sum += entry.value;
  }
  return sum;
}

template <int D>
void check_balance(const Simulation<D>& simulation) {
  const State<D>& state = simulation.state();
  CHECK(mechanical_energy(state).total() == Approx(state.energy_balance.total()).epsilon(1e-12));
}

}  // namespace

TEST_CASE("event-driven impacts are the same on any number of ranks") {
  const Comm world;
  const Outcome in_2d = check_invariant<2>(disks, {}, 24);
  CHECK(in_2d.n_pushing > 0);
  CHECK(in_2d.n_rebuilds > 2);
  if (world.size() > 1) CHECK(in_2d.n_migrated > 0);
  const Outcome in_3d = check_invariant<3>(spheres, {}, 18);
  CHECK(in_3d.n_bodies == 20);
  // Fewer bodies than ranks.
  check_invariant<2>(disks, {"particles.grains.source.count=2"}, 18);
}

TEST_CASE("event-driven impacts go on from a checkpoint as if nothing had happened") {
  check_restarts<2>({disks, {}, 24, {1, 8, 15}});
  check_restarts<3>({spheres, {}, 12, {1, 6}});
  // The smallest body, which sets what "auto" is, leaves before the second checkpoint. The end is shortly
  // after the first impact without rebound of the other one.
  const Coverage lost = check_restarts<2>({lost_body, {}, 28, {1, 5, 15}});
  CHECK(lost.n_removed == 1);
}

TEST_CASE("the energy of event-driven runs is recorded") {
  const Comm world;
  Simulation<2> falling(world, read_deck<2>(disks));
  CHECK(total(falling, 30, "impacts") > 100);
  check_balance(falling);
  CHECK(falling.state().energy_balance.impact > 0);
  CHECK(total(falling, 1, "max_overlap") < 1e-9);

  Simulation<3> elastic(world, read_deck<3>(spheres));
  const Real start = mechanical_energy(elastic.state()).kinetic;
  CHECK(total(elastic, 20, "events") > 100);
  CHECK(mechanical_energy(elastic.state()).kinetic == Approx(start).epsilon(1e-12));
  check_balance(elastic);
}

}  // namespace scree
