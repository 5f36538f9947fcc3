// Contacts of convex bodies with walls, against a search over the surface of the body's core: no point of it
// is nearer to the wall than the least gap says, and the points of a contact are where they say.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "unit/geometry/touch_walls.hpp"

namespace scree {
namespace {

struct Wall {
  std::string name, lines;
  Real reach_of_centres = 2;  // bodies are put into a box of this half length
  bool is_container = false;
  std::string seen_as{};  // another obstacle that says the distances, if not the same
};

template <int D>
std::vector<Wall> walls();
template <>
std::vector<Wall> walls<2>() {
  const std::string square = "points = [[-1, -0.8], [0.9, -1], [1, 1], [0.2, 0.3], [-0.9, 0.9]]\n";
  return {
      {"plane", "type = 'plane'\npoint = [0.1, 0.2]\nnormal = [1, 2]\n", 2, true},
      {"box", "type = 'box'\nlower = [-0.5, -0.3]\nupper = [0.6, 0.4]\n"},
      {"box inside", "type = 'box'\nlower = [-2, -2]\nupper = [2, 2]\nside = 'inside'\n", 1.5, true},
      {"disk", "type = 'disk'\ncenter = [0.1, 0]\nradius = 0.4\n"},
      {"disk inside", "type = 'disk'\ncenter = [0.1, 0]\nradius = 2\nside = 'inside'\n", 1, true},
      {"segment", "type = 'segment'\na = [-0.7, 0.1]\nb = [0.8, -0.3]\n"},
      {"polyline", "type = 'polyline'\npoints = [[-1, 0], [0, 0], [0.5, 0.002], [0.9, 0.6], [1.5, -0.2]]\n"},
      {"closed polyline", "type = 'polyline'\nclosed = true\n" + square, 2},
      {"polygon", "type = 'polygon'\n" + square},
      {"polygon inside",
       "type = 'polygon'\nside = 'inside'\npoints = [[-3, -3], [3, -3], [3, 3], [-3, 3]]\n"
       "[obstacles.it.holes.post]\n" +
           square,
       2.5},
  };
}
template <>
std::vector<Wall> walls<3>() {
  const std::string drum = "type = 'cylinder'\na = [0.1, 0, -1]\nb = [0, 0.3, 1.2]\nradius = ";
  const std::string post = "type = 'cylinder'\na = [0.1, 0, -0.4]\nb = [0, 0.1, 0.5]\nradius = 0.45\n";
  const std::string pipe = "type = 'cone'\na = [0.1, 0, -1]\nb = [0, 0.3, 1.2]\nradius_a = 1\nradius_b = 1\n";
  return {
      {"plane", "type = 'plane'\npoint = [0.1, 0.2, 0]\nnormal = [1, 2, -1]\n", 2, true},
      {"box", "type = 'box'\nlower = [-0.5, -0.3, -0.2]\nupper = [0.6, 0.4, 0.3]\n"},
      {"box inside", "type = 'box'\nlower = [-2, -2, -2]\nupper = [2, 2, 2]\nside = 'inside'\n", 1.5, true},
      {"sphere", "type = 'sphere'\ncenter = [0.1, 0, 0.2]\nradius = 0.4\n"},
      {"sphere inside", "type = 'sphere'\ncenter = [0.1, 0, 0]\nradius = 2\nside = 'inside'\n", 1, true},
      {"cylinder", post},
      {"endless cylinder", post + "endless = true\n"},
      {"drum", drum + "2\nside = 'inside'\ncaps = true\n", 1, true},
      {"endless drum", drum + "2\nside = 'inside'\nendless = true\n", 1, true},
      {"tube", drum + "1\nside = 'inside'\n", 2, false, pipe},
      {"pipe", pipe},
      {"funnel", "type = 'cone'\na = [0, 0.1, 0]\nb = [0.1, 0, 0.8]\nradius_a = 0.3\nradius_b = 1\n"},
      {"tip", "type = 'cone'\na = [0, 0.1, 0]\nb = [0.1, 0, 0.8]\nradius_a = 0\nradius_b = 0.5\n"},
      {"plate", "type = 'plate'\npoint = [0.1, 0.2, 0]\nnormal = [1, 2, -1]\n"},
      {"plate with a hole", "type = 'plate'\npoint = [0.1, 0, 0]\nnormal = [1, 2, -3]\nhole_radius = 0.6\n"},
      {"round plate", "type = 'plate'\npoint = [0, 0, 0.1]\nnormal = [0, 0, 1]\nouter_radius = 0.6\n"},
      {"ring",
       "type = 'plate'\npoint = [0, 0.1, 0]\nnormal = [0, 1, 3]\nhole_radius = 0.4\n"
       "outer_radius = 0.9\n"},
  };
}

/// Cores with 0 inside, in the unit ball.
template <int D>
std::vector<ConvexCore<D>> bodies() {
  std::vector<ConvexCore<D>> all;
  for (const auto& core : cores<D>()) {
    ConvexHull<D> hull{core.vertices(), {}};
    Vec<D> middle;
    for (const auto& x : hull.vertices) middle += 1.0 / static_cast<Real>(hull.vertices.size()) * x;
    Real radius = 0;
    for (auto& x : hull.vertices) x -= middle, radius = std::max(radius, norm(x));
    if (radius == 0) continue;
    for (auto& x : hull.vertices) x *= 1 / radius;
    all.emplace_back(hull.vertices.size() == 2 ? hull : hull_of<D>(hull.vertices));
  }
  return all;
}

template <int D>
Real distance_at(const ObstacleSet<D>& set, const Vec<D>& x) {
  Real min = SurfacePoint<D>::out_of_reach;
  for (int c = 0; c < set.n_constraints(); ++c) min = std::min(min, nearest(set, c, x).distance);
  return min;
}

/// How far x is from the surface, on whatever side.
template <int D>
Real off_wall(const ObstacleSet<D>& set, const Vec<D>& x) {
  Real min = SurfacePoint<D>::out_of_reach;
  for (int c = 0; c < set.n_constraints(); ++c) min = std::min(min, std::abs(nearest(set, c, x).distance));
  return min;
}

/// The least distance of the core's surface from a wall, by sampling faces (or the core's edges) and going
/// down from the best samples in smaller and smaller steps.
template <int D>
Real min_distance(const ObstacleSet<D>& set, const PosedCore<D>& body, RandomStream& random) {
  std::vector<std::vector<int>> pieces;
  for (int f = 0; D == 3 && f < body.core.n_faces(); ++f)
    pieces.emplace_back(body.core.corners(f).begin(), body.core.corners(f).end());
  for (const auto& edge : body.core.edges()) pieces.push_back({edge[0], edge[1]});
  Real min = HUGE_VAL;
  for (const auto& piece : pieces) {
    std::vector<Real> weight(piece.size()), best(piece.size());
    Real lowest = HUGE_VAL;
    const auto look = [&] {
      Real sum = 0;
      for (Real& w : weight) sum += w = std::max(w, 0.0);
      if (!(sum > 0)) return;
      Vec<D> x;
      for (std::size_t i = 0; i < piece.size(); ++i) x += weight[i] / sum * body.vertex(piece[i]);
      const Real distance = distance_at(set, x);
      if (distance >= lowest) return;
      lowest = distance;
      for (std::size_t i = 0; i < piece.size(); ++i) best[i] = weight[i] / sum;
    };
    for (std::size_t k = 0; k < piece.size(); ++k) {
      for (std::size_t i = 0; i < piece.size(); ++i) weight[i] = i == k;
      look();
    }
    for (int sample = 0; sample < 60; ++sample) {
      for (Real& w : weight) w = -std::log(1 - random.uniform());
      look();
    }
    if (lowest > min + 0.5 * body.pose.size) continue;
    for (Real step = 0.3; step > 1e-7; step *= 0.95) {
      for (std::size_t i = 0; i < piece.size(); ++i) weight[i] = best[i] + step * random.uniform(-1, 1);
      look();
    }
    min = std::min(min, lowest);
  }
  return min;
}

struct Tally {
  int tried = 0, near = 0, overlap = 0, points = 0;
};

template <int D>
Real min_gap(const std::vector<typename WallContacts<D>::Point>& points) {
  Real min = HUGE_VAL;
  for (const auto& p : points) min = std::min(min, p.gap);
  return min;
}

template <int D>
void check_body(const Wall& wall, const ObstacleSet<D>& set, const ObstacleSet<D>& seen,
                const PosedCore<D>& body, Real rounding, RandomStream& random, Tally& tally) {
  const Real size = body.pose.size;
  const Real min = min_distance(seen, body, random);
  ++tally.tried;
  if (!wall.is_container && min < 1e-5) return void(++tally.overlap);
  ++tally.near;
  bool overlap = false;
  const auto points = touch(set, body, rounding, HUGE_VAL, 0.1 * size, &overlap);
  INFO(wall.name << ", " << body.core.vertices().size() << " corners, size " << size << " at "
                 << body.pose.centre[0] << ", " << body.pose.centre[1] << ", " << body.pose.centre[D - 1]);
  if (points.empty()) FAIL("no contact at distance " << min);
  const Real gap = min_gap<D>(points);
  if (gap > min - rounding + 1e-10) FAIL("gap " << gap << ", but " << min - rounding << " is found");
  for (const auto& p : points) {
    ++tally.points;
    // Both ends of a gap on their surfaces: no gap is too small.
    if (std::abs(norm(p.normal) - 1) > 1e-12) FAIL("normal of length " << norm(p.normal));
    const Vec<D> middle = body.pose.centre + p.place;
    const Vec<D> of_core = middle - (rounding + 0.5 * p.gap) * p.normal,
                 of_wall = middle + 0.5 * p.gap * p.normal;
    // Lines between edges side by side may turn from the normal, and those between far points a little, see
    // contact_points() and closest_points().
    const bool beside = (p.feature >> 19 & 0xfffU) == 0xfffU;
    const Real turned =
        beside ? 0.11 * std::abs(p.gap + rounding) + 0.5 * rounding : 1e-6 * std::abs(p.gap + rounding);
    if (!holds(body, of_core, 1e-7 + turned)) FAIL("a point that is not of the core, feature " << p.feature);
    if (off_wall(seen, of_wall) > 1e-7 + turned)
      FAIL("a point at " << off_wall(seen, of_wall) << " from the wall, feature " << p.feature);
  }
  const int n = static_cast<int>(points.size());
  if (n > WallContacts<D>::max * set.n_constraints()) FAIL("too many points");
}

template <int D>
void check_walls(int n_tries) {
  const auto all = bodies<D>();
  std::uint64_t seed = 1;
  for (const Wall& wall : walls<D>()) {
    const auto set = read_obstacle<D>(wall.lines);
    const auto seen = read_obstacle<D>(wall.seen_as.empty() ? wall.lines : wall.seen_as);
    Tally tally;
    for (std::size_t i = 0; i < all.size(); ++i) {
      RandomStream random(seed++, 0, 1);
      for (int k = 0; k < n_tries; ++k) {
        BodyPose<D> pose{{}, axes_of<D>(random), random.uniform(0.1, 0.8)};
        for (int j = 0; j < D; ++j) pose.centre[j] = random.uniform(-1, 1) * wall.reach_of_centres;
        const PosedCore<D> body{all[i], pose};
        const Real rounding = 0.02 * pose.size;
        check_body(wall, set, seen, body, rounding, random, tally);
        // The same body, almost or just touching.
        const auto points = touch(set, body, rounding, HUGE_VAL, 0.0);
        for (const auto& p : points) {
          if (p.gap > min_gap<D>(points) || p.gap < 0) continue;
          pose.centre += (p.gap - random.uniform(-0.5, 1) * rounding) * p.normal;
          check_body(wall, set, seen, body, rounding, random, tally);
          break;
        }
      }
    }
    INFO(wall.name << ": " << tally.near << " of " << tally.tried << " checked");
    CHECK(tally.near > tally.tried / 2);
    CHECK(tally.points >= tally.near);
  }
}

}  // namespace

TEST_CASE("convex walls: 2D, no point of a body is nearer than its least gap, points are of core and wall",
          "[convex]") {
  check_walls<2>(60);
}

TEST_CASE("convex walls: 3D, no point of a body is nearer than its least gap, points are of core and wall",
          "[convex]") {
  check_walls<3>(12);
}

namespace {

template <int D>
void check_spheres() {
  const ConvexCore<D> point(ConvexHull<D>{{Vec<D>{}}, {}});
  int met = 0, not_met = 0;
  for (const Wall& wall : walls<D>()) {
    const auto set = read_obstacle<D>(wall.lines);
    RandomStream random(3, 0, 1);
    for (int k = 0; k < 300; ++k) {
      BodyPose<D> pose{{}, axes_of<D>(random), 0.3};
      Vec<D> from;
      for (int j = 0; j < D; ++j) {
        pose.centre[j] = random.uniform(-2, 2);
        from[j] = pose.centre[j] + random.uniform(-0.3, 0.3);
      }
      for (int c = 0; c < set.n_constraints(); ++c) {
        const auto seen = nearest(set, c, pose.centre, from);
        const auto found = touch_part(set, c, point, pose, from, 0.3, 100.0);
        REQUIRE(found.n == (seen.in_reach() ? 1 : 0));
        found.n > 0 ? ++met : ++not_met;
        if (found.n == 0) continue;
        INFO(wall.name);
        REQUIRE(found.points[0].gap == seen.distance - 0.3);
        REQUIRE(found.points[0].normal == -seen.normal);
        REQUIRE(found.points[0].place == (0.3 + 0.5 * found.points[0].gap) * found.points[0].normal);
      }
    }
  }
  CHECK(met > 1000);
  CHECK((D == 3 || not_met > 1000));
}

/// Walls moved by `offset`, by text: only the coordinates of points change.
template <int D>
void check_moved(Real offset) {
  const auto all = bodies<D>();
  int same = 0, points = 0;
  for (const Wall& wall : walls<D>()) {
    const std::string moves = "motion = { type = 'translate', velocity = [" + std::to_string(offset) +
                              (D == 3 ? ", 0, 0] }\n" : ", 0] }\n");
    if (wall.name == "polygon inside") continue;  // its table comes before another one
    const auto set = read_obstacle<D>(wall.lines);
    auto moved = read_obstacle<D>(wall.lines + moves);
    moved.place(1);
    moved.begin_step();
    RandomStream random(5, 0, 1);
    for (const auto& core : all)
      for (int k = 0; k < 40; ++k) {
        BodyPose<D> pose{{}, axes_of<D>(random), random.uniform(0.1, 0.8)};
        for (int j = 0; j < D; ++j) pose.centre[j] = random.uniform(-1.5, 1.5);
        bool overlap = false;
        const auto here = touch(set, PosedCore<D>{core, pose}, 0.01, 0.5, 0.05, &overlap);
        if (overlap) continue;
        BodyPose<D> far = pose;
        far.centre[0] += offset;
        const auto there = touch(moved, PosedCore<D>{core, far}, 0.01, 0.5, 0.05);
        points += static_cast<int>(here.size());
        bool is_same = here.size() == there.size();
        for (std::size_t i = 0; is_same && i < here.size(); ++i)
          is_same = here[i].feature == there[i].feature && std::abs(here[i].gap - there[i].gap) < 1e-8 &&
                    norm(here[i].place - there[i].place) < 1e-6 &&
                    norm(here[i].normal - there[i].normal) < 1e-6;
        if (is_same) same += static_cast<int>(here.size());
      }
  }
  CHECK(points > 300);
  // A few points lie at the limit of the reach or width.
  CHECK(same >= 0.99 * points);
}

}  // namespace

TEST_CASE("convex walls: a body of one point gets what nearest() says, bit by bit", "[convex]") {
  check_spheres<2>();
  check_spheres<3>();
}

TEST_CASE("convex walls: 1e6 m away, 99 % of the contacts have the same names, gaps to 1e-8 m", "[convex]") {
  check_moved<2>(1e6);
  check_moved<3>(1e6);
}

TEST_CASE("convex walls: a motion by 1e-9 m changes no name of 99 % of the contacts", "[convex]") {
  check_moved<2>(1e-9);
  check_moved<3>(1e-9);
}

}  // namespace scree
