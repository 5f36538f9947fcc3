// Position-based dynamics of bodies that turn: motions that are known, run from decks.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "core/deck.hpp"
#include "run/simulation.hpp"
#include "support/message_of.hpp"

namespace scree {

namespace {

template <int D>
Simulation<D> simulation_of(const std::string& tables, const std::string& step) {
  const std::string lower = D == 2 ? "[-2, -2]" : "[-2, -2, -2]", upper = D == 2 ? "[2, 2]" : "[2, 2, 2]";
  Deck deck = Deck::from_text("[simulation]\nscheme = \"pbd\"\nend_time = 1000\ndimension = " + std::to_string(D) +
                                  "\n[domain]\nlower = " + lower + "\nupper = " + upper +
                                  "\n[time]\nstep = " + step + "\n" + tables,
                              "test.toml");
  RunDeck<D> content;
  content.describe(deck.root());
  deck.require_all_read();
  return Simulation<D>(Comm(), std::move(content));
}
const std::string shapes_2d = "[shapes.brick]\ntype = \"box\"\nsize = [0.4, 0.2]\nrounding = 0.01\n";
const std::string shapes_3d = "[shapes.brick]\ntype = \"box\"\nsize = [0.4, 0.3, 0.2]\nrounding = 0.01\n";
const std::string falling_2d = "[velocity]\ntype = \"constant\"\nvelocity = [0, -1]\n";
const std::string falling_3d = "[velocity]\ntype = \"constant\"\nvelocity = [0, 0, -1]\n";
const std::string floor_2d = "[obstacles.floor]\ntype = \"plane\"\npoint = [0, 0]\nnormal = [0, 1]\n";
const std::string floor_3d = "[obstacles.floor]\ntype = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n";

}  // namespace

TEST_CASE("x", "[dynamics][convex]") {
  for (const char* sweeps : {"1", "2", "10"})
    for (const char* warm : {"0", "0.9"}) {
      const std::string pbd = "[pbd]\nsweeps = " + std::string(sweeps) + "\nwarm_start = " + warm + "\noverlap_limit = 0\n";
      auto s2 = simulation_of<2>(pbd + shapes_2d + falling_2d + floor_2d +
                                     "[particles.a]\nshape = \"brick\"\nangle = 0.5\nsource = { type = \"random\", count = 1, region = { lower = [-0.3, 0], upper = [0.3, 0.6] } }\n", "0.005");
      auto s3 = simulation_of<3>(pbd + shapes_3d + falling_3d + floor_3d +
                                     "[particles.a]\nshape = \"brick\"\nangle = 0.5\naxis=[1,2,3]\nsource = { type = \"random\", count = 1, region = { lower = [-0.3, -0.3, 0], upper = [0.3, 0.3, 0.6] } }\n", "0.005");
      for (int i = 0; i < 400; ++i) {
        s2.step();
        s3.step();
        if (i % 50 == 49) {
        const auto& b2 = s2.state().bodies; const auto& b3 = s3.state().bodies;
        const auto ax = axes_of<3>(b3.orientation()[0]);
        fmt::print("{} {} {:4}: 2D y {:.6f} angle {:.2e} spin {:.2e} | 3D z {:.6f} tilt {:.2e} spin {:.2e}\n", sweeps, warm, i, b2.position()[0][1] - 0.1, b2.orientation()[0][0], b2.angular_velocity()[0][0], b3.position()[0][2], 1 - std::max({std::abs(ax[0][2]), std::abs(ax[1][2]), std::abs(ax[2][2])}), norm(b3.angular_velocity()[0]));
        }
      }
    }
}

}  // namespace scree
