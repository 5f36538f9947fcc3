// Shapes of bodies: frame, size, mass and what is refused.
#include "geometry/convex/shape.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "core/random.hpp"

namespace scree {
namespace {

constexpr Real pi = std::numbers::pi;

template <int D>
Real farthest(const ConvexShape<D>& shape) {
  Real radius = 0;
  for (const Vec<D>& vertex : shape.core.vertices) radius = std::max(radius, norm(vertex));
  return radius + shape.rounding;
}

}  // namespace

TEST_CASE("shape: a box has the extents, the mass and the axes that it is given", "[convex]") {
  const ConvexShape<3> box = box_shape<3>({{0.2, 0.1, 0.4}}, std::nullopt);
  CHECK(box.core.vertices.size() == 8);
  CHECK(box.core.faces.size() == 6);
  CHECK(box.radius * box.rounding == Approx(1e-4).epsilon(1e-12));
  CHECK(farthest(box) == Approx(1).epsilon(1e-14));
  for (const Vec<3>& vertex : box.core.vertices)
    for (int k = 0; k < 3; ++k)
      CHECK(box.radius * (std::abs(vertex[k]) + box.rounding) ==
            Approx(Vec<3>{{0.1, 0.05, 0.2}}[k]).epsilon(1e-11));
  const Real r = box.radius, volume = 0.2 * 0.1 * 0.4;
  CHECK(r * r * r * box.volume == Approx(volume).epsilon(1e-12));
  CHECK(std::pow(r, 5) * box.moments[0] == Approx(volume * (0.01 + 0.16) / 12).epsilon(1e-12));
  CHECK(std::pow(r, 5) * box.moments[1] == Approx(volume * (0.04 + 0.16) / 12).epsilon(1e-12));
  CHECK(std::pow(r, 5) * box.moments[2] == Approx(volume * (0.04 + 0.01) / 12).epsilon(1e-12));
  CHECK(r * box.inscribed_radius == Approx(0.05).epsilon(1e-12));
  for (int k = 0; k < 3; ++k) CHECK(box.described_axes[k] == unit_vector<3>(k));

  const ConvexShape<2> plate = box_shape<2>({{3, 1}}, 0.25);
  CHECK(plate.core.vertices.size() == 4);
  CHECK(plate.radius == Approx(std::hypot(1.25, 0.25) + 0.25).epsilon(1e-12));
  CHECK(std::pow(plate.radius, 4) * plate.moments[0] == Approx(3 * (9 + 1) / 12.0).epsilon(1e-12));
}

// By the integral over slices along x, in many of them.
TEST_CASE("shape: volume and moments of capsules", "[convex]") {
  constexpr Real length = 0.3, radius = 0.2;
  constexpr int n = 200'000;
  Real area = 0, turning = 0, volume = 0, along = 0, across = 0;
  const Real dx = (length + 2 * radius) / n;
  for (int i = 0; i < n; ++i) {
    const Real x = -length / 2 - radius + (i + 0.5) * dx;
    const Real beyond = std::max(0.0, std::abs(x) - length / 2);
    const Real h2 = radius * radius - beyond * beyond, h = std::sqrt(h2);
    area += 2 * h * dx;
    turning += (2 * h * x * x + 2 * h * h2 / 3) * dx;
    volume += pi * h2 * dx;
    along += pi * h2 * h2 / 2 * dx;
    across += (pi * h2 * x * x + pi * h2 * h2 / 4) * dx;
  }
  const ConvexShape<2> flat = capsule_shape<2>(length, radius);
  const Real r = length / 2 + radius;
  CHECK(flat.radius == Approx(r));
  CHECK(r * r * flat.volume == Approx(area).epsilon(1e-6));
  CHECK(std::pow(r, 4) * flat.moments[0] == Approx(turning).epsilon(1e-6));
  const ConvexShape<3> rod = capsule_shape<3>(length, radius);
  CHECK(r * r * r * rod.volume == Approx(volume).epsilon(1e-6));
  CHECK(std::pow(r, 5) * rod.moments[0] == Approx(along).epsilon(1e-6));
  CHECK(std::pow(r, 5) * rod.moments[1] == Approx(across).epsilon(1e-6));
  CHECK(rod.moments[2] == rod.moments[1]);
  REQUIRE(rod.core.vertices.size() == 2);
  CHECK(norm(r * rod.core.vertices[1] - Vec<3>{{length / 2, 0, 0}}) < 1e-15);
  CHECK(rod.core.vertices[0] == -rod.core.vertices[1]);
}

TEST_CASE("shape: a hull sits about its centre, along its principal axes, wherever its points were",
          "[convex]") {
  RandomStream random(3, 0, 1);
  std::vector<Vec<3>> points;
  for (int i = 0; i < 40; ++i)
    points.push_back({{10 + random.uniform(-1, 1), random.uniform(-2, 2), random.uniform(-3, 3) - 7}});
  const ConvexShape<3> pebble = hull_shape<3>(points, std::nullopt);
  CHECK(farthest(pebble) == Approx(1).epsilon(1e-14));
  ConvexHull<3> sharp = hull_of<3>(points);
  // The points in body axes: mass about 0, and no products of inertia.
  for (Vec<3>& vertex : sharp.vertices) {
    const Vec<3> arm = vertex - pebble.described_centre;
    vertex = arm[0] * pebble.described_axes[0] + arm[1] * pebble.described_axes[1] +
             arm[2] * pebble.described_axes[2];
  }
  const MassProperties<3> mass = mass_properties(sharp);
  CHECK(norm(mass.centre) < 1e-12);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(mass.inertia[3 * i + j] ==
            Approx(i == j ? std::pow(pebble.radius, 5) * pebble.moments[i] : 0).epsilon(1e-10).margin(1e-10));
  // The core is what the sharp body holds of balls of the rounding.
  for (const Plane<3>& plane : planes_of(sharp)) {
    Real highest = -HUGE_VAL;
    for (const Vec<3>& vertex : pebble.core.vertices)
      highest = std::max(highest, pebble.radius * dot(plane.normal, vertex));
    CHECK(highest + pebble.radius * pebble.rounding == Approx(plane.offset).epsilon(1e-9));
  }
  CHECK(pebble.inscribed_radius * pebble.radius < 1);
}

TEST_CASE("shape: what makes no body is refused", "[convex]") {
  CHECK_THROWS_WITH(box_shape<3>({{1, 0, 1}}, std::nullopt), "has an extent that is not positive");
  CHECK_THROWS_WITH(
      box_shape<3>({{1, 1, 1}}, 0.0),
      "has a rounding_radius of 0 m; it must be above 0 and below half of the smallest extent, 0.5 m");
  CHECK_THROWS_WITH(
      box_shape<2>({{1, 0.2}}, 0.1),
      "has a rounding_radius of 0.1 m; it must be above 0 and below half of the smallest extent, 0.1 m");
  CHECK_THROWS_WITH(box_shape<3>({{1, 1, 1e-4}}, std::nullopt), "is 0.0001 m by 1 m, more than 1 to 1000");
  CHECK_THROWS_WITH(capsule_shape<3>(1, -1), "has an extent that is not positive");
  CHECK_THROWS_WITH(capsule_shape<2>(1, 1e-4), "is 0.0002 m by 1 m, more than 1 to 1000");
}

}  // namespace scree
