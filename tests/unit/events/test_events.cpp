// Inlets, outlets and stages: what a deck says about them, and what happens between steps.
#include "core/error.hpp"
#include "mpi/simulate.hpp"
#include "support/message_of.hpp"

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

namespace {

/// Disks that do not move by themselves, in a box of 4 x 4.
const std::string still =
    deck({.lower = "[0, 0]", .upper = "[4, 4]", .step = 0.1, .end_time = 10, .seed = 3}, R"(
[velocity]
type = "rest"
[pbd]
overlap_limit = 0
)");

/// Disks with mass that fall.
const std::string falling = deck({.scheme = "nonsmooth", .end_time = 10, .seed = 3, .gravity = "[0, -2]"}, R"(
[domain]
lower = [0, 0]
upper = [4, 4]
outside = "keep"
[solver]
type = "nsgs"
tolerance = 1e-6
[materials.clay]
density = 5
[pairs]
"clay-clay" = { friction = 0.3, restitution = 0.2 }
)");

const std::string rain = R"(
[inlets.rain]
type = "pour"
radius = { distribution = "uniform", min = 0.05, max = 0.15 }
)";

const std::string wall = "[obstacles.wall]\ntype = 'plane'\npoint = [0, 5]\nnormal = [0, 1]\n";

Simulation<2> start(const std::string& deck, const Overrides& overrides = {}) {
  return Simulation<2>(Comm(MPI_COMM_SELF), read_deck<2>(deck, overrides));
}

void run_until(Simulation<2>& simulation, Real time) {
  while (simulation.state().clock.time < time - 1e-9) simulation.step();
}

std::vector<Real> radii_by_id(const Simulation<2>& simulation) {
  const BodyStore<2>& bodies = simulation.state().bodies;
  std::vector<Real> radii(bodies.n_owned());
  for (std::size_t i = 0; i < radii.size(); ++i) radii[bodies.id()[i]] = bodies.radius()[i];
  return radii;
}

std::string complaint(const std::string& deck, const Overrides& overrides = {}) {
  return message_of<InputError>([&] { read_deck<2>(deck, overrides); });
}

}  // namespace

TEST_CASE("inlet: body k comes at start + (k + 1) / rate, up to count or until", "[dynamics]") {
  Simulation<2> simulation = start(still + rain + "rate = 25\nstart = 0.2\n");
  CHECK(simulation.n_bodies() == 0);
  for (int step = 1; step <= 10; ++step) {
    simulation.step();
    CHECK(simulation.n_bodies() == std::max(0, (5 * (step - 2)) / 2));
  }
  Simulation<2> counted = start(still + rain + "rate = 25\ncount = 11\n");
  run_until(counted, 1);
  CHECK(counted.n_bodies() == 11);
  Simulation<2> timed = start(still + rain + "rate = 25\nuntil = 0.6\n");
  run_until(timed, 1);
  CHECK(timed.n_bodies() == 15);
}

TEST_CASE("inlet: bodies lie in the region, touch nothing and follow the distribution", "[dynamics]") {
  Simulation<2> simulation =
      start(still + rain + "rate = 30\nregion = { lower = [1, 0.5], upper = [3.5, 3] }\n" +
                "[obstacles.post]\ntype = 'disk'\ncenter = [2, 2]\nradius = 0.4\n",
            {"domain.periodic=[true, false]"});
  run_until(simulation, 1.5);
  const BodyStore<2>& bodies = simulation.state().bodies;
  REQUIRE(bodies.n_owned() == 45);
  Real mean = 0;
  for (std::size_t i = 0; i < 45; ++i) {
    const Real r = bodies.radius()[i];
    const Vec<2> x = bodies.position()[i];
    mean += r / 45;
    CHECK(x[0] - r >= 1);
    CHECK(x[0] + r <= 3.5);
    CHECK(x[1] - r >= 0.5);
    CHECK(x[1] + r <= 3);
    CHECK(bodies.type()[i] == 0);
  }
  CHECK(mean == Approx(0.1).margin(0.012));
  CHECK(simulation.find_contacts(0).size() == 0);
}

TEST_CASE("inlet: a ball across a periodic face, among bodies on both sides of it", "[dynamics]") {
  Simulation<2> simulation = start(
      still +
          "[inlets.spout]\ntype = 'pour'\nradius = { distribution = 'constant', value = 0.1 }\nrate = 20\n" +
          "region = { center = [4, 2], radius = 1 }\n[particles.bed]\n" +
          "radius = { distribution = 'constant', value = 0.2 }\nsource = { type = 'lattice', spacing = 0.8 "
          "}\n",
      {"domain.periodic=[true, true]"});
  const std::int64_t n_bed = simulation.n_bodies();
  REQUIRE(n_bed > 10);
  run_until(simulation, 1);
  CHECK(simulation.n_bodies() == n_bed + 20);
  int n_left = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_bed + 20); ++i) {
    const BodyStore<2>& bodies = simulation.state().bodies;
    CHECK(simulation.state().box.contains(bodies.position()[i]));
    if (bodies.type()[i] == 1 && bodies.position()[i][0] < 2) ++n_left;
  }
  CHECK(n_left > 2);
  CHECK(n_left < 18);
  CHECK(simulation.find_contacts(0).size() == 0);
}

TEST_CASE("inlet: a body without a place waits and nobody overtakes it", "[dynamics]") {
  const std::string deck = still + rain + "rate = 20\nmax_delay = 5\n" + wall +
                           "[[stages]]\nname = 'shut'\nduration = 0.5\n" +
                           "[[stages]]\nname = 'open'\nduration = 2\nremove_obstacles = ['wall']\n";
  Simulation<2> simulation = start(deck);
  run_until(simulation, 0.4);
  CHECK(simulation.n_bodies() == 0);
  CHECK(simulation.state().inlets[0].n_tries == 4 * 64);
  run_until(simulation, 0.5);
  CHECK(simulation.n_bodies() == 0);
  run_until(simulation, 0.6);
  CHECK(simulation.n_bodies() == 12);  // all that were due, in the same step
  CHECK(simulation.state().inlets[0].n_tries == 0);

  Simulation<2> never_shut = start(still + rain + "rate = 20\n");
  run_until(never_shut, 0.6);
  CHECK(radii_by_id(simulation) == radii_by_id(never_shut));
}

TEST_CASE("inlet: one that is behind for longer than max_delay stops the run and says why", "[dynamics]") {
  Simulation<2> simulation = start(
      still + rain + "rate = 20\nmax_delay = 0.3\nregion = { lower = [0, 1], upper = [4, 2] }\n" + wall);
  run_until(simulation, 0.3);
  const std::string message = message_of<RunError>([&] { run_until(simulation, 1); });
  CAPTURE(message);
  CHECK(message.find("t = 0.4 s: the inlet \"rain\" (test.toml:17:") != std::string::npos);
  CHECK(message.find("the region (0, 1) to (4, 2) m and is 0.35 s behind, more than max_delay = 0.3 s") !=
        std::string::npos);
  CHECK(message.find("0 of the 8 bodies due at 20 per second") != std::string::npos);
}

TEST_CASE("inlet: bodies with mass come at the mass rate, with velocity and material, and are recorded",
          "[dynamics]") {
  Simulation<2> simulation = start(
      falling +
      "[inlets.rain]\ntype = 'pour'\nmaterial = 'clay'\nvelocity = [0, -1]\nmass_rate = 5\n"
      "radius = { distribution = 'constant', value = 0.1 }\nregion = { lower = [0, 3], upper = [4, 4] }\n"
      "[outlets.drain]\nregion = { lower = [-1, -9], upper = [5, 1] }\n");
  run_until(simulation, 2);
  const State<2>& state = simulation.state();
  const Real mass = 5 * M_PI * 0.01;
  const std::int64_t n_made = state.inlets[0].n_made;
  CHECK(n_made == static_cast<std::int64_t>(2 * 5 / mass));
  CHECK(state.outlets[0].n_removed > 20);
  CHECK(state.outlets[0].n_removed + simulation.n_bodies() == n_made);
  CHECK(state.outlets[0].mass == Approx(static_cast<Real>(state.outlets[0].n_removed) * mass).epsilon(1e-12));
  for (const Vec<2>& x : state.bodies.position().first(state.bodies.n_owned())) CHECK(x[1] > 1);
  CHECK(state.energy_balance.inflow > 0);
  CHECK(state.energy_balance.outflow > 0);
  const Real energy = mechanical_energy(state).total();
  CHECK(energy == Approx(state.energy_balance.total()).margin(1e-10 * state.energy_balance.inflow));
}

TEST_CASE("outlets: take every body in them, also across a periodic face", "[dynamics]") {
  Simulation<2> simulation =
      start(still + "[particles.bed]\nradius = { distribution = 'constant', value = 0.05 }\n" +
                "source = { type = 'random', count = 400 }\n" +
                "[outlets.ball]\nregion = { center = [0, 2], radius = 1 }\n" +
                "[outlets.box]\nregion = { lower = [3, 0], upper = [4.5, 9] }\n",
            {"domain.periodic=[true, false]"});
  std::int64_t n_sphere = 0, n_box = 0;
  for (const Vec<2>& x : simulation.state().bodies.position().first(400)) {
    if (std::hypot(std::min(x[0], 4 - x[0]), x[1] - 2) <= 1)
      ++n_sphere;
    else if (x[0] >= 3 || x[0] <= 0.5)
      ++n_box;
  }
  simulation.step();
  CHECK(simulation.state().outlets[0].n_removed == n_sphere);
  CHECK(simulation.state().outlets[1].n_removed == n_box);
  CHECK(n_sphere > 40);
  CHECK(simulation.n_bodies() == 400 - n_sphere - n_box);
  CHECK(simulation.state().outlets[0].mass == 0);
  simulation.step();
  CHECK(simulation.state().outlets[0].n_removed == n_sphere);
}

TEST_CASE("stages: steps are cut to end with them, and the run with the last", "[dynamics]") {
  Simulation<2> simulation =
      start(still + rain + "rate = 5\n" +
            "[[stages]]\nname = 'a'\nduration = 0.25\n[[stages]]\nname = 'b'\nuntil = { time = 0.5 }\n"
            "[[stages]]\nname = 'c'\nduration = 0.3\n");
  CHECK(simulation.deck().end_time == 0.8);
  std::vector<Real> begins;
  while (simulation.running()) {
    const std::int64_t stage = simulation.state().stage.index;
    simulation.step();
    if (simulation.state().stage.index != stage) begins.push_back(simulation.state().stage.begin);
  }
  REQUIRE(begins.size() == 3);
  CHECK(begins[0] == Approx(0.25).epsilon(1e-14));
  CHECK(begins[1] == Approx(0.5).epsilon(1e-14));
  CHECK(begins[2] == Approx(0.8).epsilon(1e-14));
  CHECK(simulation.state().clock.step == 9);
  CHECK(simulation.state().stage.index == 3);
}

TEST_CASE("stages: conditions on numbers of bodies and on kinetic energy all have to hold", "[dynamics]") {
  const std::string bed =
      "[particles.bed]\nmaterial = 'clay'\nvelocity = [0, 2]\nradius = { distribution = 'constant', value = "
      "0.1 }\n"
      "source = { type = 'lattice', spacing = 0.4, region = { lower = [0, 1], upper = [4, 3] } "
      "}\n";
  // All bodies rise at 2 m/s and stand still for a moment after 1 s; the highest of
  // five above each other, from 2.8 m, come down on four others, at 0.9 m, after 1 s + sqrt(2.9) s = 2.70 s.
  Simulation<2> simulation =
      start(falling + bed +
            "[obstacles.floor]\ntype = 'plane'\nmaterial = 'clay'\npoint = [0, 0]\nnormal = [0, 1]\n"
            "[[stages]]\nname = 'rise'\nuntil = { kinetic_energy = 1e-4, time = 0.1, max_time = 9 }\n");
  while (simulation.running()) simulation.step();
  CHECK(simulation.state().clock.time > 2.7);
  CHECK(simulation.state().clock.time < 9);

  Simulation<2> more =
      start(still + rain +
            "rate = 50\n[[stages]]\nname = 'fill'\nuntil = { bodies_at_least = 22, max_time = 9 }\n");
  while (more.running()) more.step();
  CHECK(more.n_bodies() == 25);
  Simulation<2> fewer = start(falling + bed +
                              "[outlets.out]\nregion = { lower = [0, -5], upper = [4, 0.5] }\n"
                              "[[stages]]\nname = 'leave'\nuntil = { bodies_at_most = 0, max_time = 9 }\n");
  while (fewer.running()) fewer.step();
  CHECK(fewer.n_bodies() == 0);
  CHECK(fewer.state().clock.time < 4);
}

TEST_CASE("stages: one that never ends is left after max_time, or stops the run", "[dynamics]") {
  const std::string stage = "[[stages]]\nname = 'fill'\nuntil = { bodies_at_least = 22, max_time = 0.42 }\n";
  Simulation<2> simulation = start(still + rain + "rate = 1\n" + stage);
  while (simulation.running()) simulation.step();
  CHECK(simulation.state().clock.time == 0.42);
  Simulation<2> stopped = start(still + rain + "rate = 10\n" + stage + "on_timeout = 'stop'\n");
  CHECK_THROWS_WITH(run_until(stopped, 1),
                    Catch::Contains("t = 0.42 s: stage \"fill\" has reached its max_time of 0.42 s") &&
                        Catch::Contains("4 bodies, fewer than 22"));
}

TEST_CASE("stages: obstacles come and go", "[dynamics]") {
  const std::string two = "[obstacles.gate]\ntype = 'disk'\ncenter = [1, 1]\nradius = 0.1\n" +
                          std::string("[obstacles.lid]\ntype = 'disk'\ncenter = [3, 1]\nradius = 0.1\n");
  Simulation<2> simulation =
      start(still + rain + "rate = 1\n" + two +
            "[[stages]]\nname = 'a'\nduration = 1\n"
            "[[stages]]\nname = 'b'\nduration = 1\nadd_obstacles = ['lid']\nremove_obstacles = ['gate']\n"
            "[[stages]]\nname = 'c'\nduration = 1\nadd_obstacles = ['gate']\nremove_obstacles = ['lid']\n");
  const auto active = [&] {
    return std::vector<bool>{simulation.state().obstacles.active(0), simulation.state().obstacles.active(1)};
  };
  CHECK(active() == std::vector<bool>{true, false});
  run_until(simulation, 1);
  CHECK(active() == std::vector<bool>{false, true});
  run_until(simulation, 2);
  CHECK(active() == std::vector<bool>{true, false});
}

TEST_CASE("inlets, outlets and stages: mistakes in a deck are named", "[dynamics]") {
  const std::string inlet = still + rain;
  CHECK(complaint(inlet) == "test.toml:16:1: [inlets.rain] needs either rate or mass_rate");
  CHECK(complaint(inlet + "rate = 1\nmass_rate = 2\n").ends_with("needs either rate or mass_rate"));
  CHECK(complaint(inlet + "rate = 1\nuntil = 2\nstart = 3\n").ends_with("until must exceed start"));
  CHECK(complaint(inlet + "mass_rate = 1\n").find("mass_rate has no effect: the scheme \"pbd\"") !=
        std::string::npos);
  CHECK(complaint(inlet + "rate = 1\nvelocity = [0, 1]\n").find("has no effect") != std::string::npos);
  CHECK(complaint(inlet + "rate = 1\nregion = { lower = [1, 1], upper = [1.2, 3] }\n")
            .find("the region is too small for a body of radius 0.15 m, it holds up to 0.1 m") !=
        std::string::npos);
  CHECK(complaint(inlet + "rate = 1\nregion = { lower = [1, 1], upper = [5, 3] }\n")
            .find("reaches beyond the domain") != std::string::npos);
  CHECK(complaint(still + "[inlets.rain]\ntype = 'pour'\nrate = 1\n").find("[inlets.rain] needs a radius") !=
        std::string::npos);
  const std::string two_materials = falling + "[materials.steel]\ndensity = 7800\n";
  CHECK(complaint(two_materials + rain + "rate = 1\n").find("a material is missing") != std::string::npos);
  CHECK(complaint(still + "[outlets.out]\n").find("missing table 'region' in [outlets.out]") !=
        std::string::npos);

  const std::string stage = still + wall + "[[stages]]\nname = 'a'\n";
  CHECK(complaint(stage).find("stage \"a\" needs either duration or until") != std::string::npos);
  CHECK(complaint(stage + "duration = 1\nuntil = { time = 3 }\n").find("needs either duration or until") !=
        std::string::npos);
  CHECK(complaint(stage + "until = { bodies_at_least = 3 }\n")
            .find("[stages[0].until] needs max_time: its conditions may never hold") != std::string::npos);
  CHECK(complaint(stage + "until = { max_time = 3 }\n").find("needs kinetic_energy, bodies_at_least") !=
        std::string::npos);
  CHECK(complaint(stage + "until = { kinetic_energy = 1, max_time = 3 }\n")
            .find("kinetic_energy has no effect") != std::string::npos);
  CHECK(complaint(stage + "duration = 1\nremove_obstacles = ['wal']\n")
            .ends_with("there is no obstacle 'wal'; did you mean \"wall\"?"));
  CHECK(complaint(stage + "duration = 1\n[[stages]]\nname = 'a'\nduration = 2\n")
            .ends_with("there are two stages \"a\""));
  const std::string removal = "duration = 1\nremove_obstacles = ['wall']\n";
  CHECK(complaint(stage + removal + "[[stages]]\nname = 'b'\n" + removal)
            .find("stage \"b\" removes an obstacle that is not there: there is no obstacle 'wall' by then") !=
        std::string::npos);
  CHECK(complaint(stage + removal + "add_obstacles = ['wall']\n") != "");
  CHECK(complaint(still + "[[stages]]\nname = 'a'\nduration = 1\n", {}).empty());
  CHECK_THROWS_WITH(start(still), Catch::Contains("add a [particles.NAME] or [inlets.NAME] table"));
}

}  // namespace scree
