// u as a function of r from the matrices of a stored problem, against dense elimination; on any number of
// ranks.
#include "replay/fclib_operator.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "replay/stored_problem.hpp"
#include "unit/io/scratch.hpp"

using namespace scree;

namespace {

using Dense = std::vector<std::vector<Real>>;

Dense zeros(std::size_t m, std::size_t n) {
  return Dense(m, std::vector<Real>(n));
}

/// Some number in [-1, 1].
Real noise(std::size_t i, std::size_t j) {
  return std::sin(static_cast<Real>(12.9898 * static_cast<Real>(i + 1) + 78.233 * static_cast<Real>(j + 1)));
}

/// The solution of A x = b, by elimination with row exchanges.
std::vector<Real> solve(Dense A, std::vector<Real> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(A[i][k]) > std::abs(A[pivot][k])) pivot = i;
    std::swap(A[k], A[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Real factor = A[i][k] / A[k][k];
      for (std::size_t j = k; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= A[k][j] * b[j];
    b[k] /= A[k][k];
  }
  return b;
}

/// A problem as dense matrices, which every rank holds.
struct Whole {
  bool is_global = false;
  std::size_t d = 3;
  Dense M{}, H{}, G{}, W{}, V{}, R{};
  std::vector<Real> f{}, w{}, b{}, q{}, s{}, mu{}, compliance{};

  std::size_t nc() const { return mu.size(); }
  std::size_t m() const { return nc() * d; }
  std::size_t constraints() const { return is_global ? b.size() : s.size(); }

  /// v (none in local form), l and u of impulses r.
  struct Motion {
    std::vector<Real> v, l, u;
  };
  Motion motion(const std::vector<Real>& r) const {
    const std::size_t n = f.size();
    const std::size_t p = constraints();
    Dense A = zeros(n + p, n + p);
    std::vector<Real> right(n + p);
    Motion result;
    result.u = is_global ? w : q;
    for (std::size_t i = 0; i < n; ++i) {
      right[i] = f[i];
      for (std::size_t j = 0; j < n; ++j) A[i][j] = M[i][j];
      for (std::size_t j = 0; j < m(); ++j) right[i] += H[i][j] * r[j];
      for (std::size_t j = 0; j < p; ++j) {
        A[i][n + j] = -G[i][j];
        A[n + j][i] = G[i][j];
      }
    }
    for (std::size_t i = 0; i < p; ++i) {
      right[n + i] = is_global ? -b[i] : -s[i];
      if (is_global) continue;
      for (std::size_t j = 0; j < p; ++j) A[i][j] = R[i][j];
      for (std::size_t j = 0; j < m(); ++j) right[i] -= V[j][i] * r[j];
    }
    const std::vector<Real> x = solve(A, right);
    result.v.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
    result.l.assign(x.begin() + static_cast<std::ptrdiff_t>(n), x.end());
    for (std::size_t k = 0; k < m(); ++k) {
      for (std::size_t i = 0; i < n; ++i) result.u[k] += H[i][k] * x[i];
      if (!is_global) {
        for (std::size_t j = 0; j < m(); ++j) result.u[k] += W[k][j] * r[j];
        for (std::size_t j = 0; j < p; ++j) result.u[k] += V[k][j] * x[j];
      }
      if (!compliance.empty()) result.u[k] += compliance[k / d * 2 + (k % d > 0)] * r[k];
    }
    return result;
  }
};

/// Masses of 4 blocks of 3 and unsymmetric, contacts of neighbouring blocks.
Whole global_problem(std::size_t d, std::size_t constraints, bool is_compliant) {
  Whole whole{
      .is_global = true, .d = d, .M = zeros(12, 12), .H = zeros(12, 5 * d), .G = zeros(12, constraints)};
  for (std::size_t i = 0; i < 12; ++i) {
    whole.f.push_back(noise(i, 50));
    for (std::size_t j = 0; j < 12; ++j)
      if (i / 3 == j / 3) whole.M[i][j] = i == j ? 2 + static_cast<Real>(i) : 0.1 * noise(i, j);
    for (std::size_t k = 0; k < 5 * d; ++k)
      if (i / 3 == k / d % 4 || i / 3 == (k / d + 1) % 4) whole.H[i][k] = noise(i, k);
    for (std::size_t k = 0; k < constraints; ++k) whole.G[i][k] = i / 3 < 2 ? noise(i, 70 + k) : 0;
  }
  for (std::size_t k = 0; k < 5 * d; ++k) whole.w.push_back(noise(k, 60));
  for (std::size_t k = 0; k < constraints; ++k) whole.b.push_back(noise(k, 80));
  whole.mu = {0, 0.1, 0.3, 0.5, 1.2};
  if (is_compliant)
    for (std::size_t k = 0; k < 10; ++k) whole.compliance.push_back(0.1 * static_cast<Real>(k));
  return whole;
}

Whole local_problem(std::size_t d, std::size_t constraints) {
  const std::size_t m = 3 * d;
  Whole whole{.is_global = false,
              .d = d,
              .W = zeros(m, m),
              .V = zeros(m, constraints),
              .R = zeros(constraints, constraints)};
  for (std::size_t i = 0; i < m; ++i) {
    whole.q.push_back(noise(i, 90));
    for (std::size_t j = 0; j < m; ++j)
      if ((i / d + j / d) % 2 == 0) whole.W[i][j] = i == j ? 3 : 0.2 * noise(i, j);
    for (std::size_t k = 0; k < constraints; ++k) whole.V[i][k] = noise(i, 30 + k);
  }
  for (std::size_t i = 0; i < constraints; ++i) {
    whole.s.push_back(noise(i, 91));
    for (std::size_t j = 0; j < constraints; ++j) whole.R[i][j] = i == j ? 4 : noise(i, j);
  }
  whole.mu = {0.2, 0.4, 0.6};
  return whole;
}

/// Entry e of a matrix is on rank e % size, in two parts that add up.
SparseShare share_of_matrix(const Comm& comm, const Dense& dense, std::size_t columns) {
  SparseShare share{static_cast<std::int64_t>(dense.size()), static_cast<std::int64_t>(columns), {}, {}, {}};
  int turn = 0;
  for (std::size_t i = 0; i < dense.size(); ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      if (dense[i][j] == 0) continue;
      for (const Real part : {0.25, 0.75})
        if (turn++ % comm.size() == comm.rank()) {
          share.row.push_back(static_cast<std::int64_t>(i));
          share.column.push_back(static_cast<std::int64_t>(j));
          share.value.push_back(part * dense[i][j]);
        }
    }
  return share;
}

VectorShare stretch(const Comm& comm, const std::vector<Real>& all, std::size_t width) {
  if (all.empty()) return {};
  const auto n = static_cast<std::int64_t>(all.size() / width);
  const auto w = static_cast<std::int64_t>(width);
  const auto [first, last] = EvenShare(comm, n, w);
  return {first, {all.begin() + first, all.begin() + last}};
}

FclibProblem share_of_problem(const Comm& comm, const Whole& whole) {
  FclibProblem problem;
  problem.path = "case.hdf5";
  problem.is_global = whole.is_global;
  problem.dimension = static_cast<int>(whole.d);
  problem.n_contacts = static_cast<std::int64_t>(whole.nc());
  problem.n_velocities = static_cast<std::int64_t>(whole.f.size());
  problem.n_constraints = static_cast<std::int64_t>(whole.constraints());
  problem.M = share_of_matrix(comm, whole.M, whole.f.size());
  problem.H = share_of_matrix(comm, whole.H, whole.m());
  problem.G = share_of_matrix(comm, whole.G, whole.constraints());
  problem.W = share_of_matrix(comm, whole.W, whole.m());
  problem.V = share_of_matrix(comm, whole.V, whole.constraints());
  problem.R = share_of_matrix(comm, whole.R, whole.constraints());
  problem.f = stretch(comm, whole.f, 1);
  problem.w = stretch(comm, whole.w, whole.d);
  problem.b = stretch(comm, whole.b, 1);
  problem.q = stretch(comm, whole.q, whole.d);
  problem.s = stretch(comm, whole.s, 1);
  problem.mu = stretch(comm, whole.mu, 1);
  problem.compliance = stretch(comm, whole.compliance, 2);
  return problem;
}

void check_stretch(const Comm& comm, const VectorShare& found, const std::vector<Real>& all,
                   std::size_t width) {
  const VectorShare expected = stretch(comm, all, width);
  REQUIRE(found.values.size() == expected.values.size());
  Real worst = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i)
    worst = std::max(worst, std::abs(found.values[i] - expected.values[i]));
  CHECK(worst < 1e-13);
  if (!expected.values.empty()) CHECK(found.first == expected.first);
}

/// The definition, contact by contact, with the projection found by looking at a circle and its angles.
FclibResidual residual_of(const Whole& whole, const std::vector<Real>& r) {
  const std::vector<Real> u = whole.motion(r).u;
  const std::vector<Real> q = whole.motion(std::vector<Real>(r.size())).u;
  const auto length = [](const std::vector<Real>& x) {
    Real sum = 0;
    for (const Real value : x) sum += value * value;
    return std::sqrt(sum);
  };
  std::vector<Real> error;
  for (std::size_t c = 0; c < whole.nc(); ++c) {
    const Real mu = whole.mu[c];
    const Real half_angle = std::atan(mu);
    const std::vector<Real> uc(u.begin() + static_cast<std::ptrdiff_t>(c * whole.d + 1),
                               u.begin() + static_cast<std::ptrdiff_t>((c + 1) * whole.d));
    std::vector<Real> x(whole.d);
    for (std::size_t k = 0; k < whole.d; ++k) x[k] = r[c * whole.d + k] - u[c * whole.d + k];
    x[0] -= mu * length(uc);
    const std::vector<Real> tangential(x.begin() + 1, x.end());
    const Real angle = std::atan2(length(tangential), x[0]);  // off the axis of the cone
    std::vector<Real> nearest(whole.d, 0.0);
    if (angle <= half_angle) {
      nearest = x;
    } else if (angle < half_angle + M_PI / 2) {
      const Real along = length(x) * std::cos(angle - half_angle);
      nearest[0] = along * std::cos(half_angle);
      for (std::size_t k = 1; k < whole.d; ++k)
        nearest[k] = along * std::sin(half_angle) * x[k] / length(tangential);
    }
    for (std::size_t k = 0; k < whole.d; ++k) error.push_back(r[c * whole.d + k] - nearest[k]);
  }
  return {length(error) / std::max(1.0, length(q)),
          length(error) / std::max({length(q), length(r), length(u)})};
}

std::vector<Real> impulses(const Whole& whole) {
  std::vector<Real> r;
  for (std::size_t k = 0; k < whole.m(); ++k) r.push_back(noise(k, 40) + (k % whole.d == 0));
  return r;
}

std::vector<Whole> all_problems() {
  std::vector<Whole> all;
  for (const std::size_t d : {2, 3}) {
    for (const std::size_t constraints : {0, 1, 2}) {
      all.push_back(global_problem(d, constraints, false));
      all.push_back(local_problem(d, constraints));
    }
    all.push_back(global_problem(d, 0, true));
  }
  return all;
}

}  // namespace

TEST_CASE("FclibOperator: velocities and impulses of constraints are those of dense elimination", "[mpi]") {
  const Comm comm;
  for (const Whole& whole : all_problems()) {
    CAPTURE(whole.is_global, whole.d, whole.constraints(), whole.compliance.empty());
    const FclibProblem problem = share_of_problem(comm, whole);
    FclibOperator in_operator(comm, problem);
    const std::vector<Real> r = impulses(whole);
    const Whole::Motion expected = whole.motion(r);
    const VectorShare mine = stretch(comm, r, whole.d);
    const FclibSolution found = in_operator.solution(mine.values);
    check_stretch(comm, found.r, r, whole.d);
    check_stretch(comm, found.u, expected.u, whole.d);
    check_stretch(comm, found.v, expected.v, 1);
    check_stretch(comm, found.l, expected.l, 1);

    const FclibResidual residual = in_operator.residual(mine.values);
    const FclibResidual defined = residual_of(whole, r);
    CHECK(residual.absolute == Approx(defined.absolute).epsilon(1e-12));
    CHECK(residual.relative == Approx(defined.relative).epsilon(1e-12));
    CHECK(residual.absolute > 0.1);
    CHECK(residual.larger() == std::max(residual.absolute, residual.relative));
  }
}

TEST_CASE("FclibOperator: nothing to solve has no residual", "[mpi]") {
  const Comm comm;
  Whole whole = local_problem(3, 0);
  std::ranges::fill(whole.q, 0.0);
  const FclibProblem problem = share_of_problem(comm, whole);
  const std::vector<Real> r(problem.mu.values.size() * 3);
  CHECK(FclibOperator(comm, problem).residual(r).larger() == 0);
}

TEST_CASE("FclibOperator: an open contact without friction or sliding has no residual", "[mpi]") {
  const Comm comm;
  for (const std::size_t d : {2, 3}) {
    Whole whole{.is_global = false, .d = d, .W = zeros(2 * d, 2 * d)};
    for (std::size_t i = 0; i < 2 * d; ++i) whole.W[i][i] = 2;
    // r - u~ is (-1, 0, 0) where the contact opens, (4, 0, 0) where it closes.
    whole.q.assign(2 * d, 0.0);
    whole.q[0] = 1;
    whole.q[d] = -8;
    whole.mu = {0, 0};
    std::vector<Real> r(2 * d);
    r[d] = 4;
    const FclibProblem problem = share_of_problem(comm, whole);
    FclibOperator in_operator(comm, problem);
    CHECK(in_operator.residual(stretch(comm, r, d).values).larger() == 0);
    r[0] = 1;  // u = 3: r - P_K(r - u~) is 1
    const FclibResidual residual = in_operator.residual(stretch(comm, r, d).values);
    CHECK(residual.absolute == Approx(1 / std::sqrt(65.0)));
  }
}

TEST_CASE("FclibOperator: the local form has the same velocities", "[mpi]") {
  const Comm alone(MPI_COMM_SELF);
  for (const Whole& whole : all_problems()) {
    CAPTURE(whole.is_global, whole.d, whole.constraints(), whole.compliance.empty());
    const FclibProblem problem = share_of_problem(alone, whole);
    const FclibProblem local = FclibOperator(alone, problem).local_problem();
    CHECK(!local.is_global);
    CHECK(local.n_constraints == 0);
    CHECK(local.mu.values == whole.mu);
    REQUIRE(local.W.n_rows == static_cast<std::int64_t>(whole.m()));
    REQUIRE(local.W.n_columns == local.W.n_rows);
    Whole eliminated{.is_global = false, .d = whole.d, .W = zeros(whole.m(), whole.m())};
    eliminated.q = local.q.values;
    eliminated.mu = local.mu.values;
    for (std::size_t e = 0; e < local.W.value.size(); ++e) {
      CHECK(local.W.value[e] != 0);
      eliminated.W[local.W.row[e]][local.W.column[e]] += local.W.value[e];
    }
    // Contacts 0 and 2 share no block of bodies 0|1 and 2|3, unless constraints couple them.
    if (whole.is_global && whole.constraints() == 0) CHECK(eliminated.W[0][2 * whole.d] == 0);
    const std::vector<Real> r = impulses(whole);
    check_stretch(alone, {0, eliminated.motion(r).u}, whole.motion(r).u, whole.d);
  }
}

TEST_CASE("FclibOperator: a singular matrix is refused", "[mpi]") {
  const Comm comm;
  const auto refusal = [&](const Whole& whole) {
    const FclibProblem problem = share_of_problem(comm, whole);
    return message_of<InputError>([&] { FclibOperator(comm, problem); });
  };
  Whole whole = global_problem(3, 2, false);
  for (std::vector<Real>& row : whole.G) row[1] = -2 * row[0];
  CHECK(refusal(whole).starts_with("case.hdf5: /fclib_global: [M, -G; G^T, 0] of 14 rows is singular"));
  CHECK(refusal(whole).find("bilateral constraints that repeat") != std::string::npos);
  whole = local_problem(2, 2);
  whole.R[1] = whole.R[0];
  CHECK(refusal(whole).starts_with("case.hdf5: /fclib_local/R of 2 rows is singular"));
  whole = global_problem(2, 0, false);
  whole.M[4] = whole.M[3];
  CHECK(refusal(whole).starts_with("case.hdf5: /fclib_global/M of 12 rows is singular"));
}

TEST_CASE("blocks_of_delassus: entries of one place add up, blocks stand by columns", "[mpi]") {
  const SparseShare W{4, 4, {3, 0, 2, 0, 3}, {0, 1, 0, 1, 2}, {5, 2, 7, 0.5, 9}};
  const LocalForm<2> form = blocks_of_delassus<2>(W);
  CHECK(form.column_first == std::vector<Index>{0, 2, 3});
  CHECK(form.row == std::vector<Index>{0, 1, 1});
  CHECK(form.block == std::vector<Real>{0, 2.5, 0, 0, 7, 0, 5, 0, 0, 0, 9, 0});
}
