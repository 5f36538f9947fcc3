#include <catch2/catch.hpp>
#include <numbers>

#include "unit/geometry/read_obstacles.hpp"

using namespace scree;

TEST_CASE("obstacles: constraints run through the parts in the order of the deck", "[geometry]") {
  const auto set = read_obstacles<2>(
      "[obstacles.zebra]\ntype = 'box'\nlower = [0, 0]\nupper = [1, 1]\nside = 'inside'\n"
      "[obstacles.ant]\ntype = 'disk'\ncenter = [0, 0]\nradius = 1\n"
      "[obstacles.moth]\ntype = 'polyline'\npoints = [[0, 0], [1, 0], [1, 1]]\n");
  REQUIRE(set.list().size() == 3);
  CHECK(set.list()[0].name == "zebra");
  CHECK(set.list()[1].name == "ant");
  CHECK(set.list()[1].where == "test.toml:7:1");
  REQUIRE(set.n_constraints() == 7);
  const int obstacles[] = {0, 0, 0, 0, 1, 2, 2};
  const int parts[] = {0, 1, 2, 3, 0, 0, 1};
  for (int c = 0; c < 7; ++c) {
    CHECK(set.obstacle_of(c) == obstacles[c]);
    CHECK(set.part_of(c) == parts[c]);
  }
  CHECK_FALSE(set.moves());
  CHECK(set.travel(0, 100, {}) == 0);
}

TEST_CASE("obstacles: none is a valid deck; a shape of the other dimension is refused", "[geometry]") {
  CHECK(read_obstacles<2>("").n_constraints() == 0);
  CHECK_THROWS_AS(read_obstacle<3>("type = 'disk'\ncenter = [0, 0, 0]\nradius = 1"), InputError);
  CHECK_THROWS_AS(read_obstacle<2>("center = [0, 0]\nradius = 1"), InputError);
}

TEST_CASE("obstacles: a floor that rises at 2 m/s is 1 nearer after 0.5 s", "[geometry]") {
  auto set = read_obstacle<2>(
      "type = 'plane'\npoint = [0, 0]\nnormal = [0, 1]\nmotion = { type = 'translate', velocity = [0, 2] }");
  CHECK(set.moves());
  CHECK(nearest<2>(set, 0, {{3, 4}}).distance == 4);
  set.place(0.5);
  CHECK(nearest<2>(set, 0, {{3, 4}}).distance == 3);
  const Box<2> bounds = set.bounds(0, {{{0, 0}}, {{5, 5}}, {}});
  CHECK(bounds.lower == Vec<2>{{0, 1}});
  CHECK(bounds.upper == Vec<2>{{5, 1}});
  for (const Vec<2>& x : set.outline(0, {{{0, 0}}, {{5, 5}}, {}}).points) CHECK(x[1] == 1);
}

TEST_CASE("obstacles: a wall turned by 90 degrees has turned normals, bounds and outline", "[geometry]") {
  auto set = read_obstacle<2>(
      "type = 'segment'\na = [1, 0]\nb = [3, 0]\nmotion = { type = 'rotate', center = [0, 0], rate = 1 }");
  set.place(std::numbers::pi / 2);  // now from (0, 1) to (0, 3)
  set.begin_step();                 // at rest, so that it does not sweep over the body
  const auto seen = nearest<2>(set, 0, {{0.5, 2}});
  CHECK(seen.distance == Approx(0.5));
  CHECK(is_close(seen.normal, {{1, 0}}));
  const Box<2> bounds = set.bounds(0, {});
  CHECK(is_close(bounds.lower, {{0, 1}}));
  CHECK(is_close(bounds.upper, {{0, 3}}));
  CHECK(is_close(set.outline(0, {}).points[1], {{0, 3}}));
}

TEST_CASE("obstacles: a thin wall that sweeps over a resting body by 0.3 sees it at -0.3 and takes it along",
          "[geometry]") {
  auto set = read_obstacle<2>(
      "type = 'segment'\na = [0, -1]\nb = [0, 1]\nmotion = { type = 'translate', velocity = [1, 0] }");
  set.place(0.8);
  set.begin_step();
  set.place(1.1);
  set.place(1.3);  // the wall has moved from x = 0.8 to x = 1.3, wherever it was looked at in between
  CHECK(set.moved_in_step(0, {{{-1, -1}}, {{1, 1}}, {}}) == Approx(0.5));
  const auto seen = nearest<2>(set, 0, {{1, 0}}, {{1, 0}});
  CHECK(seen.distance == Approx(-0.3));
  CHECK(is_close(seen.normal, {{1, 0}}));
  set.begin_step();  // the wall rests: the body is behind it
  CHECK(nearest<2>(set, 0, {{1, 0}}, {{1, 0}}).distance == Approx(0.3));
}

TEST_CASE("obstacles: a square turned by a quarter has moved by sqrt(2) times its corners' distance",
          "[geometry]") {
  auto set = read_obstacle<2>(
      "type = 'segment'\na = [1, 0]\nb = [3, 0]\nmotion = { type = 'rotate', center = [0, 0], rate = 1 }");
  set.place(std::numbers::pi / 2);
  CHECK(set.moved_in_step(0, {{{-1, -1}}, {{1, 1}}, {}}) == Approx(2));
  CHECK(read_obstacle<2>("type = 'segment'\na = [1, 0]\nb = [3, 0]")
            .moved_in_step(0, {{{0, 0}}, {{1, 1}}, {}}) == 0);
}

TEST_CASE("obstacles: the answers of a moving obstacle do not depend on the batch", "[geometry]") {
  auto set = read_obstacle<3>(
      "type = 'cylinder'\na = [0, 0, 0]\nb = [1, 1, 0]\nradius = 0.5\n"
      "motion = { type = 'rotate', point = [0, 0, 0], axis = [1, 0, 1], rate = 2 }");
  set.place(0.3);
  set.begin_step();
  set.place(0.4);
  std::vector<Vec<3>> at;
  for (int i = 0; i < 50; ++i) at.push_back({{std::sin(i), std::cos(2.0 * i), std::sin(3.0 * i)}});
  std::vector<SurfacePoint<3>> together(at.size());
  set.nearest(0, at, at, together);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto alone = nearest<3>(set, 0, at[i]);
    CHECK(alone.distance == together[i].distance);
    CHECK(alone.normal == together[i].normal);
  }
}

TEST_CASE("obstacles: one taken away touches nothing until it is put back where its motion has it by then",
          "[geometry]") {
  auto set = read_obstacles<2>(
      "[obstacles.post]\ntype = 'disk'\ncenter = [0, 0]\nradius = 1\n"
      "[obstacles.lid]\ntype = 'polyline'\npoints = [[-1, 3], [0, 3], [1, 3]]\n"
      "motion = { type = 'translate', velocity = [0, 2] }\n");
  const Box<2> domain{{{-9, -9}}, {{9, 9}}, {}};
  CHECK(set.active(1));
  set.set_active(1, false);
  CHECK(set.active(0));
  CHECK_FALSE(set.active(1));
  set.place(1);
  CHECK_FALSE(set.moves());
  CHECK(set.travel(0, 1, domain) == 0);
  CHECK(set.outline(1, domain).points.empty());
  CHECK(set.n_constraints() == 3);
  for (const int part_of_lid : {1, 2}) {
    CHECK(set.bounds(part_of_lid, domain).is_empty());
    CHECK(nearest<2>(set, part_of_lid, {{0.5, 5}}, {{0, 2}}).distance == SurfacePoint<2>::out_of_reach);
    CHECK(norm(nearest<2>(set, part_of_lid, {{0.5, 5}}).normal) == 1);
    CHECK_FALSE(set.is_thin(part_of_lid));
  }
  CHECK(nearest<2>(set, 0, {{0, 3}}).distance == 2);

  set.begin_step();
  set.set_active(1, true);
  CHECK(set.is_thin(2));
  CHECK(set.travel(0, 1, domain) == 2);
  CHECK(nearest<2>(set, 2, {{0.5, 4}}).distance == Approx(1));
}

TEST_CASE("obstacles: the name of a material is kept with its place in the deck; none is an empty name",
          "[geometry]") {
  const auto set = read_obstacles<2>(
      "[obstacles.post]\ntype = 'disk'\ncenter = [0, 0]\nradius = 1\nmaterial = 'steel'\n"
      "[obstacles.other]\ntype = 'disk'\ncenter = [5, 0]\nradius = 1\n");
  CHECK(set.list()[0].material == "steel");
  CHECK(set.list()[0].where_material == "test.toml:5:1");
  CHECK(set.list()[1].material.empty());
  CHECK(set.list()[1].where_material == "test.toml:6:1");
}
