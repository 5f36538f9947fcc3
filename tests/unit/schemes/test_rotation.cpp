#include <algorithm>
#include <catch2/catch.hpp>
#include <numbers>

#include "core/random.hpp"
#include "schemes/common/free_rotation.hpp"

using namespace scree;

namespace {

constexpr Real pi = std::numbers::pi;

}  // namespace

TEST_CASE("rotation: a disk adds angles", "[dynamics]") {
  CHECK(turned<2>({{0.25}}, {{-3}}, 0.5)[0] == -1.25);
  CHECK(turned<2>({{7}}, {{0}}, 0.5)[0] == 7);
}

TEST_CASE("rotation: a quarter turn about each axis takes the next axis to the one after it", "[dynamics]") {
  for (int k = 0; k < 3; ++k) {
    const Orientation<3> q = turned<3>(upright<3>(), unit_vector<3>(k, pi / 4), 2);
    const Vec<3> image = to_world(q, unit_vector<3>((k + 1) % 3));
    CHECK(norm(image - unit_vector<3>((k + 2) % 3)) < 1e-15);
    CHECK(norm(to_world(q, unit_vector<3>(k)) - unit_vector<3>(k)) < 1e-15);
  }
}

TEST_CASE("rotation: many steps of constant spin are one, and a full turn comes back", "[dynamics]") {
  const Spin<3> spin{{1, -2, 2}};  // 3 rad/s
  const Orientation<3> start = turned<3>(upright<3>(), {{0.3, 0.2, -0.7}}, 1);
  Orientation<3> q = start;
  for (int step = 0; step < 1000; ++step) q = turned<3>(q, spin, 1e-3);
  CHECK(norm(q - turned<3>(start, spin, 1)) < 1e-13);
  const Orientation<3> around = turned<3>(start, spin, 2 * pi / 3);
  CHECK(norm(around + start) < 1e-15);  // q and -q are the same orientation
}

TEST_CASE("rotation: a point of the body moves with the cross product of spin and arm, in world axes",
          "[dynamics]") {
  RandomStream random(11, 0, 1);
  for (int i = 0; i < 20; ++i) {
    Spin<3> spin;
    Vec<3> x;
    for (int k = 0; k < 3; ++k) {
      spin[k] = random.uniform(-5, 5);
      x[k] = random.uniform(-1, 1);
    }
    const Orientation<3> q = turned<3>(upright<3>(), {{random.uniform(-3, 3), 1, 2}}, 1);
    constexpr Real dt = 1e-5;
    const Vec<3> moved = to_world(turned<3>(q, spin, dt), x) - to_world(turned<3>(q, spin, -dt), x);
    CHECK(norm(moved * (0.5 / dt) - cross(spin, to_world(q, x))) < 1e-7);
    CHECK(norm(turned<3>(q, spin, 0.1)) == Approx(1).epsilon(1e-15));
  }
  CHECK(turned<3>(upright<3>(), {}, 1) == upright<3>());
}

namespace {

Real energy(const Rotation& body, const Vec<3>& moments) {
  return 0.5 * dot(body.spin, times_inertia(body.orientation, moments, body.spin));
}

}  // namespace

// A brick of sides 1:2:5 that spins about its middle axis, disturbed: it tumbles.
TEST_CASE("free rotation: a brick keeps energy and angular momentum", "[dynamics]") {
  const Vec<3> moments{{4 + 25, 1 + 25, 1 + 4}};
  for (const Real dt : {0.01, 0.001}) {
    Rotation body{turned<3>(upright<3>(), {{0.3, 0.2, -0.7}}, 1), {}};
    body.spin = to_world(body.orientation, {{0.01, 10, 0.01}});
    const Real before = energy(body, moments);
    const Vec<3> momentum = times_inertia(body.orientation, moments, body.spin);
    Real error = 0, min_along_middle = 10;
    for (int step = 0; step < std::lround(10 / dt); ++step) {
      body = rotated_freely(body, moments, dt);
      error = std::max(error, std::abs(energy(body, moments) / before - 1));
      min_along_middle = std::min(min_along_middle, to_body(body.orientation, body.spin)[1]);
    }
    CHECK(error < 1e-9);
    CHECK(norm(times_inertia(body.orientation, moments, body.spin) - momentum) < 1e-11 * norm(momentum));
    CHECK(min_along_middle < -9.9);
  }
}

// Its axis goes around L at |L| / I_1 (L. D. Landau, E. M. Lifshitz, Mechanics, section 33).
TEST_CASE("free rotation: a symmetric top precesses", "[dynamics]") {
  const Vec<3> moments{{2, 2, 1}};
  const Vec<3> spin{{1, 0, 3}};
  const Vec<3> momentum{{2, 0, 3}};
  const Real time = 2 * pi / (norm(momentum) / 2);
  Real last = 0;
  for (const int n : {200, 400}) {
    Rotation body{upright<3>(), spin};
    for (int step = 0; step < n; ++step) body = rotated_freely(body, moments, time / n);
    const Real error = norm(to_world(body.orientation, {{0, 0, 1}}) - Vec<3>{{0, 0, 1}});
    CHECK(error < 2e-3);
    if (last > 0) CHECK(last / error == Approx(4).epsilon(0.05));  // of second order
    last = error;
  }
}

TEST_CASE("free rotation: long steps are taken in parts, back is the way there, and a ball just turns",
          "[dynamics]") {
  const Vec<3> moments{{1, 7, 3}};
  const Rotation start{turned<3>(upright<3>(), {{0.1, 0.5, 0.2}}, 1), {{20, -30, 5}}};
  const Rotation far = rotated_freely(start, moments, 0.5);
  CHECK(energy(far, moments) == Approx(energy(start, moments)).epsilon(1e-12));
  const Rotation back = rotated_freely(far, moments, -0.5);
  CHECK(norm(back.orientation - start.orientation) < 1e-10);
  CHECK(norm(back.spin - start.spin) < 1e-9);
  const Rotation ball = rotated_freely(start, filled<3>(2), 0.3);
  CHECK(ball.orientation == turned<3>(start.orientation, start.spin, 0.3));
  CHECK(ball.spin == start.spin);
}
