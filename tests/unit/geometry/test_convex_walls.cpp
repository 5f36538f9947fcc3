// Contacts of convex bodies with walls, against a search over the surface of the body's core: no point of it
// is nearer to the wall than the least gap says, and the points of a contact are where they say.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "unit/geometry/convex_cores.hpp"
#include "unit/geometry/read_obstacles.hpp"

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
      {"polygon inside", "type = 'polygon'\nside = 'inside'\npoints = [[-3, -3], [3, -3], [3, 3], [-3, 3]]\n"
                         "[obstacles.it.holes.post]\n" + square, 2.5},
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
      {"ring", "type = 'plate'\npoint = [0, 0.1, 0]\nnormal = [0, 1, 3]\nhole_radius = 0.4\n"
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
  Real least = SurfacePoint<D>::out_of_reach;
  for (int c = 0; c < set.n_constraints(); ++c) least = std::min(least, nearest(set, c, x).distance);
  return least;
}

/// How far x is from the surface, on whatever side.
template <int D>
Real off_wall(const ObstacleSet<D>& set, const Vec<D>& x) {
  Real least = SurfacePoint<D>::out_of_reach;
  for (int c = 0; c < set.n_constraints(); ++c)
    least = std::min(least, std::abs(nearest(set, c, x).distance));
  return least;
}

/// The least distance of the core's surface from a wall, by sampling faces (or the core's edges) and going
/// down from the best samples in smaller and smaller steps.
template <int D>
Real least_distance(const ObstacleSet<D>& set, const PosedCore<D>& body, RandomStream& random) {
  std::vector<std::vector<int>> pieces;
  for (int f = 0; D == 3 && f < body.core.n_faces(); ++f)
    pieces.emplace_back(body.core.corners(f).begin(), body.core.corners(f).end());
  for (const auto& edge : body.core.edges()) pieces.push_back({edge[0], edge[1]});
  Real least = HUGE_VAL;
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
    if (lowest > least + 0.5 * body.pose.size) continue;
    for (Real step = 0.3; step > 1e-7; step *= 0.95) {
      for (std::size_t i = 0; i < piece.size(); ++i) weight[i] = best[i] + step * random.uniform(-1, 1);
      look();
    }
    least = std::min(least, lowest);
  }
  return least;
}

struct Tally {
  int tried = 0, near = 0, overlap = 0, points = 0;
};

/// The contacts with all parts, of a body that comes from where it is.
template <int D>
std::vector<typename WallContacts<D>::Point> touch(const ObstacleSet<D>& set, const PosedCore<D>& body,
                                                   Real rounding, Real reach, Real width,
                                                   bool* overlap = nullptr) {
  std::vector<typename WallContacts<D>::Point> all;
  for (int c = 0; c < set.n_constraints(); ++c) {
    WallContacts<D> found;
    set.touch(c, body.core, body.pose, rounding, body.pose.centre, reach, width, found);
    all.insert(all.end(), found.points.begin(), found.points.begin() + found.n);
    if (overlap && found.cores_overlap) *overlap = true;
  }
  return all;
}

template <int D>
Real least_gap(const std::vector<typename WallContacts<D>::Point>& points) {
  Real least = HUGE_VAL;
  for (const auto& p : points) least = std::min(least, p.gap);
  return least;
}

template <int D>
void check_body(const Wall& wall, const ObstacleSet<D>& set, const ObstacleSet<D>& seen,
                const PosedCore<D>& body, Real rounding, RandomStream& random, Tally& tally) {
  const Real size = body.pose.size;
  const Real least = least_distance(seen, body, random);
  ++tally.tried;
  if (!wall.is_container && least < 1e-5) return void(++tally.overlap);
  ++tally.near;
  bool overlap = false;
  const auto points = touch(set, body, rounding, HUGE_VAL, 0.1 * size, &overlap);
  INFO(wall.name << ", " << body.core.vertices().size() << " corners, size " << size << " at "
                 << body.pose.centre[0] << ", " << body.pose.centre[1] << ", "
                 << body.pose.centre[D - 1]);
  if (points.empty()) FAIL("no contact at distance " << least);
  const Real gap = least_gap<D>(points);
  if (gap > least - rounding + 1e-10) FAIL("gap " << gap << ", but " << least - rounding << " is found");
  for (const auto& p : points) {
    ++tally.points;
    // Both ends of a gap on their surfaces: no gap is too small.
    if (std::abs(norm(p.normal) - 1) > 1e-12) FAIL("normal of length " << norm(p.normal));
    const Vec<D> middle = body.pose.centre + p.place;
    const Vec<D> of_core = middle - (rounding + 0.5 * p.gap) * p.normal, of_wall = middle + 0.5 * p.gap * p.normal;
    // Lines between edges side by side may turn from the normal, see contact_points().
    const bool beside = D == 2 && body.core.n_faces() == 0;
    const Real turned = (beside ? 0.03 : 1e-7) * std::abs(p.gap + rounding);
    if (!holds(body, of_core, 1e-9 + turned)) FAIL("a point that is not of the core, feature " << p.feature);
    if (off_wall(seen, of_wall) > 1e-8 + turned)
      FAIL("a point at " << off_wall(seen, of_wall) << " from the wall, feature " << p.feature);
  }
  const int n = static_cast<int>(points.size());
  if (n > WallContacts<D>::most * set.n_constraints()) FAIL("too many points");
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
          if (p.gap > least_gap<D>(points) || p.gap < 0) continue;
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

}  // namespace scree
