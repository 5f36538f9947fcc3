// Closest points and contact points of convex bodies. A distance is proved by both its bounds: points of the
// two cores that are so far from each other, and a direction along which the cores are so far apart.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "geometry/convex/manifold.hpp"
#include "geometry/convex/shape.hpp"
#include "unit/geometry/convex_cores.hpp"

namespace scree {
namespace {

constexpr Real pi = std::numbers::pi;

template <int D>
Real separation(const PosedCore<D>& a, const PosedCore<D>& b, const Vec<D>& n) {
  Real highest = -HUGE_VAL, lowest = HUGE_VAL;
  for (int i = 0; i < static_cast<int>(a.core.vertices().size()); ++i)
    highest = std::max(highest, dot(n, a.vertex(i)));
  for (int i = 0; i < static_cast<int>(b.core.vertices().size()); ++i)
    lowest = std::min(lowest, dot(n, b.vertex(i)));
  return lowest - highest;
}

struct Counts {
  int apart = 0, near = 0, overlap = 0, max_rounds = 0;
};

/// Fails unless what closest_points() says is proved.
template <int D>
void check_pair(const PosedCore<D>& a, const PosedCore<D>& b, Real reach, Counts& counts) {
  constexpr Real round_off = 1e-11;
  const ClosestPoints<D> found = closest_points(a, b, reach);
  counts.max_rounds = std::max(counts.max_rounds, found.rounds);
  if (found.state == SeparationState::apart) {
    ++counts.apart;
    // Nothing was missed: the distance without a limit.
    const ClosestPoints<D> whole = closest_points(a, b, 1e9);
    if (whole.state != SeparationState::near || whole.distance < reach)
      FAIL("apart, but at " << whole.distance);
    return;
  }
  if (std::abs(norm(found.normal) - 1) > 1e-13) FAIL("normal of length " << norm(found.normal));
  const Real along = separation(a, b, found.normal);
  if (std::abs(along - found.distance) > round_off)
    FAIL("distance " << found.distance << ", but along the normal " << along);
  if (found.state == SeparationState::overlap) {
    ++counts.overlap;
    if (found.distance > round_off) FAIL("overlap, but " << found.distance << " along the normal");
    return;
  }
  ++counts.near;
  if (!holds(a, found.on_a, round_off) || !holds(b, found.on_b, round_off))
    FAIL("closest points are not on the cores");
  const Real between = norm(found.on_b - found.on_a);
  if (std::abs(between - found.distance) > round_off)
    FAIL("distance " << found.distance << ", but the points are at " << between);
}

template <int D>
void check_random_pairs(int n_of_each) {
  RandomStream random(23, 0, D);
  const auto all = cores<D>();
  Counts counts;
  for (const auto& a : all)
    for (const auto& b : all)
      for (int i = 0; i < n_of_each; ++i) {
        const BodyPose<D> pose_a{Vec<D>{}, axes_of<D>(random), random.uniform(0.5, 2)};
        BodyPose<D> pose_b{Vec<D>{}, axes_of<D>(random), random.uniform(0.5, 2)};
        if (i % 3 == 0) pose_b.axes = pose_a.axes;  // parallel faces and edges
        for (int k = 0; k < D; ++k) pose_b.centre[k] = random.uniform(-2, 2);
        if (i % 4 == 0) pose_b.centre = pose_b.centre[0] * pose_a.axes[0];  // flush
        check_pair<D>({a, pose_a}, {b, pose_b}, 0.5, counts);
        // The same nearly touching: pushed along the normal to a gap of 1e-6.
        const auto found = closest_points<D>({a, pose_a}, {b, pose_b}, 1e9);
        if (found.state != SeparationState::near) continue;
        pose_b.centre -= (found.distance - 1e-6) * found.normal;
        check_pair<D>({a, pose_a}, {b, pose_b}, 0.5, counts);
      }
  CHECK(counts.near > n_of_each);
  CHECK(counts.apart > n_of_each);
  CHECK(counts.overlap > n_of_each);
  CHECK(counts.max_rounds < 40);
}

}  // namespace

TEST_CASE("closest points: proved for all pairs of cores, in the plane and in space", "[convex]") {
  check_random_pairs<2>(300);
  check_random_pairs<3>(300);
}

TEST_CASE("closest points: ten million pairs", "[.long][convex]") {
  check_random_pairs<2>(50'000);
  check_random_pairs<3>(50'000);
}

TEST_CASE("closest points: a face gives its normal to the last bit", "[convex]") {
  RandomStream random(4, 0, 1);
  const ConvexCore<3> box(corners_of_box<3>({{0.3, 0.5, 0.7}}));
  for (int i = 0; i < 2000; ++i) {
    const BodyPose<3> a{{}, axes_of<3>(random), 1};
    BodyPose<3> b{{}, axes_of<3>(random), 1};
    if (i % 2 == 0) b.axes = {a.axes[1], a.axes[2], a.axes[0]};
    const int k = i % 3;
    b.centre = (i % 5 < 2 ? 1 : -1) * (0.3 + 0.2 * k + 0.95) * a.axes[k];
    const auto found = closest_points<3>({box, a}, {box, b}, 10);
    REQUIRE(found.state == SeparationState::near);
    const Vec<3> face = (i % 5 < 2 ? 1 : -1) * a.axes[k];
    if (i % 2 == 0) CHECK(found.normal == face);
  }
}

TEST_CASE("contact points: balls are what they always were", "[convex]") {
  const ConvexCore<3> ball(ConvexHull<3>{{Vec<3>{}}, {}});
  const BodyPose<3> a{{}, world<3>(), 1}, b{{{0.3, -0.4, 1.2}}, world<3>(), 1};
  const auto met = contact_points<3>({ball, a}, {ball, b}, 0.7, 0.5, 1, 0.1);
  REQUIRE(met.n == 1);
  CHECK(met.points[0].gap == Approx(1.3 - 1.2).epsilon(1e-14));
  CHECK(norm(met.normal - 1 / 1.3 * b.centre) < 1e-15);
  CHECK(norm(met.points[0].place - 0.75 * met.normal) < 1e-15);
  CHECK(contact_points<3>({ball, a}, {ball, b}, 0.7, 0.5, 0.05, 0.1).n == 0);
}

TEST_CASE("contact points: a box on a box", "[convex]") {
  const ConvexCore<3> box(corners_of_box<3>({{0.5, 0.5, 0.5}}));
  BodyPose<3> a{{}, world<3>(), 1}, b{{{0.2, -0.3, 1.03}}, world<3>(), 1};
  const auto met = contact_points<3>({box, a}, {box, b}, 0.01, 0.01, 0.1, 0.05);
  REQUIRE(met.n == 4);
  CHECK(met.normal == unit_vector<3>(2));
  std::vector<std::array<Real, 2>> places;
  for (const auto& p : met.points) {
    CHECK(p.gap == Approx(0.01).epsilon(1e-12));
    CHECK(p.place[2] == Approx(0.515).epsilon(1e-12));
    places.push_back({std::round(1e9 * p.place[0]) / 1e9, std::round(1e9 * p.place[1]) / 1e9});
  }
  std::ranges::sort(places);
  CHECK(places == std::vector<std::array<Real, 2>>{{-0.3, -0.5}, {-0.3, 0.2}, {0.5, -0.5}, {0.5, 0.2}});

  // A little tilted and moved, the points keep their names.
  const Real tilt = 1e-4;
  b.axes = {{{{std::cos(tilt), 0, std::sin(tilt)}}, {{0, 1, 0}}, {{-std::sin(tilt), 0, std::cos(tilt)}}}};
  b.centre += Vec<3>{{1e-3, 1e-3, 1e-4}};
  const auto moved = contact_points<3>({box, a}, {box, b}, 0.01, 0.01, 0.1, 0.05);
  REQUIRE(moved.n == 4);
  std::vector<std::uint32_t> before, after;
  for (const auto& p : met.points) before.push_back(p.feature);
  for (const auto& p : moved.points) after.push_back(p.feature);
  std::ranges::sort(before);
  std::ranges::sort(after);
  CHECK(before == after);

  // Exactly on top of each other: the corners themselves, with the names of corners.
  b = {{{0, 0, 1.03}}, world<3>(), 1};
  const auto flush = contact_points<3>({box, a}, {box, b}, 0.01, 0.01, 0.1, 0.05);
  REQUIRE(flush.n == 4);
  for (const auto& p : flush.points) CHECK((p.feature & 127u) == 0);
}

TEST_CASE("contact points: on an edge two, on a corner one, along parallel rods two, across one",
          "[convex]") {
  const ConvexCore<3> box(corners_of_box<3>({{0.5, 0.5, 0.5}}));
  const BodyPose<3> a{{}, world<3>(), 1};
  const Real h = std::numbers::sqrt2 / 2;
  const BodyPose<3> on_edge{{{0, 0, 0.5 + h + 0.01}}, {{{{h, 0, h}}, {{0, 1, 0}}, {{-h, 0, h}}}}, 1};
  const auto edge = contact_points<3>({box, a}, {box, on_edge}, 0.001, 0.001, 0.1, 0.05);
  REQUIRE(edge.n == 2);
  CHECK(norm(edge.normal - unit_vector<3>(2)) < 1e-14);
  CHECK(edge.points[0].gap == Approx(0.008).epsilon(1e-9));
  CHECK(std::abs(edge.points[0].place[1] - edge.points[1].place[1]) == Approx(1).epsilon(1e-9));

  const Real t = 1 / std::sqrt(3.0), s = 1 / std::sqrt(6.0);
  const std::array<Vec<3>, 3> diagonal{{{{h, s, t}}, {{-h, s, t}}, {{0, -2 * s, t}}}};
  const BodyPose<3> on_corner{{{0, 0, 0.5 + std::sqrt(0.75) + 0.01}}, diagonal, 1};
  const auto corner = contact_points<3>({box, a}, {box, on_corner}, 0.001, 0.001, 0.1, 0.05);
  REQUIRE(corner.n == 1);
  CHECK(corner.points[0].gap == Approx(0.008).epsilon(1e-9));

  const ConvexCore<3> rod(ConvexHull<3>{{{{-1, 0, 0}}, {{1, 0, 0}}}, {}});
  const BodyPose<3> beside{{{0.5, 0, 0.42}}, world<3>(), 1};
  const auto along = contact_points<3>({rod, a}, {rod, beside}, 0.2, 0.2, 0.1, 0.05);
  REQUIRE(along.n == 2);
  CHECK(along.points[0].gap == Approx(0.02).epsilon(1e-12));
  CHECK(std::abs(along.points[0].place[0] - along.points[1].place[0]) == Approx(1.5).epsilon(1e-9));
  const BodyPose<3> crosswise{{{0.5, 0, 0.42}}, {{{{0, 1, 0}}, {{-1, 0, 0}}, {{0, 0, 1}}}}, 1};
  CHECK(contact_points<3>({rod, a}, {rod, crosswise}, 0.2, 0.2, 0.1, 0.05).n == 1);
  const auto lying =
      contact_points<3>({box, a}, {rod, {{{0.2, 0, 0.72}}, world<3>(), 1}}, 0.01, 0.2, 0.1, 0.05);
  REQUIRE(lying.n == 2);
  CHECK(std::abs(lying.points[0].place[0]) == Approx(0.5).epsilon(1e-9));
}

// Two cards of L 2.5 m and 5 cm that lean against each other at 65 degrees: by symmetry their forces are
// level.
TEST_CASE("contact points: the cards of a tent push each other along the level, at both ends of their edges",
          "[convex]") {
  const Real angle = 65 * pi / 180, c = std::cos(angle), s = std::sin(angle);
  const ConvexCore<3> card(corners_of_box<3>({{1.25, 0.625, 0.025}}));
  // Long edges go up to the right and up to the left; the top corners that meet are those above.
  const auto axes = [&](Real side) -> std::array<Vec<3>, 3> {
    return {{{{side * c, 0, s}}, {{0, side, 0}}, {{-side * s, 0, c}}}};
  };
  const BodyPose<3> left{{}, axes(1), 1};
  const Real half_gap = 0.001;
  const Real reach_of_top = 1.25 * c + 0.025 * s;
  const BodyPose<3> right{{{2 * (reach_of_top + half_gap), 0, 0}}, axes(-1), 1};
  const auto met = contact_points<3>({card, left}, {card, right}, 0.0005, 0.0005, 0.1, 0.002);
  REQUIRE(met.n == 2);
  CHECK(norm(met.normal - unit_vector<3>(0)) < 1e-12);
  for (const auto& p : {met.points[0], met.points[1]}) {
    CHECK(p.gap == Approx(0.001).epsilon(1e-9));
    CHECK(std::abs(p.place[1]) == Approx(0.625).epsilon(1e-12));
  }
  // Of faces: at 25 degrees to the level, which is what friction at the top would have to hold.
  const auto faces =
      contact_points<3>({card, left}, {card, right}, 0.0005, 0.0005, 0.1, 0.002, nullptr, NormalsOf::faces);
  REQUIRE(faces.n >= 1);
  CHECK(std::abs(faces.normal[2]) / faces.normal[0] == Approx(std::tan(25 * pi / 180)).epsilon(1e-12));
}

TEST_CASE("contact points: in the plane an edge on an edge has two", "[convex]") {
  const ConvexCore<2> square(corners_of_box<2>({{0.5, 0.5}}));
  const BodyPose<2> a{{}, world<2>(), 1};
  const auto met =
      contact_points<2>({square, a}, {square, {{{0.3, 1.02}}, world<2>(), 1}}, 0.005, 0.005, 0.1, 0.05);
  REQUIRE(met.n == 2);
  CHECK(met.normal == unit_vector<2>(1));
  for (const auto& p : met.points) CHECK(p.gap == Approx(0.01).epsilon(1e-12));
  CHECK(std::abs(met.points[0].place[0] - met.points[1].place[0]) == Approx(0.7).epsilon(1e-9));
  const Real h = std::numbers::sqrt2 / 2;
  const BodyPose<2> tilted{{{0, 0.5 + h + 0.02}}, {{{{h, h}}, {{-h, h}}}}, 1};
  CHECK(contact_points<2>({square, a}, {square, tilted}, 0.005, 0.005, 0.1, 0.05).n == 1);
}

TEST_CASE("contact points: corners on a plane, at most four, the lowest and those far from it", "[convex]") {
  const ConvexCore<3> box(corners_of_box<3>({{0.5, 1, 2}}));
  const Plane<3> floor{{{0, 0, -1}}, 2.03};
  const auto flat = contact_points_with_plane<3>({box, {{}, world<3>(), 1}}, 0.01, floor, 0.1, 0.05);
  REQUIRE(flat.n == 4);
  CHECK(flat.normal == floor.normal);
  CHECK_FALSE(flat.cores_overlap);
  for (const auto& p : flat.points) {
    CHECK(p.gap == Approx(0.02).epsilon(1e-12));
    CHECK(p.place[2] == Approx(-2.02).epsilon(1e-12));
    CHECK(std::abs(p.place[0]) == 0.5);
    CHECK(std::abs(p.place[1]) == 1);
  }
  CHECK(contact_points_with_plane<3>({box, {{}, world<3>(), 1}}, 0.01, floor, 0.019, 0.05).n == 0);
  CHECK(contact_points_with_plane<3>({box, {{{0, 0, -0.04}}, world<3>(), 1}}, 0.01, floor, 0.1, 0.05)
            .cores_overlap);

  // A drum of 60 corners below: four of them, spread around.
  std::vector<Vec<3>> corners;
  for (int i = 0; i < 60; ++i)
    for (const Real z : {-1, 1})
      corners.push_back({{std::cos(2 * pi * i / 60), std::sin(2 * pi * i / 60), z}});
  const ConvexCore<3> drum(hull_of<3>(corners));
  const auto ring =
      contact_points_with_plane<3>({drum, {{}, world<3>(), 1}}, 0.01, {{{0, 0, -1}}, 1.01}, 0.1, 0.05);
  REQUIRE(ring.n == 4);
  Vec<3> mean;
  for (const auto& p : ring.points) mean += 0.25 * p.place;
  CHECK(std::hypot(mean[0], mean[1]) < 0.05);
  CHECK_FALSE(core_fits(drum));  // its faces have more corners than a name can distinguish
  CHECK(core_fits(box));
}

// Points depend on who is called a only in their names and by round-off.
TEST_CASE("contact points: the other way round the same", "[convex]") {
  RandomStream random(9, 0, 1);
  const auto all = cores<3>();
  int n_met = 0, n_other = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto &first = all[static_cast<std::size_t>(i) % all.size()],
               &second = all[static_cast<std::size_t>(i / 7) % all.size()];
    const BodyPose<3> a{{}, axes_of<3>(random), 1};
    BodyPose<3> b{{}, axes_of<3>(random), 1};
    for (int k = 0; k < 3; ++k) b.centre[k] = random.uniform(-2, 2);
    const auto found = closest_points<3>({first, a}, {second, b}, 1e9);
    if (found.state != SeparationState::near) continue;
    b.centre -= (found.distance - 0.05) * found.normal;
    const auto there = contact_points<3>({first, a}, {second, b}, 0.02, 0.03, 0.1, 0.02);
    BodyPose<3> a_from_b = a, b_at_0 = b;
    a_from_b.centre = -b.centre;
    b_at_0.centre = {};
    const auto back = contact_points<3>({second, b_at_0}, {first, a_from_b}, 0.03, 0.02, 0.1, 0.02);
    REQUIRE(there.n >= 1);
    CHECK(norm(there.normal + back.normal) < 1e-7);
    Real min_there = HUGE_VAL, min_back = HUGE_VAL;
    for (int k = 0; k < there.n; ++k) min_there = std::min(min_there, there.points[k].gap);
    for (int k = 0; k < back.n; ++k) min_back = std::min(min_back, back.points[k].gap);
    CHECK(min_there == Approx(0).margin(1e-9));
    CHECK(min_back == Approx(0).margin(1e-9));
    ++n_met;
    if (there.n != back.n) ++n_other;
  }
  CHECK(n_met > 1000);
  CHECK(n_other < n_met / 20);
}

// The apex of a tent: two long edges, all faces 45 degrees from the line between them. Lost, one end of the
// contact would let the cards turn about the other.
TEST_CASE("contact points: edges side by side keep both ends", "[convex]") {
  const ConvexCore<3> card(corners_of_box<3>({{0.5, 0.25, 0.005}}));
  constexpr Real r = 0.7071067811865476, rounding = 1e-4;
  for (const Real tilt : {0.0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5}) {
    CAPTURE(tilt);
    const BodyPose<3> a{{}, {Vec<3>{{r, 0, r}}, Vec<3>{{0, 1, 0}}, Vec<3>{{-r, 0, r}}}, 1};
    // The mirror image in the plane x = d, a little turned about x.
    const Real c = std::cos(tilt), s = std::sin(tilt);
    const auto turned = [&](const Vec<3>& x) {
      return Vec<3>{{x[0], c * x[1] - s * x[2], s * x[1] + c * x[2]}};
    };
    BodyPose<3> b{{}, {turned({{r, 0, -r}}), turned({{0, 1, 0}}), turned({{r, 0, r}})}, 1};
    b.centre[0] = 3 * r;
    const auto apart = closest_points<3>({card, a}, {card, b}, 1e9);
    b.centre -= (apart.distance - 3 * rounding) * apart.normal;
    const auto found = contact_points<3>({card, a}, {card, b}, rounding, rounding, 0.01, 0.01);
    REQUIRE(found.n >= 2);
    Real lowest = 1, highest = -1;
    for (int k = 0; k < found.n; ++k) {
      const auto& point = found.points[k];
      lowest = std::min(lowest, point.place[1]);
      highest = std::max(highest, point.place[1]);
      CHECK(point.gap >= rounding - 1e-9);
    }
    CHECK(lowest == Approx(-0.25).margin(1e-3));
    CHECK(highest == Approx(0.25).margin(1e-3));
  }
}

}  // namespace scree
