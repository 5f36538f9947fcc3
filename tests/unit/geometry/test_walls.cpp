#include "geometry/walls.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "unit/geometry/read_obstacles.hpp"

using namespace scree;

namespace {

/// An obstacle set of this shape alone.
ObstacleSet<2> set_of(std::unique_ptr<Shape<2>> shape) {
  ObstacleSet<2> obstacles;
  obstacles.add("it", "test:1:1", std::move(shape));
  obstacles.place(0);
  return obstacles;
}

/// A square of 4 m, free inside, and a wall that meets its right side in the middle from outside.
ObstacleSet<2> square_and_fin() {
  const Vec<2> p{{0, 0}}, q{{4, 0}}, r{{4, 4}}, s{{0, 4}};
  return set_of(std::make_unique<WallSegments>(
      std::vector<Edge>{Edge(p, q), Edge(q, r), Edge(r, s), Edge(s, p), Edge({{4, 2}}, {{6, 2}})}));
}

}  // namespace

TEST_CASE("walls: each is one part; its bounds are its ends", "[geometry]") {
  const auto walls = square_and_fin();
  REQUIRE(walls.n_constraints() == 5);
  const Box<2> bounds = walls.bounds(4, {{{-9, -9}}, {{9, 9}}, {}});
  CHECK(bounds.lower == Vec<2>{{4, 2}});
  CHECK(bounds.upper == Vec<2>{{6, 2}});
}

TEST_CASE("walls: beyond the end of a wall the end is nearest, from both sides alike", "[geometry]") {
  const auto walls = square_and_fin();
  for (const Real side : {1.0, -1.0}) {
    const auto end = nearest<2>(walls, 4, {{9, 2 + side * 4}});
    CHECK(end.distance == 5);
    CHECK(is_close(end.normal, {{0.6, side * 0.8}}));
    const auto start = nearest<2>(walls, 4, {{1, 2 + side * 4}});
    CHECK(start.distance == 5);
    CHECK(is_close(start.normal, {{-0.6, side * 0.8}}));
    const auto beside = nearest<2>(walls, 4, {{5, 2 + side * 0.3}});
    CHECK(beside.distance == Approx(0.3));
    CHECK(is_close(beside.normal, {{0, side}}));
  }
}

TEST_CASE("walls: a body that passed through one is pushed back through that one only", "[geometry]") {
  const auto walls = square_and_fin();
  const Vec<2> from{{3.8, 1}};
  const Vec<2> at{{4.1, 1}};
  const auto crossed = nearest<2>(walls, 1, at, from);
  CHECK(crossed.distance == Approx(-0.1));
  CHECK(is_close(crossed.normal, {{-1, 0}}));
  for (const int joined : {0, 2}) CHECK_FALSE(nearest<2>(walls, joined, at, from).in_reach());
  for (const int other : {3, 4}) CHECK(nearest<2>(walls, other, at, from).distance > 0);
  // Through a corner: at least one of the two walls sees it.
  const Vec<2> out{{4.2, -0.2}};
  const Vec<2> in{{3.8, 0.2}};
  CHECK(std::min(nearest<2>(walls, 0, out, in).distance, nearest<2>(walls, 1, out, in).distance) < 0);
}

TEST_CASE("walls: a corner belongs to the first of its walls, whoever else ends there", "[geometry]") {
  const auto walls = square_and_fin();
  CHECK(nearest<2>(walls, 0, {{4.3, -0.4}}).distance == Approx(0.5));
  CHECK_FALSE(nearest<2>(walls, 1, {{4.3, -0.4}}).in_reach());
}

TEST_CASE("walls: on a wall the normal points to where the body came from, or to its free side",
          "[geometry]") {
  const auto walls = square_and_fin();
  CHECK(nearest<2>(walls, 0, {{1, 0}}, {{1, 1}}).normal[1] == 1);
  CHECK(nearest<2>(walls, 0, {{1, 0}}, {{1, -1}}).normal[1] == -1);
  CHECK(nearest<2>(walls, 0, {{1, 0}}).normal[1] == 1);
}

TEST_CASE("columns: each is the disk of the same centre and radius at 1000 points", "[geometry]") {
  const auto columns =
      set_of(std::make_unique<Columns>(std::vector<Columns::Column>{{{{1, 2}}, 0.3}, {{{-2, 0.5}}, 1.25}}));
  REQUIRE(columns.n_constraints() == 2);
  const auto disks = read_obstacles<2>(
      "[obstacles.a]\ntype = 'disk'\ncenter = [1, 2]\nradius = 0.3\n"
      "[obstacles.b]\ntype = 'disk'\ncenter = [-2, 0.5]\nradius = 1.25\n");
  std::mt19937_64 bits(11);
  int n_different = 0;
  for (int i = 0; i < 1000; ++i) {
    Vec<2> x;
    for (int k = 0; k < 2; ++k) x[k] = -5 + 10 * std::ldexp(static_cast<Real>(bits() >> 11), -53);
    for (const int part : {0, 1}) {
      const auto a = nearest<2>(columns, part, x);
      const auto b = nearest<2>(disks, part, x);
      n_different += a.distance != b.distance || a.normal != b.normal;
    }
  }
  CHECK(n_different == 0);
  const Box<2> domain{{{-9, -9}}, {{9, 9}}, {}};
  for (const int part : {0, 1}) {
    CHECK(columns.bounds(part, domain).lower == disks.bounds(part, domain).lower);
    CHECK(columns.bounds(part, domain).upper == disks.bounds(part, domain).upper);
  }
  // At the centre, too.
  CHECK(nearest<2>(columns, 0, {{1, 2}}).distance == -0.3);
  CHECK(nearest<2>(columns, 0, {{1, 2}}).normal == nearest<2>(disks, 0, {{1, 2}}).normal);
}

TEST_CASE("columns: the outline is a ring of points on each circle", "[geometry]") {
  const Columns columns({{{{1, 2}}, 0.3}, {{{-2, 0.5}}, 1.25}});
  const Outline<2> outline = columns.outline({});
  CHECK(outline.lines.size() == outline.points.size());
  const std::size_t half = outline.points.size() / 2;
  for (std::size_t i = 0; i < outline.points.size(); ++i) {
    const bool first = i < half;
    CHECK(norm(outline.points[i] - (first ? Vec<2>{{1, 2}} : Vec<2>{{-2, 0.5}})) ==
          Approx(first ? 0.3 : 1.25));
  }
}
