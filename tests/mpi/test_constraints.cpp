#include "friction/linear/constraints.hpp"

#include <catch2/catch.hpp>

#include "support/chain_of_disks.hpp"

using namespace scree;

namespace {

/// Some velocity of each body, the same on any number of ranks.
std::vector<Real> some_velocity(const ChainHalo& halo) {
  std::vector<Real> v;
  for (Index i = 0; i < 2 * halo.n_local(); ++i) v.push_back(std::sin(1.7 * (2 * halo.first() + i) + 0.3));
  return v;
}

Real largest(const Comm& comm, std::span<const Real> values) {
  Real max = 0;
  for (const Real value : values) max = std::max(max, std::abs(value));
  return comm.max(max);
}

/// |c - A lambda|, largest entry, by products that the solver shares but for its iteration.
Real defect(ConstraintSolver& solver, const ConstraintRows& rows, std::span<const Real> c,
            std::span<const Real> lambda) {
  std::vector<Real> w(2 * static_cast<std::size_t>(rows.halo->n_local()), 0.0), r(rows.n_rows());
  solver.add_impulses(rows, lambda, 1, w);
  rows.multiply(w, r);
  for (std::size_t k = 0; k < r.size(); ++k) r[k] -= c[k];
  return largest(rows.halo->comm(), r);
}

}  // namespace

TEST_CASE("Constraints: repeated rows share multipliers evenly on any number of ranks", "[mpi]") {
  const Comm world;
  for (const Index n_bodies : {1, 2, 30})
    for (const int repeats : {1, 3}) {
      CAPTURE(n_bodies, repeats);
      ChainHalo halo(world, n_bodies);
      const ConstraintRows rows = chain_rows(halo, repeats);
      std::vector<Real> c(rows.n_rows()), lambda(rows.n_rows(), 0.0);
      rows.multiply(some_velocity(halo), c);
      ConstraintSolver solver;
      const ConstraintReport report = solver.solve(rows, c, lambda, {.relative = 1e-13});
      CHECK(report.converged);
      CHECK(report.consistent);
      CHECK(report.iterations <= 2 * n_bodies + 2);
      CHECK(defect(solver, rows, c, lambda) < 1e-11);
      Real uneven = 0;
      for (std::size_t k = 0; k < lambda.size(); ++k)
        uneven = std::max(uneven, std::abs(lambda[k] - lambda[k - k % static_cast<std::size_t>(repeats)]));
      CHECK(uneven <= 1e-12 * (1 + largest(world, lambda)));

      // The same system again, from its solution and for other right sides: nothing is left of the last call.
      CHECK(solver.solve(rows, c, lambda, {.relative = 1e-11}).iterations == 0);
      std::fill(c.begin(), c.end(), 0.0);
      CHECK(solver.solve(rows, c, lambda).converged);
      CHECK(largest(world, lambda) == 0);
    }
}

TEST_CASE("Constraints: no rows, and rows that come and go", "[mpi]") {
  const Comm world;
  ChainHalo halo(world, 7);
  ConstraintRows rows = chain_rows(halo, 2);
  ConstraintSolver solver;
  std::vector<Real> v = some_velocity(halo);
  const std::vector<Real> start = v;
  ConstraintRows none = rows;
  none.clear();
  CHECK(solver.project_velocity(none, v).after == 0);
  CHECK(v == start);
  std::vector<Real> empty;
  CHECK(solver.solve(none, empty, empty).converged);
  CHECK(solver.project_velocity(rows, v).before > 0.1);
  CHECK(solver.project_velocity(none, v).iterations == 0);
  // Rows on the first rank only: the others take part without any.
  if (!world.is_root()) rows.clear();
  v = start;
  CHECK(solver.project_velocity(rows, v).after < 1e-15);
}

TEST_CASE("Constraints: a projected velocity obeys all rows to round-off, and once more changes nothing",
          "[mpi]") {
  const Comm world;
  for (const Index n_bodies : {1, 3, 60})
    for (const int repeats : {1, 2}) {
      CAPTURE(n_bodies, repeats);
      ChainHalo halo(world, n_bodies);
      const ConstraintRows rows = chain_rows(halo, repeats);
      ConstraintSolver solver;
      std::vector<Real> v = some_velocity(halo);
      const ConstraintSolver::Projection first = solver.project_velocity(rows, v);
      CHECK(first.before > 0.1);
      CHECK(first.after <= 1e-15);
      std::vector<Real> again = v, ghosts = v;
      solver.project_velocity(rows, again);
      for (std::size_t k = 0; k < v.size(); ++k) again[k] -= v[k];
      CHECK(largest(world, again) <= 1e-14);
      halo.copy_to_ghosts(ghosts, 2);
      CHECK(ghosts == v);
    }
}

TEST_CASE("Constraints: the projection is orthogonal in the masses", "[mpi]") {
  const Comm world;
  ChainHalo halo(world, 20);
  const ConstraintRows rows = chain_rows(halo, 2);
  ConstraintSolver solver;
  const std::vector<Real> v = some_velocity(halo);
  std::vector<Real> u = v;
  solver.project_velocity(rows, u);
  std::vector<Real> sums(2, 0.0);
  for (std::size_t k = 0; k < 2 * static_cast<std::size_t>(halo.n_owned()); ++k) {
    sums[0] += (v[k] - u[k]) * u[k] / rows.inverse_mass[k];
    sums[1] += v[k] * v[k] / rows.inverse_mass[k];
  }
  world.sum_to_round_off(sums);
  CHECK(std::abs(sums[0]) < 1e-13 * sums[1]);
}

TEST_CASE("Constraints: what no multipliers satisfy gets the least squares of the least norm", "[mpi]") {
  const Comm world;
  for (const Index n_bodies : {1, 12}) {
    CAPTURE(n_bodies);
    ChainHalo halo(world, n_bodies);
    const ConstraintRows rows = chain_rows(halo, 2);
    ConstraintSolver solver;
    std::vector<Real> c(rows.n_rows()), lambda(rows.n_rows(), 0.0), spoilt = c, expected = lambda;
    rows.multiply(some_velocity(halo), c);
    solver.solve(rows, c, expected, {.relative = 1e-13});
    spoilt = c;
    for (std::size_t k = 0; k < c.size(); ++k) spoilt[k] += k % 2 == 0 ? 0.5 : -0.5;
    const ConstraintReport report = solver.solve(rows, spoilt, lambda);
    CHECK(report.converged);
    CHECK_FALSE(report.consistent);
    CHECK(report.residual > 0.1);
    CHECK(defect(solver, rows, c, lambda) < 1e-8);
    for (std::size_t k = 0; k < lambda.size(); ++k) lambda[k] -= expected[k];
    CHECK(largest(world, lambda) < 1e-6 * (1 + largest(world, expected)));
  }
}

TEST_CASE("Constraints: out of iterations is reported, and what is not finite too", "[mpi]") {
  const Comm world;
  ChainHalo halo(world, 40);
  const ConstraintRows rows = chain_rows(halo, 1);
  ConstraintSolver solver;
  std::vector<Real> c(rows.n_rows()), lambda(rows.n_rows(), 0.0);
  rows.multiply(some_velocity(halo), c);
  CHECK_FALSE(solver.solve(rows, c, lambda, {.relative = 1e-12, .max_iterations = 3}).converged);
  if (world.is_root()) c[0] = NAN;
  std::fill(lambda.begin(), lambda.end(), 0.0);
  CHECK_FALSE(solver.solve(rows, c, lambda).converged);
}
