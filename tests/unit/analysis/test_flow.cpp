#include "core/error.hpp"
#include "unit/analysis/scene.hpp"

using namespace scree;

namespace {

/// A measure of flow that sees bodies move step by step.
template <int D>
struct Crossings {
  Crossings(const std::vector<Vec<D>>& places, const std::string& keys)
      : scene(places), measure(scene.measure_of("type = 'flow'\n" + keys)) {}

  void move(std::size_t body, const Vec<D>& to) {
    const auto position = scene.state.bodies.position();
    std::ranges::copy(position, scene.state.bodies.previous().begin());
    position[body] = to;
    measure->after_step(scene.state);
    scene.state.clock.time += 0.5;
  }
  Real bodies() { return measure->memory()[0]; }
  Real column(const std::string& name) {
    for (const auto& [column, value] : scene.row(*measure))
      if (column == name) return value;
    FAIL("no column " << name);
    return 0;
  }

  Scene<D> scene;
  std::unique_ptr<Measure<D>> measure;
};

}  // namespace

TEST_CASE(
    "flow: crossings along the normal count, those against it count back; the plane belongs to its far side",
    "[analysis]") {
  Crossings<2> flow(Places<2>{{{1, 4}}, {{2, 6}}}, "point = [0, 5]\nnormal = [0, -3]");
  flow.move(0, {{1, 4.9}});
  CHECK(flow.bodies() == 0);
  flow.move(1, {{2, 5}});
  CHECK(flow.bodies() == 1);
  flow.move(1, {{7, 3}});
  CHECK(flow.bodies() == 1);
  flow.move(0, {{1, 5.1}});
  CHECK(flow.bodies() == 0);
  flow.move(1, {{7, 9}});
  CHECK(flow.bodies() == -1);
}

TEST_CASE("flow: rates are over the time since the row before; a body that comes back in between leaves none",
          "[analysis]") {
  Crossings<2> flow(Places<2>{{{1, 4}}, {{2, 4}}}, "point = [0, 5]\nnormal = [0, 1]");
  flow.scene.add_inertia({3, 4});
  CHECK(flow.column("body_rate") == 0);  // no row before: nothing has crossed in no time
  flow.move(0, {{1, 6}});
  flow.move(1, {{2, 6}});
  CHECK(flow.column("mass_rate") == 7);
  CHECK(flow.column("mass") == 7);
  flow.move(0, {{1, 4}});
  flow.move(0, {{1, 6}});
  CHECK(flow.column("body_rate") == 0);
  flow.move(0, {{1, 4}});
  CHECK(flow.column("body_rate") == -2);
  flow.move(0, {{1, 4}});
  CHECK(flow.column("mass") == 4);
}

TEST_CASE("flow: without inertia there is no mass", "[analysis]") {
  Crossings<2> flow(Places<2>{{{1, 4}}}, "point = [0, 5]\nnormal = [0, 1]");
  CHECK(flow.scene.row(*flow.measure).size() == 2);
}

TEST_CASE("flow: radius and region look at where the path meets the plane", "[analysis]") {
  // From (1, 4) to (3, 6) the path meets the plane at (2, 5).
  const auto counted = [](const std::string& keys) {
    Crossings<2> flow(Places<2>{{{1, 4}}}, "point = [4, 5]\nnormal = [0, 1]\n" + keys);
    flow.scene.row(*flow.measure);
    flow.move(0, {{3, 6}});
    return flow.bodies() == 1;
  };
  CHECK(counted(""));
  CHECK(counted("radius = 2.1"));
  CHECK_FALSE(counted("radius = 1.9"));
  CHECK(counted("region = { lower = [1.9, 4], upper = [2.1, 6] }"));
  CHECK_FALSE(counted("region = { lower = [2.1, 4], upper = [4, 6] }"));
  CHECK_FALSE(counted("region = { lower = [0, 4], upper = [1.9, 6] }"));
}

TEST_CASE("flow: in a periodic domain each turn crosses the plane once, wrapped or not", "[analysis]") {
  Crossings<3> flow(Places<3>{{{9, 5, 5}}}, "point = [1, 0, 0]\nnormal = [1, 0, 0]\nradius = 7.5");
  flow.scene.state.box.periodic = {true, true, true};
  flow.move(0, {{10.5, 5, 5}});  // wrapped at the next list build
  CHECK(flow.bodies() == 0);
  flow.move(0, {{11.5, 5, 5}});
  CHECK(flow.bodies() == 1);
  flow.scene.state.bodies.position()[0][0] = 1.5;
  flow.move(0, {{9.5, 5, 5}});
  flow.move(0, {{12, 5, 5}});
  CHECK(flow.bodies() == 2);
  flow.move(0, {{9, 5, 5}});
  CHECK(flow.bodies() == 1);
}

TEST_CASE(
    "flow: a plane without direction, oblique to a periodic axis or beside its region is an error of the "
    "deck",
    "[analysis]") {
  Scene<2> scene(Places<2>{{{1, 1}}});
  const std::string point = "type = 'flow'\npoint = [0, 5]\n";
  CHECK_THROWS_WITH(scene.row(point + "normal = [0, 0]"), Catch::Contains("test.toml:3:"));
  CHECK_THROWS_WITH(scene.row(point + "normal = [0, 1]\nregion = { lower = [0, 5], upper = [1, 6] }"),
                    Catch::Contains("test.toml:4:") && Catch::Contains("inside of the region"));
  CHECK_NOTHROW(scene.row(point + "normal = [1, 1]"));
  scene.state.box.periodic = {true, false};
  CHECK_THROWS_WITH(scene.row(point + "normal = [1, 1]"),
                    Catch::Contains("test.toml:3:") && Catch::Contains("periodic along x"));
  CHECK_NOTHROW(scene.row(point + "normal = [0, 2]"));
}
