#include "neighbors/block_costs.hpp"

#include <algorithm>
#include <cmath>

namespace scree {

namespace {

constexpr Real forgetting = 0.9;
/// Variance of a time (5 % of its mean, squared) over that of a guess (half of the whole time, squared).
constexpr Real ridge = 0.01;
constexpr std::array<Real, n_loads> guessed_ratio{1, 1, 1, 0};

/// Least of x.A x/2 - b.x over x >= 0 by Gauss-Seidel with projection; A is positive definite with a
/// diagonal of at least `ridge`.
std::array<Real, n_loads> min_non_negative(const std::array<std::array<Real, n_loads>, n_loads>& a,
                                           const std::array<Real, n_loads>& b, std::array<Real, n_loads> x) {
  constexpr int n_sweeps = 1000;
  for (int sweep = 0; sweep < n_sweeps; ++sweep) {
    Real change = 0;
    for (std::size_t k = 0; k < n_loads; ++k) {
      Real residual = b[k];
      for (std::size_t l = 0; l < n_loads; ++l) residual -= a[k][l] * x[l];
      const Real better = std::max(0.0, x[k] + residual / a[k][k]);
      change = std::max(change, std::abs(better - x[k]));
      x[k] = better;
    }
    if (change < 1e-9) break;
  }
  return x;
}

}  // namespace

void BlockCosts::observe(const LoadCounts& counts, Real seconds) {
  // Integers throughout the reductions: every rank goes on with the same bits.
  constexpr Real nano = 1e9;
  std::array<std::int64_t, n_loads + 1> sums;
  std::copy(counts.begin(), counts.end(), sums.begin());
  sums[n_loads] = std::llround(nano * seconds);
  comm_.sum(sums);
  const Real mean_time = static_cast<Real>(sums[n_loads]) / nano / comm_.size();
  if (mean_time <= 0) return;
  std::array<Real, n_loads> mean;
  std::array<Real, n_loads> share{};  // of this rank, over the mean
  for (std::size_t k = 0; k < n_loads; ++k) {
    mean[k] = static_cast<Real>(sums[k]) / comm_.size();
    if (sums[k] > 0) share[k] = static_cast<Real>(counts[k]) / mean[k];
  }

  // Products of shares are at most ranks^2, and their sums not much more: 20 bits behind the point leave room
  // for a million ranks.
  const Real unit = std::ldexp(1.0, 20);
  std::array<std::int64_t, n_loads * n_loads + n_loads> products;
  for (std::size_t k = 0; k < n_loads; ++k) {
    for (std::size_t l = 0; l < n_loads; ++l)
      products[n_loads * k + l] = std::llround(unit * share[k] * share[l]);
    products[n_loads * n_loads + k] = std::llround(unit * share[k] * seconds / mean_time);
  }
  comm_.sum(products);
  for (std::size_t k = 0; k < n_loads; ++k) {
    for (std::size_t l = 0; l < n_loads; ++l)
      matrix_[k][l] = forgetting * matrix_[k][l] + static_cast<Real>(products[n_loads * k + l]) / unit *
                                                       mean[k] * mean[l] / (mean_time * mean_time);
    right_[k] = forgetting * right_[k] +
                static_cast<Real>(products[n_loads * n_loads + k]) / unit * mean[k] / mean_time;
  }

  // Unknowns: the parts x_k = c_k n'_k / T' of the time of a mean rank.
  Real guessed_total = 0;
  for (std::size_t k = 0; k < n_loads; ++k) guessed_total += guessed_ratio[k] * mean[k];
  std::array<std::array<Real, n_loads>, n_loads> matrix{};
  std::array<Real, n_loads> right{};
  std::array<Real, n_loads> guess{};
  for (std::size_t k = 0; k < n_loads; ++k) {
    guess[k] = guessed_total > 0 ? guessed_ratio[k] * mean[k] / guessed_total : 0;
    for (std::size_t l = 0; l < n_loads; ++l)
      if (mean[k] > 0 && mean[l] > 0)
        matrix[k][l] = matrix_[k][l] * mean_time * mean_time / (mean[k] * mean[l]);
    matrix[k][k] += ridge;
    right[k] = (mean[k] > 0 ? right_[k] * mean_time / mean[k] : 0) + ridge * guess[k];
  }
  const std::array<Real, n_loads> part = min_non_negative(matrix, right, guess);
  for (std::size_t k = 0; k < n_loads; ++k)
    if (mean[k] > 0) seconds_[k] = part[k] * mean_time / mean[k];
}

LoadCounts BlockCosts::weights() const {
  const Real largest = *std::max_element(seconds_.begin(), seconds_.end());
  if (largest <= 0) return {1, 1, 0, 0};
  LoadCounts weights;
  for (std::size_t k = 0; k < n_loads; ++k) weights[k] = std::llround(std::ldexp(seconds_[k] / largest, 20));
  return weights;
}

}  // namespace scree
