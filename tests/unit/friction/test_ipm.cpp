#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "friction/ipm/lorentz.hpp"
#include "friction/ipm/nesterov_todd.hpp"
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

  explicit Case(const SerialProblem<D>& whole) : split(Comm(), whole) {
    problem.rebuild(split.problem());
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
      SerialProblem<3> whole = generate_problem<3>("pile", 15, seed);
      std::fill(whole.mu.begin(), whole.mu.end(), mu);
      Case<3> given(whole);
      SolveMonitor<3> monitor(given.problem, {.tolerance = 1e-8}, given.report);
      NesterovTodd<3> method;
      method.iterate(given.problem, {}, given.system, given.r, monitor);
      CHECK(monitor.converged());
      for (const Real x : given.r) CHECK(std::abs(x) < 1e4);
    }
}
