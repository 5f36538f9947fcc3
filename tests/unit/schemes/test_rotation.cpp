#include "schemes/common/rotation.hpp"

#include <catch2/catch.hpp>
#include <numbers>

#include "core/random.hpp"

using namespace scree;

namespace {

constexpr Real pi = std::numbers::pi;

/// x in body axes, seen in world axes: q x q*.
Vec<3> to_world(const Orientation<3>& q, const Vec<3>& x) {
  const Vec<3> imaginary{{q[1], q[2], q[3]}};
  const Vec<3> twice = 2.0 * cross(imaginary, x);
  return x + q[0] * twice + cross(imaginary, twice);
}

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
