#include <catch2/catch.hpp>
#include <numbers>

#include "unit/geometry/read_obstacles.hpp"

using namespace scree;

TEST_CASE("plane: the normal (3, 4) is scaled; the point (3, 4) above the origin is 5 away, (-3, -4) at -5",
          "[geometry]") {
  const auto floor = read_obstacle<2>("type = 'plane'\npoint = [0, 0]\nnormal = [3, 4]");
  CHECK(nearest<2>(floor, 0, {{3, 4}}).distance == Approx(5));
  CHECK(nearest<2>(floor, 0, {{-3, -4}}).distance == Approx(-5));
  CHECK(is_close(nearest<2>(floor, 0, {{-3, -4}}).normal, {{0.6, 0.8}}));
  CHECK_THROWS_WITH(read_obstacle<2>("type = 'plane'\npoint = [0, 0]\nnormal = [0, 0]"),
                    Catch::StartsWith("test.toml:4:"));
}

TEST_CASE("plane: its bounds are its cut with the domain: a face, a slanted corner, nothing", "[geometry]") {
  const Box<2> domain{{{0, 0}}, {{4, 2}}, {}};
  const auto face = read_obstacle<2>("type = 'plane'\npoint = [1, 0]\nnormal = [0, 1]").bounds(0, domain);
  CHECK(face.lower == Vec<2>{{0, 0}});
  CHECK(face.upper == Vec<2>{{4, 0}});
  const auto corner = read_obstacle<2>("type = 'plane'\npoint = [1, 0]\nnormal = [1, 1]").bounds(0, domain);
  CHECK(is_close(corner.lower, {{0, 0}}));
  CHECK(is_close(corner.upper, {{1, 1}}));
  CHECK(read_obstacle<2>("type = 'plane'\npoint = [0, 3]\nnormal = [0, 1]").bounds(0, domain).is_empty());
}

TEST_CASE(
    "plane: x + y + z = 1.5 cuts the unit cube in a hexagon of area 3 sqrt(3) / 4, drawn as 4 triangles",
    "[geometry]") {
  const auto plane = read_obstacle<3>("type = 'plane'\npoint = [0.5, 0.5, 0.5]\nnormal = [1, 1, 1]");
  const Outline<3> hexagon = plane.outline(0, {{{0, 0, 0}}, {{1, 1, 1}}, {}});
  CHECK(hexagon.points.size() == 6);
  CHECK(hexagon.triangles.size() == 4);
  Real area = 0;
  for (const auto& [a, b, c] : hexagon.triangles) {
    const auto point = [&](int i) { return hexagon.points[i]; };
    area += norm(cross(point(b) - point(a), point(c) - point(a))) / 2;
  }
  CHECK(area == Approx(3 * std::sqrt(3.0) / 4));
}

TEST_CASE("disk: (6, 8) is 8 from a disk of radius 2 about 0, and at -8 from such a container",
          "[geometry]") {
  const std::string disk = "type = 'disk'\ncenter = [0, 0]\nradius = 2\n";
  const auto post = nearest<2>(read_obstacle<2>(disk), 0, {{6, 8}});
  CHECK(post.distance == Approx(8));
  CHECK(is_close(post.normal, {{0.6, 0.8}}));
  const auto wall = nearest<2>(read_obstacle<2>(disk + "side = 'inside'"), 0, {{6, 8}});
  CHECK(wall.distance == Approx(-8));
  CHECK(is_close(wall.normal, {{-0.6, -0.8}}));
  const auto center = nearest<2>(read_obstacle<2>(disk), 0, {{0, 0}});
  CHECK(center.distance == -2);
  CHECK(center.normal == Vec<2>{{1, 0}});
  CHECK(nearest<2>(read_obstacle<2>(disk), 0, {{1e-160, 0}}).normal == Vec<2>{{1, 0}});
  CHECK_THROWS_AS(read_obstacle<2>("type = 'disk'\ncenter = [0, 0]\nradius = 0"), InputError);
}

TEST_CASE("sphere: (2, 4, 4) is 5 from a sphere of radius 1; its outline has area 4 pi to 1 percent",
          "[geometry]") {
  const auto ball = read_obstacle<3>("type = 'sphere'\ncenter = [0, 0, 0]\nradius = 1");
  CHECK(nearest<3>(ball, 0, {{2, 4, 4}}).distance == Approx(5));
  const Outline<3> outline = ball.outline(0, {});
  Real area = 0;
  for (const auto& [a, b, c] : outline.triangles) {
    const auto point = [&](int i) { return outline.points[i]; };
    area += norm(cross(point(b) - point(a), point(c) - point(a))) / 2;
  }
  CHECK(area < 4 * std::numbers::pi);
  CHECK(area > 0.99 * 4 * std::numbers::pi);
}

TEST_CASE("cylinder: solid, distances 1 from the side, 2 from an end, 5 from a rim, -0.25 and -1 within",
          "[geometry]") {
  const auto post = read_obstacle<3>("type = 'cylinder'\na = [0, 0, 0]\nb = [0, 0, 4]\nradius = 1");
  const auto side = nearest<3>(post, 0, {{0, 2, 1}});
  CHECK(side.distance == 1);
  CHECK(side.normal == Vec<3>{{0, 1, 0}});
  const auto top = nearest<3>(post, 0, {{0.5, 0, 6}});
  CHECK(top.distance == 2);
  CHECK(top.normal == Vec<3>{{0, 0, 1}});
  const auto rim = nearest<3>(post, 0, {{4, 0, -4}});
  CHECK(rim.distance == 5);
  CHECK(is_close(rim.normal, {{0.6, 0, -0.8}}));
  const auto under_side = nearest<3>(post, 0, {{0.75, 0, 2}});
  CHECK(under_side.distance == -0.25);
  CHECK(under_side.normal == Vec<3>{{1, 0, 0}});
  CHECK(nearest<3>(post, 0, {{0, 0, 2}}).distance == -1);
  const auto under_bottom = nearest<3>(post, 0, {{0.1, 0, 0.5}});
  CHECK(under_bottom.distance == -0.5);
  CHECK(under_bottom.normal[2] == -1);
}

TEST_CASE(
    "cylinder: a tube of radius 2 holds bodies at 1.5 from its axis at distance 0.5; they may leave by its "
    "ends",
    "[geometry]") {
  const std::string tube = "type = 'cylinder'\na = [0, 0, 0]\nb = [0, 0, 4]\nradius = 2\nside = 'inside'\n";
  const auto open = read_obstacle<3>(tube);
  REQUIRE(open.n_constraints() == 1);
  CHECK(nearest<3>(open, 0, {{1.5, 0, 2}}).distance == 0.5);
  CHECK(nearest<3>(open, 0, {{1.5, 0, 2}}).normal[0] == -1);
  CHECK(nearest<3>(open, 0, {{2.5, 0, 2}}).distance == -0.5);
  const auto left = nearest<3>(open, 0, {{5, 0, 8}});  // beyond the end and beside the tube: from the rim
  CHECK(left.distance == 5);
  CHECK(is_close(left.normal, {{0.6, 0, 0.8}}));

  const auto closed = read_obstacle<3>(tube + "caps = true");
  REQUIRE(closed.n_constraints() == 3);
  CHECK(nearest<3>(closed, 1, {{1, 0, 0.5}}).distance == 0.5);
  CHECK(nearest<3>(closed, 1, {{1, 0, 0.5}}).normal[2] == 1);
  CHECK(nearest<3>(closed, 2, {{1, 0, 4.5}}).distance == -0.5);
  CHECK(nearest<3>(closed, 2, {{1, 0, 4.5}}).normal[2] == -1);
  CHECK(nearest<3>(closed, 0, {{1.5, 0, -0.1}}).distance == 0.5);
  CHECK(closed.bounds(1, {}).upper == Vec<3>{{2, 2, 0}});
  CHECK(closed.bounds(0, {}).upper == Vec<3>{{2, 2, 4}});
}

TEST_CASE("cylinder: no length, radius <= 0 and caps on a solid one are refused", "[geometry]") {
  CHECK_THROWS_WITH(read_obstacle<3>("type = 'cylinder'\na = [1, 0, 0]\nb = [1, 0, 0]\nradius = 1"),
                    Catch::StartsWith("test.toml:4:") && Catch::Contains("no length"));
  CHECK_THROWS_AS(read_obstacle<3>("type = 'cylinder'\na = [0, 0, 0]\nb = [1, 0, 0]\nradius = -1"),
                  InputError);
  CHECK_THROWS_WITH(
      read_obstacle<3>("type = 'cylinder'\na = [0, 0, 0]\nb = [1, 0, 0]\nradius = 1\ncaps = true"),
      Catch::StartsWith("test.toml:6:"));
}

TEST_CASE("box: solid, 5 from a corner, 1 from a face, -0.25 within", "[geometry]") {
  const auto block = read_obstacle<2>("type = 'box'\nlower = [0, 0]\nupper = [2, 1]");
  CHECK(nearest<2>(block, 0, {{5, -4}}).distance == 5);
  CHECK(is_close(nearest<2>(block, 0, {{5, -4}}).normal, {{0.6, -0.8}}));
  CHECK(nearest<2>(block, 0, {{1, 2}}).distance == 1);
  CHECK(nearest<2>(block, 0, {{1, 2}}).normal == Vec<2>{{0, 1}});
  CHECK(nearest<2>(block, 0, {{1, 0.25}}).distance == -0.25);
  CHECK(nearest<2>(block, 0, {{1, 0.25}}).normal[1] == -1);
  CHECK_THROWS_WITH(read_obstacle<2>("type = 'box'\nlower = [0, 1]\nupper = [2, 1]"),
                    Catch::StartsWith("test.toml:4:") && Catch::Contains("along y"));
}

TEST_CASE("box: a container has 6 faces in 3D, at distances 0.25, 0.75, 0.5, 1.5, 1, 2", "[geometry]") {
  const auto room = read_obstacle<3>("type = 'box'\nlower = [0, 0, 0]\nupper = [1, 2, 3]\nside = 'inside'");
  REQUIRE(room.n_constraints() == 6);
  const Real expected[] = {0.25, 0.75, 0.5, 1.5, 1, 2};
  for (int face = 0; face < 6; ++face) {
    const auto seen = nearest<3>(room, face, {{0.25, 0.5, 1}});
    CHECK(seen.distance == expected[face]);
    CHECK(seen.normal[face / 2] == (face % 2 == 0 ? 1 : -1));
  }
  CHECK(nearest<3>(room, 3, {{0.5, 2.5, 1}}).distance == -0.5);
  CHECK(room.bounds(3, {}).lower == Vec<3>{{0, 2, 0}});
  CHECK(room.bounds(3, {}).upper == Vec<3>{{1, 2, 3}});
}

TEST_CASE("cylinder: an endless drum of radius 2 has no rims, and bounds that reach as far as the domain",
          "[geometry]") {
  const std::string drum = "type = 'cylinder'\na = [0, 0, 0]\nb = [0, 4, 0]\nradius = 2\nendless = true\n";
  const auto inside = read_obstacle<3>(drum + "side = 'inside'");
  REQUIRE(inside.n_constraints() == 1);
  for (const Real y : {-7.0, 0.0, 4.0, 5.5}) {
    const auto seen = nearest<3>(inside, 0, {{1.5, y, 0}});
    CHECK(seen.distance == 0.5);
    CHECK(seen.normal == Vec<3>{{-1, 0, 0}});
  }
  const Box<3> bounds = inside.bounds(0, {{{-3, -1, -3}}, {{3, 9, 3}}, {}});
  CHECK(bounds.lower == Vec<3>{{-2, -1, -2}});
  CHECK(bounds.upper == Vec<3>{{2, 9, 2}});
  const auto post = nearest<3>(read_obstacle<3>(drum), 0, {{0, 9, -5}});
  CHECK(post.distance == 3);
  CHECK(post.normal == Vec<3>{{0, 0, -1}});
  CHECK_THROWS_WITH(read_obstacle<3>(drum + "side = 'inside'\ncaps = true"),
                    Catch::StartsWith("test.toml:8:") && Catch::Contains("no ends"));
}

TEST_CASE("cylinder: a drum that turns about its axis keeps its surface; its wall moves at rate times radius",
          "[geometry]") {
  auto drum = read_obstacle<3>(
      "type = 'cylinder'\na = [1, 0, 2]\nb = [1, 4, 2]\nradius = 2\nside = 'inside'\nendless = true\n"
      "motion = { type = 'rotate', point = [1, 0, 2], axis = [0, 1, 0], rate = 3 }");
  const Vec<3> at{{1 + 1.2, 0.3, 2 - 0.9}};
  for (const Real time : {0.0, 0.37, 5.0}) {
    drum.place(time);
    const auto seen = nearest<3>(drum, 0, at);
    CHECK(seen.distance == Approx(0.5));
    CHECK(is_close(seen.normal, {{-0.8, 0, 0.6}}));
    const Vec<3> foot = at - seen.distance * seen.normal;
    CHECK(is_close(drum.list()[0].motion->velocity(foot, time), {{-3.6, 0, -4.8}}));
  }
}

TEST_CASE("cylinder: at and next to a slanted axis the normal is unit and across the axis", "[geometry]") {
  const Vec<3> a{{-0.7, -0.6, -0.3}};
  const Vec<3> b{{800.8, 500.5, 900.9}};
  const Vec<3> axis = (b - a) * (1 / norm(b - a));
  const auto tube = read_obstacle<3>(
      "type = 'cylinder'\na = [-0.7, -0.6, -0.3]\nb = [800.8, 500.5, 900.9]\nradius = 2\nside = 'inside'");
  for (const Real along : {0.1, 0.3, 0.7})
    for (const Real off : {0.0, 1e-200, 1e-14, 1e-13, 1e-9}) {
      const auto seen = nearest<3>(tube, 0, a + along * (b - a) + Vec<3>{{off, 0, 0}});
      CHECK(norm(seen.normal) == Approx(1).epsilon(1e-14));
      CHECK(std::abs(dot(seen.normal, axis)) < 1e-14);
      CHECK(seen.distance == Approx(2).epsilon(1e-9));
    }
}
