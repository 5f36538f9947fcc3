#include <catch2/catch.hpp>
#include <numbers>

#include "unit/geometry/read_obstacles.hpp"

using namespace scree;

namespace {

/// A floor at z = 0 with an outlet of radius 3 about the z axis.
ObstacleSet<3> floor_with_outlet() {
  return read_obstacle<3>("type = 'plate'\npoint = [0, 0, 0]\nnormal = [0, 0, 2]\nhole_radius = 3");
}

/// A funnel from radius 1 at z = 0 to radius 4 at z = 4: slopes 3-4-5.
ObstacleSet<3> funnel() {
  return read_obstacle<3>("type = 'cone'\na = [0, 0, 0]\nb = [0, 0, 4]\nradius_a = 1\nradius_b = 4");
}

}  // namespace

TEST_CASE("plate: 2 above the floor, 2 below it, 5 from the rim of the outlet at (3, 4), 3 from its centre",
          "[geometry]") {
  const auto floor = floor_with_outlet();
  const auto above = nearest<3>(floor, 0, {{0, 7, 2}});
  CHECK(above.distance == 2);
  CHECK(above.normal == Vec<3>{{0, 0, 1}});
  const auto below = nearest<3>(floor, 0, {{0, 7, -2}});
  CHECK(below.distance == 2);
  CHECK(below.normal == Vec<3>{{0, 0, -1}});
  const auto rim = nearest<3>(floor, 0, {{0, -1, 4}});  // the nearest point of the rim is (0, -3, 0)
  CHECK(rim.distance == Approx(std::sqrt(20)));
  CHECK(is_close(rim.normal, Vec<3>{{0, 2, 4}} * (1 / std::sqrt(20))));
  const auto center = nearest<3>(floor, 0, {{0, 0, 0}});
  CHECK(center.distance == 3);
  CHECK(norm(center.normal) == 1);
  CHECK(center.normal[2] == 0);
  CHECK(nearest<3>(floor, 0, {{0, 0, 4}}).distance == 5);
}

TEST_CASE("plate: a path through the floor is seen at -0.5, one through the outlet is free", "[geometry]") {
  const auto floor = floor_with_outlet();
  const auto down = nearest<3>(floor, 0, {{6, 0, -0.5}}, {{5, 0, 1}});
  CHECK(down.distance == -0.5);
  CHECK(down.normal == Vec<3>{{0, 0, 1}});
  const auto up = nearest<3>(floor, 0, {{6, 0, 0.5}}, {{5, 0, -1}});
  CHECK(up.distance == -0.5);
  CHECK(up.normal == Vec<3>{{0, 0, -1}});
  CHECK(nearest<3>(floor, 0, {{1, 1, -0.5}}, {{1, 1, 1}}).distance > 0);
  // From over the floor through the outlet to below the floor opposite: both ends see the floor, the path
  // does not.
  CHECK(nearest<3>(floor, 0, {{-4, 0.5, -1}}, {{4, 0.5, 1}}).distance == 1);
  // Through the floor beside the outlet to a place under the outlet: back to the rim.
  const auto under = nearest<3>(floor, 0, {{0, 2.9, -1}}, {{0, 4, 1}});
  CHECK(under.distance == Approx(-std::hypot(0.1, 1)));
  CHECK(is_close(under.normal, Vec<3>{{0, 0.1, 1}} * (1 / std::hypot(0.1, 1)), 1e-13));
  // A path that ends on the floor has not left its side.
  CHECK(nearest<3>(floor, 0, {{6, 0, 0}}, {{6, 0, -1}}).distance == 0);
  CHECK(nearest<3>(floor, 0, {{6, 0, 0}}, {{6, 0, -1}}).normal[2] == -1);
}

TEST_CASE(
    "plate: a lid of radius 3 has a rim; its bounds are a square, those of an endless plate the domain's",
    "[geometry]") {
  const auto lid =
      read_obstacle<3>("type = 'plate'\npoint = [0, 0, 1]\nnormal = [0, 0, 1]\nouter_radius = 3");
  CHECK(nearest<3>(lid, 0, {{0, 0, 3}}).distance == 2);
  CHECK(nearest<3>(lid, 0, {{0, 0, 3}}).normal == Vec<3>{{0, 0, 1}});
  CHECK(nearest<3>(lid, 0, {{7, 0, 4}}).distance == 5);
  CHECK(nearest<3>(lid, 0, {{7, 0, 4}}, {{7, 0, -4}}).distance == 5);
  CHECK(lid.bounds(0, {}).lower == Vec<3>{{-3, -3, 1}});
  CHECK(lid.bounds(0, {}).upper == Vec<3>{{3, 3, 1}});
  const Box<3> domain{{{-5, -6, -7}}, {{5, 6, 7}}, {}};
  CHECK(floor_with_outlet().bounds(0, domain).lower == Vec<3>{{-5, -6, 0}});
  CHECK(floor_with_outlet().bounds(0, domain).upper == Vec<3>{{5, 6, 0}});
}

TEST_CASE("plate: a floor of 10 by 12 less an outlet of radius 3 is drawn with its area to 1 percent",
          "[geometry]") {
  const Outline<3> outline = floor_with_outlet().outline(0, {{{-5, -6, -7}}, {{5, 6, 7}}, {}});
  Real area = 0;
  for (const auto& [a, b, c] : outline.triangles) {
    const auto point = [&](int i) { return outline.points[i]; };
    area += norm(cross(point(b) - point(a), point(c) - point(a))) / 2;
  }
  CHECK(area == Approx(120 - 9 * std::numbers::pi).epsilon(0.01));
}

TEST_CASE("plate: no direction, and a hole as wide as the plate, are refused", "[geometry]") {
  CHECK_THROWS_WITH(read_obstacle<3>("type = 'plate'\npoint = [0, 0, 0]\nnormal = [0, 0, 0]"),
                    Catch::StartsWith("test.toml:4:") && Catch::Contains("no direction"));
  CHECK_THROWS_WITH(read_obstacle<3>("type = 'plate'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n"
                                     "hole_radius = 2\nouter_radius = 2"),
                    Catch::StartsWith("test.toml:6:"));
}

TEST_CASE("plate: one that turns over sweeps a resting body along", "[geometry]") {
  auto flap = read_obstacle<3>(
      "type = 'plate'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nouter_radius = 5\n"
      "motion = { type = 'rotate', point = [0, 0, 0], axis = [1, 0, 0], rate = 1 }");
  flap.place(0.2);  // the edge at y > 0 goes up
  const Vec<3> body{{0, 2, 0.1}};
  CHECK(nearest<3>(flap, 0, body).distance == Approx(-(2 * std::sin(0.2) - 0.1 * std::cos(0.2))));
  CHECK(is_close(nearest<3>(flap, 0, body).normal, {{0, -std::sin(0.2), std::cos(0.2)}}));
  flap.begin_step();
  CHECK(nearest<3>(flap, 0, body).distance > 0);
}

TEST_CASE("cone: a funnel of slope 3:4 seen from its axis, its back and its two rims", "[geometry]") {
  const auto wall = funnel();
  // (r, z) = (0, 3) is at height (-4 r + 3 z + 4) / 5 = 13/5 inside; its foot is at z = 3 - 3/5 13/5 = 1.44.
  const auto inside = nearest<3>(wall, 0, {{0, 0.01, 3}});
  CHECK(inside.distance == Approx(2.6 - 0.008));
  CHECK(is_close(inside.normal, {{0, -0.8, 0.6}}));
  const auto outside = nearest<3>(wall, 0, {{0, 5, 1}});
  CHECK(outside.distance == Approx(13.0 / 5));
  CHECK(is_close(outside.normal, {{0, 0.8, -0.6}}));
  const auto outlet = nearest<3>(wall, 0, {{0, -0.7, -0.4}});
  CHECK(outlet.distance == Approx(0.5));
  CHECK(is_close(outlet.normal, {{0, 0.6, -0.8}}));
  const auto top = nearest<3>(wall, 0, {{8, 0, 7}});
  CHECK(top.distance == Approx(5));
  CHECK(is_close(top.normal, {{0.8, 0, 0.6}}));
  CHECK(wall.bounds(0, {}).lower == Vec<3>{{-4, -4, 0}});
  CHECK(wall.bounds(0, {}).upper == Vec<3>{{4, 4, 4}});
}

TEST_CASE("cone: paths through the wall lead back; those through the outlet or over the top are free",
          "[geometry]") {
  const auto wall = funnel();
  const auto out = nearest<3>(wall, 0, {{3.25, 0, 2}}, {{2, 0, 2}});  // r = 2.5 on the wall
  CHECK(out.distance == Approx(-0.6));
  CHECK(is_close(out.normal, {{-0.8, 0, 0.6}}));
  const auto in = nearest<3>(wall, 0, {{0, 1.75, 2}}, {{0, 4, 2}});
  CHECK(in.distance == Approx(-0.6));
  CHECK(is_close(in.normal, {{0, 0.8, -0.6}}));
  CHECK(nearest<3>(wall, 0, {{0.2, 0, -2}}, {{0.2, 0, 2}}).distance > 0);
  CHECK(nearest<3>(wall, 0, {{6, 0, 5}}, {{2, 0, 5}}).distance > 0);
  // From within across the axis and out on the other side: the path is bent in the (r, z) half-plane.
  const auto across = nearest<3>(wall, 0, {{-3, 0.1, 2}}, {{2, 0.1, 2}});
  CHECK(across.distance == Approx(-(4 * std::hypot(3, 0.1) - 10) / 5));
  // From the outlet's level inside, past the lower rim, to beside the funnel: the cone's own line is crossed
  // below its end.
  CHECK(nearest<3>(wall, 0, {{2, 0, -0.5}}, {{0.2, 0, -0.4}}).distance > 0);
}

TEST_CASE("cone: no height, two radii of 0 and a negative one are refused", "[geometry]") {
  const std::string ends = "type = 'cone'\na = [0, 0, 0]\nb = [0, 0, 4]\n";
  CHECK_THROWS_WITH(
      read_obstacle<3>("type = 'cone'\na = [1, 0, 0]\nb = [1, 0, 0]\nradius_a = 1\nradius_b = 2"),
      Catch::StartsWith("test.toml:4:") && Catch::Contains("no height"));
  CHECK_THROWS_WITH(read_obstacle<3>(ends + "radius_a = 0\nradius_b = 0"), Catch::StartsWith("test.toml:6:"));
  CHECK_THROWS_AS(read_obstacle<3>(ends + "radius_a = -1\nradius_b = 2"), InputError);
}
