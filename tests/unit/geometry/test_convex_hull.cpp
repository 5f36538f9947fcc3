// Hulls of points, what is left of them inside their faces, and their mass: against closed forms.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <random>

#include "core/error.hpp"
#include "geometry/convex/mass.hpp"

namespace scree {
namespace {

constexpr Real tight = 1e-13;

std::vector<Vec<3>> corners_of_box(const Vec<3>& half) {
  std::vector<Vec<3>> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back({{(i & 1 ? 1 : -1) * half[0], (i & 2 ? 1 : -1) * half[1], (i & 4 ? 1 : -1) * half[2]}});
  return corners;
}

/// Corners of a regular dodecahedron with edges of 2 / golden ratio.
std::vector<Vec<3>> corners_of_dodecahedron() {
  constexpr Real g = std::numbers::phi;
  std::vector<Vec<3>> corners = corners_of_box(filled<3>(1));
  for (const Real a : {-1 / g, 1 / g})
    for (const Real b : {-g, g}) {
      corners.push_back({{0, a, b}});
      corners.push_back({{a, b, 0}});
      corners.push_back({{b, 0, a}});
    }
  return corners;
}

/// `point` turned about two axes and moved.
Vec<3> somewhere_else(const Vec<3>& point) {
  const Real c = std::cos(0.7), s = std::sin(0.7), d = std::cos(-1.1), t = std::sin(-1.1);
  const Vec<3> a{{c * point[0] - s * point[1], s * point[0] + c * point[1], point[2]}};
  return Vec<3>{{a[0], d * a[1] - t * a[2], t * a[1] + d * a[2]}} + Vec<3>{{3, -2, 5}};
}

template <int D>
ConvexHull<D> hull(const std::vector<Vec<D>>& points) {
  return hull_of<D>(points);
}

/// All corners are on the inner side of all planes, each plane holds D of them, and the planes point
/// outwards.
template <int D>
void check_closed(const ConvexHull<D>& body) {
  const auto planes = planes_of(body);
  for (const auto& plane : planes) {
    CHECK(norm(plane.normal) == Approx(1).epsilon(tight));
    int n_on = 0;
    for (const Vec<D>& vertex : body.vertices) {
      const Real height = dot(plane.normal, vertex) - plane.offset;
      CHECK(height < 1e-12);
      if (height > -1e-12) ++n_on;
    }
    CHECK(n_on >= D);
  }
  if constexpr (D == 3) {
    std::size_t n_corners = 0;
    for (const auto& face : body.faces) n_corners += face.size();
    CHECK(body.vertices.size() + body.faces.size() == n_corners / 2 + 2);  // Euler
  }
}

}  // namespace

TEST_CASE("convex hull: faces of solids, with points inside and copies", "[convex]") {
  std::vector<Vec<3>> points = corners_of_box({{1, 2, 3}});
  std::mt19937 random(5);
  std::uniform_real_distribution<Real> inside(-0.99, 0.99);
  for (int i = 0; i < 200; ++i) points.push_back({{inside(random), 2 * inside(random), 3 * inside(random)}});
  for (int i = 0; i < 8; ++i) points.push_back(points[i] + Vec<3>{{1e-12, 0, 0}});
  const ConvexHull<3> box = hull(points);
  CHECK(box.vertices == corners_of_box({{1, 2, 3}}));
  REQUIRE(box.faces.size() == 6);
  for (const auto& face : box.faces) CHECK(face.size() == 4);
  check_closed(box);

  const ConvexHull<3> dodecahedron = hull(corners_of_dodecahedron());
  CHECK(dodecahedron.vertices.size() == 20);
  REQUIRE(dodecahedron.faces.size() == 12);
  for (const auto& face : dodecahedron.faces) CHECK(face.size() == 5);
  check_closed(dodecahedron);

  // Points on a sphere: all are corners.
  std::normal_distribution<Real> gauss;
  std::vector<Vec<3>> on_sphere;
  for (int i = 0; i < 300; ++i) {
    const Vec<3> v{{gauss(random), gauss(random), gauss(random)}};
    on_sphere.push_back(1 / norm(v) * v);
  }
  const ConvexHull<3> ball = hull(on_sphere);
  CHECK(ball.vertices == on_sphere);
  CHECK(ball.faces.size() == 2 * 300 - 4);
  check_closed(ball);
}

TEST_CASE("convex hull: polygons run counter-clockwise from the first corner of the input", "[convex]") {
  const std::vector<Vec<2>> points{{{2, 0}}, {{0, 0}}, {{1, 0}}, {{1, 1}}, {{0, 2}}, {{2, 2}}, {{0.5, 0.5}}};
  const ConvexHull<2> square = hull(points);
  CHECK(square.vertices == std::vector<Vec<2>>{{{2, 0}}, {{2, 2}}, {{0, 2}}, {{0, 0}}});
  CHECK(square.faces.empty());
  check_closed(square);
}

TEST_CASE("convex hull: small and large, far away, and the same twice", "[convex]") {
  for (const Real scale : {1e-6, 1.0, 1e4}) {
    std::vector<Vec<3>> points;
    for (const Vec<3>& corner : corners_of_dodecahedron()) points.push_back(scale * somewhere_else(corner));
    const ConvexHull<3> once = hull(points), again = hull(points);
    CHECK(once.faces.size() == 12);
    CHECK(once.vertices == again.vertices);
    CHECK(once.faces == again.faces);
  }
}

TEST_CASE("convex hull: what makes no body is refused", "[convex]") {
  CHECK_THROWS_WITH(hull<3>({}), "has 0 different points; a body needs at least 4");
  CHECK_THROWS_WITH(hull<3>({{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 1, 0}}}),
                    "has 3 different points; a body needs at least 4");
  CHECK_THROWS_WITH(hull<3>({{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{1, 1, 0}}, {{0.5, 0.3, 0}}}),
                    "has all its points in one plane");
  CHECK_THROWS_WITH(hull<2>({{{0, 0}}, {{1, 1}}, {{2, 2}}}), "has all its points on one line");
  CHECK_THROWS_WITH(hull<2>({{{0, 0}}, {{1, NAN}}, {{2, 2}}}), "has a coordinate that is not a number");
}

TEST_CASE("mass: box, tetrahedron, prism, polygon", "[convex]") {
  const Vec<3> half{{0.5, 1, 1.5}};
  const MassProperties<3> box = mass_properties(hull(corners_of_box(half)));
  CHECK(box.volume == Approx(6).epsilon(tight));
  CHECK(norm(box.centre) < tight);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Real squares = dot(half, half) - half[i] * half[i];
      CHECK(box.inertia[3 * i + j] == Approx(i == j ? 6 * squares / 3 : 0).epsilon(tight).margin(tight));
    }

  // Regular, edge a: V = a^3 / (6 sqrt(2)), I = m a^2 / 20 about each axis through the centre.
  const Real edge = 2 * std::numbers::sqrt2;
  const MassProperties<3> tetrahedron =
      mass_properties(hull<3>({{{1, 1, 1}}, {{1, -1, -1}}, {{-1, 1, -1}}, {{-1, -1, 1}}}));
  CHECK(tetrahedron.volume == Approx(edge * edge * edge / (6 * std::numbers::sqrt2)).epsilon(tight));
  CHECK(tetrahedron.inertia[4] == Approx(tetrahedron.volume * edge * edge / 20).epsilon(tight));
  CHECK(std::abs(tetrahedron.inertia[1]) < tight);

  // Regular polygon of n corners, circumscribed radius 1: I = A (2 + cos(2 pi / n)) / 6.
  for (const int n : {3, 4, 7}) {
    std::vector<Vec<2>> corners;
    for (int i = 0; i < n; ++i) {
      const Real angle = 2 * std::numbers::pi * i / n;
      corners.push_back({{3 + std::cos(angle), std::sin(angle) - 1}});
    }
    const MassProperties<2> polygon = mass_properties(hull(corners));
    const Real step = 2 * std::numbers::pi / n;
    CHECK(polygon.volume == Approx(0.5 * n * std::sin(step)).epsilon(tight));
    CHECK(norm(polygon.centre - Vec<2>{{3, -1}}) < 1e-12);
    CHECK(polygon.inertia[0] == Approx(polygon.volume * (2 + std::cos(step)) / 6).epsilon(1e-12));
  }
}

TEST_CASE("mass: moments do not depend on place and direction, and axes are those of the body", "[convex]") {
  const Vec<3> half{{0.5, 1, 1.5}};
  std::vector<Vec<3>> points;
  for (const Vec<3>& corner : corners_of_box(half)) points.push_back(somewhere_else(corner));
  const MassProperties<3> box = mass_properties(hull(points));
  CHECK(norm(box.centre - Vec<3>{{3, -2, 5}}) < 1e-12);
  const PrincipalAxes principal = principal_axes(box.inertia);
  std::array<Real, 3> moments = principal.moments.component;
  std::ranges::sort(moments);
  CHECK(moments[0] == Approx(6 * (0.25 + 1) / 3).epsilon(1e-12));
  CHECK(moments[1] == Approx(6 * (0.25 + 2.25) / 3).epsilon(1e-12));
  CHECK(moments[2] == Approx(6 * (1 + 2.25) / 3).epsilon(1e-12));
  CHECK(norm(cross(principal.axes[0], principal.axes[1]) - principal.axes[2]) < 1e-12);
  for (std::size_t k = 0; k < 3; ++k) {
    Vec<3> turned;  // I axis = moment axis
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) turned[i] += box.inertia[3 * i + j] * principal.axes[k][j];
    CHECK(norm(turned - principal.moments[static_cast<int>(k)] * principal.axes[k]) < 1e-11);
  }
}

TEST_CASE("mass: a body along the axes keeps them, equal moments or not", "[convex]") {
  for (const Vec<3>& half : {Vec<3>{{0.5, 1, 1.5}}, Vec<3>{{1.5, 0.5, 0.5}}, Vec<3>{{1, 1, 1}}}) {
    const PrincipalAxes principal = principal_axes(mass_properties(hull(corners_of_box(half))).inertia);
    for (int k = 0; k < 3; ++k) CHECK(principal.axes[k] == unit_vector<3>(k));
  }
  const PrincipalAxes dodecahedron = principal_axes(mass_properties(hull(corners_of_dodecahedron())).inertia);
  CHECK(dodecahedron.axes[0] == unit_vector<3>(0));
}

TEST_CASE("inset: all faces move inwards by the depth", "[convex]") {
  const ConvexHull<3> box = hull(corners_of_box({{1, 2, 3}}));
  const ConvexHull<3> inner = inset(box, 0.25);
  CHECK(inner.vertices.size() == 8);
  CHECK(inner.faces.size() == 6);
  for (const Vec<3>& vertex : inner.vertices)
    for (int k = 0; k < 3; ++k) CHECK(std::abs(vertex[k]) == Approx(k + 0.75).epsilon(1e-12));
  check_closed(inner);

  const ConvexHull<3> dodecahedron = hull(corners_of_dodecahedron());
  const Real inner_radius = planes_of(dodecahedron).front().offset;
  const ConvexHull<3> smaller = inset(dodecahedron, 0.1 * inner_radius);
  CHECK(smaller.faces.size() == 12);
  CHECK(mass_properties(smaller).volume ==
        Approx(0.9 * 0.9 * 0.9 * mass_properties(dodecahedron).volume).epsilon(1e-11));

  // A corner cut off by less than the depth takes with it vanishes: a roof over a box.
  const ConvexHull<2> house = hull<2>({{{-1, -1}}, {{1, -1}}, {{1, 0.99}}, {{0.99, 1}}, {{-1, 1}}});
  CHECK(inset(house, 0.5).vertices.size() == 4);
  CHECK(mass_properties(inset(house, 0.5)).volume == Approx(1).epsilon(1e-12));
}

}  // namespace scree
