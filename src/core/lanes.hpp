#pragma once
// For files that are compiled once per instruction set, with SCREE_SET naming the set (see CMakeLists.txt of
// their folder).
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <cmath>
#include <string_view>

#include "core/types.hpp"

namespace scree::SCREE_SET {

namespace {

#define SCREE_TEXT_OF(name) #name
#define SCREE_TEXT(name) SCREE_TEXT_OF(name)
constexpr std::string_view name_of_set = SCREE_TEXT(SCREE_SET);

#if defined(__AVX512F__)
constexpr int width = 8;
#elif defined(__AVX2__)
constexpr int width = 4;
#else
constexpr int width = 2;
#endif
using Lanes = Real __attribute__((vector_size(8 * width)));
/// Two numbers, in the middle of others.
using Half = Real __attribute__((vector_size(16), may_alias));

#if defined(__AVX512F__)
// Unmasked forms (this and others) warn in GCC 12.
inline Lanes square_root(Lanes v) {
  return _mm512_maskz_sqrt_pd(0xff, v);
}
/// Bit k: a[k] < b[k].
inline unsigned less(Lanes a, Lanes b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
#elif defined(__AVX2__)
inline Lanes square_root(Lanes v) {
  return _mm256_sqrt_pd(v);
}
inline unsigned less(Lanes a, Lanes b) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ)));
}
#else
inline Lanes square_root(Lanes v) {
  return Lanes{std::sqrt(v[0]), std::sqrt(v[1])};
}
inline unsigned less(Lanes a, Lanes b) {
  return (a[0] < b[0] ? 1U : 0U) | (a[1] < b[1] ? 2U : 0U);
}
#endif
inline bool any_less(Lanes a, Lanes b) {
  return less(a, b) != 0;
}
inline Lanes largest(Lanes a, Lanes b) {
  return a > b ? a : b;
}

inline Lanes load(const Real* values) {
  Lanes v;
  __builtin_memcpy(&v, values, sizeof v);
  return v;
}
inline void store(Lanes v, Real* values) {
  __builtin_memcpy(values, &v, sizeof v);
}

}  // namespace

}  // namespace scree::SCREE_SET
