#include "friction/one_contact.hpp"

#include <catch2/catch.hpp>
#include <numbers>
#include <vector>

#include "core/random.hpp"

using namespace scree;

namespace {

template <int D>
struct Local {
  Real W[D][D];
  Vec<D> q;
  Real mu;
  Vec<D> velocity(const Vec<D>& r) const {
    Vec<D> u = q;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) u[i] += W[i][j] * r[j];
    return u;
  }
};

/// W = A A^T of trace D with a smallest eigenvalue down to about `min`, q towards contact.
template <int D>
Local<D> random_problem(RandomStream& random, Real min) {
  Local<D> local;
  Real A[D][D];
  for (auto& row : A)
    for (Real& x : row) x = random.uniform(-1, 1);
  for (int j = 0; j < D; ++j) A[D - 1][j] = A[0][j] + std::sqrt(min) * A[D - 1][j];
  Real trace = 0;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      local.W[i][j] = 0;
      for (int k = 0; k < D; ++k) local.W[i][j] += A[i][k] * A[j][k];
      if (i == j) trace += local.W[i][i];
    }
  for (auto& row : local.W)
    for (Real& x : row) x *= D / trace;
  for (int k = 0; k < D; ++k) local.q[k] = random.uniform(-1, 1);
  local.q[0] = -std::abs(local.q[0]);
  local.mu = random.uniform(0, 1.5);
  return local;
}

/// How far u = W r + q is from Coulomb's law, relative to the numbers that went in.
template <int D>
Real law_error(const Local<D>& local, const Vec<D>& r) {
  const Vec<D> u = local.velocity(r);
  return norm(natural_map<D>(r.component.data(), u.component.data(), local.mu)) / (norm(local.q) + norm(r));
}

/// All solutions that slip in a direction: where u_T points against it. Scans directions.
std::vector<Vec<3>> slipping_by_scan(const Local<3>& local) {
  struct At {
    Vec<3> r;
    Real across, along;
    bool exists;
  };
  const auto at = [&](Real angle) {
    const Real c = std::cos(angle);
    const Real s = std::sin(angle);
    const Real stiffness = local.W[0][0] + local.mu * (local.W[0][1] * c + local.W[0][2] * s);
    const Real normal = -local.q[0] / stiffness;
    const Vec<3> r{{normal, local.mu * normal * c, local.mu * normal * s}};
    const Vec<3> u = local.velocity(r);
    return At{r, -s * u[1] + c * u[2], c * u[1] + s * u[2], stiffness > 0};
  };
  std::vector<Vec<3>> found;
  constexpr int n = 2000;
  for (int i = 0; i < n; ++i) {
    Real low = 2 * std::numbers::pi * i / n;
    Real high = 2 * std::numbers::pi * (i + 1) / n;
    const At first = at(low);
    const At last = at(high);
    if (!first.exists || !last.exists || first.across * last.across > 0) continue;
    for (int halving = 0; halving < 60; ++halving) {
      const Real middle = 0.5 * (low + high);
      (at(middle).across * first.across > 0 ? low : high) = middle;
    }
    if (const At root = at(low); root.along < 0) found.push_back(root.r);
  }
  return found;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG(
    "one contact: Coulomb's law holds to 1e-12 for 20000 random problems, mu 0 to 1.5, "
    "conditions to 1e8",
    "[solvers]", ((int D), D), 2, 3) {
  RandomStream random(11, D, 1);
  int n_open = 0;
  int n_slip = 0;
  for (int i = 0; i < 20000; ++i) {
    Local<D> local = random_problem<D>(random, std::pow(10.0, -(i % 9)));
    if (i % 7 == 0) local.mu = 0;
    if (i % 11 == 0) local.q[0] *= -1;
    // Any guess must do, also one from another problem.
    Real alpha = i % 3 == 0 ? 0 : random.uniform(0, 10);
    const Vec<D> r = solve_one_contact<D>(local.W, local.q.component.data(), local.mu, alpha);
    INFO("problem " << i << ", mu " << local.mu);
    REQUIRE(law_error(local, r) < 1e-12);
    if (r == Vec<D>{}) {
      ++n_open;
    } else if (alpha > 0) {
      ++n_slip;
      const Vec<D> u = local.velocity(r);
      for (int k = 1; k < D; ++k) CHECK(u[k] == Approx(-alpha * r[k]).margin(1e-9 * (1 + alpha)));
    }
  }
  CHECK(n_open > 1000);
  CHECK(n_slip > 1000);
}

TEST_CASE("one contact: a slipping answer in space is among those that a scan of 2000 directions finds",
          "[solvers]") {
  RandomStream random(12, 3, 1);
  int n_slip = 0;
  for (int i = 0; i < 300; ++i) {
    const Local<3> local = random_problem<3>(random, 0.1);
    Real alpha = 0;
    const Vec<3> r = solve_one_contact<3>(local.W, local.q.component.data(), local.mu, alpha);
    if (!(alpha > 0)) continue;
    ++n_slip;
    Real nearest = HUGE_VAL;
    for (const Vec<3>& other : slipping_by_scan(local))
      nearest = std::min(nearest, norm(r - other) / norm(r));
    INFO("problem " << i << ", mu " << local.mu);
    CHECK(nearest < 1e-9);
  }
  CHECK(n_slip > 100);
}

TEST_CASE("one contact: in the plane the answer is one of open, stick, slip left and slip right",
          "[solvers]") {
  RandomStream random(13, 2, 1);
  for (int i = 0; i < 2000; ++i) {
    const Local<2> local = random_problem<2>(random, 0.1);
    std::vector<Vec<2>> answers;
    const auto& W = local.W;
    const Real determinant = W[0][0] * W[1][1] - W[0][1] * W[1][0];
    answers.push_back({{(W[0][1] * local.q[1] - W[1][1] * local.q[0]) / determinant,
                        (W[1][0] * local.q[0] - W[0][0] * local.q[1]) / determinant}});
    for (const Real side : {-1.0, 1.0}) {
      const Real normal = -local.q[0] / (W[0][0] + side * local.mu * W[0][1]);
      answers.push_back({{normal, side * local.mu * normal}});
    }
    Real alpha = 0;
    const Vec<2> r = solve_one_contact<2>(local.W, local.q.component.data(), local.mu, alpha);
    Real nearest = HUGE_VAL;
    for (const Vec<2>& answer : answers)
      if (law_error(local, answer) < 1e-13) nearest = std::min(nearest, norm(r - answer) / norm(r));
    CHECK(nearest < 1e-10);
  }
}

TEST_CASE("one contact: a body on a plane at and beside the limit of sticking", "[solvers]") {
  // W = 1, q = (-1, -t): it sticks while t <= mu.
  const Real W[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const Real mu = 0.5;
  Real alpha = 0;
  const auto solve = [&](Real t) {
    const Real q[3] = {-1, -t, 0};
    alpha = 0;
    return solve_one_contact<3>(W, q, mu, alpha);
  };
  CHECK(solve(0.5) == Vec<3>{{1, 0.5, 0}});
  CHECK(alpha == 0);
  CHECK(solve(0.4) == Vec<3>{{1, 0.4, 0}});
  const Vec<3> slips = solve(2);
  CHECK(norm(slips - Vec<3>{{1, 0.5, 0}}) < 1e-15);
  CHECK(alpha == Approx(3));  // u_T = -2 + 0.5 = -3 * 0.5
  CHECK(norm(solve(0.5 + 1e-14) - Vec<3>{{1, 0.5, 0}}) < 1e-13);
}
