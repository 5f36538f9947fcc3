// What every registered shape promises (geometry/obstacle.hpp, Shape), checked at random points.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <set>
#include <utility>

#include "unit/geometry/read_obstacles.hpp"

using namespace scree;

namespace {

struct Variant {
  std::string kind;
  bool is_thin;  // no solid: every point is free
  std::string keys;
};

template <int D>
std::vector<Variant> variants();

template <>
std::vector<Variant> variants<2>() {
  const std::string l_shape =
      "points = [[-1.5, -1], [1.5, -1], [1.5, 0.2], [0.3, 0.2], [0.3, 1.2], [-1.5, 1.2]]\n";
  const std::string hole = "holes = { a = { points = [[-0.9, -0.5], [-0.2, -0.6], [-0.5, 0.4]] } }\n";
  return {
      {"plane", false, "point = [0.1, -0.3]\nnormal = [1, 3]"},
      {"segment", true, "a = [-1, -0.5]\nb = [1.2, 0.7]"},
      {"polyline", true, "points = [[-1.5, -1], [0, 0.5], [0.2, -1], [1.4, 1.1]]"},
      {"polyline", true, "points = [[-1, -1], [1.1, -0.8], [0.2, 1.3]]\nclosed = true"},
      {"polygon", false, "points = [[-1, -1], [1.2, -0.9], [0.1, 1.4]]"},
      {"polygon", false, l_shape + hole},
      {"polygon", false, l_shape + hole + "side = 'inside'"},
      // Seams: joints that are flat, or so to rounding.
      {"polyline", true, "points = [[-1.4, -1.1], [-0.7, -0.4], [0.1, 0.4], [0.7, 1.0], [1.3, 0.1]]"},
      {"polygon", false, "points = [[-1.2, -1], [-0.3, -0.85], [1.2, -0.6], [0.6, 1.4], [-0.3, 0.4]]"},
      {"disk", false, "center = [0.2, -0.1]\nradius = 1.1"},
      {"disk", false, "center = [0.2, -0.1]\nradius = 1.1\nside = 'inside'"},
      {"box", false, "lower = [-1.2, -0.3]\nupper = [0.9, 1.1]"},
      {"box", false, "lower = [-1.2, -0.3]\nupper = [0.9, 1.1]\nside = 'inside'"},
  };
}

template <>
std::vector<Variant> variants<3>() {
  const std::string cylinder = "a = [-0.7, -0.6, -0.3]\nb = [0.8, 0.5, 0.9]\nradius = 0.6\n";
  const std::string cone = "a = [-0.7, -0.6, -0.3]\nb = [0.2, 0.1, 0.9]\n";
  const std::string plate = "point = [0.1, -0.3, 0.2]\nnormal = [1, 3, -2]\n";
  const std::string box = "lower = [-1.2, -0.3, -0.8]\nupper = [0.9, 1.1, 0.7]\n";
  const auto mesh = [](const std::string& name, const std::string& side) {
    return "file = '" SCREE_TESTS "/reference/meshes/" + name + ".obj'\nscale = 1\nside = '" + side + "'";
  };
  return {
      {"plane", false, "point = [0.1, -0.3, 0.2]\nnormal = [1, 3, -2]"},
      {"sphere", false, "center = [0.2, -0.1, 0.3]\nradius = 1.1"},
      {"sphere", false, "center = [0.2, -0.1, 0.3]\nradius = 1.1\nside = 'inside'"},
      {"cylinder", false, cylinder},
      {"cylinder", false, cylinder + "side = 'inside'"},
      {"cylinder", false, cylinder + "side = 'inside'\ncaps = true"},
      {"cylinder", false, cylinder + "endless = true"},
      {"cylinder", false, cylinder + "side = 'inside'\nendless = true"},
      {"cone", true, cone + "radius_a = 0.9\nradius_b = 0.3"},
      {"cone", true, cone + "radius_a = 0\nradius_b = 0.7"},
      {"cone", true, cone + "radius_a = 0.6\nradius_b = 0.6"},
      {"plate", true, plate},
      {"plate", true, plate + "hole_radius = 0.5"},
      {"plate", true, plate + "outer_radius = 1.3"},
      {"plate", true, plate + "hole_radius = 0.5\nouter_radius = 1.3"},
      {"plate", true, "point = [0.5, 0.5, 3]\nnormal = [1, 0.2, 0.3]\nhole_radius = 2.1"},
      {"box", false, box},
      {"box", false, box + "side = 'inside'"},
      {"mesh", true, mesh("patch", "both")},
      {"mesh", false, mesh("ell", "outside")},
      {"mesh", false, mesh("ell", "inside")},
      {"mesh", false, mesh("gem", "outside")},
  };
}

/// The domain of all tests: it holds all bounded shapes.
template <int D>
const Box<D> domain{filled<D>(-2), filled<D>(2), {}};

template <int D>
std::vector<Vec<D>> random_points(std::size_t n) {
  std::mt19937_64 bits(20240521);
  std::vector<Vec<D>> points(n);
  for (Vec<D>& x : points)
    for (int k = 0; k < D; ++k) x[k] = -2 + 4 * std::ldexp(static_cast<Real>(bits() >> 11), -53);
  return points;
}

/// Distance of x from the surface as all parts together see it, and whether x is free.
template <int D>
SurfacePoint<D> nearest_of_all(const ObstacleSet<D>& shape, const Vec<D>& x) {
  SurfacePoint<D> best = nearest(shape, 0, x);
  for (int part = 1; part < shape.n_constraints(); ++part) {
    const SurfacePoint<D> other = nearest(shape, part, x);
    if (other.distance < best.distance) best = other;
  }
  return best;
}

/// Distance of x from a part, whoever answers there.
template <int D>
Real distance(const ObstacleSet<D>& shape, int part, const Vec<D>& x) {
  SurfacePoint<D> seen;
  shape.distances(part, {&x, 1}, {&seen, 1});
  return std::abs(seen.distance);
}

template <int D>
void check_unit_normals_and_gradients(const ObstacleSet<D>& shape) {
  constexpr Real h = 1e-6;
  int n_checked = 0;
  int n_points = 0;
  Real worst_length = 0;
  Real worst_gradient = 0;
  for (int part = 0; part < shape.n_constraints(); ++part)
    for (const Vec<D>& x : random_points<D>(2000)) {
      const SurfacePoint<D> here = nearest(shape, part, x);
      if (!here.in_reach()) continue;
      ++n_points;
      worst_length = std::max(worst_length, std::abs(norm(here.normal) - 1));
      if (std::abs(here.distance) < 0.01) continue;
      Vec<D> gradient;
      bool is_smooth = true;
      for (int k = 0; k < D; ++k) {
        const SurfacePoint<D> up = nearest(shape, part, x + unit_vector<D>(k, h));
        const SurfacePoint<D> down = nearest(shape, part, x - unit_vector<D>(k, h));
        if (!up.in_reach() || !down.in_reach()) is_smooth = false;
        gradient[k] = (up.distance - down.distance) / (2 * h);
        // On the medial axis, where the nearest point changes, the normal jumps.
        is_smooth =
            is_smooth && norm(up.normal - here.normal) < 0.01 && norm(down.normal - here.normal) < 0.01;
      }
      if (!is_smooth) continue;
      ++n_checked;
      worst_gradient = std::max(worst_gradient, norm(gradient - here.normal));
    }
  CHECK(worst_length < 1e-14);
  CHECK(worst_gradient < 1e-7);
  CHECK(n_checked > 0.9 * n_points);
}

template <int D>
void check_feet(const ObstacleSet<D>& shape, bool is_thin) {
  int n_solid = 0;
  int n_free = 0;
  Real farthest_from_surface = 0;
  Real farthest_from_part = 0;
  Real farthest_from_bounds = 0;
  for (int part = 0; part < shape.n_constraints(); ++part) {
    const Box<D> bounds = shape.bounds(part, domain<D>);
    for (const Vec<D>& x : random_points<D>(2000)) {
      const SurfacePoint<D> seen = nearest(shape, part, x);
      if (!seen.in_reach()) continue;
      const Vec<D> foot = x - seen.distance * seen.normal;
      const bool is_free = nearest_of_all(shape, x).distance > 0;
      ++(is_free ? n_free : n_solid);
      Real off_surface = HUGE_VAL;
      for (int other = 0; other < shape.n_constraints(); ++other)
        off_surface = std::min(off_surface, std::abs(nearest(shape, other, foot).distance));
      farthest_from_surface = std::max(farthest_from_surface, off_surface);
      if (!is_free) continue;
      farthest_from_part = std::max(farthest_from_part, distance(shape, part, foot));
      if (!domain<D>.contains(foot)) continue;
      for (int k = 0; k < D; ++k)
        farthest_from_bounds =
            std::max({farthest_from_bounds, bounds.lower[k] - foot[k], foot[k] - bounds.upper[k]});
    }
  }
  CHECK(farthest_from_surface < 1e-14);
  CHECK(farthest_from_part < 1e-14);
  CHECK(farthest_from_bounds < 1e-14);
  CHECK(n_free > 100);
  CHECK((n_solid == 0) == is_thin);
}

/// Straight ways from one free point to another, against points along them. `is_open_tube`: ways beside it,
/// from beyond one end to beyond the other, lead through what it holds to be solid, but out of nothing.
template <int D>
void check_routes(const ObstacleSet<D>& shape, bool is_open_tube) {
  constexpr int n_steps = 100;
  constexpr Real clearance = 0.05;
  const std::vector<Vec<D>> points = random_points<D>(8000);
  int n_through = 0, n_beside = 0, n_not_seen = 0, n_seen_in_vain = 0;
  for (std::size_t i = 0; i + 1 < points.size(); i += 2) {
    const Vec<D> from = points[i], at = points[i + 1];
    Real min = HUGE_VAL;
    for (int k = 0; k <= n_steps; ++k)
      min = std::min(min, nearest_of_all(shape, from + (Real(k) / n_steps) * (at - from)).distance);
    if (nearest_of_all(shape, from).distance < 0 || nearest_of_all(shape, at).distance < 0) continue;
    const bool met = shape.path_meets_solid(from, at, clearance);
    if (min < 0) {
      ++n_through;
      n_not_seen += met ? 0 : 1;
    } else if (min > clearance + norm(at - from) / n_steps) {
      ++n_beside;
      n_seen_in_vain += met ? 1 : 0;
    }
  }
  CHECK((n_through > 0) == (shape.any_far_side() || is_open_tube));
  if (!is_open_tube) CHECK(n_not_seen == 0);
  CHECK(n_beside >= 5);
  CHECK(n_seen_in_vain == 0);
}

template <int D>
void check_outline(const ObstacleSet<D>& shape) {
  const Outline<D> outline = shape.outline(0, domain<D>);
  if (D == 2) CHECK_FALSE(outline.lines.empty());
  if (D == 3) CHECK_FALSE(outline.triangles.empty());

  std::set<int> used;
  for (const auto& line : outline.lines) used.insert(line.begin(), line.end());
  for (const auto& triangle : outline.triangles) used.insert(triangle.begin(), triangle.end());
  REQUIRE(used.size() == outline.points.size());
  CHECK(*used.begin() == 0);
  CHECK(*used.rbegin() == static_cast<int>(outline.points.size()) - 1);

  // A cap's centre and the corners of the facets are points of the surface: one part is at distance 0 there.
  Real farthest = 0;
  for (const Vec<D>& y : outline.points) {
    Real off_surface = HUGE_VAL;
    for (int part = 0; part < shape.n_constraints(); ++part)
      off_surface = std::min(off_surface, std::abs(nearest(shape, part, y).distance));
    farthest = std::max(farthest, off_surface);
  }
  CHECK(farthest < 1e-14);

  // No point of the surface is nearer than the nearest point.
  Real nearer_by = 0;
  for (const Vec<D>& x : random_points<D>(500)) {
    const Real distance = nearest_of_all(shape, x).distance;
    if (distance <= 0) continue;
    for (const Vec<D>& y : outline.points) nearer_by = std::max(nearer_by, distance - norm(x - y));
  }
  CHECK(nearer_by < 1e-14);
}

/// A path through a thin wall is seen as one there and back, and what sees it leads to the wall.
template <int D>
void check_sides(const ObstacleSet<D>& shape) {
  const std::vector<Vec<D>> points = random_points<D>(2001);
  int n_through = 0;
  int n_disagree = 0;
  Real off_surface = 0;
  const auto goes_through = [&](const Vec<D>& at, const Vec<D>& from) {
    bool goes = false;
    for (int part = 0; part < shape.n_constraints(); ++part) {
      const SurfacePoint<D> there = nearest(shape, part, at, from);
      if (!there.in_reach()) continue;
      goes = goes || there.distance < 0;
      const Vec<D> foot = at - there.distance * there.normal;
      off_surface = std::max(off_surface, std::abs(nearest_of_all(shape, foot).distance));
    }
    return goes;
  };
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Vec<D>& from = points[i - 1];
    const Vec<D> at = from + 0.5 * (points[i] - from);
    const bool goes = goes_through(at, from);
    n_through += goes ? 1 : 0;
    n_disagree += goes_through(from, at) != goes;
  }
  CHECK(n_through > 50);
  CHECK(n_disagree == 0);
  CHECK(off_surface < 1e-14);
}

/// Lists of candidates go by distances that no answer falls short of, and neighbours know each other.
template <int D>
void check_candidates(const ObstacleSet<D>& shape) {
  Real short_by = 0;
  for (int part = 0; part < shape.n_constraints(); ++part) {
    for (const Vec<D>& x : random_points<D>(500)) {
      SurfacePoint<D> listed;
      shape.distances(part, {&x, 1}, {&listed, 1});
      CHECK(listed.in_reach());
      short_by = std::max(short_by, listed.distance - nearest(shape, part, x).distance);
    }
    int last = -1;
    shape.for_each_neighbour(part, [&](int other) {
      CHECK(other > last);
      CHECK(other != part);
      last = other;
      bool knows = false;
      shape.for_each_neighbour(other, [&](int back) { knows = knows || back == part; });
      CHECK(knows);
    });
  }
  CHECK(short_by <= 0);
}

/// The feet of local minima of the distance of x from the outline in the plane, by going along it in small
/// steps: those that a free x sees from the front, once each.
std::vector<Vec<2>> local_minima(const ObstacleSet<2>& shape, const Vec<2>& x, bool is_thin) {
  constexpr int n_pieces = 2000;
  const Outline<2> outline = shape.outline(0, domain<2>);
  // Corners are the same point for all lines that meet there.
  const auto is_same = [](const Vec<2>& p, const Vec<2>& q) { return norm(p - q) < 1e-9; };
  std::vector<Vec<2>> found;
  const auto offer = [&](const Vec<2>& y) {
    const Vec<2> between = y + 1e-6 * (1 / norm(x - y)) * (x - y);
    if (!is_thin && nearest_of_all(shape, between).distance < 0) return;  // through the solid
    if (std::ranges::none_of(found, [&](const Vec<2>& other) { return norm(other - y) < 4.0 / n_pieces; }))
      found.push_back(y);
  };
  for (const auto& line : outline.lines) {
    const Vec<2>& a = outline.points[line[0]];
    const Vec<2>& b = outline.points[line[1]];
    const auto at = [&](int i) { return a + (static_cast<Real>(i) / n_pieces) * (b - a); };
    for (int i = 1; i < n_pieces; ++i)
      if (norm(x - at(i)) <= norm(x - at(i - 1)) && norm(x - at(i)) < norm(x - at(i + 1))) offer(at(i));
    for (const Vec<2>& end : {a, b}) {
      // From a corner the distance must grow along all lines that meet there.
      bool grows = true;
      for (const auto& other : outline.lines) {
        const Vec<2>& p = outline.points[other[0]];
        const Vec<2>& q = outline.points[other[1]];
        for (const auto& [here, there] : {std::pair(p, q), std::pair(q, p)})
          if (is_same(here, end))
            grows = grows && norm(x - (here + (1.0 / n_pieces) * (there - here))) > norm(x - here);
      }
      if (grows) offer(end);
    }
  }
  return found;
}

/// A shape answers once for each local minimum of the distance, and for nothing else; returns for how many
/// points that was more than one.
std::size_t check_local_minima(const ObstacleSet<2>& shape, bool is_thin) {
  constexpr Real sampling = 4e-3;  // [m] of the brute force
  std::size_t n_several = 0;
  for (const Vec<2>& x : random_points<2>(300)) {
    const Real nearest_surface = nearest_of_all(shape, x).distance;
    std::vector<SurfacePoint<2>> answers;
    for (int part = 0; part < shape.n_constraints(); ++part)
      if (const SurfacePoint<2> seen = nearest(shape, part, x); seen.in_reach()) answers.push_back(seen);
    CAPTURE(x, answers.size());
    CHECK_FALSE(answers.empty());
    if (nearest_surface < 0.02) continue;  // in the solid only the way out counts
    const Outline<2> outline = shape.outline(0, domain<2>);
    if (std::ranges::any_of(answers, [&](const SurfacePoint<2>& seen) {
          const Vec<2> foot = x - seen.distance * seen.normal;
          return std::ranges::any_of(outline.points, [&](const Vec<2>& y) {
            return norm(foot - y) > 1e-9 && norm(foot - y) < sampling;
          });
        }))
      continue;  // brute force cannot separate this foot from the corner
    const std::vector<Vec<2>> feet = local_minima(shape, x, is_thin);
    CHECK(feet.size() == answers.size());
    n_several += answers.size() > 1;
    for (const Vec<2>& foot : feet)
      CHECK(std::ranges::count_if(answers, [&](const SurfacePoint<2>& seen) {
              return norm(x - seen.distance * seen.normal - foot) < sampling;
            }) == 1);
  }
  return n_several;
}
/// No shape in space has joined parts.
std::size_t check_local_minima(const ObstacleSet<3>&, bool) {
  return 0;
}

template <int D>
void check_batches(const ObstacleSet<D>& shape) {
  const std::vector<Vec<D>> at = random_points<D>(101);
  std::vector<Vec<D>> from = at;
  std::rotate(from.begin(), from.begin() + 1, from.end());  // long paths, so that thin walls are crossed
  for (int part = 0; part < shape.n_constraints(); ++part) {
    std::vector<SurfacePoint<D>> together(at.size());
    shape.nearest(part, at, from, together);
    int n_different = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      const SurfacePoint<D> alone = nearest(shape, part, at[i], from[i]);
      n_different += std::memcmp(&alone, &together[i], sizeof alone) != 0;
    }
    CHECK(n_different == 0);
  }
}

/// At the corners of the outline and midway between them, where formulas degenerate.
template <int D>
void check_special_points(const ObstacleSet<D>& shape) {
  const Outline<D> outline = shape.outline(0, domain<D>);
  std::vector<Vec<D>> points = outline.points;
  Vec<D> center{};
  for (const Vec<D>& y : outline.points) center += y * (1.0 / static_cast<Real>(outline.points.size()));
  points.push_back(center);
  for (const auto& line : outline.lines)
    points.push_back(0.5 * (outline.points[line[0]] + outline.points[line[1]]));
  for (int k = 0; k < D; ++k) points.push_back(outline.points[0] + unit_vector<D>(k, 1e-200));
  Real worst_length = 0;
  for (int part = 0; part < shape.n_constraints(); ++part)
    for (const Vec<D>& x : points)
      worst_length = std::max(worst_length, std::abs(norm(nearest(shape, part, x).normal) - 1));
  CHECK(worst_length < 1e-14);
}

/// Motions of all kinds that a shape can make, tilted against all of them.
template <int D>
std::vector<std::string> sample_motions();
template <>
std::vector<std::string> sample_motions<2>() {
  return {"type = 'translate'\nvelocity = [0.3, -1]", "type = 'rotate'\ncenter = [0.5, -0.2]\nrate = 1.7",
          "type = 'swing'\ncenter = [2.5, -0.2]\namplitude = -0.7\nfrequency = 1.3\nphase = 0.4",
          "type = 'table'\ntimes = [0, 0.5, 1]\npositions = [[0, 0], [0.3, -0.2], [-1, 0]]\n"
          "angles = [0, 0.7, -2]\ncenter = [0.5, -0.2]"};
}
template <>
std::vector<std::string> sample_motions<3>() {
  return {"type = 'translate'\nvelocity = [0.3, -1, 0.2]",
          "type = 'rotate'\npoint = [0.5, -0.2, 0.1]\naxis = [1, 2, -2]\nrate = 1.7",
          "type = 'oscillate'\namplitude = [0.1, 0.2, -0.1]\nfrequency = 1.3\nphase = 0.4",
          "type = 'rotate'\npoint = [-0.7, -0.6, -0.3]\naxis = [1.5, 1.1, 1.2]\nrate = 2",
          "type = 'table'\ntimes = [0, 0.5, 1]\npositions = [[0, 0, 1], [0.3, -0.2, 1], [-1, 0, 0]]\n"
          "angles = [0.1, 0.7, -2]\npoint = [0.5, -0.2, 0.1]\naxis = [1, 2, -2]"};
}

/// Whether the point of a surface that is nearest to x is in the domain; normals of distances are those of
/// the shape's own frame.
template <int D>
bool foot_is_in_domain(const Pose<D>& pose, const Vec<D>& x, const SurfacePoint<D>& seen) {
  return domain<D>.contains(pose.to_world(pose.to_own(x) - seen.distance * seen.normal));
}

/// No distance of a free point from a surface changes by more than travel says, if the surface's nearest
/// point is in the domain; and travel is no more than what points of the surface go.
template <int D>
void check_travel(const std::string& text) {
  const ObstacleSet<D> fixed = read_obstacle<D>(text);
  const std::vector<Vec<D>> points = random_points<D>(8000);
  for (const std::string& motion : sample_motions<D>()) {
    INFO(motion);
    ObstacleSet<D> shape = read_obstacle<D>(text + "\n[obstacles.it.motion]\n" + motion);
    for (const auto& [from, to] : {std::pair{0.0, 0.01}, {0.25, 0.4}, {0.6, 1.0}}) {
      const Real travel = shape.travel(from, to, domain<D>);
      const Motion<D>& moves = *shape.list()[0].motion;
      const Pose<D> then = moves.pose(from), now = moves.pose(to);
      Real max = 0;
      std::vector<char> is_free(points.size(), 1);
      for (const Real time : {from, to}) {
        shape.place(time);
        shape.place(time);
        for (std::size_t i = 0; i < points.size(); ++i)
          is_free[i] = is_free[i] && nearest_of_all(shape, points[i]).distance > 0;
      }
      for (int part = 0; part < shape.n_constraints(); ++part) {
        std::vector<SurfacePoint<D>> before(points.size()), after(points.size());
        shape.place(from);
        shape.place(from);
        shape.distances(part, points, before);
        shape.place(to);
        shape.place(to);
        shape.distances(part, points, after);
        for (std::size_t i = 0; i < points.size(); ++i) {
          if (!is_free[i]) continue;
          if (foot_is_in_domain(then, points[i], before[i]))
            max = std::max(max, after[i].distance - before[i].distance);
          if (foot_is_in_domain(now, points[i], after[i]))
            max = std::max(max, before[i].distance - after[i].distance);
        }
      }
      CHECK(max <= travel + 1e-13);
      // What every shape could say: the ways of the corners of the part's box.
      Box<D> region = Box<D>::empty();
      for (unsigned c = 0; c < Box<D>::n_corners; ++c) {
        region.include(then.to_own(domain<D>.corner(c)));
        region.include(now.to_own(domain<D>.corner(c)));
      }
      Real displacement = 0;
      for (int part = 0; part < shape.n_constraints(); ++part) {
        const Box<D> box = fixed.bounds(part, region);
        for (unsigned c = 0; c < Box<D>::n_corners && !box.is_empty(); ++c)
          displacement =
              std::max(displacement, norm(now.to_world(box.corner(c)) - then.to_world(box.corner(c))));
      }
      CHECK(travel <= displacement * (1 + 1e-12) + 1e-14);
    }
  }
}

/// A shape that moves in itself.
template <int D>
void check_no_travel(const std::string& shape, const std::string& motion) {
  INFO(shape << "\n" << motion);
  const ObstacleSet<D> set = read_obstacle<D>(shape + "\n[obstacles.it.motion]\n" + motion);
  for (const auto& [from, to] : {std::pair{0.0, 0.01}, {0.25, 0.4}, {0.0, 100.0}})
    CHECK(set.travel(from, to, domain<D>) < 1e-12);
}

template <int D>
void check_every_shape() {
  for (const Entry<Shape<D>>& entry : registry<Shape<D>>()) {
    const std::vector<Variant> all = variants<D>();
    const auto n_variants =
        std::count_if(all.begin(), all.end(), [&](const Variant& v) { return v.kind == entry.name; });
    INFO(entry.name << " in " << D << " dimensions");
    CHECK((n_variants > 0) == (entry.make != nullptr));
  }
  std::size_t n_several = 0;
  for (const Variant& variant : variants<D>()) {
    const std::string text = "type = '" + variant.kind + "'\n" + variant.keys;
    INFO(text);
    const ObstacleSet<D> shape = read_obstacle<D>(text);
    check_unit_normals_and_gradients(shape);
    check_feet(shape, variant.is_thin);
    check_outline(shape);
    if (variant.is_thin) check_sides(shape);
    const auto has = [&](const char* words) { return text.find(words) != std::string::npos; };
    if (!variant.is_thin)
      check_routes(shape, has("cylinder") && has("inside") && !has("caps") && !has("endless"));
    check_candidates(shape);
    if (shape.n_constraints() > 1) n_several += check_local_minima(shape, variant.is_thin);
    check_batches(shape);
    check_special_points(shape);
    check_travel<D>(text);
  }
  CHECK((n_several > 300) == (D == 2));
}

}  // namespace

TEST_CASE("shapes: what moves in itself uses up no skin", "[contract][geometry]") {
  check_no_travel<2>("type = 'plane'\npoint = [0.1, -0.3]\nnormal = [1, 3]",
                     "type = 'translate'\nvelocity = [3, -1]");
  check_no_travel<2>("type = 'disk'\ncenter = [0.2, -0.1]\nradius = 1.1\nside = 'inside'",
                     "type = 'rotate'\ncenter = [0.2, -0.1]\nrate = 7");
  check_no_travel<3>("type = 'plane'\npoint = [0.1, -0.3, 0.2]\nnormal = [1, 3, -2]",
                     "type = 'oscillate'\namplitude = [2, 0, 1]\nfrequency = 1.3");
  check_no_travel<3>("type = 'plane'\npoint = [0.1, -0.3, 0.2]\nnormal = [1, 3, -2]",
                     "type = 'rotate'\npoint = [0.5, 0, 0]\naxis = [1, 3, -2]\nrate = 3");
  check_no_travel<3>("type = 'sphere'\ncenter = [0.2, -0.1, 0.3]\nradius = 1.1",
                     "type = 'rotate'\npoint = [0.2, -0.1, 0.3]\naxis = [1, 2, 3]\nrate = 3");
  const std::string axis = "a = [-0.7, -0.6, -0.3]\nb = [0.8, 0.5, 0.9]\n";
  const std::string spin = "type = 'rotate'\npoint = [0.8, 0.5, 0.9]\naxis = [-1.5, -1.1, -1.2]\nrate = 9";
  check_no_travel<3>("type = 'cylinder'\nradius = 0.6\n" + axis, spin);
  check_no_travel<3>("type = 'cylinder'\nradius = 0.6\nside = 'inside'\ncaps = true\n" + axis, spin);
  check_no_travel<3>("type = 'cone'\nradius_a = 0.6\nradius_b = 0.2\n" + axis, spin);
  check_no_travel<3>("type = 'cylinder'\nradius = 0.6\nendless = true\n" + axis,
                     "type = 'translate'\nvelocity = [1.5, 1.1, 1.2]");
  const std::string plate = "type = 'plate'\npoint = [0.1, -0.3, 0.2]\nnormal = [0, 0, 2]\n";
  const std::string about_it = "type = 'rotate'\npoint = [0.1, -0.3, 7]\naxis = [0, 0, 1]\nrate = 2";
  check_no_travel<3>(plate + "hole_radius = 0.5", about_it);
  check_no_travel<3>(plate + "outer_radius = 0.7", about_it);
  check_no_travel<3>(plate, "type = 'translate'\nvelocity = [1.5, 1.1, 0]");
}

TEST_CASE("shapes in 2D: unit normal = gradient of distance, feet on the surface within bounds, any batch",
          "[contract][geometry]") {
  check_every_shape<2>();
}

TEST_CASE("shapes in 3D: unit normal = gradient of distance, feet on the surface within bounds, any batch",
          "[contract][geometry]") {
  check_every_shape<3>();
}
