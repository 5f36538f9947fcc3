#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "friction/dense_block.hpp"
#include "friction/local_problem.hpp"
#include "replay/serial_problem.hpp"

/// Adds a gyroscopic part to the inertia of each body: skew, `share` of the diagonal.
inline void add_gyroscopic_terms(scree::SerialProblem<3>& whole, scree::Real share) {
  for (std::size_t i = 0; i < whole.position.size(); ++i) {
    scree::Real* block = whole.mass.data() + i * 36;
    for (std::size_t j = 3; j < 6; ++j)
      for (std::size_t k = j + 1; k < 6; ++k) {
        const scree::Real skew = share * std::sqrt(block[j * 6 + j] * block[k * 6 + k]);
        block[j * 6 + k] += skew;
        block[k * 6 + j] -= skew;
      }
  }
}

/// W = H M^-1 H^T and q = H v_free + w of a serial problem, body by body, without the code of solvers.
template <int D>
std::unique_ptr<scree::LocalProblem<D>> eliminate_bodies(const scree::SerialProblem<D>& whole) {
  using scree::Real;
  constexpr std::size_t q = scree::n_velocities<D>;
  const std::size_t n = whole.a.size();
  const auto side = [&](std::size_t c, std::size_t s) { return s == 0 ? whole.a[c] : whole.b[c]; };
  const auto row = [&](std::size_t c, std::size_t s, std::size_t k) {
    return whole.jacobian.data() + ((c * 2 + s) * D + k) * q;
  };
  std::vector<Real> free(whole.bias);
  scree::LocalForm<D> form;
  form.column_first.push_back(0);
  for (std::size_t column = 0; column < n; ++column) {
    std::map<scree::Index, std::array<Real, D * D>> blocks;
    for (std::size_t s = 0; s < 2; ++s) {
      const scree::Index body = side(column, s);
      if (body < 0) continue;
      const std::size_t at = body;
      for (std::size_t k = 0; k < D; ++k) {
        for (std::size_t j = 0; j < q; ++j)
          free[column * D + k] += row(column, s, k)[j] * whole.free_velocity[at * q + j];
        std::array<Real, q> response{};
        scree::solve_block<q>(whole.mass.data() + at * q * q, row(column, s, k), response.data());
        for (std::size_t c = 0; c < n; ++c)
          for (std::size_t t = 0; t < 2; ++t) {
            if (side(c, t) != body) continue;
            auto& block = blocks[static_cast<scree::Index>(c)];
            for (std::size_t i = 0; i < D; ++i)
              for (std::size_t j = 0; j < q; ++j) block[i * D + k] += row(c, t, i)[j] * response[j];
          }
      }
    }
    for (const auto& [contact, block] : blocks) {
      form.row.push_back(contact);
      form.block.insert(form.block.end(), block.begin(), block.end());
    }
    form.column_first.push_back(static_cast<scree::Index>(form.row.size()));
  }
  auto local = std::make_unique<scree::LocalProblem<D>>(scree::Comm(), std::move(form), free, whole.mu);
  local->problem().compliance = whole.compliance;
  return local;
}
