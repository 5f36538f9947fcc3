#include "friction/linear/matrix_free.hpp"

#include <algorithm>

namespace scree {

template <int D>
void MatrixFreeProduct<D>::create(const Comm& comm, Index n_owned) {
  const PetscInt n_rows = n_owned * ScaledProblem<D>::q;
  SCREE_PETSC(MatCreateShell(comm.handle(), n_rows, n_rows, PETSC_DETERMINE, PETSC_DETERMINE, this,
                             shell_.address()));
  PetscErrorCode (*const product)(Mat, ::Vec, ::Vec) = [](Mat A, ::Vec x, ::Vec y) -> PetscErrorCode {
    void* self = nullptr;
    SCREE_PETSC(MatShellGetContext(A, &self));
    static_cast<MatrixFreeProduct*>(self)->multiply(x, y);
    return 0;
  };
  SCREE_PETSC(MatShellSetOperation(shell_.get(), MATOP_MULT, reinterpret_cast<void (*)()>(product)));
}

/// Collective; two exchanges.
template <int D>
void MatrixFreeProduct<D>::multiply(::Vec x, ::Vec y) {
  constexpr std::size_t width = ScaledProblem<D>::width;
  const auto n_values = static_cast<std::size_t>(problem_->n_local()) * width;
  factor_.resize(problem_->velocity_size());
  product_.resize(problem_->velocity_size());
  copy_out<D>(x, problem_->n_owned(), factor_);
  problem_->halo().copy_to_ghosts(std::span(factor_).first(n_values), static_cast<int>(width));
  const std::size_t n_owned_values = static_cast<std::size_t>(problem_->n_owned()) * width;
  for (std::size_t k = 0; k < n_owned_values; ++k) product_[k] = s_ * factor_[k];
  std::fill(product_.begin() + static_cast<std::ptrdiff_t>(n_owned_values), product_.end(), 0.0);
  problem_->with_rows([&](const auto& rows) {
    const Real* K = K_.data();
    for (std::size_t c = 0; c < rows.size(); ++c) {
      const auto& row = rows[c];
      Real u[D], r[D];
      row.relative_velocity(factor_.data(), u);
      for (int i = 0; i < D; ++i) {
        r[i] = 0;
        for (int j = 0; j < D; ++j) r[i] += K[i * D + j] * u[j];
      }
      row.add_impulse(r, product_.data());
      K += D * D;
    }
  });
  problem_->halo().add_to_owners(std::span(product_).first(n_values), static_cast<int>(width));
  copy_in<D>(product_, problem_->n_owned(), y);
}

template class MatrixFreeProduct<2>;
template class MatrixFreeProduct<3>;

}  // namespace scree
