#pragma once
#include <cmath>
#include <utility>

#include "core/types.hpp"

namespace scree {

/// x of A x = b for a q x q block A, row by row: elimination with the largest pivot of each column.
/// x may be b. Not finite if A is singular.
template <int q>
void solve_block(const Real* block, const Real* b, Real* x) {
  Real A[q][q + 1];
  for (int i = 0; i < q; ++i) {
    for (int j = 0; j < q; ++j) A[i][j] = block[i * q + j];
    A[i][q] = b[i];
  }
  for (int k = 0; k < q; ++k) {
    int pivot = k;
    for (int i = k + 1; i < q; ++i)
      if (std::abs(A[i][k]) > std::abs(A[pivot][k])) pivot = i;
    std::swap(A[k], A[pivot]);
    for (int i = k + 1; i < q; ++i) {
      const Real factor = A[i][k] / A[k][k];
      for (int j = k; j <= q; ++j) A[i][j] -= factor * A[k][j];
    }
  }
  for (int i = q - 1; i >= 0; --i) {
    Real sum = A[i][q];
    for (int j = i + 1; j < q; ++j) sum -= A[i][j] * x[j];
    x[i] = sum / A[i][i];
  }
}

}  // namespace scree
