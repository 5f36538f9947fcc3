#include <catch2/catch.hpp>

#include "geometry/edge.hpp"
#include "unit/geometry/read_obstacles.hpp"

using namespace scree;

TEST_CASE("edge: the foot of (1, 2) on (0,0)-(4,0) is 2 below; of (7, 4) it is the end, 5 away",
          "[geometry]") {
  const Edge edge({{0, 0}}, {{4, 0}});
  const Foot inner = foot_on(edge, {{1, 2}}, edge.normal);
  CHECK(inner.place == Foot::Place::interior);
  CHECK(inner.distance == 2);
  CHECK(inner.away == Vec<2>{{0, 1}});

  const Foot end = foot_on(edge, {{7, 4}}, edge.normal);
  CHECK(end.place == Foot::Place::end);
  CHECK(end.distance == 5);
  CHECK(is_close(end.away, {{0.6, 0.8}}));

  const Foot start = foot_on(edge, {{-3, -4}}, edge.normal);
  CHECK(start.place == Foot::Place::start);
  CHECK(start.distance == 5);
  CHECK(is_close(start.away, {{-0.6, -0.8}}));
}

TEST_CASE("edge: a point 1e-13 from a slanted edge still gets the edge's normal to 1e-15", "[geometry]") {
  const Edge edge({{0.1, 0.2}}, {{3.1, 4.2}});  // normal (-0.8, 0.6)
  const Vec<2> x = edge.a + 2.5 * edge.tangent + 1e-13 * edge.normal;
  const Foot foot = foot_on(edge, x, {{1, 0}});
  CHECK(is_close(foot.away, {{-0.8, 0.6}}, 1e-15));
  CHECK(foot.distance == Approx(1e-13).margin(5e-16));
}

TEST_CASE("edge: front = -1 turns the normal of (0,0)-(4,0) downwards", "[geometry]") {
  const Edge edge({{0, 0}}, {{4, 0}}, -1);
  CHECK(edge.normal[1] == -1);
  CHECK(edge.height({{1, 2}}) == -2);
}

TEST_CASE("edge: a path crosses only through the segment, and does if it ends on it", "[geometry]") {
  const Edge edge({{0, 0}}, {{4, 0}});
  CHECK(crosses(edge, {{1, 1}}, {{1, -1}}));
  CHECK(crosses(edge, {{1, -1}}, {{1, 1}}));
  CHECK(crosses(edge, {{1, 1}}, {{1, 0}}));         // ends on it
  CHECK(crosses(edge, {{4, 1}}, {{4, -1}}));        // through its end
  CHECK_FALSE(crosses(edge, {{1, 0}}, {{1, -1}}));  // starts on it: no side to come from
  CHECK_FALSE(crosses(edge, {{1, 1}}, {{3, 1}}));
  CHECK_FALSE(crosses(edge, {{5, 1}}, {{5, -1}}));
  CHECK_FALSE(crosses(edge, {{4, 1}}, {{4.1, -1}}));
  CHECK(crosses(edge, {{4, 1}}, {{3.9, -1}}));
  CHECK_FALSE(crosses(edge, {{1, 1}}, {{1, 1}}));
}

TEST_CASE("edge: no path slips between two edges that share an end", "[geometry]") {
  const Vec<2> joint{{0.1, 0.3}};
  const Edge left({{-1, 0.1}}, joint);
  const Edge right(joint, {{1.3, 0.2}});
  const Vec<2> from{{0.37, 1.7}};
  int n_leaks = 0;
  for (int i = -2000; i <= 2000; ++i) {
    // Aims at the joint, missing it by a few last places at most.
    const Vec<2> at = joint + (joint - from) * 0.5 + Vec<2>{{i * 1e-19, i * 3e-20}} + Vec<2>{{i * 1e-17, 0}};
    n_leaks += !crosses(left, from, at) && !crosses(right, from, at);
  }
  CHECK(n_leaks == 0);
}

TEST_CASE("edge: segments touch in a crossing, at an end, along a line; not 1e-12 apart", "[geometry]") {
  const Vec<2> a{{0, 0}};
  const Vec<2> b{{2, 0}};
  CHECK(segments_touch(a, b, {{1, -1}}, {{1, 1}}));
  CHECK(segments_touch(a, b, {{1, 0}}, {{1, 1}}));
  CHECK(segments_touch(a, b, {{2, 0}}, {{3, 1}}));
  CHECK(segments_touch(a, b, {{1, 0}}, {{3, 0}}));
  CHECK(segments_touch(a, b, {{-1, 0}}, {{3, 0}}));
  CHECK_FALSE(segments_touch(a, b, {{1, 1e-12}}, {{1, 1}}));
  CHECK_FALSE(segments_touch(a, b, {{2 + 1e-12, 0}}, {{3, 0}}));
  CHECK_FALSE(segments_touch(a, b, {{3, -1}}, {{3, 1}}));
}

TEST_CASE("segment: from either side the distance is positive; past its end the end is nearest, 5 away",
          "[geometry]") {
  const auto wall = read_obstacle<2>("type = 'segment'\na = [0, 0]\nb = [4, 0]");
  const auto above = nearest<2>(wall, 0, {{1, 0.5}});
  CHECK(above.distance == 0.5);
  CHECK(above.normal == Vec<2>{{0, 1}});
  const auto below = nearest<2>(wall, 0, {{1, -0.5}});
  CHECK(below.distance == 0.5);
  CHECK(below.normal[1] == -1);
  CHECK(nearest<2>(wall, 0, {{7, -4}}).distance == 5);
}

TEST_CASE("segment: a body that jumped 3 through it is seen at -2 and pushed back to where it came from",
          "[geometry]") {
  const auto wall = read_obstacle<2>("type = 'segment'\na = [0, 0]\nb = [4, 0]");
  const auto down = nearest<2>(wall, 0, {{1, -2}}, {{1, 1}});
  CHECK(down.distance == -2);
  CHECK(down.normal == Vec<2>{{0, 1}});
  const auto up = nearest<2>(wall, 0, {{1, 2}}, {{1, -1}});
  CHECK(up.distance == -2);
  CHECK(up.normal[1] == -1);
  // Through the segment and out beyond its end: back to the end.
  const auto beyond = nearest<2>(wall, 0, {{7, -4}}, {{3, 4}});
  CHECK(beyond.distance == 5);
  const auto slanted = nearest<2>(wall, 0, {{7, -4}}, {{0.5, 4}});
  CHECK(slanted.distance == -5);
  CHECK(is_close(slanted.normal, {{-0.6, 0.8}}));
  // Round the end: allowed.
  CHECK(nearest<2>(wall, 0, {{5, -1}}, {{5, 1}}).distance > 0);
}

TEST_CASE("segment: a point on it has distance 0 and a normal to the side it came from", "[geometry]") {
  const auto wall = read_obstacle<2>("type = 'segment'\na = [0, 0]\nb = [4, 0]");
  CHECK(nearest<2>(wall, 0, {{1, 0}}, {{1, 1}}).distance == 0);
  CHECK(nearest<2>(wall, 0, {{1, 0}}, {{1, 1}}).normal[1] == 1);
  CHECK(nearest<2>(wall, 0, {{1, 0}}, {{1, -1}}).normal[1] == -1);
  CHECK(nearest<2>(wall, 0, {{1, 0}}).normal[1] == 1);  // no side: to the left of a -> b
  CHECK(nearest<2>(wall, 0, {{4, 0}}, {{4, -1}}).normal[1] == -1);
}

namespace {

/// The parts that answer for a body at x, which has not moved.
std::vector<int> parts_at(const ObstacleSet<2>& wall, const Vec<2>& x) {
  std::vector<int> parts;
  for (int part = 0; part < wall.n_constraints(); ++part)
    if (nearest<2>(wall, part, x).in_reach()) parts.push_back(part);
  return parts;
}

}  // namespace

TEST_CASE("polyline: the edge beside the crossed one does not push a body on through the wall",
          "[geometry]") {
  const auto wall = read_obstacle<2>("type = 'polyline'\npoints = [[0, 0], [1, 0], [2, 0]]");
  REQUIRE(wall.n_constraints() == 2);
  const auto seen = nearest<2>(wall, 0, {{0.9, -0.1}}, {{0.9, 0.2}});
  CHECK(seen.distance == Approx(-0.1));
  CHECK(is_close(seen.normal, {{0, 1}}));
  CHECK_FALSE(nearest<2>(wall, 1, {{0.9, -0.1}}, {{0.9, 0.2}}).in_reach());
}

TEST_CASE("polyline: of two edges that a path crosses the first one sends the body back", "[geometry]") {
  const auto wall = read_obstacle<2>("type = 'polyline'\npoints = [[-1, 1], [0, 0], [1, 1]]");
  const Vec<2> from{{-1, 0.2}}, at{{1.5, 0.2}};
  CHECK(nearest<2>(wall, 0, at, from).distance < 0);
  CHECK_FALSE(nearest<2>(wall, 1, at, from).in_reach());
  CHECK(nearest<2>(wall, 1, from, at).distance < 0);
  CHECK_FALSE(nearest<2>(wall, 0, from, at).in_reach());
}

TEST_CASE("polyline: a body over a flat joint touches once, with the distance and normal of one edge",
          "[geometry]") {
  const auto one = read_obstacle<2>("type = 'segment'\na = [-1.3, -0.39]\nb = [2.1, 0.63]");
  const auto cut = read_obstacle<2>(
      "type = 'polyline'\npoints = [[-1.3, -0.39], [-0.7, -0.21], [0.1, 0.03], [0.9, 0.27], [2.1, 0.63]]");
  const Vec<2> along = Vec<2>{{1, 0.3}} * (1 / std::sqrt(1.09));
  const Vec<2> up = left_of(along);
  for (int i = -60; i <= 60; ++i)
    for (const Real beside : {0.0, 1e-16, -1e-16, 1e-9, 1e-3, -1e-3}) {
      // Over the joints and near them, and between them.
      const Real x = (i % 4 == 0 ? -0.7 : i % 4 == 1 ? 0.1 : i % 4 == 2 ? 0.9 : 0.02 * i) + beside;
      const Vec<2> at = Vec<2>{{x, 0.3 * x}} + (i % 2 == 0 ? 0.2 : -0.3) * up;
      const auto parts = parts_at(cut, at);
      CAPTURE(at, parts.size());
      REQUIRE(parts.size() == 1);
      const auto seen = nearest<2>(cut, parts[0], at);
      const auto expected = nearest<2>(one, 0, at);
      CHECK(seen.distance == Approx(expected.distance).margin(1e-15));
      CHECK(is_close(seen.normal, expected.normal, 1e-14));
    }
}

TEST_CASE(
    "polyline: a convex corner touches once, by its edge of smallest number; a concave one twice; an end "
    "once",
    "[geometry]") {
  const auto wall = read_obstacle<2>("type = 'polyline'\npoints = [[0, 0], [2, 0], [2, 2]]");
  CHECK(parts_at(wall, {{2.3, -0.4}}) == std::vector<int>{0});  // round the corner (2, 0)
  CHECK(nearest<2>(wall, 0, {{2.3, -0.4}}).distance == Approx(0.5));
  CHECK(parts_at(wall, {{1.7, 0.4}}) == std::vector<int>{0, 1});
  CHECK(parts_at(wall, {{2.5, 0.5}}) == std::vector<int>{1});    // beside the second edge, beyond the first
  CHECK(parts_at(wall, {{-0.3, -0.4}}) == std::vector<int>{0});  // the end (0, 0); (2, 0) is no minimum
  CHECK(parts_at(wall, {{1.5, 3}}) == std::vector<int>{0, 1});   // the floor and the end (2, 2)
}

TEST_CASE("polyline: where three edges meet, and where one runs back along another, each place touches once",
          "[geometry]") {
  const auto fork =
      read_obstacle<2>("type = 'polyline'\npoints = [[-1, 0], [0, 0], [1, 1], [0, 0], [1, -1]]");
  REQUIRE(fork.n_constraints() == 4);
  CHECK(parts_at(fork, {{-0.5, 0.3}}) == std::vector<int>{0});
  CHECK(parts_at(fork, {{0.3, 0.6}}).size() == 1);  // one of the two that are the same
  CHECK(parts_at(fork, {{0.6, 0}}).size() == 2);
}

TEST_CASE("polyline: closed adds a third edge to a triangle and keeps bodies in or out", "[geometry]") {
  const std::string points = "type = 'polyline'\npoints = [[0, 0], [4, 0], [0, 3]]\n";
  CHECK(read_obstacle<2>(points).n_constraints() == 2);
  const auto ring = read_obstacle<2>(points + "closed = true");
  REQUIRE(ring.n_constraints() == 3);
  CHECK(nearest<2>(ring, 2, {{1, 1}}).distance == Approx(1));
  CHECK(nearest<2>(ring, 2, {{1, 1}}).normal[0] == Approx(1));
  CHECK(nearest<2>(ring, 2, {{-1, 1}}, {{1, 1}}).distance == Approx(-1));
  CHECK(nearest<2>(ring, 2, {{1, 1}}, {{-1, 1}}).distance == Approx(-1));
  CHECK(parts_at(ring, {{1, 1}}) == std::vector<int>{0, 1, 2});
}

TEST_CASE("thin walls: no length, too few points and equal points are refused with their place",
          "[geometry]") {
  CHECK_THROWS_WITH(read_obstacle<2>("type = 'segment'\na = [1, 2]\nb = [1, 2]"),
                    Catch::StartsWith("test.toml:4:") && Catch::Contains("no length"));
  CHECK_THROWS_WITH(read_obstacle<2>("type = 'polyline'\npoints = [[1, 2]]"), Catch::Contains("at least 2"));
  CHECK_THROWS_WITH(read_obstacle<2>("type = 'polyline'\nclosed = true\npoints = [[1, 2], [2, 3]]"),
                    Catch::Contains("at least 3"));
  CHECK_THROWS_WITH(read_obstacle<2>("type = 'polyline'\npoints = [[1, 2], [2, 2], [2, 2]]"),
                    Catch::Contains("points 2 and 3 are the same"));
}
