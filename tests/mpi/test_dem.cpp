// Soft bodies that remember their contacts: the same bits on any number of ranks and after a restart, and
// springs that survive new lists.
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"
#include "schemes/dem/block_schedule.hpp"

namespace scree {

namespace {

/// Disks fall on a floor that shakes, among a paddle that turns; some are poured, some leave through a hole;
/// periodic along x.
const std::string soft_2d = deck({.scheme = "dem",
                                  .lower = "[0, -0.2]",
                                  .upper = "[1.5, 2]",
                                  .periodic = "[true, false]",
                                  .step = 4e-4,
                                  .seed = 7,
                                  .gravity = "[2, -40]",
                                  .skin = 0.04,
                                  .block_cells = 3},
                                 R"(
[dem]
law = "linear"
overlap_limit = 1
[materials.stone]
density = 2500
[materials.wall]
density = 7800
[pairs."stone-stone"]
friction = 0.5
restitution = 0.4
rolling_friction = 0.05
stiffness = 3e6
[pairs."stone-wall"]
friction = 0.3
restitution = 0.5
stiffness = 2e6
tangential_ratio = 0.5
[particles.small]
material = "stone"
radius = { distribution = "uniform", min = 0.02, max = 0.04 }
source = { type = "random", count = 115, region = { lower = [0, 0.02], upper = [1.5, 0.6] } }
velocity = [0, -1]
random_speed = 1
angular_velocity = [9]
[particles.locked]
material = "stone"
rotates = false
radius = { distribution = "uniform", min = 0.04, max = 0.05 }
source = { type = "random", count = 20, region = { lower = [0, 0.65], upper = [1.5, 0.95] } }
velocity = [0, -2]
[inlets.rain]
type = "pour"
material = "stone"
radius = { distribution = "uniform", min = 0.02, max = 0.03 }
region = { lower = [0, 1], upper = [1.5, 1.2] }
velocity = [0, -2]
rate = 300
[outlets.hole]
region = { lower = [0.2, 0], upper = [0.5, 0.05] }
[obstacles.floor]
type = "plane"
material = "wall"
point = [0, 0]
normal = [0, 1]
motion = { type = "oscillate", amplitude = [0, 0.005], frequency = 20 }
[obstacles.paddle]
type = "box"
material = "wall"
lower = [0.7, 0.33]
upper = [1.1, 0.37]
motion = { type = "rotate", center = [0.9, 0.35], rate = 5 }
[forces.air]
type = "drag"
coefficient = 0.5
[measures.energy]
type = "energy"
balance = true
)");

/// Spheres, the same way; periodic along x and y.
const std::string soft_3d = deck({.dimension = 3,
                                  .scheme = "dem",
                                  .lower = "[0, 0, -0.2]",
                                  .upper = "[0.8, 0.8, 2]",
                                  .periodic = "[true, true, false]",
                                  .step = 4e-4,
                                  .seed = 8,
                                  .gravity = "[2, 0, -40]",
                                  .skin = 0.04,
                                  .block_cells = 2},
                                 R"(
[materials.stone]
density = 2500
young_modulus = 4e7
poisson_ratio = 0.3
[materials.wall]
density = 7800
young_modulus = "rigid"
[pairs]
"stone-stone" = { friction = 0.5, restitution = 0.4, rolling_friction = 0.05 }
"stone-wall" = { friction = 0.3, restitution = 0.5 }
[particles.grains]
material = "stone"
radius = { distribution = "uniform", min = 0.03, max = 0.05 }
source = { type = "random", count = 120, region = { lower = [0, 0, 0.03], upper = [0.8, 0.8, 0.45] } }
velocity = [0, 0, -1]
random_speed = 1
angular_velocity = [9, 0, -4]
[inlets.rain]
type = "pour"
material = "stone"
radius = { distribution = "constant", value = 0.03 }
region = { lower = [0, 0, 0.5], upper = [0.8, 0.8, 0.7] }
velocity = [0, 0, -2]
rate = 200
[outlets.hole]
region = { lower = [0, 0, 0], upper = [0.25, 0.25, 0.08] }
[obstacles.floor]
type = "plane"
material = "wall"
point = [0, 0, 0]
normal = [0, 0, 1]
motion = { type = "oscillate", amplitude = [0, 0, 0.005], frequency = 20 }
[obstacles.ball]
type = "sphere"
material = "wall"
center = [0.4, 0.4, 0.1]
radius = 0.08
motion = { type = "translate", velocity = [0.5, -0.8, 0] }
[measures.energy]
type = "energy"
balance = true
)");

template <int D>
void check_restarted(const Case<D>& c) {
  const Coverage covered = check_restarts<D>(c);
  CHECK(covered.n_remembered > 30);
  CHECK(covered.old_list);
  if (Comm().size() > 1) CHECK(covered.n_shared_contacts > 0);
  Simulation<D> simulation(Comm(), read_deck<D>(c.text, c.overrides));
  for (int step = 0; step < c.n_steps; ++step) simulation.step();
  CHECK(simulation.state().inlets[0].n_made > 10);
  CHECK(simulation.state().outlets[0].n_removed > 2);
  CHECK(simulation.state().energy_balance.elastic > 0);  // the energy balance was kept
}

/// Spheres that cannot turn, held by friction on a slope of tangent 0.4; others fly past and outdate the list
/// of candidates.
const std::string held = deck({.dimension = 3,
                               .scheme = "dem",
                               .lower = "[0, 0, 0]",
                               .upper = "[1.6, 1.6, 3]",
                               .periodic = "[true, true, false]",
                               .step = 2e-4,
                               .gravity = "[4, 0, -10]",
                               .block_cells = 1},
                              R"(
[materials.stone]
density = 2500
young_modulus = 1e7
poisson_ratio = 0.3
[pairs]
"stone-stone" = { friction = 0.5, restitution = 0 }
[particles.held]
material = "stone"
rotates = false
radius = { distribution = "constant", value = 0.05 }
source = { type = "lattice", spacing = 0.12, region = { lower = [0, 0, 0], upper = [1.56, 0.48, 0.12] } }
[particles.flyer]
material = "stone"
radius = { distribution = "constant", value = 0.05 }
source = { type = "lattice", spacing = 0.4, region = { lower = [0, 0, 1.1], upper = [1.6, 1.6, 1.5] } }
velocity = [-2, 3, 4.5]
[obstacles.slope]
type = "plane"
material = "stone"
point = [0, 0, 0]
normal = [0, 0, 1]
)");

constexpr std::size_t n_sticking = 13 * 4;

struct Held {
  std::vector<Real> settled, end;  ///< x of bodies that friction holds, by id
  std::int64_t n_rebuilds = 0;
};

Held hold(const Comm& comm, const Overrides& overrides) {
  Simulation<3> simulation(comm, read_deck<3>(held, overrides));
  const auto look = [&] {
    const BodyStore<3>& bodies = std::as_const(simulation).state().bodies;
    std::vector<Real> x(n_sticking, -HUGE_VAL);
    for (std::size_t i = 0; i < static_cast<std::size_t>(bodies.n_owned()); ++i)
      if (bodies.id()[i] < GlobalId{n_sticking}) x[bodies.id()[i]] = bodies.position()[i][0];
    comm.max(x);
    return x;
  };
  Held found;
  for (int step = 0; step < 1200; ++step) simulation.step();
  found.settled = look();
  const std::int64_t before = simulation.neighborhood().n_rebuilds();
  for (int step = 0; step < 1200; ++step) simulation.step();
  found.end = look();
  found.n_rebuilds = simulation.neighborhood().n_rebuilds() - before;
  return found;
}

}  // namespace

TEST_CASE("dem: the same bits on any number of ranks, with moving walls, pouring and a hole", "[mpi]") {
  check_pushing<2>(soft_2d, {}, 400);
  check_pushing<3>(soft_3d, {}, 400);
}

TEST_CASE("dem: the same bits without attraction, without friction, with a list in every step", "[mpi]") {
  check_pushing<2>(soft_2d, {"dem.attraction=false", "neighbors.skin=0.008"}, 150);
  check_pushing<3>(soft_3d, {"dem.friction='none'"}, 200);
}

TEST_CASE("dem: the same bits with tangential forces in increments", "[mpi]") {
  CHECK(check_invariant<3>(soft_3d, {"dem.tangential='increments'"}, 200).n_pushing > 5);
  check_restarted<3>({soft_3d, {"dem.tangential='rescaled'"}, 230, {190, 210}});
}

TEST_CASE("dem: a run goes on from a checkpoint with its springs and accelerations", "[mpi]") {
  check_restarted<2>({soft_2d, {}, 230, {190, 210}});
  check_restarted<3>({soft_3d, {}, 230, {190, 210}});
}

TEST_CASE("dem: the energy balance closes with what comes and goes", "[mpi]") {
  const auto check = [](const auto& found_at) {
    const auto [coarse, balance] = found_at(4e-4, 230);
    const auto [fine, finer_balance] = found_at(5e-5, 8 * 230);
    for (const EnergyBalance& b : {balance, finer_balance}) {
      CHECK(b.outflow > 0);
      CHECK(std::min({b.inflow, b.friction, b.impact, std::abs(b.wall_work)}) > 0.01 * b.start);
    }
    CAPTURE(coarse, fine, balance.impact);
    CHECK(coarse < 0.05 * balance.impact);
    CHECK(fine < coarse / 16);
  };
  const auto run = [](auto simulation, int n_steps) {
    for (int step = 0; step < n_steps; ++step) simulation->step();
    const auto& state = std::as_const(*simulation).state();
    return std::pair(std::abs(mechanical_energy(state).total() - state.energy_balance.total()),
                     state.energy_balance);
  };
  check([&](Real step, int n) {
    return run(
        std::make_unique<Simulation<2>>(Comm(), read_deck<2>(soft_2d, {fmt::format("time.step={}", step)})),
        n);
  });
  check([&](Real step, int n) {
    return run(
        std::make_unique<Simulation<3>>(Comm(), read_deck<3>(soft_3d, {fmt::format("time.step={}", step)})),
        n);
  });
}

TEST_CASE("dem: two bodies and one, fewer than ranks, whose power is summed over all of them", "[mpi]") {
  const Overrides none{"particles.flyer.source.region.upper=[0.4, 0.4, 1.5]",
                       "particles.held.source.region.upper=[0.12, 0.12, 0.12]"};
  const std::string in_air = held + R"(
[forces.air]
type = "drag"
coefficient = 0.1
[measures.energy]
type = "energy"
balance = true
)";
  CHECK(check_invariant<3>(in_air, none, 300).n_bodies == 2);
}

TEST_CASE("dem: friction holds bodies on a slope, however often lists are made", "[mpi]") {
  const Comm world;
  const Held often = hold(world, {"neighbors.skin=0.02"});
  const Held seldom = hold(world, {"neighbors.skin=0.3"});
  CHECK(often.n_rebuilds > 5 * std::max<std::int64_t>(1, seldom.n_rebuilds));
  Real crept = 0, apart = 0;
  for (std::size_t i = 0; i < n_sticking; ++i) {
    crept = std::max(crept, std::abs(often.end[i] - often.settled[i]));
    apart = std::max(apart, std::abs(often.end[i] - seldom.end[i]));
  }
  CAPTURE(crept, apart, often.n_rebuilds, seldom.n_rebuilds);
  // Springs are stretched by 1e-4 m, which would be lost with them.
  CHECK(crept < 1e-9);
  CHECK(apart < 1e-9);
}

TEST_CASE("dem: bodies move before the first block that touches them and are done after the last", "[mpi]") {
  const Simulation<2> simulation(Comm(), read_deck<2>(soft_2d));
  const SweepSchedule<2>& schedule = simulation.neighborhood().schedule();
  const GhostExchange<2>& ghosts = simulation.neighborhood().ghosts();
  const TouchedBodies<2> touched(schedule, static_cast<std::size_t>(ghosts.n_local()));
  BlockSchedule<2> turns;
  turns.plan(schedule, ghosts, touched);
  const std::size_t n_owned = ghosts.n_owned();
  const std::size_t size = BlockSchedule<2>::chunk_size;
  const auto n_turns = turns.order().size();
  REQUIRE(n_turns == schedule.all_blocks().size());
  CHECK(turns.n_early() <= turns.n_before_late());
  std::vector<int> begun((n_owned + size - 1) / size, 0), done(begun.size(), 0);
  const auto count = [](std::span<const Index> chunks, std::vector<int>& counts) {
    for (const Index chunk : chunks) ++counts[chunk];
  };
  count(turns.starts_first(), begun);
  for (const Index body : ghosts.copied()) CHECK(begun[static_cast<std::size_t>(body) / size] == 1);
  std::vector<int> ran(n_turns, 0);
  for (std::size_t turn = 0; turn < n_turns; ++turn) {
    const std::size_t block = turns.order()[turn];
    ++ran[block];
    CHECK(turns.turn_of(block) == static_cast<Index>(turn));
    count(turns.starts_at(turn), begun);
    for (const Index body : touched.of(block)) {
      const std::size_t i = body;
      if (i >= n_owned) continue;
      CHECK(begun[i / size] == 1);
      CHECK(done[i / size] == 0);
    }
    count(turns.ends_at(turn), done);
  }
  for (const auto& sum : ghosts.sums_arriving()) CHECK(done[static_cast<std::size_t>(sum.body) / size] == 0);
  count(turns.ends_last(), done);
  CHECK(ran == std::vector<int>(n_turns, 1));
  CHECK(begun == std::vector<int>(begun.size(), 1));
  CHECK(done == std::vector<int>(done.size(), 1));
}

}  // namespace scree
