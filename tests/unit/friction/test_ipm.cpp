#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "friction/ipm/lorentz.hpp"
#include "friction/ipm/nesterov_todd.hpp"
#include "friction/ipm/split.hpp"
#include "replay/generated_problems.hpp"
#include "replay/split_problem.hpp"

using namespace scree;

namespace {

template <int D>
LorentzPoint<D> point(Real length, Real angle, Real inside) {
  LorentzPoint<D> x;
  Real from[3] = {0, length * std::cos(angle), length * std::sin(angle)};
  x.set(from, inside);
  return x;
}

/// Points of several shapes: near the axis and near the boundary, in directions that agree, cross and oppose.
template <int D, class Check>
void for_pairs(std::initializer_list<Real> distances, Check&& check) {
  for (const Real inside_X : distances)
    for (const Real inside_Z : distances)
      for (const Real angle : {0.3, 1.7, 0.3 + M_PI}) {
        CAPTURE(inside_X, inside_Z, angle);
        check(point<D>(2, 0.3, inside_X), point<D>(0.1, angle, inside_Z));
      }
}

template <int D>
Real euclidean2(const Real* x) {
  Real sum = 0;
  for (int k = 0; k < D; ++k) sum += x[k] * x[k];
  return sum;
}

template <int D>
struct Case {
  SplitProblem<D> split;
  ScaledProblem<D> problem;
  SolveReport report;
  SchurSystem<D> system{{}, SchurSystem<D>::Kind::symmetric};
  std::vector<Real> r;

  Case(const ListedProblem<D>& whole, bool published_scales) : split(Comm(), whole) {
    problem.rebuild(split.problem(), published_scales
                                         ? SplitInteriorPoint<D>::published_scales(split.problem())
                                         : typename ScaledProblem<D>::Scales());
    r.assign(problem.impulse_size(), 0.0);
  }
};

}  // namespace

TEMPLATE_TEST_CASE_SIG("Lorentz cone: the scaling maps both points to lambda, T Z = T^-1 X", "[solvers]",
                       ((int D), D), 2, 3) {
  for_pairs<D>({10, 0.1, 1e-4}, [](const LorentzPoint<D>& X, const LorentzPoint<D>& Z) {
    NesterovToddScaling<D> T;
    T.set(X, Z);
    Real of_X[D], of_Z[D], back[D];
    T.apply_inverse(X.x, of_X);
    T.apply(Z.x, of_Z);
    T.apply(of_X, back);
    for (int k = 0; k < D; ++k) {
      CHECK(of_X[k] == Approx(T.lambda[k]).epsilon(1e-9).margin(1e-9 * T.lambda[0]));
      CHECK(of_Z[k] == Approx(T.lambda[k]).epsilon(1e-9).margin(1e-9 * T.lambda[0]));
      CHECK(back[k] == Approx(X.x[k]).epsilon(1e-9).margin(1e-9 * X.x[0]));
    }
  });
}

TEMPLATE_TEST_CASE_SIG("Lorentz cone: |lambda|^2 = X . Z with distances to the boundary below round-off",
                       "[solvers]", ((int D), D), 2, 3) {
  for_pairs<D>({1, 1e-9, 1e-20}, [](const LorentzPoint<D>& X, const LorentzPoint<D>& Z) {
    NesterovToddScaling<D> T;
    T.set(X, Z);
    // Directions that oppose each other are known to round-off only.
    CHECK(euclidean2<D>(T.lambda) == Approx(dot(X, Z)).epsilon(1e-5));
    CHECK(T.lambda[0] * T.lambda[0] ==
          Approx(0.5 * (dot(X, Z) + std::sqrt(X.norm2() * Z.norm2()))).epsilon(1e-12));
  });
}

TEST_CASE("Lorentz cone: the product of opposing points near the boundary keeps its digits", "[solvers]") {
  const auto X = point<2>(2, 0, 1e-20);
  const auto Z = point<2>(-3, 0, 4e-20);
  // (2 + a) (3 + b) - 6
  CHECK(dot(X, Z) == Approx(2 * 4e-20 + 3 * 1e-20).epsilon(1e-14));
  CHECK(dot(Z, X) == Approx(2 * 4e-20 + 3 * 1e-20).epsilon(1e-14));
}

TEST_CASE("Lorentz cone: a move around the boundary keeps the distance to it", "[solvers]") {
  LorentzPoint<3> x;
  const Real from[] = {0, 3, 4};
  x.set(from, 1e-20);
  const Real around[] = {5e-21, 2, -2};  // to (5, 2), whose length is sqrt(29)
  x.move(around, 0.5);                   // to (4, 3)
  CHECK(x.x[1] == 4);
  CHECK(x.x[2] == 3);
  CHECK(x.inside == Approx(1.25e-20).epsilon(1e-14));
  CHECK(x.norm2() == Approx(1.25e-19).epsilon(1e-14));
}

TEMPLATE_TEST_CASE_SIG("Lorentz cone: the longest step ends at the boundary", "[solvers]", ((int D), D), 2,
                       3) {
  const std::array<std::array<Real, 3>, 4> steps{{{-1, 0, 0}, {0.2, 1, -1}, {-0.3, -2, 0.5}, {-5, 0.1, 4}}};
  for (const Real inside : {3.0, 1e-3, 1e-20})
    for (const auto& step : steps) {
      CAPTURE(inside, step[0], step[1]);
      const LorentzPoint<D> x = point<D>(0.7, 0.4, inside);
      const Real length = x.longest_step(step.data());
      REQUIRE(length > 0);
      REQUIRE(std::isfinite(length));
      LorentzPoint<D> end = x, before = x;
      end.move(step.data(), length);
      before.move(step.data(), 0.99 * length);
      CHECK(before.inside > 0);
      CHECK(std::abs(end.inside) < 1e-6 * inside + 1e-13 * length);
      end = x;
      end.move(step.data(), 1.01 * length);
      CHECK(end.inside < 0);
    }
  const Real inwards[] = {1, 0.3, 0.4};
  CHECK(point<D>(0.7, 0.4, 0.1).longest_step(inwards) == HUGE_VAL);
}

TEMPLATE_TEST_CASE_SIG("Lorentz cone: the Jordan quotient undoes the product", "[solvers]", ((int D), D), 2,
                       3) {
  const Real a[] = {2, 1.2, -0.9};
  const Real x[] = {-0.4, 3, 0.7};
  const Vec<D> found = jordan_quotient<D>(jordan_product<D>(a, x), a);
  for (int k = 0; k < D; ++k) CHECK(found[k] == Approx(x[k]).epsilon(1e-13));
}

TEST_CASE("ipm nt: rough spheres between walls reach 1e-8, with impulses that stay bounded", "[solvers]") {
  for (const std::uint64_t seed : {1, 2, 3})
    for (const Real mu : {0.0, 0.5, 1.0}) {
      CAPTURE(seed, mu);
      ListedProblem<3> whole = generate_problem<3>("pile", 15, seed);
      std::fill(whole.mu.begin(), whole.mu.end(), mu);
      Case<3> given(whole, false);
      SolveMonitor<3> monitor(given.problem, {.tolerance = 1e-8}, given.report);
      NesterovTodd<3> method;
      method.iterate(given.problem, {}, given.system, given.r, monitor);
      CHECK(monitor.converged());
      for (const Real x : given.r) CHECK(std::abs(x) < 1e4);
    }
}

TEMPLATE_TEST_CASE_SIG("ipm split: a sliding plate carries the widened cone's friction and does not lift off",
                       "[solvers]", ((int D), D), 2, 3) {
  Case<D> given(generate_problem<D>("sliding", 1), true);
  const Real eps_p = 2e-3, eps_s = 5e-3;
  SolveMonitor<D> monitor(given.problem, {.tolerance = 0}, given.report);
  SplitInteriorPoint<D> method;
  method.iterate(given.problem, {.eps_p = eps_p, .eps_s = eps_s, .eps_T = 1e-11}, given.system, given.r,
                 monitor);
  std::vector<Real> y(given.problem.velocity_size());
  given.problem.velocity_from_impulse(given.r, y);
  for (Index c = 0; c < given.problem.n_contacts(); ++c) {
    Real u[D];
    given.problem.relative_velocity(c, given.r, y, u);
    const Real* r = given.r.data() + static_cast<std::size_t>(c) * D;
    const Real bound = given.problem.contacts()[static_cast<std::size_t>(c)].mu * r[0] + eps_p + eps_s;
    CHECK(std::hypot(tangential_norm<D>(r), eps_p) == Approx(bound).epsilon(1e-6));
    CHECK(tangential_norm<D>(u) > 0.1);
    CHECK(std::abs(u[0]) < 1e-7);
  }
}

TEMPLATE_TEST_CASE_SIG("ipm split: published scales of two bodies", "[solvers]", ((int D), D), 2, 3) {
  constexpr int q = n_velocities<D>;
  ListedProblem<D> whole;
  const std::vector<Real> moments =
      D == 2 ? std::vector<Real>{0.5} : std::vector<Real>{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::array<Real, q> velocity{};
  velocity[0] = 3;
  velocity[D - 1] = -4;
  whole.add_body({}, 2, moments, velocity);
  velocity.fill(0);
  whole.add_body(unit_vector<D>(0, 10), 6, moments, velocity);
  for (const int body : {0, 1})
    whole.add_contact(-1, body, whole.position[static_cast<std::size_t>(body)], unit_vector<D>(D - 1), 0.5);
  whole.time_step = 0.01;
  whole.velocity_floor = 1;
  const SplitProblem<D> split(Comm(), whole);
  auto scales = SplitInteriorPoint<D>::published_scales(split.problem());
  const Real moment = D == 2 ? 0.5 : 3;  // trace
  CHECK(scales.mass == Approx(((D * 2 + moment) + (D * 6 + moment)) / (2 * q)));
  CHECK(scales.velocity == Approx((2 * 5.0 + 6 * 0.0) / 8));
  FrictionProblem<D> slow = split.problem();
  slow.start_velocity.assign(slow.free_velocity.size(), 0.0);
  scales = SplitInteriorPoint<D>::published_scales(slow);
  CHECK(scales.velocity == Approx(0.25));
}
