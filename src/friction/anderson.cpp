#include "friction/anderson.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.hpp"
#include "core/reset.hpp"
#include "friction/cone.hpp"

namespace scree {

template <int D>
void AndersonSteps<D>::begin(const ScaledProblem<D>& problem) {
  n_steps_ = 0;
  weight_.resize(problem.impulse_size());
  problem.with_rows([&](const auto& rows) {
    for (std::size_t c = 0; c < rows.size(); ++c)
      for (int i = 0; i < D; ++i) weight_[c * D + static_cast<std::size_t>(i)] = rows[c].diagonal(i);
  });
  n_contacts_ = static_cast<std::size_t>(problem.n_contacts());
  for (std::size_t i = n_contacts_ * D; i < weight_.size(); ++i) {
    const Real inverse = rolling_of(problem, (i - n_contacts_ * D) / n_turns<D>).inverse_W;
    weight_[i] = inverse > 0 ? 1 / inverse : 0;
  }
}

template <int D>
typename AndersonSteps<D>::RollingOfContact AndersonSteps<D>::rolling_of(const ScaledProblem<D>& problem,
                                                                         std::size_t c) {
  const std::size_t place = problem.spheres().lanes().place()[c];
  const RollingGroup<D>& group = problem.spheres().rolling()[place / group_size];
  return {group.mu[place % group_size], group.inverse_W[place % group_size]};
}

template <int D>
Real AndersonSteps<D>::step(const ScaledProblem<D>& problem, std::span<const Real> f, std::span<Real> g) {
  if (n_steps_ > 0) remember(f, g);
  last_f_.resize(f.size());
  last_g_.resize(g.size());
  std::ranges::copy(f, last_f_.begin());
  std::ranges::copy(g, last_g_.begin());
  ++n_steps_;
  Real squared = 0;
  if (!fit(problem, f, squared)) return std::sqrt(squared);
  const std::size_t n = std::min(n_steps_ - 1, window);
  for (std::size_t i = 0; i < g.size(); ++i) {
    Real moved = 0;
    for (std::size_t k = 0; k < n; ++k) moved += gamma_[k] * dg_[k][i];
    g[i] -= moved;
  }
  problem.with_rows([&](const auto& rows) {
    for (std::size_t c = 0; c < rows.size(); ++c) {
      Real* rc = g.data() + c * D;
      rc[0] = std::max(rc[0], 0.0);
      project_on_disc<D>(rc, rows[c].mu * rc[0]);
    }
  });
  constexpr std::size_t n_turning = n_turns<D>;
  for (std::size_t c = 0; c < n_contacts_ && g.size() > n_contacts_ * D; ++c) {
    const auto s = g.subspan(n_contacts_ * D + c * n_turning, n_turning);
    const Real max = rolling_of(problem, c).mu * g[c * D];
    Real square = 0;
    for (const Real part : s) square += part * part;
    if (square > max * max)
      for (Real& part : s) part *= max / std::sqrt(square);
  }
  return std::sqrt(squared);
}

/// The differences to the step before, in place of the oldest ones.
template <int D>
void AndersonSteps<D>::remember(std::span<const Real> f, std::span<const Real> g) {
  const std::size_t place = (n_steps_ - 1) % window;
  df_[place].resize(f.size());
  dg_[place].resize(g.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    df_[place][i] = f[i] - last_f_[i];
    dg_[place][i] = g[i] - last_g_[i];
  }
}

/// Finds gamma; squared: |f|^2. False if there is none yet.
template <int D>
bool AndersonSteps<D>::fit(const ScaledProblem<D>& problem, std::span<const Real> f, Real& squared) {
  const std::size_t n = std::min(n_steps_ - 1, window);
  const std::size_t newest = n_steps_ < 2 ? 0 : (n_steps_ - 2) % window;
  // |f|^2, dF^T f, and the new row of dF^T dF.
  std::array<Real, 1 + 2 * window> all_sums{};
  const std::span sums = std::span(all_sums).first(1 + 2 * n);
  ReproducibleSum::sum(problem.comm(), n_contacts_, sums, [&](std::size_t c, std::span<Real> term) {
    std::ranges::fill(term, 0.0);
    const auto add = [&](std::size_t i) {
      const Real weighted = weight_[i] * f[i];
      term[0] += weighted * f[i];
      for (std::size_t k = 0; k < n; ++k) {
        term[1 + k] += weighted * df_[k][i];
        term[1 + n + k] += weight_[i] * df_[newest][i] * df_[k][i];
      }
    };
    for (std::size_t i = c * D; i < (c + 1) * D; ++i) add(i);
    const std::size_t first = n_contacts_ * D + c * n_turns<D>;
    for (std::size_t i = first; first < f.size() && i < first + n_turns<D>; ++i) add(i);
  });
  squared = sums[0];
  if (n == 0) return false;
  for (std::size_t k = 0; k < n; ++k) {
    product_[k] = sums[1 + k];
    gram_[newest][k] = gram_[k][newest] = sums[1 + n + k];
  }
  // Cholesky's method on the Gram matrix scaled to a unit diagonal.
  constexpr Real regularization = 1e-12;
  Real L[window][window], x[window], scale[window];
  for (std::size_t i = 0; i < n; ++i) scale[i] = gram_[i][i] > 0 ? 1 / std::sqrt(gram_[i][i]) : 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      Real sum = i == j ? 1 + regularization : scale[i] * scale[j] * gram_[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
      L[i][j] = i == j ? std::sqrt(std::max(sum, regularization)) : sum / L[j][j];
    }
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = scale[i] * product_[i];
    for (std::size_t k = 0; k < i; ++k) x[i] -= L[i][k] * x[k];
    x[i] /= L[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= L[k][i] * x[k];
    x[i] /= L[i][i];
    gamma_[i] = scale[i] * x[i];
  }
  return true;
}

template class AndersonSteps<2>;
template class AndersonSteps<3>;

}  // namespace scree
