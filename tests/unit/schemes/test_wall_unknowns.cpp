// Driven walls as bodies of the friction problem: their rows, and what they do in its solution.
#include "schemes/nonsmooth/wall_unknowns.hpp"

#include <fstream>

#include "friction/friction_solver.hpp"
#include "run/simulation.hpp"
#include "support/deck.hpp"
#include "unit/io/scratch.hpp"
#include "unit/schemes/few_spheres.hpp"

namespace scree {

namespace {

constexpr Real dt = 1e-2;

/// Under the disk of 2 kg, pushed up.
std::string lift(const std::string& load) {
  return "[pairs]\n'm-m' = { friction = 0.5, restitution = 0 }\n" + floor_table +
         "motion = { type = 'driven', axis = [0, 1], max_speed = 4, " + load + " }\n";
}

/// With the laws of walls alone: contacts that touch may not close.
struct Lifted {
  FewSpheres<2> balls;
  WallUnknowns<2> walls;
  FrictionSolve<2> solve;
  std::vector<Real> impulse, velocity;
  SolveReport report;

  Lifted(const std::string& load, const std::vector<FewSpheres<2>::Sphere>& bodies, Real speed = 0)
      : balls(bodies, dt, lift(load)), walls(balls.state, balls.assembler) {
    balls.state.obstacles.driven()[0].velocity = speed;
    balls.assemble();
    walls.begin_step();
    walls.start();
    walls.add_to(1e-10);
  }
  void run() {
    impulse.assign(balls.problem().n_impulses(), 0.0);
    velocity.resize(balls.problem().free_velocity.size());
    const auto solver = make_solver<2>("nsgs");
    report = solve.run(balls.problem(), *solver, {.tolerance = 1e-10}, impulse, velocity);
    walls.finish(solve.walls().all());
  }
  const DrivenState& wall() const { return balls.state.obstacles.driven()[0]; }
};

}  // namespace

TEST_CASE("driven walls: rows have what the wall adds, and the bias no longer does", "[dynamics]") {
  Lifted lifted("load = 5", disk_on_floor(), 0.5);
  const FrictionProblem<2>& problem = lifted.balls.problem();
  REQUIRE(problem.walls.size() == 1);
  CHECK(problem.walls[0].impulse == Approx(5 * dt));
  CHECK(problem.walls[0].velocity_before == 0.5);
  CHECK(problem.walls[0].inertia == 0);
  CHECK(problem.at_walls.wall == std::vector<Index>{0});
  CHECK(problem.at_walls.row[0] == Approx(-1));  // the normal points to the wall
  CHECK(problem.at_walls.row[1] == Approx(0).margin(1e-15));
  CHECK(problem.bias[0] == Approx(0).margin(1e-15));
  CHECK(lifted.walls.normal_velocity(0) == Approx(-0.5));
  CHECK(lifted.walls.is_servo(0));
  CHECK_NOTHROW(problem.validate());
}

TEST_CASE("driven walls: a servo carries its load and goes with the bodies", "[dynamics]") {
  // 2 kg come down with 2 m/s; 300 N stop them by half in a step of 10 ms.
  Lifted lifted("load = 300", disk_on_floor());
  lifted.run();
  CHECK(lifted.report.converged);
  CHECK(lifted.impulse[0] == Approx(3));
  CHECK(lifted.wall().velocity == Approx(-2 + 3.0 / 2));
  CHECK(lifted.wall().reaction == Approx(300));
  CHECK(lifted.walls.worst_residual() < 1e-12);
}

TEST_CASE("driven walls: a servo that bodies outrun or cannot hold goes at its largest speed", "[dynamics]") {
  for (const Real load : {1e5, -1.0}) {
    Lifted lifted("load = " + std::to_string(load), disk_on_floor());
    lifted.run();
    CHECK(lifted.report.converged);
    CHECK(lifted.wall().velocity == std::copysign(4.0, load));
    CHECK(lifted.impulse[0] == Approx(load > 0 ? 2 * (4 + 2) : 0));
  }
}

TEST_CASE("driven walls: a free wall and a body share their momentum", "[dynamics]") {
  Lifted lifted("load = 0, control = 'free', mass = 6", disk_on_floor(), 0.4);
  lifted.run();
  CHECK(lifted.report.converged);
  const Real together = (6 * 0.4 - 2 * 2.0) / 8;
  CHECK(lifted.wall().velocity == Approx(together));
  CHECK(lifted.velocity[1] == Approx(together));
  CHECK(6 * lifted.wall().velocity + 2 * lifted.velocity[1] == Approx(6 * 0.4 - 4).epsilon(1e-14));
  // It works with the mean of its velocities, as bodies do.
  lifted.walls.use_working_velocities();
  CHECK(lifted.balls.assembler.surface_velocity()[0] == Approx(-0.5 * (0.4 + together)));
}

TEST_CASE("driven walls: one that is free along two axes is pushed and dragged", "[dynamics]") {
  auto bodies = disk_on_floor();
  bodies[0].velocity[0] = 1;
  Lifted lifted(
      "load = 0, control = 'free', mass = 6, "
      "further = [{ name = 'along', axis = [1, 0], load = 0, control = 'free', mass = 6, max_speed = 4 }]",
      bodies);
  const FrictionProblem<2>& problem = lifted.balls.problem();
  REQUIRE(problem.walls.size() == 2);
  CHECK_FALSE(problem.walls[0].is_further);
  CHECK(problem.walls[1].is_further);
  CHECK(problem.at_walls.wall == std::vector<Index>{0});
  CHECK(problem.at_walls.first == std::vector<Index>{0, 2});
  CHECK_NOTHROW(problem.validate());
  lifted.run();
  CHECK(lifted.report.converged);
  // N = 2/(1/2 + 1/6); it sticks: T = 1/(1/2 + 1/6 + R^2/J), J = m R^2/2.
  const Real normal = 3, tangential = 0.6;
  const auto walls = lifted.balls.state.obstacles.driven();
  CHECK(walls[0].velocity == Approx(-normal / 6));
  CHECK(walls[1].velocity == Approx(tangential / 6));
  CHECK(lifted.velocity[0] == Approx(1 - tangential / 2));
  CHECK(lifted.velocity[1] == Approx(-2 + normal / 2));
  CHECK(std::abs(lifted.velocity[2]) == Approx(tangential));
}

TEST_CASE("driven walls: attraction pulls the wall as it pulls the body", "[dynamics]") {
  Lifted lifted("load = 5", disk_on_floor());
  lifted.walls.add_attraction([](std::size_t) { return 0.3; });
  CHECK(lifted.balls.problem().walls[0].impulse == Approx(5 * dt + 0.3));
  lifted.run();
  CHECK(lifted.impulse[0] == Approx(5 * dt + 0.3));
  CHECK(lifted.wall().reaction == Approx(5));
}

TEST_CASE("driven walls: one that has a speed to keep is no unknown", "[dynamics]") {
  Lifted lifted("load = 5", disk_on_floor());
  lifted.balls.state.obstacles.driven()[0].order = {DrivenOrder::Kind::speed, 0.25};
  lifted.walls.start();
  lifted.balls.assemble();
  lifted.walls.add_to(1e-10);
  lifted.run();
  CHECK(lifted.wall().velocity == 0.25);
  CHECK(lifted.impulse[0] == Approx(2 * 2.25));
  CHECK(lifted.wall().reaction == Approx(2 * 2.25 / dt));
}

TEST_CASE("driven walls: a fixed body stops them", "[dynamics]") {
  auto bodies = disk_on_floor();
  Lifted lifted("load = 50, control = 'free', mass = 6", bodies);
  lifted.balls.state.bodies.mobility()[0] = 0;
  lifted.balls.neighborhood.detect(lifted.balls.state, {.tolerance = 0.01, .includes_fixed = true},
                                   lifted.balls.assembler.contacts());
  FrictionStep<2> step;
  step.dt = dt;
  lifted.balls.free.predict(lifted.balls.state, dt);
  step.free_velocity = lifted.balls.free.velocity();
  step.laws = [](const ContactGraph<2>&, FrictionProblem<2>&) {};
  lifted.balls.assembler.assemble(step);
  lifted.walls.add_to(1e-10);
  REQUIRE(lifted.balls.problem().a == std::vector<Index>{-1});
  CHECK_NOTHROW(lifted.balls.problem().validate());
  lifted.run();
  CHECK(lifted.report.converged);
  CHECK(lifted.wall().velocity == Approx(0).margin(1e-6));
  CHECK(lifted.wall().reaction == Approx(50).epsilon(1e-5));
}

TEST_CASE("driven walls: bricks that come down one by one, with more contacts from step to step",
          "[dynamics]") {
  // The sanitizers watch what sweeps put back where a wall moved: there are fewer contacts in the solve
  // before.
  const Comm self(MPI_COMM_SELF);
  const Scratch scratch(self);
  std::ofstream(scratch / "bricks.csv")
      << "x,y\n0,0.051\n0.05,0.16\n0.02,0.27\n-0.3,0.08\n-0.28,0.2\n0.3,0.1\n";
  const std::string text = deck({.scheme = "nonsmooth",
                                 .lower = "[-1, -1]",
                                 .upper = "[2, 3]",
                                 .periodic = "[false, false]",
                                 .step = 2e-3},
                                fmt::format(R"(
[physics]
gravity = [0, -9.81]
[solver]
tolerance = 1e-10
[materials.m]
density = 1000
[pairs]
m-m = {{ friction = 0.5, restitution = 0 }}
[shapes.brick]
type = "box"
size = [0.2, 0.1]
[particles.bricks]
material = "m"
shape = "brick"
source = {{ type = "file", path = "{}" }}
[obstacles.plate]
type = "segment"
a = [-0.5, 0]
b = [0.5, 0]
material = "m"
motion = {{ type = "driven", axis = [0, 1], load = 0, control = "free", mass = 1000, max_speed = 1 }}
)",
                                            scratch / "bricks.csv"));
  Simulation<2> simulation(self, read_run_deck<2>(Deck::from_text(text, "bricks.toml")));
  const State<2>& state = simulation.state();
  for (int step = 0; step < 150; ++step) simulation.step();
  // Plate and bricks have the momentum that gravity gave to the bricks.
  Real momentum = 1000 * state.obstacles.driven()[0].velocity, mass = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    momentum += state.bodies.mass()[i] * state.bodies.velocity()[i][1];
    mass += state.bodies.mass()[i];
  }
  CHECK(mass == Approx(6 * 20));
  CHECK(momentum == Approx(-mass * 9.81 * 0.3).epsilon(1e-9));
}

}  // namespace scree
