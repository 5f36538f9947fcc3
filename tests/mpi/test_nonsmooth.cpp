// Non-smooth dynamics of bodies with friction and restitution: the same bits on any number of ranks and after
// a restart, and the same motion with sweeps and with a solver that works on all contacts at once.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

namespace scree {

namespace {

/// Disks fall on a floor that shakes and a paddle that turns; a post goes sideways; periodic along x.
const std::string grains_2d = deck({.scheme = "nonsmooth",
                                    .lower = "[0, -0.2]",
                                    .upper = "[1.5, 3]",
                                    .periodic = "[true, false]",
                                    .step = 0.003,
                                    .seed = 7,
                                    .gravity = "[0, -9.81]",
                                    .skin = 0.06,
                                    .block_cells = 3},
                                   R"(
[solver]
type = "nsgs"
tolerance = 1e-2
[materials.stone]
density = 2500
[materials.wall]
density = 7800
[pairs."stone-stone"]
friction = 0.5
restitution = 0.4
[pairs."stone-wall"]
friction = 0.3
restitution = 0.5
[particles.small]
material = "stone"
radius = { distribution = "uniform", min = 0.02, max = 0.04 }
source = { type = "random", count = 130, region = { lower = [0, 0.25], upper = [1.5, 0.95] } }
random_speed = 0.5
angular_velocity = [9]
[particles.locked]
material = "stone"
rotates = false
radius = { distribution = "uniform", min = 0.04, max = 0.05 }
source = { type = "random", count = 20, region = { lower = [0, 1], upper = [1.5, 1.4] } }
[obstacles.floor]
type = "plane"
material = "wall"
point = [0, 0]
normal = [0, 1]
motion = { type = "oscillate", amplitude = [0, 0.01], frequency = 6 }
[obstacles.paddle]
type = "box"
material = "wall"
lower = [0.5, 0.33]
upper = [0.9, 0.37]
motion = { type = "rotate", center = [0.7, 0.35], rate = 5 }
[obstacles.post]
type = "disk"
material = "wall"
center = [1.2, 0.1]
radius = 0.06
motion = { type = "translate", velocity = [-0.3, 0] }
)");

/// Spheres, the same way; periodic along x and y.
const std::string grains_3d = deck({.dimension = 3,
                                    .scheme = "nonsmooth",
                                    .lower = "[0, 0, -0.2]",
                                    .upper = "[0.8, 0.8, 2]",
                                    .periodic = "[true, true, false]",
                                    .step = 0.003,
                                    .seed = 8,
                                    .gravity = "[0.5, 0, -9.81]",
                                    .skin = 0.06,
                                    .block_cells = 2},
                                   R"(
[solver]
type = "nsgs"
tolerance = 1e-2
[materials.stone]
density = 2500
[pairs."stone-stone"]
friction = 0.5
restitution = 0.4
[particles.grains]
material = "stone"
radius = { distribution = "uniform", min = 0.03, max = 0.05 }
source = { type = "random", count = 120, region = { lower = [0, 0, 0.06], upper = [0.8, 0.8, 0.6] } }
random_speed = 0.5
angular_velocity = [9, 0, -4]
[obstacles.floor]
type = "plane"
material = "stone"
point = [0, 0, 0]
normal = [0, 0, 1]
motion = { type = "oscillate", amplitude = [0, 0, 0.01], frequency = 6 }
[obstacles.ball]
type = "sphere"
material = "stone"
center = [0.4, 0.4, 0.1]
radius = 0.08
motion = { type = "translate", velocity = [0.2, -0.3, 0] }
)");

/// Positions in the order of ids, on every rank.
template <int D>
std::vector<Real> positions_after(const Comm& comm, const std::string& text, const Overrides& overrides,
                                  int n_steps) {
  Simulation<D> simulation(comm, read_deck<D>(text, overrides));
  Real n_contacts = 0;  // of all steps
  for (int step = 0; step < n_steps; ++step) {
    simulation.step();
    for (const CertificateEntry& entry : simulation.stepper().certificate()) {
      if (entry.name == "solved") CHECK(entry.value == 1);
      if (entry.name == "contacts") n_contacts += entry.value;
    }
  }
  CHECK(n_contacts > 40);
  const BodyStore<D>& bodies = std::as_const(simulation).state().bodies;
  std::vector<Real> positions(static_cast<std::size_t>(simulation.n_bodies()) * D, -HUGE_VAL);
  for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
    std::ranges::copy(bodies.position()[i].component,
                      positions.begin() + static_cast<std::ptrdiff_t>(bodies.id()[i]) * D);
  comm.max(positions);
  return positions;
}

}  // namespace

TEST_CASE("nonsmooth: the same bits on any number of ranks, moving walls and periodic faces", "[mpi]") {
  check_pushing<2>(grains_2d, {}, 120);
  check_pushing<3>(grains_3d, {}, 150);
}

TEST_CASE("nonsmooth: the same bits with other corrections, without memory, with steps that are cut",
          "[mpi]") {
  check_pushing<2>(
      grains_2d, {"nonsmooth.correction='baumgarte'", "nonsmooth.overlap_limit=1", "nonsmooth.warm_start=0"},
      120);
  check_pushing<2>(grains_2d,
                   {"nonsmooth.correction='none'", "nonsmooth.overlap_limit=1", "nonsmooth.max_travel=0.3"},
                   150);
}

TEST_CASE("nonsmooth: a run goes on from a checkpoint with its impulses and its energy balance", "[mpi]") {
  const Coverage in_2d = check_restarts<2>({grains_2d, {}, 105, {90}});
  CHECK(in_2d.n_remembered > 30);
  const Coverage in_3d = check_restarts<3>({grains_3d, {}, 95, {85}});
  CHECK(in_3d.n_remembered > 20);
  if (Comm().size() > 1) {
    CHECK(in_2d.n_shared_contacts > 0);
    CHECK(in_3d.n_shared_contacts > 0);
  }
}

TEST_CASE(
    "nonsmooth: elastic contacts: the same bits on any number of ranks, exact restarts, a closed balance",
    "[mpi]") {
  // Beside rigid walls in the plane; all elastic in space. A contact lasts a few steps.
  const Overrides in_the_plane{"pairs.\"stone-stone\".stiffness=2e5", "nonsmooth.overlap_limit=2"};
  const Overrides in_space{"pairs.\"stone-stone\".stiffness=3e4",
                           "pairs.\"stone-stone\".tangential_ratio=0.8", "nonsmooth.overlap_limit=2"};
  check_pushing<2>(grains_2d, in_the_plane, 120);
  check_pushing<3>(grains_3d, in_space, 150);
  CHECK(check_restarts<2>({grains_2d, in_the_plane, 105, {90}}).n_remembered > 30);
  CHECK(check_restarts<3>({grains_3d, in_space, 95, {85}}).n_remembered > 20);

  Simulation<2> simulation(Comm(), read_deck<2>(grains_2d, in_the_plane));
  for (int step = 0; step < 120; ++step) simulation.step();
  const EnergyBalance& balance = simulation.state().energy_balance;
  CHECK(balance.stored);
  CHECK(balance.elastic > 0);
  CHECK(mechanical_energy(simulation.state()).total() ==
        Approx(balance.total()).margin(1e-12 * std::abs(balance.start) + 1e-12).epsilon(0));
}

/// Disks that bounce about in a periodic box, or between walls.
std::string gas(bool walls) {
  const std::string box = R"(
[obstacles.bin]
type = "box"
lower = [0, 0]
upper = [1.2, 1.2]
side = "inside"
material = "stone"
)";
  return fmt::format(R"(
[simulation]
dimension = 2
scheme = "nonsmooth"
end_time = 100
[domain]
lower = [{0}, {0}]
upper = [{1}, {1}]
periodic = [{2}, {2}]
[time]
step = 0.005
[decomposition]
block_cells = 2
[materials.stone]
density = 2500
[pairs."stone-stone"]
friction = 0
restitution = 1
[nonsmooth]
impacts = "sequential"
[particles.small]
material = "stone"
radius = {{ distribution = "uniform", min = 0.02, max = 0.03 }}
random_speed = 1
source = {{ type = "random", count = 150, region = {{ lower = [0.05, 0.05], upper = [1.15, 1.15] }} }}
{3}
)",
                     walls ? -0.1 : 0.0, walls ? 1.3 : 1.2, !walls, walls ? box : "");
}

TEST_CASE("nonsmooth: a gas keeps its energy if impacts are one by one", "[mpi]") {
  for (const bool walls : {false, true}) {
    CAPTURE(walls);
    Simulation<2> simulation(Comm(), read_deck<2>(gas(walls)));
    const Real start = mechanical_energy(simulation.state()).kinetic;
    for (int step = 0; step < 2000; ++step) simulation.step();
    CHECK(mechanical_energy(simulation.state()).kinetic == Approx(start).epsilon(1e-10));
    const EnergyBalance& balance = simulation.state().energy_balance;
    CHECK(std::abs(balance.impact) < 1e-10 * start);
    check_restarts<2>({gas(walls), {}, 60, {30}});
  }
  // Friction, restitution below 1 and a moving obstacle: the balance still closes.
  const Overrides one_by_one{"nonsmooth.impacts='sequential'"};
  check_pushing<2>(grains_2d, one_by_one, 120);
  check_pushing<3>(grains_3d, one_by_one, 150);
  Simulation<2> simulation(Comm(), read_deck<2>(grains_2d, one_by_one));
  for (int step = 0; step < 120; ++step) simulation.step();
  const EnergyBalance& balance = simulation.state().energy_balance;
  CHECK(mechanical_energy(simulation.state()).total() ==
        Approx(balance.total()).margin(1e-12 * std::abs(balance.start) + 1e-12).epsilon(0));
}

TEST_CASE("nonsmooth: impacts run through touching bodies: the same bits, exact restarts, a closed balance",
          "[mpi]") {
  const Overrides wave{"nonsmooth.impacts='wave'"};
  // The floor that goes up and down meets a sphere at 0.31 of its radius.
  const Overrides soft_first{"nonsmooth.impacts='wave'", "nonsmooth.elasticity=1",
                             "pairs.\"stone-stone\".impact_stiffness=0.1", "nonsmooth.overlap_limit=0.5"};
  for (const bool walls : {false, true}) {
    CAPTURE(walls);
    Simulation<2> simulation(Comm(), read_deck<2>(gas(walls), wave));
    const Real start = mechanical_energy(simulation.state()).kinetic;
    for (int step = 0; step < 1000; ++step) simulation.step();
    CHECK(mechanical_energy(simulation.state()).kinetic == Approx(start).epsilon(1e-10));
    check_restarts<2>({gas(walls), wave, 60, {30}});
  }
  check_pushing<2>(grains_2d, wave, 120);
  check_pushing<3>(grains_3d, soft_first, 150);
  CHECK(check_restarts<2>({grains_2d, wave, 105, {90}}).n_remembered > 30);
  CHECK(check_restarts<3>({grains_3d, soft_first, 95, {85}}).n_remembered > 20);
  Simulation<2> simulation(Comm(), read_deck<2>(grains_2d, wave));
  for (int step = 0; step < 120; ++step) simulation.step();
  const EnergyBalance& balance = simulation.state().energy_balance;
  CHECK(mechanical_energy(simulation.state()).total() ==
        Approx(balance.total()).margin(1e-12 * std::abs(balance.start) + 1e-12).epsilon(0));
}

/// Springs draw the grains to the middle of a periodic box, where they pile up; a medium slows them down.
const std::string with_forces = R"(
[forces.well]
type = "spring"
point = [0.7, 0.5]
stiffness = [60, 20]
groups = ["small"]
[forces.medium]
type = "drag"
coefficient = 8
)";

TEST_CASE(
    "nonsmooth: forces: the same bits on any number of ranks and after a restart, and a closed energy "
    "balance",
    "[mpi]") {
  check_pushing<2>(grains_2d + with_forces, {}, 120);
  const Coverage covered = check_restarts<2>({grains_2d + with_forces, {}, 105, {90}});
  CHECK(covered.n_remembered > 30);

  Simulation<2> simulation(Comm(), read_deck<2>(grains_2d + with_forces));
  for (int step = 0; step < 120; ++step) simulation.step();
  const EnergyBalance& balance = simulation.state().energy_balance;
  CHECK(balance.force_work < -1e-3 * balance.start);
  CHECK(mechanical_energy(simulation.state()).total() ==
        Approx(balance.total()).margin(1e-12 * balance.start).epsilon(0));
}

TEST_CASE("nonsmooth: sweeps and Newton's method find the same motion", "[mpi]") {
  const Comm world;
  // Few bodies, so that each step has one solution: the speeds of a pile do, its forces need not.
  const Overrides few{"particles.small.source.count=30", "particles.locked.source.count=5",
                      "particles.small.source.region.lower=[0, 0.05]",
                      "particles.small.source.region.upper=[0.6, 0.5]", "solver.tolerance=1e-10"};
  const auto with = [&](const std::string& solver, const Overrides& more = {}) {
    Overrides overrides = few;
    overrides.push_back("solver.type=" + solver);
    overrides.insert(overrides.end(), more.begin(), more.end());
    return positions_after<2>(world, grains_2d, overrides, 55);
  };
  const std::vector<Real> sweeps = with("nsgs", {"solver.max_sweeps=100000"});
  const std::vector<Real> newton = with("newton");
  Real worst = 0;
  for (std::size_t i = 0; i < sweeps.size(); ++i) worst = std::max(worst, std::abs(sweeps[i] - newton[i]));
  // Collisions multiply the differences of steps.
  CHECK(worst < 1e-7);
}

}  // namespace scree
