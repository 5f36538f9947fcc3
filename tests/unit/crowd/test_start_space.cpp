// Where new people may be: areas by hand, and nothing that touches an obstacle.
#include "crowd/people/start_space.hpp"

#include <numbers>

#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

using Point = scree::Vec<2>;  // PETSc has a Vec too

/// 20 m x 10 m, less a post of radius 1 m; people vanish in the last two metres, or through a door that
/// closes.
const std::string hall =
    "[walkable]\npolygon = [[0, 0], [20, 0], [20, 10], [0, 10]]\n"
    "[walkable.obstacles.post]\ncircles = [[10, 5, 1]]\n"
    "[exits.east]\npolygon = [[18, 0], [20, 0], [20, 10], [18, 10]]\n"
    "[exits.door]\nline = [[4, 0], [6, 0]]\nopen_until = [60]\n"
    "[populations.all]\ncount = 1\n";
constexpr Real reach = 0.3;

Ring rectangle(Real x0, Real y0, Real x1, Real y1) {
  return {{{x0, y0}}, {{x1, y0}}, {{x1, y1}}, {{x0, y1}}};
}

struct Hall {
  Building building{hall};
  NearObstacles near{building.state.obstacles, building.journey_plan.exits(), building.state.box, 0, reach};

  StartSpace space(const Ring& region = {}) const {
    return {building.plan, near, building.journey_plan.exits(), building.state.box, region, "test.toml:1:1"};
  }
};

}  // namespace

TEST_CASE("start space: the whole plan counts without posts, exits and what is behind them", "[crowd]") {
  const Hall hall_;
  const StartSpace space = hall_.space();
  CHECK(space.area() == Approx(20 * 10 - 2 * 10 - std::numbers::pi).margin(0.05));
  CHECK(space.holds({{1, 1}}));
  CHECK(space.holds({{11.5, 5}}));
  CHECK_FALSE(space.holds({{10.5, 5}}));  // in the post
  CHECK_FALSE(space.holds({{19, 5}}));    // where people vanish
  CHECK_FALSE(space.holds({{5, -0.1}}));  // behind the door
  CHECK_FALSE(space.holds({{-0.1, 5}}));
  CHECK(space.usable_area(0.4) == space.area());
}

TEST_CASE("start space: of a region counts what lies on the plan", "[crowd]") {
  const Hall hall_;
  const StartSpace space = hall_.space(rectangle(-5, 2, 5, 4));
  CHECK(space.area() == Approx(5 * 2));
  CHECK(space.bounds().lower[0] >= hall_.building.state.box.lower[0]);
  CHECK(space.bounds().upper[0] == 5);
  CHECK(space.holds({{1, 3}}));
  CHECK_FALSE(space.holds({{1, 5}}));
  CHECK_THAT(space.text(), Catch::StartsWith("the region (") && Catch::Contains("with 10 m2 free"));
  // A triangle takes half of its box.
  CHECK(hall_.space({{{1, 1}}, {{4, 1}}, {{4, 4}}}).area() == Approx(4.5));
  CHECK_THAT(message_of([&] { hall_.space(rectangle(18.5, 1, 19.5, 2)); }),
             Catch::Contains("test.toml:1:1: nothing of the region (18.5, 1) to (19.5, 2) m is walkable"));
}

TEST_CASE("start space: the bound on disks in a region holds for the densest packing of them", "[crowd]") {
  const Hall hall_;
  const StartSpace space = hall_.space(rectangle(1, 1, 4, 5));
  const Real d = GENERATE(0.3, 0.4, 0.6);
  const Real row = std::sqrt(3.0) / 2 * d;
  int n = 0;
  for (int j = 0; 1 + j * row <= 5; ++j)
    for (Real x = j % 2 == 0 ? 1 : 1 + d / 2; x <= 4; x += d) ++n;
  const Real needed = n * row * d;
  CHECK(space.usable_area(d) == Approx(12 + 14 * row / 2 + row * d));
  CHECK(needed <= space.usable_area(d));
  CHECK(needed > 0.85 * space.usable_area(d));
}

TEST_CASE("start space: points are drawn evenly from what is held", "[crowd]") {
  const Hall hall_;
  const StartSpace space = hall_.space({{{1, 1}}, {{4, 1}}, {{4, 4}}});
  RandomStream stream(5, 0, purpose::position);
  constexpr int n = 2000;
  Point mean{};
  for (int i = 0; i < n; ++i) {
    const Point x = space.draw(stream, 0.2);
    REQUIRE(space.holds(x));
    mean += x * (1.0 / n);
  }
  // The centre of the triangle; x and y have a variance of 9 / 18 each.
  const Real error = 5 * std::sqrt(0.5 / n);
  CHECK(mean[0] == Approx(3).margin(error));
  CHECK(mean[1] == Approx(2).margin(error));
}

TEST_CASE("start space: whole disks are clear of walls, posts and doors, though these are open", "[crowd]") {
  const Hall hall_;
  const std::vector<Point> x{{{1, 1}},     {{0.29, 1}}, {{0.31, 1}}, {{11.29, 5}},
                             {{11.31, 5}}, {{5, 0.29}}, {{5, 0.31}}};
  const std::vector<Real> radius(x.size(), 0.3);
  CHECK(hall_.space().free(x, radius) == std::vector<char>{1, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("start space: the grid of obstacles finds what a look at all of them finds", "[crowd]") {
  const Hall hall_;
  const ObstacleSet<2>& obstacles = hall_.building.state.obstacles;
  const Edge door{{{4, 0}}, {{6, 0}}};
  int n_touched = 0;
  for (GlobalId id = 0; id < 3000; ++id) {
    RandomStream stream(1, id, purpose::position);
    const Point x{{stream.uniform(0, 20), stream.uniform(0, 10)}};
    const Real radius = stream.uniform(0, reach);
    bool touched = foot_on(door, x, door.normal).distance < radius;
    for (int c = 0; c < obstacles.n_constraints(); ++c) {
      SurfacePoint<2> point;
      obstacles.nearest(c, {&x, 1}, {&point, 1});
      touched = touched || point.distance < radius;
    }
    CHECK(hall_.near.touches(x, radius) == touched);
    n_touched += touched;
  }
  CHECK(n_touched > 50);
}
