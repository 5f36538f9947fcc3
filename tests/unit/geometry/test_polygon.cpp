#include <catch2/catch.hpp>

#include "unit/geometry/read_obstacles.hpp"

using namespace scree;

namespace {

const std::string square = "type = 'polygon'\npoints = [[0, 0], [2, 0], [2, 2], [0, 2]]\n";

/// A square room of 4 x 4 whose corner at (4, 4) is taken by a block: a re-entrant corner of the room at (3,
/// 3).
const std::string room =
    "type = 'polygon'\nside = 'inside'\npoints = [[0, 0], [4, 0], [4, 3], [3, 3], [3, 4], [0, 4]]\n";

/// What `part` answers for a body at x, for which no other part may answer.
SurfacePoint<2> only_answer(const ObstacleSet<2>& polygon, int part, const Vec<2>& x) {
  for (int other = 0; other < polygon.n_constraints(); ++other)
    CHECK(nearest<2>(polygon, other, x).in_reach() == (other == part));
  return nearest<2>(polygon, part, x);
}

}  // namespace

TEST_CASE("polygon: the ring may run either way; each edge of the deck stays the same part", "[geometry]") {
  const auto forth = read_obstacle<2>(square);
  const auto back = read_obstacle<2>("type = 'polygon'\npoints = [[0, 2], [2, 2], [2, 0], [0, 0]]");
  REQUIRE(forth.n_constraints() == 4);
  for (const Vec<2>& x : {Vec<2>{{1, -0.5}}, Vec<2>{{1, 0.25}}, Vec<2>{{3, 3}}, Vec<2>{{-1, 1}}}) {
    Real min = HUGE_VAL;
    for (int part = 0; part < 4; ++part) {
      const auto seen = nearest<2>(forth, part, x);
      const auto same = nearest<2>(back, (6 - part) % 4, x);
      min = std::min({min, seen.distance, same.distance});
      // Corners may belong to the other of their edges.
      if (!seen.in_reach() || !same.in_reach()) continue;
      CHECK(seen.distance == same.distance);
      CHECK(seen.normal == same.normal);
    }
    CHECK(min < 1.5);
  }
}

TEST_CASE(
    "polygon: outside a convex corner the first of its edges has the distance from it, sqrt(2), and no other",
    "[geometry]") {
  const auto post = read_obstacle<2>(square);
  const auto seen = only_answer(post, 1, {{3, 3}});  // edges 1 and 2 meet in (2, 2)
  CHECK(seen.distance == Approx(std::sqrt(2.0)));
  CHECK(is_close(seen.normal, {{std::sqrt(0.5), std::sqrt(0.5)}}));
}

TEST_CASE("polygon: from outside, an edge that faces away does not answer, however thin the solid is",
          "[geometry]") {
  CHECK(only_answer(read_obstacle<2>(square), 1, {{2.5, 1}}).distance == 0.5);
  const auto thin = read_obstacle<2>("type = 'polygon'\npoints = [[0, 0], [0.1, 0], [0.1, 5], [0, 5]]");
  CHECK(only_answer(thin, 1, {{0.15, 2}}).distance == Approx(0.05));
}

TEST_CASE("polygon: at any depth the nearest edge alone sends a body out, never a far one", "[geometry]") {
  const auto post = read_obstacle<2>(square);
  const auto shallow = only_answer(post, 1, {{1.9, 1.2}});
  CHECK(shallow.distance == Approx(-0.1));
  CHECK(shallow.normal[0] == 1);
  const auto deep = only_answer(post, 3, {{0.7, 0.9}});
  CHECK(deep.distance == Approx(-0.7));
  CHECK(deep.normal[0] == -1);
  const auto by_the_corner = only_answer(post, 2, {{1.9, 1.95}});
  CHECK(by_the_corner.distance == Approx(-0.05));
  CHECK(by_the_corner.normal[1] == 1);
  // Lists find that edge from any depth.
  const Box<2> bounds = post.bounds(3, {{{-9, -9}}, {{9, 9}}, {}});
  CHECK(bounds.upper[0] >= 1);
  const Vec<2> middle{{1, 1}};
  SurfacePoint<2> listed;
  post.distances(0, {&middle, 1}, {&listed, 1});
  CHECK(listed.distance == -1);
}

TEST_CASE("polygon: a wall 0.1 thick sends a body out of the face it is nearer to", "[geometry]") {
  const auto wall = read_obstacle<2>("type = 'polygon'\npoints = [[0, 0], [0.1, 0], [0.1, 5], [0, 5]]");
  CHECK(only_answer(wall, 3, {{0.03, 2}}).distance == Approx(-0.03));
  CHECK(nearest<2>(wall, 3, {{0.03, 2}}).normal[0] == -1);
  CHECK(only_answer(wall, 1, {{0.07, 2}}).distance == Approx(-0.03));
  CHECK(nearest<2>(wall, 1, {{0.07, 2}}).normal[0] == 1);
}

TEST_CASE("polygon: in a room, a body in the corner has both walls' distances 0.3 and 0.2", "[geometry]") {
  const auto walls = read_obstacle<2>(room);
  CHECK(nearest<2>(walls, 0, {{0.3, 0.2}}).distance == 0.2);
  CHECK(nearest<2>(walls, 0, {{0.3, 0.2}}).normal[1] == 1);
  CHECK(nearest<2>(walls, 5, {{0.3, 0.2}}).distance == Approx(0.3));
  CHECK(nearest<2>(walls, 5, {{0.3, 0.2}}).normal[0] == 1);
}

TEST_CASE("polygon: beyond a room's corner the corner is nearest: depth 5 along (0.6, 0.8)", "[geometry]") {
  const auto walls = read_obstacle<2>(room);
  const auto seen = nearest<2>(walls, 0, {{-3, -4}});
  CHECK_FALSE(nearest<2>(walls, 5, {{-3, -4}}).in_reach());
  CHECK(seen.distance == -5);
  CHECK(is_close(seen.normal, {{0.6, 0.8}}));
}

TEST_CASE("polygon: the block in a room's corner pushes round its own corner (3, 3) and out of its faces",
          "[geometry]") {
  const auto walls = read_obstacle<2>(room);
  const auto seen = nearest<2>(walls, 2, {{2.7, 2.6}});
  CHECK(seen.distance == Approx(0.5));
  CHECK(is_close(seen.normal, {{-0.6, -0.8}}));
  CHECK_FALSE(nearest<2>(walls, 3, {{2.7, 2.6}}).in_reach());
  const auto within = nearest<2>(walls, 2, {{3.2, 3.1}});
  CHECK(within.distance == Approx(-0.1));
  CHECK(is_close(within.normal, {{0, -1}}));
  CHECK_FALSE(nearest<2>(walls, 3, {{3.2, 3.1}}).in_reach());
}

TEST_CASE("polygon: behind one wall of a room and facing the next, the next still keeps its distance",
          "[geometry]") {
  const auto walls = read_obstacle<2>(room);
  const Vec<2> x{{-0.1, 0.5}};  // 0.1 behind x = 0
  CHECK(nearest<2>(walls, 5, x).distance == Approx(-0.1));
  CHECK(nearest<2>(walls, 5, x).normal[0] == 1);
  CHECK_FALSE(nearest<2>(walls, 0, x).in_reach());  // its foot is the corner, and x = 0 is nearer
  // The wall across the room is in front of x and keeps it off, at its true distance.
  CHECK(nearest<2>(walls, 1, x).distance == Approx(4.1));
  CHECK(nearest<2>(walls, 1, x).normal[0] == -1);
}

TEST_CASE("polygon: a pillar (hole) in a room is solid, a hole in a solid block is free", "[geometry]") {
  const std::string hole = "[obstacles.it.holes.pillar]\npoints = [[1, 1], [1.5, 1], [1.5, 1.5], [1, 1.5]]\n";
  const auto walls = read_obstacle<2>(room + hole);
  REQUIRE(walls.n_constraints() == 10);
  CHECK(nearest<2>(walls, 6, {{1.2, 0.9}}).distance == Approx(0.1));
  CHECK(nearest<2>(walls, 6, {{1.2, 0.9}}).normal[1] == -1);
  CHECK(nearest<2>(walls, 6, {{1.2, 1.1}}).distance == Approx(-0.1));
  CHECK(nearest<2>(walls, 6, {{1.2, 1.1}}).normal[1] == -1);

  const auto block = read_obstacle<2>(square + hole);
  CHECK(nearest<2>(block, 4, {{1.2, 1.1}}).distance == Approx(0.1));
  CHECK(nearest<2>(block, 4, {{1.2, 1.1}}).normal[1] == 1);
  CHECK(nearest<2>(block, 4, {{1.2, 0.9}}).distance == Approx(-0.1));
  CHECK(nearest<2>(block, 4, {{1.2, 0.9}}).normal[1] == 1);
}

TEST_CASE("polygon: on a corner the normal halves the angle, on an edge it is the edge's", "[geometry]") {
  const auto post = read_obstacle<2>(square);
  CHECK(nearest<2>(post, 1, {{2, 2}}).distance == 0);
  CHECK(is_close(nearest<2>(post, 1, {{2, 2}}).normal, {{std::sqrt(0.5), std::sqrt(0.5)}}));
  CHECK(nearest<2>(post, 1, {{2, 1}}).distance == 0);
  CHECK(nearest<2>(post, 1, {{2, 1}}).normal[0] == 1);
}

TEST_CASE("polygon: rings that meet themselves, fold or lie wrongly are refused", "[geometry]") {
  const auto fails = [](const std::string& keys, const std::string& message) {
    CHECK_THROWS_WITH(read_obstacle<2>("type = 'polygon'\n" + keys), Catch::Contains(message));
  };
  fails("points = [[0, 0], [1, 0]]", "at least 3");
  fails("points = [[0, 0], [1, 0], [1, 1], [0, 0]]",
        "points 4 and 1 are the same: the ring closes by itself");
  fails("points = [[0, 0], [1, 0], [2, 0]]", "folds back on itself at point 3");
  fails("points = [[0, 0], [2, 2], [2, 0], [0, 2]]", "edges 1 and 3");
  fails("points = [[0, 0], [4, 0], [4, 4], [2, 0], [0, 4]]", "edges 1 and 3");  // point 4 touches edge 1
  const std::string hole = "[obstacles.it.holes.";
  fails("points = [[0, 0], [2, 0], [2, 2], [0, 2]]\n" + hole + "a]\npoints = [[3, 3], [4, 3], [3, 4]]",
        "outside of the outer ring");
  fails("points = [[0, 0], [2, 0], [2, 2], [0, 2]]\n" + hole + "a]\npoints = [[1, 1], [3, 1], [1, 1.5]]",
        "touches");
  const std::string first = hole + "a]\npoints = [[0.2, 0.2], [1.8, 0.2], [0.2, 1.8]]\n";
  fails("points = [[0, 0], [2, 0], [2, 2], [0, 2]]\n" + first + hole +
            "b]\npoints = [[0.4, 0.4], [0.6, 0.4], [0.4, 0.6]]",
        "within another");
}
