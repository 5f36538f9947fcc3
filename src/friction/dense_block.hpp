#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/types.hpp"

/// Dense q x q blocks, row by row.
namespace scree {

/// x of A x = b: elimination with the largest pivot of each column.
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

template <int q>
bool is_diagonal(const Real* block) {
  for (int i = 0; i < q; ++i)
    for (int j = 0; j < q; ++j)
      if (i != j && block[i * q + j] != 0) return false;
  return true;
}

/// Whether all |A_ij - A_ji| are at most this share of the root of A_ii A_jj.
template <int q>
bool is_symmetric(const Real* block, Real share) {
  for (int i = 0; i < q; ++i)
    for (int j = 0; j < i; ++j) {
      const Real scale = std::sqrt(std::abs(block[i * q + i] * block[j * q + j]));
      if (!(std::abs(block[i * q + j] - block[j * q + i]) <= share * scale)) return false;
    }
  return true;
}

/// L of the symmetric part L L^T. False if that is not positive definite to round-off.
template <int q>
bool find_root(const Real* block, Real (&root)[q][q]) {
  bool is_positive = true;
  for (int i = 0; i < q; ++i)
    for (int j = 0; j <= i; ++j) {
      Real sum = 0.5 * (block[i * q + j] + block[j * q + i]);
      for (int k = 0; k < j; ++k) sum -= root[i][k] * root[j][k];
      root[i][j] = i == j ? std::sqrt(sum) : sum / root[j][j];
      if (i == j) is_positive = is_positive && sum > 1e-14 * block[i * q + i] && std::isfinite(sum);
    }
  return is_positive;
}

/// L^-1 of the symmetric part L L^T of a positive definite block.
template <int q>
void invert_root(const Real* block, Real* inverse) {
  Real root[q][q] = {};
  find_root<q>(block, root);
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

/// y = L^T v, given L^-1: back substitution in L^-T y = v.
template <int q>
void apply_root_transposed(const Real* inverse_root, const Real* v, Real* y) {
  for (int i = q - 1; i >= 0; --i) {
    Real sum = v[i];
    for (int k = i + 1; k < q; ++k) sum -= inverse_root[k * q + i] * y[k];
    y[i] = sum / inverse_root[i * q + i];
  }
}

}  // namespace scree
