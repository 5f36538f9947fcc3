#pragma once
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "friction/scaled_problem.hpp"

/// Blocks K of all contacts: symmetric positive definite, or with an entry that makes them general.
template <int D>
std::vector<scree::Real> some_blocks(scree::Index n_contacts, bool symmetric, scree::Real size = 10) {
  std::vector<scree::Real> K(static_cast<std::size_t>(n_contacts) * D * D, 0.0);
  using scree::Real;
  for (std::size_t c = 0; c < static_cast<std::size_t>(n_contacts); ++c) {
    for (std::size_t i = 0; i < D; ++i)
      K[(c * D + i) * D + i] = size * (1 + 0.1 * static_cast<Real>((c + i) % 7));
    K[c * D * D + D] = 0.3 * size;  // tangent from normal
    if (symmetric) K[c * D * D + 1] = 0.3 * size;
  }
  return K;
}

/// |(s I + J^T K J) x - b| / |b| by the contact rows; x with current ghosts. Collective.
template <int D>
scree::Real defect(const scree::ScaledProblem<D>& problem, std::span<const scree::Real> K, scree::Real shift,
                   const std::vector<scree::Real>& x, const std::vector<scree::Real>& b) {
  using scree::Index;
  using scree::Real;
  constexpr int width = scree::ScaledProblem<D>::width;
  constexpr int q = scree::ScaledProblem<D>::q;
  std::vector<scree::Real> r(problem.impulse_size()), y(x);
  for (std::size_t c = 0; c < problem.contacts().size(); ++c) {
    const auto& row = problem.contacts()[c];
    const std::array<Index, 2> body{row.a, row.b};
    Real u[D] = {};
    for (int i = 0; i < D; ++i)
      for (std::size_t side = 0; side < 2; ++side)
        for (int k = 0; k < q; ++k) u[i] += row.J[side][i][k] * x[body[side] * width + k];
    for (std::size_t i = 0; i < D; ++i)
      for (std::size_t j = 0; j < D; ++j) r[c * D + i] += K[(c * D + i) * D + j] * u[j];
  }
  for (Real& value : y) value *= shift;
  problem.add_impulse(r, y);
  Real difference = 0, size = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.n_owned() * width); ++i) {
    difference += (y[i] - b[i]) * (y[i] - b[i]);
    size += b[i] * b[i];
  }
  const scree::Comm& comm = problem.comm();
  std::array<Real, 2> sums{difference, size};
  comm.sum_to_round_off(sums);
  return std::sqrt(sums[0] / sums[1]);
}

/// A right-hand side with the padding left at zero.
template <int D>
std::vector<scree::Real> some_right_side(const scree::ScaledProblem<D>& problem) {
  using scree::Real;
  using scree::ScaledProblem;
  std::vector<Real> b(problem.velocity_size(), 0.0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(problem.n_owned()); ++i)
    for (std::size_t k = 0; k < ScaledProblem<D>::q; ++k)
      b[i * ScaledProblem<D>::width + k] = std::cos(static_cast<Real>(3 * i + k));
  return b;
}
