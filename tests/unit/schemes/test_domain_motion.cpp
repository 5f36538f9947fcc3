// Deforming domains with rigid contacts: impulses of few bodies by hand.
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "run/simulation.hpp"
#include "state/energy_balance.hpp"
#include "support/deck.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

constexpr Real radius = 0.5, diameter = 2 * radius, density = 2, edge = 6, dt = 0.01;
constexpr Real mass = density * std::numbers::pi * radius * radius;

struct Disks {
  Real size = radius;
  bool soft = false;  // contacts have the stiffness that the keys of the pair give them
};
/// Disks in a square cell with sides of `edge`. `deformation`: keys of [domain.deformation].
Simulation<2> start(const std::vector<Vec<2>>& places, const std::string& deformation,
                    const std::string& pair, const Disks& disks = {}) {
  std::string text = deck(
      {.scheme = disks.soft ? "dem" : "nonsmooth",
       .lower = "[0, 0]",
       .upper = fmt::format("[{}, {}]", edge, edge),
       .periodic = "[true, true]",
       .step = disks.soft ? 0.1 * dt : dt},
      "[domain.deformation]\n" + deformation +
          fmt::format(R"(
{}
[materials.grain]
density = {}
[pairs]
grain-grain = {{ {} }}
[measures.energy]
type = "energy"
balance = true
)",
                      disks.soft ? "[dem]\nlaw = \"linear\"" : "[solver]\ntolerance = 1e-10", density, pair));
  const Scratch scratch(Comm(MPI_COMM_SELF));
  {
    std::ofstream file(scratch / "places.csv");
    file << "x,y\n";
    for (const Vec<2>& x : places) file << fmt::format("{:.17g},{:.17g}\n", x[0], x[1]);
  }
  text += fmt::format(R"(
[particles.grains]
material = "grain"
radius = {{ distribution = "constant", value = {} }}
source = {{ type = "file", path = "{}" }}
)",
                      disks.size, scratch / "places.csv");
  return Simulation<2>(Comm(MPI_COMM_SELF), read_run_deck<2>(Deck::from_text(text, "cell.toml")));
}

std::size_t index_of(const State<2>& state, GlobalId id) {
  const auto ids = state.bodies.id();
  return static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
}

/// Two disks that touch through the face across y: the image of the upper one, a period lower, lies at -n
/// times the diameter from the lower one.
std::vector<Vec<2>> pair_through_face(const Vec<2>& n) {
  const Vec<2> low{{3, 0.2}};
  return {low, {{low[0] - diameter * n[0], low[1] - diameter * n[1] + edge}}};
}

/// What the flow of the solve was, at where a body was at the start of the step; about it its velocity is c.
Vec<2> velocity_about(const State<2>& state, std::size_t i, const Vec<2>& flow) {
  return state.bodies.velocity()[i] - flow;
}

}  // namespace

TEST_CASE("rigid contact in a sheared domain: the impulse of a pair through a face, without friction") {
  // n from the image of the upper disk to the lower one; L l = rate d n_y e_x closes them where n_x n_y < 0.
  const Real angle = 2.2, rate = 0.3;
  const Vec<2> n{{std::cos(angle), std::sin(angle)}};
  Simulation<2> simulation = start(pair_through_face(n), "flow = \"x\"\ngradient = \"y\"\nshear_rate = 0.3\n",
                                   "friction = 0, restitution = 0");
  simulation.step();
  const State<2>& state = simulation.state();
  const std::size_t low = index_of(state, 0), high = index_of(state, 1);
  const Real closing = -rate * diameter * n[0] * n[1];
  REQUIRE(closing > 0);
  const Vec<2> c_low = 0.5 * closing * n;  // each takes half of it
  const auto flow = [&](std::size_t i) {
    return Vec<2>{{rate * (state.bodies.previous()[i][1] - 0.5 * edge), 0}};
  };
  const Vec<2> of_low = velocity_about(state, low, flow(low)),
               of_high = velocity_about(state, high, flow(high));
  for (int k = 0; k < 2; ++k) {
    CHECK(of_low[k] == Approx(c_low[k]).margin(1e-11));
    CHECK(of_high[k] == Approx(-c_low[k]).margin(1e-11));
  }
  // The cell does sum of m c^2/2 on them, and afterwards what c turns about the flow (H.25).
  const EnergyBalance& balance = state.energy_balance;
  const Real now = mechanical_energy(state).total();
  CHECK(balance.impact == Approx(0.25 * mass * closing * closing).epsilon(1e-9));  // of Newton's law, e = 0
  CHECK(now ==
        Approx(balance.start + balance.wall_work - balance.impact + balance.correction).epsilon(1e-12));
  // They stay in touch: the gap of the end of the step is of second order.
  const Vec<2> between = state.bodies.position()[low] - state.bodies.position()[high] + state.box.period(1);
  CHECK(norm(between) == Approx(diameter).margin(2 * rate * rate * dt * dt));
}

TEST_CASE("rigid contact in a sheared domain: a pair through a face that sticks") {
  const Real angle = 2.2, rate = 0.3;
  const Vec<2> n{{std::cos(angle), std::sin(angle)}}, t{{-n[1], n[0]}};
  Simulation<2> simulation = start(pair_through_face(n), "flow = \"x\"\ngradient = \"y\"\nshear_rate = 0.3\n",
                                   "friction = 10, restitution = 0");
  simulation.step();
  const State<2>& state = simulation.state();
  const std::size_t low = index_of(state, 0);
  // u = L l: its parts are stopped by m/2 along the normal and, I being m R^2/2, m/6 along the tangent.
  const Real along_n = rate * diameter * n[1] * n[0], along_t = rate * diameter * n[1] * t[0];
  const Vec<2> flow{{rate * (state.bodies.previous()[low][1] - 0.5 * edge), 0}};
  const Vec<2> c = velocity_about(state, low, flow), expected = -0.5 * along_n * n - along_t / 6 * t;
  for (int k = 0; k < 2; ++k) CHECK(c[k] == Approx(expected[k]).margin(1e-11));
  const Real spin = mass / 6 * along_t * radius / (0.5 * mass * radius * radius);
  for (const std::size_t i : {low, index_of(state, 1)})
    CHECK(std::abs(state.bodies.angular_velocity()[i][0]) == Approx(std::abs(spin)).epsilon(1e-9));
  const EnergyBalance& balance = state.energy_balance;
  CHECK(mechanical_energy(state).total() ==
        Approx(balance.start + balance.wall_work - balance.impact - balance.friction + balance.correction)
            .epsilon(1e-12));
}

TEST_CASE(
    "rigid contact in a cell that shortens: bodies bounce, momentum and energy balance over many steps") {
  std::vector<Vec<2>> places;
  for (int i = 0; i < 25; ++i)
    places.push_back(
        {{0.6 + 1.2 * (i % 5) + 0.05 * std::sin(7.0 * i), 0.6 + 1.2 * (i / 5) + 0.05 * std::cos(5.0 * i)}});
  Simulation<2> simulation =
      start(places, "flow = \"x\"\ngradient = \"y\"\nshear_rate = 2\nstrain_rate = { y = -0.1 }\n",
            "friction = 0.4, restitution = 0.6");
  for (int step = 0; step < 150; ++step) simulation.step();
  const State<2>& state = simulation.state();
  Vec<2> momentum;
  Real size = 0;
  for (std::size_t i = 0; i < 25; ++i) {
    momentum += velocity_about_flow(state, i);
    size += norm(velocity_about_flow(state, i));
  }
  CHECK(size > 1);
  CHECK(norm(momentum) < 1e-9 * size);
  const EnergyBalance& balance = state.energy_balance;
  CHECK(balance.wall_work > 0.1);
  CHECK(balance.impact > 0.01);
  CHECK(balance.friction > 0.01);
  CHECK(mechanical_energy(state).total() ==
        Approx(balance.start + balance.wall_work - balance.impact - balance.friction + balance.correction +
               balance.integration)
            .margin(1e-10 * balance.wall_work));
}

TEST_CASE("rigid contact in a loaded cell: a chain of disks carries the stress that is asked for") {
  // Six disks reach through the cell: each contact carries the stress times its other length.
  const Real asked = 10;
  std::vector<Vec<2>> places;
  for (int i = 0; i < 6; ++i) places.push_back({{0.5 + diameter * i, 3}});
  Simulation<2> simulation =
      start(places, "stress = { x = 10 }\nmax_rate = 0.1\n", "friction = 0, restitution = 0");
  for (int step = 0; step < 100; ++step) simulation.step();
  const State<2>& state = simulation.state();
  CHECK(state.deformation.stress_residual() < 2e-3);  // twice the tolerance of the search
  CHECK(std::abs(state.deformation.strain_rate(state.box, 0)) < 1e-4);
  CHECK(state.box.length(0) == Approx(edge).margin(1e-2 * radius));
  CHECK(state.deformation.response().stress[0] == Approx(asked).epsilon(2e-3));
}

namespace {

/// Nine disks reach from a corner of the cell to the next but one, against the shear: along (-1, 1).
std::vector<Vec<2>> leaning_chain() {
  std::vector<Vec<2>> places;
  for (int i = 0; i < 9; ++i) places.push_back({{edge - (i + 0.5) * edge / 9, (i + 0.5) * edge / 9}});
  return places;
}
const Disks of_chain{.size = edge * std::numbers::sqrt2 / 18};

/// Each contact carries the same force along (-1, 1), so all stresses are alike.
void check_shear_stress(const State<2>& state, Real asked, Real tolerance) {
  const auto& response = state.deformation.response();
  CHECK(response.shear_stress == Approx(asked).epsilon(tolerance));
  CHECK(state.deformation.stress_residual() < tolerance);
  CHECK(std::abs(state.deformation.shear_rate(state.box)) < 1e-3);
}

}  // namespace

TEST_CASE(
    "rigid contact in a loaded cell: a leaning chain of disks carries the shear stress that is asked for") {
  Simulation<2> simulation =
      start(leaning_chain(), "flow = \"x\"\ngradient = \"y\"\nshear_stress = 5\nmax_rate = 0.1\n",
            "friction = 0, restitution = 0", of_chain);
  for (int step = 0; step < 50; ++step) simulation.step();
  check_shear_stress(simulation.state(), 5, 2e-3);
}

TEST_CASE(
    "soft contact in a loaded cell: a leaning chain of disks carries the shear stress that is asked for") {
  Simulation<2> simulation =
      start(leaning_chain(),
            "flow = \"x\"\ngradient = \"y\"\nshear_stress = 5\nmax_rate = 1\nresponse_time = 0.005\n",
            "friction = 0, restitution = 0.2, stiffness = 1e4", {of_chain.size, true});
  for (int step = 0; step < 500; ++step) simulation.step();
  check_shear_stress(simulation.state(), 5, 1e-2);
}

TEST_CASE("a cell without contacts follows a shear stress with its fastest shear") {
  for (const bool soft : {false, true}) {
    Simulation<2> simulation =
        start({{{1, 1}}, {{4, 4}}}, "flow = \"x\"\ngradient = \"y\"\nshear_stress = -5\nmax_rate = 0.1\n",
              soft ? "friction = 0, restitution = 0.2, stiffness = 1e4" : "friction = 0, restitution = 0",
              {radius, soft});
    for (int step = 0; step < 5; ++step) simulation.step();
    CHECK(simulation.state().deformation.shear_rate(simulation.state().box) == Approx(-0.1).epsilon(1e-12));
  }
}
