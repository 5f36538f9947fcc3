#include "friction/cone.hpp"

#include <catch2/catch.hpp>

#include "core/random.hpp"

using namespace scree;

namespace {

template <int D>
Vec<D> random_point(RandomStream& random) {
  Vec<D> x;
  for (int k = 0; k < D; ++k) x[k] = random.uniform(-1, 1);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG(
    "cone: the projection of 2000 random points is in the cone and Moreau's two parts are "
    "perpendicular",
    "[solvers]", ((int D), D), 2, 3) {
  RandomStream random(3, D, 1);
  for (int i = 0; i < 2000; ++i) {
    const Real mu = i % 10 == 0 ? 0 : random.uniform(0, 1.5);
    const Vec<D> x = random_point<D>(random);
    const Vec<D> p = project_on_cone<D>(x.component.data(), mu);
    const Vec<D> rest = p - x;  // must be in the dual cone: mu |rest_T| <= rest_N
    CHECK(tangential_norm<D>(p.component.data()) <= mu * p[0] + 1e-15);
    CHECK(mu * tangential_norm<D>(rest.component.data()) <= rest[0] + 1e-15);
    CHECK(std::abs(dot(p, rest)) < 1e-15);
  }
}

TEST_CASE("cone: projections of four points by hand", "[solvers]") {
  const Real inside[3] = {2, 0.6, 0.8};
  CHECK(project_on_cone<3>(inside, 0.5) == Vec<3>{{2, 0.6, 0.8}});
  const Real polar[3] = {-1, 0.6, 0.8};
  CHECK(project_on_cone<3>(polar, 0.5) == Vec<3>{});
  // n = (1 + 1 * 2) / 2 = 1.5 at 45 degrees.
  const Real outside[2] = {1, -2};
  CHECK(project_on_cone<2>(outside, 1) == Vec<2>{{1.5, -1.5}});
  const Real frictionless[2] = {1, -2};
  CHECK(project_on_cone<2>(frictionless, 0)[0] == 1);
  CHECK(project_on_cone<2>(frictionless, 0)[1] == 0);
  // Straight below the apex, where neither side of mu |x_T| <= x_N separates inside from outside.
  const Real below[3] = {-1, 0, 0};
  CHECK(project_on_cone<3>(below, 0) == Vec<3>{});
  CHECK(project_on_cone<3>(below, 0.5) == Vec<3>{});
}

TEST_CASE("cone: the disc keeps what is inside and shortens what is not", "[solvers]") {
  Real x[3] = {7, 3, 4};
  project_on_disc<3>(x, 5);
  CHECK(Vec<3>{{x[0], x[1], x[2]}} == Vec<3>{{7, 3, 4}});
  project_on_disc<3>(x, 2.5);
  CHECK(Vec<3>{{x[0], x[1], x[2]}} == Vec<3>{{7, 1.5, 2}});
}

TEST_CASE("cone: the natural map is zero for open, sticking and slipping contacts and only there",
          "[solvers]") {
  const auto error = [](Vec<3> r, Vec<3> u, Real mu) {
    return norm(natural_map<3>(r.component.data(), u.component.data(), mu));
  };
  CHECK(error({}, {{0.3, 1, -2}}, 0.5) == 0);
  CHECK(error({{2, 0.5, 0.5}}, {}, 0.5) == 0);
  CHECK(error({{2, -0.6, -0.8}}, {{0, 3, 4}}, 0.5) < 1e-15);
  // Slips along its friction; lifts while pressed; slides without friction; approaches.
  CHECK(error({{2, 0.6, 0.8}}, {{0, 3, 4}}, 0.5) > 0.1);
  CHECK(error({{2, 0, 0}}, {{1, 0, 0}}, 0.5) > 0.1);
  CHECK(error({{2, 0, 0}}, {{0, 1, 0}}, 0.5) > 0.1);
  CHECK(error({}, {{-1, 0, 0}}, 0.5) > 0.1);
  // The associated law would lift a sliding contact at u_N = mu |u_T|: not an answer here.
  CHECK(error({{2, -0.6, -0.8}}, {{2.5, 3, 4}}, 0.5) > 0.1);
}
