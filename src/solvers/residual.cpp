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

template <int D>
Residual evaluate_residual(const ScaledProblem<D>& problem, std::span<const Real> r, std::span<Real> y) {
  Residual residual;
  residual.natural = natural_residual(problem, r, y);
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
template Residual evaluate_residual<2>(const ScaledProblem<2>&, std::span<const Real>, std::span<Real>);
template Residual evaluate_residual<3>(const ScaledProblem<3>&, std::span<const Real>, std::span<Real>);

}  // namespace scree
