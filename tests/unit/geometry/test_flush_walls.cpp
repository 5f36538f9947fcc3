#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <random>

#include "unit/geometry/read_obstacles.hpp"

namespace scree {

namespace {

constexpr Real radius = 0.01;

/// The constraints that count at x: for which no other stands.
template <int D>
std::vector<int> admissible(const ObstacleSet<D>& walls, const Vec<D>& x) {
  std::vector<int> left;
  for (int c = 0; c < walls.n_constraints(); ++c) {
    const SurfacePoint<D> seen = nearest(walls, c, x);
    bool stands = seen.in_reach();
    for (int other = 0; other < walls.n_constraints() && stands; ++other)
      stands = walls.of_one_shape(c, other) || !walls.stands_for(other, c, seen, x, radius);
    if (stands) left.push_back(c);
  }
  return left;
}

/// Two boxes with tops at 0 and `step`, `slit` apart at x = 0.
ObstacleSet<3> two_boxes(Real step, Real slit) {
  return read_obstacles<3>(fmt::format(R"(
[obstacles.a]
type = "box"
lower = [-1.0, -1.0, -0.1]
upper = [0.0, 1.0, 0.0]
[obstacles.b]
type = "box"
lower = [{}, -1.0, -0.1]
upper = [1.0, 1.0, {}])",
                                       slit, step));
}

using Walls = std::vector<int>;

}  // namespace

TEST_CASE("flush walls: over two boxes side by side the nearer one counts, over the seam the first") {
  for (const Real slit : {0.0, 1e-7, 0.9e-3 * radius}) {
    const ObstacleSet<3> walls = two_boxes(0, slit);
    CHECK(admissible<3>(walls, {{-0.005, 0, radius}}) == Walls{0});
    CHECK(admissible<3>(walls, {{-1e-4, 0, 0.3 * radius}}) == Walls{0});
    CHECK(admissible<3>(walls, {{slit / 2, 0, radius}}) == Walls{0});
    CHECK(admissible<3>(walls, {{0.001, 0, radius}}) == Walls{1});
    CHECK(admissible<3>(walls, {{0.005, 0.3, 5 * radius}}) == Walls{1});
  }
}

TEST_CASE("flush walls: a step up and a slot are there, a step down is not before its place") {
  CHECK(admissible<3>(two_boxes(0.1 * radius, 0), {{-0.005, 0, radius}}) == Walls{0, 1});
  CHECK(admissible<3>(two_boxes(0.1 * radius, 0), {{0.005, 0, 1.1 * radius}}) == Walls{1});
  CHECK(admissible<3>(two_boxes(0, 0.1 * radius), {{-0.005, 0, radius}}) == Walls{0, 1});
  // Lower than a step counts: flush.
  CHECK(admissible<3>(two_boxes(0.9e-4 * radius, 0), {{-0.005, 0, radius}}) == Walls{0});
}

TEST_CASE("flush walls: the walls of a room all count in a corner, and what is behind one does not") {
  const ObstacleSet<2> walls = read_obstacles<2>(R"(
[obstacles.floor]
type = "plane"
point = [0.0, 0.0]
normal = [0.0, 1.0]
[obstacles.wall]
type = "plane"
point = [0.0, 0.0]
normal = [1.0, 0.0]
[obstacles.buried]
type = "box"
lower = [0.1, -0.5]
upper = [0.2, -0.001]
[obstacles.ledge]
type = "box"
lower = [0.3, -0.5]
upper = [0.4, 0.02])");
  CHECK(admissible<2>(walls, {{radius, radius}}) == Walls{0, 1, 3});
  CHECK(admissible<2>(walls, {{0.295, radius}}) == Walls{0, 1, 3});
  CHECK(admissible<2>(walls, {{0.29, 0.025}}) == Walls{0, 1, 3});
  // In the solid no wall stands for another.
  CHECK(admissible<2>(walls, {{0.35, -0.2}}).size() >= 2);
}

TEST_CASE("flush walls: of pieces of a floor one counts anywhere, and it has the normal of the floor") {
  const ObstacleSet<3> walls = read_obstacles<3>(R"(
[obstacles.a]
type = "box"
lower = [-1.0, -1.0, -0.1]
upper = [0.0, 0.0, 0.0]
[obstacles.b]
type = "box"
lower = [0.0, -1.0, -0.1]
upper = [1.0, 0.0, 0.0]
[obstacles.tee]
type = "box"
lower = [-1.0, 0.0, -0.2]
upper = [1.0, 1.0, 0.0]
rotate = { axis = [0, 0, 1], angle = 0.0 }
translate = [0.0, 1e-9, 0.0]
[obstacles.plug]
type = "cylinder"
a = [0.01, 0.01, -0.5]
b = [0.01, 0.01, 0.0]
radius = 0.005
[obstacles.sheet]
type = "plate"
point = [-0.01, 0.0, 0.0]
normal = [0, 0, 1]
outer_radius = 0.006)");
  std::mt19937 random(7);
  std::uniform_real_distribution<Real> place(-0.03, 0.03);
  for (int k = 0; k < 1000; ++k) {
    const Vec<3> x{{k % 7 == 0 ? 0 : place(random), k % 5 == 0 ? 0 : place(random), radius}};
    const Walls left = admissible<3>(walls, x);
    REQUIRE(left.size() == 1);
    const SurfacePoint<3> seen = nearest(walls, left[0], x);
    CHECK(is_close<3>(seen.normal, {{0, 0, 1}}, 2e-7));
    CHECK(std::abs(seen.distance - radius) < 1e-15);
  }
}

TEST_CASE("flush walls: walls that never meet are distinguished from those that may") {
  const ObstacleSet<3> walls = read_obstacles<3>(R"(
[obstacles.floor]
type = "plane"
point = [0.0, 0.0, 0.0]
normal = [0.0, 0.0, 1.0]
[obstacles.buried]
type = "box"
lower = [0.0, 0.0, -0.3]
upper = [0.1, 0.1, -0.2]
[obstacles.above]
type = "box"
lower = [0.0, 0.0, 0.1]
upper = [0.1, 0.1, 0.2]
[obstacles.beside]
type = "box"
lower = [0.1001, 0.0, 0.1]
upper = [0.2, 0.1, 0.2])");
  const Box<3> domain{{{-1, -1, -1}}, {{1, 1, 1}}, {}};
  CHECK(walls.may_meet(0, 1, domain, 0.01));
  CHECK(walls.may_meet(1, 0, domain, 0.01));
  CHECK_FALSE(walls.may_meet(0, 2, domain, 0.01));
  CHECK(walls.may_meet(2, 3, domain, 0.01));
  CHECK_FALSE(walls.may_meet(2, 3, domain, 1e-5));
  CHECK_FALSE(walls.may_meet(1, 3, domain, 0.01));
}

}  // namespace scree
