// Contacts of convex bodies with walls whose answer is known: where they are, which way they point, and that
// edges in a row, thin walls and pierced bodies give no wrong way.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <string>

#include "unit/geometry/touch_walls.hpp"

namespace scree {
namespace {

template <int D>
ConvexCore<D> box_core(const Vec<D>& half) {
  return ConvexCore<D>(corners_of_box<D>(1 / norm(half) * half));
}

/// The contact at a place (of the middle of the gap, in the world), if there is one.
template <int D>
const typename WallContacts<D>::Point* point_at(const WallContacts<D>& found, const BodyPose<D>& pose,
                                                const Vec<D>& place, Real tolerance = 1e-9) {
  for (int i = 0; i < found.n; ++i) {
    const auto& p = found.points[i];
    if (norm(pose.centre + p.place - place) < tolerance) return &p;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("convex walls: a box touches a plane with the four corners of its face", "[convex]") {
  const auto set = read_obstacle<3>("type = 'plane'\npoint = [0, 0, 1]\nnormal = [0, 0, 1]\n");
  const auto box = box_core<3>({{0.5, 0.4, 0.01}});
  const BodyPose<3> pose{{{7, 0, 1.035}}, world<3>(), norm(Vec<3>{{0.5, 0.4, 0.01}})};
  // As thin as it is, none of the other face.
  const auto found = touch_part(set, 0, box, pose, pose.centre);
  REQUIRE(found.n == 4);
  CHECK_FALSE(found.cores_overlap);
  for (const Real x : {-0.5, 0.5})
    for (const Real y : {-0.4, 0.4}) {
      const auto* p = point_at(found, pose, {{7 + x, y, 1.0075}});
      REQUIRE(p);
      CHECK(p->gap == Approx(0.015));
      CHECK(p->normal == Vec<3>{{0, 0, -1}});
    }
  CHECK(touch_part(set, 0, box, pose, pose.centre, 0.01, 0.014).n == 0);
}

TEST_CASE("convex walls: a box in a drum touches with four corners, each along its radius", "[convex]") {
  const auto set = read_obstacle<3>(
      "type = 'cylinder'\na = [0, 0, 0]\nb = [0, 0, 1]\nradius = 2\nside = 'inside'\nendless = true\n");
  const auto box = box_core<3>({{0.5, 0.3, 0.7}});
  const BodyPose<3> pose{{{0, -1.61, 0}}, world<3>(), norm(Vec<3>{{0.5, 0.3, 0.7}})};
  const auto found = touch_part(set, 0, box, pose, pose.centre);
  REQUIRE(found.n == 4);
  for (int i = 0; i < 4; ++i) {
    const auto& p = found.points[i];
    CHECK(p.gap == Approx(2 - std::hypot(0.5, 1.91) - 0.01));
    CHECK(std::abs(p.normal[0]) == Approx(0.5 / std::hypot(0.5, 1.91)));
    CHECK(p.normal[0] * p.place[0] > 0);
  }
}

TEST_CASE("convex walls: of a thin card in a drum only the side that looks at the wall touches", "[convex]") {
  const auto set = read_obstacle<3>(
      "type = 'cylinder'\na = [0, 0, 0]\nb = [0, 0, 1]\nradius = 2\nside = 'inside'\nendless = true\n");
  const auto card = box_core<3>({{0.5, 0.01, 0.7}});
  const BodyPose<3> pose{{{0.02, -1.9, 0}}, world<3>(), norm(Vec<3>{{0.5, 0.01, 0.7}})};
  const auto found = touch_part(set, 0, card, pose, pose.centre, 0.01, 0.3, 0.05);
  REQUIRE(found.n == 4);
  for (const auto& p : found.points) CHECK(p.feature % 4 < 2);  // corners with the lower y
}

TEST_CASE("convex walls: through a thin solid wall its far face is not felt", "[convex]") {
  const auto set = read_obstacle<2>("type = 'polygon'\npoints = [[0, -2], [0, 2], [0.02, 2], [0.02, -2]]\n");
  const auto box = box_core<2>({{0.5, 0.2}});
  const BodyPose<2> pose{{{-0.515, 0}}, world<2>(), norm(Vec<2>{{0.5, 0.2}})};
  const auto found = touch(set, PosedCore<2>{box, pose}, 0.01, 0.1, 0.05);
  REQUIRE(found.size() == 2);
  for (const auto& p : found) CHECK(p.gap == Approx(0.005));
}

TEST_CASE("convex walls: a rod across a tube touches it with both ends", "[convex]") {
  const auto set = read_obstacle<3>(
      "type = 'cylinder'\na = [0, 0, -1]\nb = [0, 0, 1]\nradius = 1\n"
      "side = 'inside'\n");
  const ConvexCore<3> rod(ConvexHull<3>{{unit_vector<3>(0, -1), unit_vector<3>(0)}, {}});
  const BodyPose<3> pose{{{0.005, 0, 0}}, world<3>(), 0.98};
  const auto found = touch_part(set, 0, rod, pose, pose.centre);
  REQUIRE(found.n == 2);
  CHECK(is_close(found.points[0].normal, {{-1, 0, 0}}));
  CHECK(found.points[0].gap == Approx(0.025 - 0.01));
  CHECK(is_close(found.points[1].normal, {{1, 0, 0}}));
  CHECK(found.points[1].gap == Approx(0.015 - 0.01));
}

TEST_CASE("convex walls: a box on a round post stands on four points of the rim, a tilted one on its lowest",
          "[convex]") {
  const auto set = read_obstacle<3>("type = 'cylinder'\na = [0, 0, -3]\nb = [0, 0, 1]\nradius = 0.3\n");
  const auto box = box_core<3>({{1, 1, 0.2}});
  BodyPose<3> pose{{{0.1, 0, 1.215}}, world<3>(), norm(Vec<3>{{1, 1, 0.2}})};
  const auto found = touch_part(set, 0, box, pose, pose.centre);
  REQUIRE(found.n == 4);
  for (int i = 0; i < 4; ++i) {
    const auto& p = found.points[i];
    CHECK(p.gap == Approx(0.005));
    CHECK(p.normal == Vec<3>{{0, 0, -1}});
    CHECK(std::hypot(pose.centre[0] + p.place[0], p.place[1]) == Approx(0.3));
  }
  // Turned about y: the highest point of the rim under the falling side.
  const Real c = std::cos(0.3), s = std::sin(0.3);
  pose.axes = {{{{c, 0, s}}, {{0, 1, 0}}, {{-s, 0, c}}}};
  pose.centre = Vec<3>{{-0.3, 0, 1}} + 0.215 * pose.axes[2] + 0.2 * pose.axes[0];
  const auto tilted = touch_part(set, 0, box, pose, pose.centre);
  // A place between core and rim, 0.01 + 0.005 apart.
  REQUIRE(tilted.n == 1);
  CHECK(tilted.points[0].gap == Approx(0.005));
  CHECK(is_close(tilted.points[0].normal, -pose.axes[2], 1e-12));
  CHECK(point_at(tilted, pose, Vec<3>{{-0.3, 0, 1}} + 0.0025 * pose.axes[2]));
}

TEST_CASE("convex walls: a box along a lying cylinder rests where its edges pass over it", "[convex]") {
  const auto set = read_obstacle<3>("type = 'cylinder'\na = [-5, 0, 0]\nb = [5, 0, 0]\nradius = 0.5\n");
  const auto box = box_core<3>({{1, 0.4, 0.2}});
  const BodyPose<3> pose{{{0.7, 0.1, 0.715}}, world<3>(), norm(Vec<3>{{1, 0.4, 0.2}})};
  const auto found = touch_part(set, 0, box, pose, pose.centre, 0.01, 0.1, 0.001);
  REQUIRE(found.n == 2);
  for (const Real x : {-0.3, 1.7}) {
    const auto* p = point_at(found, pose, {{x, 0, 0.5025}}, 1e-6);
    REQUIRE(p);
    CHECK(p->gap == Approx(0.005));
    CHECK(is_close(p->normal, {{0, 0, -1}}, 1e-9));
  }
}

TEST_CASE("convex walls: a box over the edge of a round hole stands on the rim there", "[convex]") {
  const auto set =
      read_obstacle<3>("type = 'plate'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nhole_radius = 1\n");
  const auto box = box_core<3>({{0.5, 0.2, 0.1}});
  // Two corners on the plate; the edges along x pass the rim at x = cos.
  const BodyPose<3> pose{{{0.7, 0, 0.115}}, world<3>(), norm(Vec<3>{{0.5, 0.2, 0.1}})};
  const auto found = touch_part(set, 0, box, pose, pose.centre);
  REQUIRE(found.n == 4);
  for (const Real y : {-0.2, 0.2}) {
    CHECK(point_at(found, pose, {{1.2, y, 0.0025}}));
    CHECK(point_at(found, pose, {{std::sqrt(1 - 0.04), y, 0.0025}}));
  }
  for (int i = 0; i < 4; ++i) {
    CHECK(found.points[i].gap == Approx(0.005));
    CHECK(is_close(found.points[i].normal, {{0, 0, -1}}));
  }
}

namespace {

const std::string plate_with_hole =
    "type = 'plate'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nhole_radius = 1\n";

}  // namespace

TEST_CASE("convex walls: a box in a hole that overlaps the rim leaves it by the shorter way", "[convex]") {
  const auto set = read_obstacle<3>(plate_with_hole);
  constexpr Real rounding = 0.01;
  {
    // Upright edges pass through the plate at (x, +-0.1), 0.01 from the rim: back into the hole.
    const auto cube = box_core<3>({{0.1, 0.1, 0.1}});
    const Real x = std::sqrt(1.01 * 1.01 - 0.01);
    const BodyPose<3> pose{{{x - 0.1, 0, 0.02}}, world<3>(), norm(Vec<3>{{0.1, 0.1, 0.1}})};
    const auto found = touch_part(set, 0, cube, pose, pose.centre, rounding);
    for (const Real y : {-0.1, 0.1}) {
      const Vec<3> out{{x / 1.01, y / 1.01, 0}};
      const Real gap = -0.01 - rounding;
      const auto* p = point_at(found, pose, Vec<3>{{x, y, 0}} + (rounding + 0.5 * gap) * out);
      REQUIRE(p);
      CHECK(p->gap == Approx(gap));
      CHECK(is_close(p->normal, out, 1e-9));
    }
  }
  {
    // A slab lies over the rim, 0.005 too low: up.
    const auto slab = box_core<3>({{0.3, 0.1, 0.05}});
    const BodyPose<3> pose{{{1.1, 0, 0.045}}, world<3>(), norm(Vec<3>{{0.3, 0.1, 0.05}})};
    const auto found = touch_part(set, 0, slab, pose, pose.centre, rounding);
    REQUIRE(found.n == 4);
    for (int i = 0; i < 4; ++i) {
      CHECK(found.points[i].gap == Approx(-0.005 - rounding));
      CHECK(is_close(found.points[i].normal, {{0, 0, -1}}, 1e-9));
    }
    for (const Real y : {-0.1, 0.1}) {
      const Real z = -0.005 - rounding + 0.5 * (0.005 + rounding);
      CHECK(point_at(found, pose, {{1.4, y, z}}));
      CHECK(point_at(found, pose, {{std::sqrt(1 - 0.01), y, z}}));
    }
  }
}

TEST_CASE("convex walls: overlap with a rim grows and ends steadily", "[convex]") {
  const ConvexCore<3> cube = box_core<3>({{1, 1, 1}});
  constexpr Real step = 5e-4, reach = 0.05, shallow = -0.04;
  for (const std::string& wall :
       {plate_with_hole,
        std::string("type = 'plate'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nouter_radius = 1\n"),
        std::string("type = 'cone'\na = [0, 0, 0]\nb = [0, 0, 1]\nradius_a = 1\nradius_b = 1.5\n")}) {
    CAPTURE(wall);
    const auto set = read_obstacle<3>(wall);
    RandomStream random(7, 0, 1);
    int n_steps = 0, n_jumps = 0;
    for (int path = 0; path < 500; ++path) {
      const Vec<3> start{{random.uniform(0.8, 1.2), 0.3, random.uniform(-0.2, 0.2)}};
      const auto axes = axes_of<3>(random);
      Vec<3> along;
      for (int k = 0; k < 3; ++k) along[k] = random.uniform(-1, 1);
      along *= 1 / norm(along);
      Real before = reach;
      for (int k = 0; k < 200; ++k) {
        const BodyPose<3> pose{start + (k * step) * along, axes, 0.25};
        const auto found = touch_part(set, 0, cube, pose, pose.centre, 1e-4, reach, 100.0);
        Real min = reach;
        for (int i = 0; i < found.n; ++i) min = std::min(min, found.points[i].gap);
        if (k > 0 && std::max(before, min) > shallow) {
          ++n_steps;
          if (std::abs(min - before) > 2 * step) ++n_jumps;
        }
        before = min;
      }
    }
    CHECK(n_steps > 20000);
    // The band is set after 0.7 in a thousand were seen; without ways over the rim they were a third.
    CHECK(n_jumps < 2e-3 * n_steps);
  }
}

TEST_CASE("convex walls: a box that slides over edges in a row meets none across, its ends are held",
          "[convex]") {
  for (const std::string kind :
       {"type = 'polyline'\npoints = [[-9, 0], [0, 0], [0.3, 0], [9, 0]]\n",
        "type = 'polyline'\npoints = [[9, 0], [0.3, 0], [0, 0], [-9, 0]]\n",
        "type = 'polygon'\npoints = [[-9, 0], [0, 0], [0.3, 0], [9, 0], [0, -5]]\n"}) {
    const auto set = read_obstacle<2>(kind);
    const auto box = box_core<2>({{0.5, 0.2}});
    for (const Real tilt : {0.0, 1e-12, -1e-12, 0.01, -0.01})
      for (int step = 0; step <= 400; ++step) {
        const Real c = std::cos(tilt), s = std::sin(tilt);
        BodyPose<2> pose{{{-1 + step * 0.005, 0.215}}, {{{{c, s}}, {{-s, c}}}}, norm(Vec<2>{{0.5, 0.2}})};
        pose.centre[1] = 0.015 + 0.5 * std::abs(s) + 0.2 * c;
        Real left = HUGE_VAL, right = -HUGE_VAL, min = HUGE_VAL;
        for (const auto& p : touch(set, PosedCore<2>{box, pose}, 0.01, 0.1, 0.05)) {
          // A face may be the reference of a tilted one, its normal is the face's.
          REQUIRE(std::abs(p.normal[0]) <= std::abs(s) + 1e-9);
          left = std::min(left, p.place[0]);
          right = std::max(right, p.place[0]);
          min = std::min(min, p.gap);
        }
        REQUIRE(min == Approx(0.005));
        REQUIRE(left < -0.45);
        REQUIRE(right > 0.45);
      }
  }
}

TEST_CASE("convex walls: a box on the corner of a polygon touches it once, whatever edge comes first",
          "[convex]") {
  const auto box = box_core<2>({{0.5, 0.2}});
  const BodyPose<2> pose{{{-0.049, 1.232}}, {{{{0.8, 0.6}}, {{-0.6, 0.8}}}}, norm(Vec<2>{{0.5, 0.2}})};
  for (const std::string points :
       {"[[-1, 0], [0, 1], [1, 0]]", "[[0, 1], [1, 0], [-1, 0]]", "[[1, 0], [-1, 0], [0, 1]]"}) {
    const auto found = touch(read_obstacle<2>("type = 'polygon'\npoints = " + points + "\n"),
                             PosedCore<2>{box, pose}, 0.01, 0.1, 0.05);
    REQUIRE(found.size() == 1);
    CHECK(is_close(found[0].normal, {{0.6, -0.8}}));
  }
}

TEST_CASE("convex walls: a body whose centre crosses a thin wall in a step goes back where it came from",
          "[convex]") {
  const auto box = box_core<2>({{0.5, 0.2}});
  const Real size = norm(Vec<2>{{0.5, 0.2}});
  for (const char* kind : {"type = 'segment'\na = [-9, 0]\nb = [9, 0]\n",
                           "type = 'polyline'\npoints = [[-9, 0], [0, 0], [9, 0.001]]\n"}) {
    const auto set = read_obstacle<2>(kind);
    for (const Real side : {-1.0, 1.0}) {
      Real min = HUGE_VAL;
      for (int c = 0; c < set.n_constraints(); ++c) {
        const BodyPose<2> pose{{{-3, -0.5 * side}}, world<2>(), size};
        const auto found = touch_part<2>(set, c, box, pose, {{-3, 0.5 * side}});
        for (int i = 0; i < found.n; ++i) {
          CHECK(found.points[i].normal == Vec<2>{{0, -side}});
          min = std::min(min, found.points[i].gap);
        }
      }
      CHECK(min == Approx(-0.7 - 0.01));
      // Deep in the wall, but the centre on its side: out to it.
      const BodyPose<2> deep{{{-3, 0.05 * side}}, world<2>(), size};
      const auto found = touch_part<2>(set, 0, box, deep, {{-3, 0.5 * side}});
      REQUIRE(found.n == 2);
      CHECK(found.cores_overlap);
      for (const auto& p : found.points) {
        CHECK(is_close(p.normal, {{0, -side}}));
        CHECK(p.gap == Approx(-0.15 - 0.01));
      }
    }
  }
  const auto plate = read_obstacle<3>("type = 'plate'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\n");
  const auto brick = box_core<3>({{0.5, 0.4, 0.2}});
  const BodyPose<3> pose{{{0, 0, -0.3}}, world<3>(), norm(Vec<3>{{0.5, 0.4, 0.2}})};
  const auto found = touch_part<3>(plate, 0, brick, pose, {{0, 0, 0.3}});
  REQUIRE(found.n == 4);
  for (const auto& p : found.points) {
    CHECK(is_close(p.normal, {{0, 0, -1}}));
    CHECK(p.gap == Approx(-0.5 - 0.01));
  }
}

TEST_CASE("convex walls: a box that a post has pierced goes out over its end, not along its sides",
          "[convex]") {
  const auto post =
      read_obstacle<2>("type = 'polygon'\npoints = [[-0.1, 0], [0.1, 0], [0.1, -5], [-0.1, -5]]\n");
  const auto box = box_core<2>({{1, 0.5}});
  const BodyPose<2> pose{{{0.3, 0.48}}, world<2>(), norm(Vec<2>{{1, 0.5}})};
  const auto found = touch(post, PosedCore<2>{box, pose}, 0.01, 0.1, 0.05);
  REQUIRE(found.size() == 2);
  for (const auto& p : found) {
    CHECK(is_close(p.normal, {{0, -1}}));
    CHECK(p.gap == Approx(-0.03));
  }
  // Its centre in the solid: all of it out through the nearest edge.
  const BodyPose<2> within{{{0.07, -1}}, world<2>(), norm(Vec<2>{{1, 0.5}})};
  for (const auto& p : touch(post, PosedCore<2>{box, within}, 0.01, 0.1, 0.05))
    CHECK(is_close(p.normal, {{-1, 0}}));
}

TEST_CASE("convex walls: what is taken away touches nothing; what turns touches as it stands", "[convex]") {
  auto set = read_obstacle<3>(
      "type = 'box'\nlower = [-1, -1, -1]\nupper = [1, 1, 1]\n"
      "motion = { type = 'rotate', point = [0, 0, 0], axis = [0, 0, 1], rate = 1 }");
  const auto box = box_core<3>({{0.2, 0.2, 0.2}});
  set.place(0.25 * std::numbers::pi);
  const BodyPose<3> pose{{{std::sqrt(2.0) + 0.2 + 0.015, 0, 0}}, world<3>(), norm(filled<3>(0.2))};
  auto found = touch_part(set, 0, box, pose, pose.centre);
  REQUIRE(found.n == 2);
  for (int i = 0; i < 2; ++i) {
    CHECK(is_close(found.points[i].normal, {{-1, 0, 0}}, 1e-9));
    CHECK(found.points[i].gap == Approx(0.005));
  }
  set.set_active(0, false);
  found.cores_overlap = true;
  set.touch(0, box, pose, 0.01, pose.centre, 1, 1, found);
  CHECK(found.n == 0);
  CHECK_FALSE(found.cores_overlap);
}

}  // namespace scree
