// Sweeps over round contacts, four at a time: the bits of one contact after the other, with any instruction
// set.
#include "friction/sphere_sweep.hpp"

#include <catch2/catch.hpp>

#include "core/parallel.hpp"
#include "friction/contact_rows.hpp"
#include "friction/residual.hpp"
#include "replay/split_problem.hpp"
#include "support/lattice_problem.hpp"

using namespace scree;

namespace {

Real noise(std::size_t i) {
  return std::sin(12.9898 * static_cast<Real>(i + 1));
}

/// The bodies and contacts of `split`, as if all bodies were round, with all kinds of mu and compliance.
template <int D>
FrictionProblem<D> rounded(const SplitProblem<D>& split) {
  constexpr std::size_t q = FrictionProblem<D>::q;
  FrictionProblem<D> problem = split.problem();
  const auto n = static_cast<std::size_t>(problem.n_contacts());
  problem.arm.assign(2 * n, 0.0);
  problem.compliance.assign(2 * n, 0.0);
  for (std::size_t c = 0; c < n; ++c) {
    const auto ends = std::array{problem.a[c], problem.b[c]};
    std::array<Vec<D>, D> frame;
    const std::size_t seen = ends[1] >= 0 ? 1 : 0;
    for (std::size_t i = 0; i < D; ++i)
      for (int k = 0; k < D; ++k)
        frame[i][k] = (seen == 1 ? 1 : -1) *
                      problem.jacobian[((c * 2 + seen) * D + i) * q + static_cast<std::size_t>(k)];
    for (std::size_t side = 0; side < 2; ++side) {
      if (ends[side] < 0) continue;
      const Real sign = side == 0 ? -1 : 1;
      const Real radius = 0.4 + 0.1 * noise(static_cast<std::size_t>(ends[side]));
      problem.arm[2 * c + side] = radius;
      for (std::size_t i = 0; i < D; ++i)
        write_contact_row<D>(frame[i], frame[0] * (-sign * radius), sign,
                             &problem.jacobian[((c * 2 + side) * D + i) * q]);
    }
    problem.mu[c] = c % 5 == 0 ? 0 : 0.3 + 0.2 * noise(c);
    if (c % 3 == 0) problem.compliance[2 * c] = 0.1;
    if (c % 4 == 0) problem.compliance[2 * c + 1] = 0.05;
    problem.bias[c * D] = 2e-3 * noise(3 * c);
  }
  return problem;
}

/// Cuts r to the cone, the normal part first.
template <int D>
void cut(Real* r, Real mu) {
  r[0] = std::max(r[0], 0.0);
  Real square = 0;
  for (int i = 1; i < D; ++i) square += r[i] * r[i];
  const Real most = mu * r[0];
  const Real length = std::sqrt(square);
  if (square > most * most && length > most)
    for (int i = 1; i < D; ++i) r[i] *= most / length;
}

/// Equations N.1-N.3, N.5 of docs/method.md, one contact after the other. p, d: momentum and change of the
/// impulses. Returns the sum of d . (W + G) d.
template <int D>
Real plain_sweep(const ScaledProblem<D>& problem, SweepMomentum momentum, std::vector<Real>& r,
                 std::vector<Real>& p, std::vector<Real>& d, std::vector<Real>& y) {
  std::vector<Real> squares;
  for (std::size_t c = 0; c < problem.sphere_contacts().size(); ++c) {
    const auto& row = problem.sphere_contacts()[c];
    Real* rc = &r[c * D];
    Real u[D], next[D];
    for (std::size_t i = c * D; i < (c + 1) * D; ++i) {
      const Real moved = momentum.beta * p[i];
      r[i] += moved;
      p[i] = moved + momentum.share * d[i];
    }
    row.relative_velocity(y.data(), u);
    for (int i = 0; i < D; ++i)
      next[i] = rc[i] - row.inverse_W[i > 0] * (u[i] + row.w[i] + row.compliance(i) * rc[i]);
    cut<D>(next, row.mu);
    Real* change = &d[c * D];
    for (int i = 0; i < D; ++i) {
      change[i] = next[i] - rc[i];
      rc[i] = next[i];
    }
    row.add_impulse(change, y.data());
    Real along_tangents = change[1] * change[1];
    if (D == 3) along_tangents += change[D - 1] * change[D - 1];
    squares.push_back(change[0] * change[0] / row.inverse_W[0] + along_tangents / row.inverse_W[1]);
  }
  return ReproducibleSum::sum(problem.comm(), squares);
}

template <int D>
void compare(int n) {
  const SplitProblem<D> split(Comm(), lattice_problem<D>(n));
  const FrictionProblem<D> problem = rounded(split);
  ScaledProblem<D> scaled;
  scaled.rebuild(problem);
  REQUIRE(scaled.has_spheres());
  std::vector<Real> start(scaled.impulse_size());
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = i % D == 0 ? std::abs(noise(i)) : 0.2 * noise(i);

  std::vector<Real> r = start, p(r.size()), d(r.size());
  std::vector<Real> y(scaled.velocity_size());
  scaled.velocity_from_impulse(r, y);
  const std::vector<Real> y_start = y;
  std::vector<Real> changes;
  // Velocities do not get the momentum here: the bits are compared, not the method.
  const SweepMomentum in_turn[] = {{0, 0}, {0, 1}, {0.5, 1}, {0.25, 0}, {0.75, 1}};
  for (int sweep = 0; sweep < 2; ++sweep) plain_sweep(scaled, {}, r, p, d, y);
  for (const SweepMomentum& momentum : in_turn) changes.push_back(plain_sweep(scaled, momentum, r, p, d, y));
  const Real residual = find_residual_of_velocities<D>(scaled, ResidualNorm::natural, r, y);
  CHECK(residual > 0);

  for (const auto* kernels : available_sphere_kernels<D>()) {
    INFO(D << "D, " << kernels->instruction_set);
    SphereSweep<D> round;
    round.use(*kernels);
    round.load(scaled, start);
    std::vector<Real> y_round = y_start;
    for (int sweep = 0; sweep < 2; ++sweep) round.run(scaled, {}, y_round);
    for (std::size_t k = 0; k < changes.size(); ++k)
      CHECK(round.run_on(scaled, in_turn[k], y_round) == changes[k]);
    std::vector<Real> r_round(r.size());
    round.store(r_round);
    CHECK(r_round == r);
    CHECK(y_round == y);
    CHECK(round.natural_residual(scaled, y_round) == residual);
  }
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("round sweep: the bits of one contact after the other", "[solvers]", ((int D), D), 2,
                       3) {
  for (const int n : {2, 3, 5}) compare<D>(n);
}
