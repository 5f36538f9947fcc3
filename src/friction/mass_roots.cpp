#include "friction/mass_roots.hpp"

#include <cmath>

#include "friction/dense_block.hpp"

namespace scree {

template <int D>
void MassRoots<D>::find(const FrictionProblem<D>& problem, bool are_diagonal, Real mass_scale) {
  are_diagonal_ = are_diagonal;
  root_mass_ = std::sqrt(mass_scale);
  n_bodies_ = static_cast<std::size_t>(problem.n_local());
  inverse_.resize(n_bodies_ * q * (are_diagonal ? 1 : q));
  if (!are_diagonal) {
    for (std::size_t i = 0; i < n_bodies_; ++i)
      invert_root<q>(problem.mass.data() + i * q * q, inverse_.data() + i * q * q);
    return;
  }
  for (std::size_t i = 0; i < n_bodies_; ++i)
    for (std::size_t k = 0; k < q; ++k)
      inverse_[i * q + k] = 1 / std::sqrt(problem.mass[(i * q + k) * q + k]);
  answer_of_sphere_.resize(n_bodies_ + 1);
  for (std::size_t i = 0; i < n_bodies_; ++i)
    answer_of_sphere_[i] = {root_mass_ * inverse_[i * q], root_mass_ * inverse_[i * q + D]};
  answer_of_sphere_[n_bodies_] = {0, 0};
}

template <int D>
void MassRoots<D>::scale_rows(std::size_t i, const Real* H, Real (&J)[D][q]) const {
  for (int row = 0; row < D; ++row)
    for (int j = 0; j < q; ++j) {
      if (are_diagonal_) {
        J[row][j] = root_mass_ * (H[row * q + j] * inverse_[i * q + static_cast<std::size_t>(j)]);
        continue;
      }
      Real sum = 0;
      for (int k = 0; k <= j; ++k) sum += H[row * q + k] * inverse_root(i)[j * q + k];
      J[row][j] = root_mass_ * sum;
    }
}

template <int D>
void MassRoots<D>::scale_velocities(std::span<const Real> v, std::vector<Real>& y) const {
  constexpr std::size_t width = velocity_width<D>;
  y.assign((n_bodies_ + 1) * width, 0.0);
  for (std::size_t i = 0; i < n_bodies_; ++i) {
    Real* of_body = y.data() + i * width;
    if (are_diagonal_) {
      for (std::size_t k = 0; k < q; ++k) of_body[k] = v[i * q + k] / (inverse_[i * q + k] * root_mass_);
    } else {
      apply_root_transposed<q>(inverse_root(i), v.data() + i * q, of_body);
      for (int k = 0; k < q; ++k) of_body[k] /= root_mass_;
    }
  }
}

template <int D>
void MassRoots<D>::unscale_velocities(std::span<const Real> y, Real velocity_scale, std::span<Real> v) const {
  constexpr std::size_t width = velocity_width<D>;
  const Real factor = velocity_scale * root_mass_;
  for (std::size_t i = 0; i < n_bodies_; ++i)
    for (std::size_t j = 0; j < q; ++j) {
      if (are_diagonal_) {
        v[i * q + j] = factor * (inverse_[i * q + j] * y[i * width + j]);
        continue;
      }
      Real sum = 0;
      for (std::size_t k = j; k < q; ++k) sum += inverse_root(i)[k * q + j] * y[i * width + k];
      v[i * q + j] = factor * sum;
    }
}

template class MassRoots<2>;
template class MassRoots<3>;

}  // namespace scree
