// Images of obstacles through periodic faces.
#include <catch2/catch.hpp>

#include "unit/geometry/read_obstacles.hpp"

using namespace scree;

namespace {

const Box<2> square{{{0, 0}}, {{1, 1}}, {true, true}};

/// The least distance of x from all images of an obstacle, one by one.
Real min_distance(const ObstacleSet<2>& set, int obstacle, const Vec<2>& x) {
  Real min = HUGE_VAL;
  for (const int image : set.images_of(obstacle))
    min = std::min(min, nearest<2>(set, set.first_constraint(obstacle, image), x).distance);
  return min;
}

}  // namespace

TEST_CASE("images: a disk at a corner of the domain is seen at all four", "[geometry]") {
  auto set = read_obstacle<2>("type = 'disk'\ncenter = [0, 0]\nradius = 0.2");
  set.set_domain(square);
  set.place(0);
  CHECK(set.n_constraints() == 1);
  CHECK(set.images_of(0).size() == 9);
  for (const Vec<2>& x : {Vec<2>{{0.3, 0}}, {{0.7, 0}}, {{1, 0.7}}, {{0, 0.7}}, {{0.7, 1}}})
    CHECK(set.closest(0, x).distance == Approx(0.1));
  const Vec<2> corner{{0.79, 0.72}};
  CHECK(set.closest(0, corner).distance == Approx(norm(Vec<2>{{0.21, 0.28}}) - 0.2));
  CHECK(min_distance(set, 0, corner) == set.closest(0, corner).distance);
  CHECK(is_close(set.closest(0, {{1, 0.7}}).normal, {{0, -1}}));
}

TEST_CASE("images: image 0 is the obstacle itself, the code of others counts periods modulo 3",
          "[geometry]") {
  auto set = read_obstacle<2>("type = 'disk'\ncenter = [0.1, 0.5]\nradius = 0.1");
  set.set_domain({{{0, 0}}, {{1, 1}}, {true, false}});
  set.place(0);
  REQUIRE(set.images_of(0).size() == 3);
  const Vec<2> x{{0.4, 0.5}};
  CHECK(set.at_obstacle(set.first_constraint(0, 0), x) == x);
  CHECK(is_close(set.at_obstacle(set.first_constraint(0, 1), x), {{-0.6, 0.5}}));
  CHECK(is_close(set.at_obstacle(set.first_constraint(0, 2), x), {{1.4, 0.5}}));
  CHECK(set.image_of(set.first_constraint(0, 2)) == 2);
  CHECK(set.obstacle_of(set.first_constraint(0, 2)) == 0);
  CHECK(set.has_images_along(0, 0));
  CHECK_FALSE(set.has_images_along(0, 1));
  CHECK(set.may_reach(0, 1, {{{1, 0}}, {{1.2, 1}}, {}}));
  CHECK_FALSE(set.may_reach(0, 1, {{{0, 0}}, {{0.9, 1}}, {}}));
}

TEST_CASE("images: a wall that goes through the face again and again stays in the domain", "[geometry]") {
  auto set = read_obstacle<2>(
      "type = 'disk'\ncenter = [0.5, 0.5]\nradius = 0.1\n"
      "motion = { type = 'translate', velocity = [1, 0.5] }");
  set.set_domain(square);
  for (const Real time : {0.0, 0.3, 0.5, 0.75, 1.25, 7.25, 30.1}) {
    set.place(time);
    const Vec<2> middle{
        {0.5 + time - std::floor(0.5 + time), 0.5 + 0.5 * time - std::floor(0.5 + 0.5 * time)}};
    CHECK(set.closest(0, middle).distance == Approx(-0.1));
    for (const int image : set.images_of(0))
      CHECK(set.velocity(set.first_constraint(0, image), middle, time) == Vec<2>{{1, 0.5}});
  }
}

TEST_CASE("images: a turning wall has the velocity of the point that an image shows", "[geometry]") {
  auto set = read_obstacle<2>(
      "type = 'box'\nlower = [-0.3, -0.05]\nupper = [0.3, 0.05]\n"
      "motion = { type = 'rotate', center = [0, 0], rate = 2 }");
  set.set_domain(square);
  set.place(0);
  bool any = false;
  for (const int image : set.images_of(0)) {
    const int c = set.first_constraint(0, image);
    const Vec<2> x{{0.8, 0}};  // 0.2 left of the axis at x = 1
    if (!is_close(set.at_obstacle(c, x), {{-0.2, 0}})) continue;
    any = true;
    CHECK(is_close(set.velocity(c, x, 0), {{0, -0.4}}));
  }
  CHECK(any);
  CHECK(set.travel(0, 0.01, square) >= 0.3 * 0.02 * 0.99);
}

TEST_CASE("images: a body in a container across the face sees the one that it is in", "[geometry]") {
  auto set = read_obstacle<2>("type = 'disk'\ncenter = [0, 0.5]\nradius = 0.3\nside = 'inside'");
  set.set_domain({{{0, 0}}, {{1, 1}}, {true, false}});
  set.place(0);
  CHECK(set.closest(0, {{0.1, 0.5}}).distance == Approx(0.2));
  CHECK(set.closest(0, {{0.9, 0.5}}).distance == Approx(0.2));
  NearParts<2> near;
  int n_found = 0;
  const Vec<2> x{{0.75, 0.5}};
  const Real reach = 0.2;
  for (const int image : set.images_of(0)) {
    set.find_near(0, image, {&x, 1}, {&reach, 1}, square, near);
    n_found += static_cast<int>(near.found.size());
  }
  CHECK(n_found == 1);
}

TEST_CASE("images: none where the surface goes on by itself; refused where it cannot have any",
          "[geometry]") {
  const auto n_images = [](const std::string& obstacle) {
    auto set = read_obstacle<2>(obstacle);
    set.set_domain({{{0, 0}}, {{1, 1}}, {true, false}});
    return set.images_of(0).size();
  };
  CHECK(n_images("type = 'plane'\npoint = [0, 0]\nnormal = [0, 1]") == 1);
  CHECK(n_images("type = 'segment'\na = [-0.1, 0.2]\nb = [1.1, 0.2]") == 1);
  CHECK(n_images("type = 'segment'\na = [0.1, 0.2]\nb = [0.3, 0.2]") == 3);
  CHECK_THROWS_AS(n_images("type = 'plane'\npoint = [0, 0]\nnormal = [0.1, 1]"), InputError);
  CHECK_THROWS_AS(n_images("type = 'plane'\npoint = [0, 0]\nnormal = [1, 0]"), InputError);
  CHECK_THROWS_AS(n_images("type = 'segment'\na = [-0.5, 0.2]\nb = [0.7, 0.2]"), InputError);
}
