#include "solvers/residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "solvers/cone.hpp"

namespace scree {

template <int D>
Real natural_residual(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<Real> y) {
  problem.velocity_from_impulse(r, y);
  if (problem.n_contacts_of_all() == 0) return 0;
  const auto n = static_cast<std::size_t>(problem.n_contacts());
  // The sum looks at its terms twice, so they are worked out first.
  std::vector<Real> square(n);
  problem.with_rows([&](const auto& rows) {
    for (std::size_t c = 0; c < n; ++c) {
      Real u[D];
      problem.relative_velocity(rows[c], c, r, y, u);
      const Vec<D> e = natural_map<D>(r.data() + c * D, u, rows[c].mu);
      square[c] = dot(e, e);
    }
  });
  const Real total = ReproducibleSum::sum(problem.comm(), square);
  // In scaled units |H v_free + w|_2 is sqrt(nc), or less where the velocity floor acts.
  return std::sqrt(total / static_cast<Real>(problem.n_contacts_of_all()));
}

namespace {

/// The measures of FCLIB for r whose velocities y are known. Collective.
template <int D>
void find_fclib_norms(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<const Real> y,
                      Residual& residual) {
  const Real velocity = problem.velocity_scale();
  const Real impulse = problem.mass_scale() * velocity;
  const auto n = static_cast<std::size_t>(problem.n_contacts());
  // Sums of squares of the natural map, r and u.
  std::vector<std::array<Real, 3>> squares(n);
  problem.with_rows([&](const auto& rows) {
    for (std::size_t c = 0; c < n; ++c) {
      Real u[D], of_r[D];
      problem.relative_velocity(rows[c], c, r, y, u);
      squares[c] = {};
      for (std::size_t k = 0; k < D; ++k) {
        u[k] *= velocity;
        of_r[k] = r[c * D + k] * impulse;
        squares[c][1] += of_r[k] * of_r[k];
        squares[c][2] += u[k] * u[k];
      }
      const Vec<D> e = natural_map<D>(of_r, u, rows[c].mu);
      squares[c][0] = dot(e, e);
    }
  });
  std::array<Real, 3> norm{};
  ReproducibleSum::sum(problem.comm(), n, norm, [&](std::size_t c, std::span<Real> term) {
    std::copy(squares[c].begin(), squares[c].end(), term.begin());
  });
  for (Real& x : norm) x = std::sqrt(x);
  const Real free = problem.free_norm();
  const Real largest = std::max({free, norm[1], norm[2]});
  residual.fclib_absolute = norm[0] / std::max(1.0, free);
  residual.fclib_relative = largest > 0 ? norm[0] / largest : 0;
}

}  // namespace

Real value_of(const Residual& residual, ResidualNorm norm) {
  return norm == ResidualNorm::natural ? residual.natural
                                       : std::max(residual.fclib_absolute, residual.fclib_relative);
}

template <int D>
Real find_residual(const ScaledProblem<D>& problem, ResidualNorm norm, std::span<const Real> r,
                   std::span<Real> y) {
  if (norm == ResidualNorm::natural) return natural_residual(problem, r, y);
  Residual residual;
  problem.velocity_from_impulse(r, y);
  find_fclib_norms(problem, r, y, residual);
  return value_of(residual, norm);
}

template <int D>
Residual evaluate_residual(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<Real> y,
                           ResidualNorm norm) {
  Residual residual;
  residual.natural = natural_residual(problem, r, y);
  if (norm == ResidualNorm::fclib) find_fclib_norms(problem, r, y, residual);
  std::array<Real, 5> worst{};
  problem.with_rows([&](const auto& rows) {
    for (std::size_t c = 0; c < rows.size(); ++c) {
      Real u[D];
      problem.relative_velocity(rows[c], c, r, y, u);
      const Real* rc = r.data() + c * D;
      const Real mu = rows[c].mu;
      Real work = 0;
      for (int k = 1; k < D; ++k) work += u[k] * rc[k];
      const std::array<Real, 5> parts{-u[0], std::max(tangential_norm<D>(rc) - mu * rc[0], -rc[0]),
                                      std::abs(u[0] * rc[0]), mu * rc[0] * tangential_norm<D>(u) + work,
                                      rows[c].g[0] * rc[0]};
      for (std::size_t k = 0; k < parts.size(); ++k) worst[k] = std::max(worst[k], parts[k]);
    }
  });
  problem.comm().max(worst);
  const Real velocity = problem.velocity_scale();
  const Real impulse = problem.mass_scale() * velocity;
  residual.penetration_rate = worst[0] * velocity;
  residual.cone_violation = worst[1] * impulse;
  residual.complementarity = worst[2] * velocity * impulse;
  residual.dissipation_error = worst[3] * velocity * impulse;
  residual.implied_overlap = worst[4] * velocity * problem.original().time_step;
  return residual;
}

template Real natural_residual<2>(const ScaledProblem<2>&, std::span<const Real>, std::span<Real>);
template Real natural_residual<3>(const ScaledProblem<3>&, std::span<const Real>, std::span<Real>);
template Real find_residual<2>(const ScaledProblem<2>&, ResidualNorm, std::span<const Real>, std::span<Real>);
template Real find_residual<3>(const ScaledProblem<3>&, ResidualNorm, std::span<const Real>, std::span<Real>);
template Residual evaluate_residual<2>(const ScaledProblem<2>&, std::span<const Real>, std::span<Real>,
                                       ResidualNorm);
template Residual evaluate_residual<3>(const ScaledProblem<3>&, std::span<const Real>, std::span<Real>,
                                       ResidualNorm);

}  // namespace scree
