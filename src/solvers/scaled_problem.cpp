#include "solvers/scaled_problem.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/timing.hpp"

namespace scree {

namespace {

/// L^-1 of a symmetric positive definite block L L^T, both row by row.
template <int q>
void invert_root(const Real* block, Real* inverse) {
  Real root[q][q] = {};
  for (int i = 0; i < q; ++i)
    for (int j = 0; j <= i; ++j) {
      Real sum = block[i * q + j];
      for (int k = 0; k < j; ++k) sum -= root[i][k] * root[j][k];
      root[i][j] = i == j ? std::sqrt(sum) : sum / root[j][j];
    }
  std::fill_n(inverse, q * q, 0.0);
  for (int j = 0; j < q; ++j) {
    inverse[j * q + j] = 1 / root[j][j];
    for (int i = j + 1; i < q; ++i) {
      Real sum = 0;
      for (int k = j; k < i; ++k) sum -= root[i][k] * inverse[k * q + j];
      inverse[i * q + j] = sum / root[i][i];
    }
  }
}

template <int q>
bool is_diagonal_block(const Real* block) {
  for (int i = 0; i < q; ++i)
    for (int j = 0; j < q; ++j)
      if (i != j && block[i * q + j] != 0) return false;
  return true;
}

/// J = root_mass H L^-T for the rows H of one body at a contact.
template <int D, int q>
void scale_rows(const Real* H, const Real* inverse_root, bool diagonal, Real root_mass, Real (&J)[D][q]) {
  if (diagonal) {
    Real scale[q];
    for (int j = 0; j < q; ++j) scale[j] = inverse_root[j * q + j];
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < q; ++j) J[i][j] = root_mass * (H[i * q + j] * scale[j]);
    return;
  }
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < q; ++j) {
      Real sum = 0;
      for (int k = 0; k <= j; ++k) sum += H[i * q + k] * inverse_root[j * q + k];
      J[i][j] = root_mass * sum;
    }
}

/// Solves L^T x' = v for the forward direction y = L^T v, given L^-1: back substitution with the inverse.
template <int q>
void apply_root_transposed(const Real* inverse_root, const Real* v, Real* y) {
  // y = L^T v  <=>  L^-T y = v, upper triangular with rows inverse_root[k][i].
  for (int i = q - 1; i >= 0; --i) {
    Real sum = v[i];
    for (int k = i + 1; k < q; ++k) sum -= inverse_root[k * q + i] * y[k];
    y[i] = sum / inverse_root[i * q + i];
  }
}

}  // namespace

template <int D>
void ScaledProblem<D>::rebuild(const FrictionProblem<D>& problem, const Scales& scales) {
  Scope timer("scaling");
  problem_ = &problem;
  const auto n_held = static_cast<std::size_t>(this->n_held());
  const auto n_owned = static_cast<std::size_t>(this->n_owned());
  n_contacts_of_all_ = comm().sum(std::int64_t{problem.n_contacts()});
  n_bodies_of_all_ = comm().sum(static_cast<std::int64_t>(n_owned));

  mass_scale_ = scales.mass;
  if (mass_scale_ <= 0) {
    Real total = 0;
    ReproducibleSum::sum(comm(), n_owned, {&total, 1}, [&](std::size_t i, std::span<Real> term) {
      term[0] = 0;
      for (std::size_t k = 0; k < D; ++k) term[0] += problem.mass[(i * q + k) * q + k] / D;
    });
    mass_scale_ = n_bodies_of_all_ > 0 ? total / static_cast<Real>(n_bodies_of_all_) : 1;
  }
  const Real root_mass = std::sqrt(mass_scale_);
  inverse_root_.resize(n_held * q * q);
  std::vector<char> is_diagonal(n_held);
  for (std::size_t i = 0; i < n_held; ++i) {
    Real* inverse = inverse_root_.data() + i * q * q;
    invert_root<q>(problem.mass.data() + i * q * q, inverse);
    is_diagonal[i] = is_diagonal_block<q>(inverse);
  }

  contacts_.resize(problem.a.size());
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& row = contacts_[c];
    const Index body[2] = {problem.a[c], problem.b[c]};
    row.a = body[0] < 0 ? this->n_held() : body[0];
    row.b = body[1] < 0 ? this->n_held() : body[1];
    row.mu = problem.mu[c];
    for (std::size_t side = 0; side < 2; ++side) {
      Real(&J)[D][q] = row.J[side];
      if (body[side] < 0) {
        std::fill_n(&J[0][0], D * q, 0.0);
        continue;
      }
      const auto i = static_cast<std::size_t>(body[side]);
      scale_rows<D, q>(problem.jacobian.data() + (c * 2 + side) * D * q, inverse_root_.data() + i * q * q,
                       is_diagonal[i], root_mass, J);
    }
    for (int i = 0; i < D; ++i)
      for (int j = i; j < D; ++j) {
        Real sum = 0;
        for (int k = 0; k < q; ++k) sum += row.J[0][i][k] * row.J[0][j][k] + row.J[1][i][k] * row.J[1][j][k];
        row.W[i][j] = row.W[j][i] = sum;
      }
  }

  // The velocity scale needs |H v_free + w|, which has no scale yet: take v_c = 1 first.
  free_.assign(velocity_size(), 0.0);
  for (std::size_t i = 0; i < n_held; ++i) {
    Real* y = free_.data() + i * width;
    apply_root_transposed<q>(inverse_root_.data() + i * q * q, problem.free_velocity.data() + i * q, y);
    for (int k = 0; k < q; ++k) y[k] /= root_mass;
  }
  for (std::size_t c = 0; c < contacts_.size(); ++c)
    for (std::size_t k = 0; k < D; ++k) contacts_[c].w[k] = problem.bias[c * D + k];
  velocity_scale_ = scales.velocity;
  if (velocity_scale_ <= 0) {
    const std::vector<Real> no_impulse(impulse_size(), 0.0);
    std::vector<Real> square(contacts_.size());
    for (std::size_t c = 0; c < contacts_.size(); ++c) {
      contacts_[c].g[0] = contacts_[c].g[1] = 0;
      Real u[D];
      relative_velocity(static_cast<Index>(c), no_impulse, free_, u);
      square[c] = 0;
      for (int k = 0; k < D; ++k) square[c] += u[k] * u[k];
    }
    const Real total = ReproducibleSum::sum(comm(), square);
    velocity_scale_ =
        std::max(n_contacts_of_all_ > 0 ? std::sqrt(total / static_cast<Real>(n_contacts_of_all_)) : 0,
                 problem.velocity_floor);
    if (!(velocity_scale_ > 0)) velocity_scale_ = 1;  // nothing moves and nothing pulls
  }
  for (Real& y : free_) y /= velocity_scale_;
  for (std::size_t c = 0; c < contacts_.size(); ++c) {
    Contact& row = contacts_[c];
    for (Real& w : row.w) w /= velocity_scale_;
    for (std::size_t k = 0; k < 2; ++k)
      row.g[k] = problem.compliance.empty() ? 0 : mass_scale_ * problem.compliance[2 * c + k];
  }
}

template <int D>
void ScaledProblem<D>::velocity_from_impulse(std::span<const Real> r, std::span<Real> y) const {
  std::copy(free_.begin(), free_.end(), y.begin());
  run_phases(y, [&](Index first, Index last) {
    for (Index c = first; c < last; ++c) {
      const Contact& row = contacts_[static_cast<std::size_t>(c)];
      row.add_impulse(r.data() + static_cast<std::size_t>(c) * D, y.data());
    }
  });
  halo().copy_to_ghosts(y.first(static_cast<std::size_t>(n_held()) * width), width);
}

template <int D>
void ScaledProblem<D>::add_impulse(std::span<const Real> r, std::span<Real> y) const {
  const auto first_ghost = static_cast<std::size_t>(n_owned()) * width;
  const std::span<Real> held = y.first(static_cast<std::size_t>(n_held()) * width);
  std::fill(held.begin() + static_cast<std::ptrdiff_t>(first_ghost), held.end(), 0.0);
  for (std::size_t c = 0; c < contacts_.size(); ++c) contacts_[c].add_impulse(r.data() + c * D, y.data());
  halo().add_to_owners(held, width);
  halo().copy_to_ghosts(held, width);
}

template <int D>
void ScaledProblem<D>::scale_impulse(std::span<const Real> r, std::span<Real> scaled) const {
  for (std::size_t i = 0; i < r.size(); ++i) scaled[i] = r[i] / (mass_scale_ * velocity_scale_);
}
template <int D>
void ScaledProblem<D>::unscale_impulse(std::span<const Real> scaled, std::span<Real> r) const {
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = scaled[i] * (mass_scale_ * velocity_scale_);
}
template <int D>
void ScaledProblem<D>::unscale_velocity(std::span<const Real> y, std::span<Real> v) const {
  const Real factor = velocity_scale_ * std::sqrt(mass_scale_);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_held()); ++i)
    for (std::size_t j = 0; j < q; ++j) {
      Real sum = 0;
      for (std::size_t k = j; k < q; ++k) sum += inverse_root_[(i * q + k) * q + j] * y[i * width + k];
      v[i * q + j] = factor * sum;
    }
}

template class ScaledProblem<2>;
template class ScaledProblem<3>;

}  // namespace scree
