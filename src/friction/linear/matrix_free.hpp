#pragma once
#include <span>
#include <vector>

#include "friction/linear/schur_matrix.hpp"

namespace scree {

/// The product with A = s I + J^T K J, contact by contact, as a PETSc matrix. Must not move while in use.
template <int D>
class MatrixFreeProduct {
 public:
  /// Collective.
  void create(const Comm& comm, Index n_owned);
  /// `problem` and K must outlive all products.
  void set(const ScaledProblem<D>& problem, std::span<const Real> K, Real s) {
    problem_ = &problem;
    K_ = K;
    s_ = s;
  }
  Mat get() const { return shell_.get(); }

 private:
  void multiply(::Vec x, ::Vec y);

  const ScaledProblem<D>* problem_ = nullptr;
  std::span<const Real> K_;  // NOLINT(readability-identifier-naming)
  Real s_ = 0;
  MatHandle shell_;
  std::vector<Real> factor_, product_;  // velocities of the local bodies
};

}  // namespace scree
