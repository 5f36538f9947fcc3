// Position-based dynamics of bodies that turn: motions that are known, run from decks.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "core/deck.hpp"
#include "particles/orientation.hpp"
#include "run/simulation.hpp"

namespace scree {

namespace {

constexpr Real step = 0.005;

template <int D>
Simulation<D> simulation_of(const std::string& tables) {
  const std::string lower = D == 2 ? "[-2, -2]" : "[-2, -2, -2]", upper = D == 2 ? "[2, 2]" : "[2, 2, 2]";
  Deck deck =
      Deck::from_text("[simulation]\nscheme = 'pbd'\nend_time = 1000\ndimension = " + std::to_string(D) +
                          "\n[domain]\nlower = " + lower + "\nupper = " + upper +
                          "\n[time]\nstep = " + std::to_string(step) + "\n" + tables,
                      "test.toml");
  RunDeck<D> content;
  content.describe(deck.root());
  deck.require_all_read();
  return Simulation<D>(Comm(), std::move(content));
}

const std::string brick_2d = "[shapes.brick]\ntype = 'box'\nsize = [0.4, 0.2]\nrounding_radius = 0.01\n";
const std::string brick_3d = "[shapes.brick]\ntype = 'box'\nsize = [0.4, 0.3, 0.2]\nrounding_radius = 0.01\n";

}  // namespace

TEST_CASE("pbd with shapes: a brick that falls on its edge lies down flat and stays", "[dynamics][convex]") {
  const std::string pbd = "[pbd]\nsweeps = 10\noverlap_limit = 0\n";
  auto flat = simulation_of<2>(pbd + brick_2d +
                               "[velocity]\ntype = 'constant'\nvelocity = [0, -1]\n"
                               "[obstacles.floor]\ntype = 'plane'\npoint = [0, 0]\nnormal = [0, 1]\n"
                               "[particles.a]\nshape = 'brick'\nangle = 0.5\nsource = { type = 'random', "
                               "count = 1, region = { lower = [-0.3, 0], upper = [0.3, 0.6] } }\n");
  auto solid = simulation_of<3>(pbd + brick_3d +
                                "[velocity]\ntype = 'constant'\nvelocity = [0, 0, -1]\n"
                                "[obstacles.floor]\ntype = 'plane'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n"
                                "[particles.a]\nshape = 'brick'\nangle = 0.5\naxis = [1, 2, 3]\nsource = { "
                                "type = 'random', count = 1, region = { lower = [-0.3, -0.3, 0], upper = "
                                "[0.3, 0.3, 0.6] } }\n");
  Real fastest = 0;
  for (int k = 0; k < 400; ++k) {
    flat.step();
    solid.step();
    fastest = std::max(fastest, std::abs(flat.state().bodies.angular_velocity()[0][0]));
  }
  CHECK(fastest > 1);  // it did turn
  const auto& brick = flat.state().bodies;
  CHECK(std::abs(brick.position()[0][1] - 0.1) < 1e-8);
  CHECK(std::abs(brick.orientation()[0][0]) < 1e-8);
  CHECK(std::abs(brick.angular_velocity()[0][0]) < 1e-8);
  const auto& block = solid.state().bodies;
  CHECK(std::abs(block.position()[0][2] - 0.1) < 1e-6);
  Real upright = 0;
  for (const Vec<3>& axis : axes_of<3>(block.orientation()[0]))
    upright = std::max(upright, std::abs(axis[2]));
  CHECK(1 - upright < 1e-10);
  CHECK(norm(block.velocity()[0]) < 1e-4);
}

TEST_CASE("pbd with shapes: one projection of a disk on a brick, with its lever", "[dynamics][convex]") {
  constexpr Real radius = 0.08, rate = 16;
  auto simulation =
      simulation_of<2>("[pbd]\nsweeps = 1\nwarm_start = 0\noverlap_limit = 0\n" + brick_2d +
                       "[velocity]\ntype = 'attraction'\npoint = [0, 0]\nrate = " + std::to_string(rate) +
                       "\n[particles.brick]\nshape = 'brick'\nmobility = 0.5\nsource = { type = 'lattice', "
                       "count = 1, region = "
                       "{ lower = [-0.3, -0.3], upper = [0.3, 0.3] } }\n"
                       "[particles.disk]\nradius = { distribution = 'constant', value = " +
                       std::to_string(radius) +
                       " }\nsource = { type = 'lattice', count = 1, region = { lower = [0.035, 0.105], upper "
                       "= [0.205, 0.275] } }\n");
  const auto& bodies = simulation.state().bodies;
  REQUIRE(bodies.n_owned() == 2);
  const std::size_t brick = bodies.radius()[0] > radius ? 0 : 1, disk = 1 - brick;
  const Real displacement = 1 - step * rate;
  const Vec<2> of_brick = displacement * bodies.position()[brick],
               of_disk = displacement * bodies.position()[disk];
  const Real lever = of_disk[0] - of_brick[0], gap = of_disk[1] - of_brick[1] - 0.1 - radius;
  REQUIRE(std::abs(lever - 0.11) < 0.01);
  REQUIRE(gap < -1e-3);

  simulation.step();
  const BodyShape<2>& shape = simulation.state().shapes[bodies.shape()[brick]];
  const Real inertia = shape.moments[0] * bodies.radius()[brick] * bodies.radius()[brick];
  const Real push = -gap / (1 + 0.5 * (1 + lever * lever / inertia));
  CHECK(bodies.position()[disk][1] == Approx(of_disk[1] + push).epsilon(1e-12));
  CHECK(bodies.position()[disk][0] == Approx(of_disk[0]).epsilon(1e-12));
  CHECK(bodies.position()[brick][1] - of_brick[1] == Approx(-0.5 * push).epsilon(1e-9));
  const Real angle = -0.5 * push * lever / inertia;
  CHECK(bodies.orientation()[brick][0] == Approx(angle).epsilon(1e-9));
  CHECK(bodies.angular_velocity()[brick][0] == Approx(angle / step).epsilon(1e-9));
}

}  // namespace scree
