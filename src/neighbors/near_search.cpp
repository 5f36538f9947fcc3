#include "neighbors/near_search.hpp"

#ifdef __x86_64__
#include <immintrin.h>

#include <bit>
#endif

#include "core/simd.hpp"

namespace scree {

namespace {

/// Few of those looked at are near, and which ones cannot be foreseen: no branch.
template <int D, bool wraps>
std::size_t search_portable(const BodyColumns<D>& bodies, Index i, Index first, Index last, Index* found) {
  std::size_t n_found = 0;
  for (Index j = first; j < last; ++j) {
    Real squared = 0;
    for (std::size_t k = 0; k < D; ++k) {
      Real d = bodies.x[k][i] - bodies.x[k][j];
      if constexpr (wraps) d += bodies.period[k][i] - bodies.period[k][j];
      squared += d * d;
    }
    const Real reach = bodies.radius[i] + bodies.radius[j] + bodies.skin;
    found[n_found] = j;
    n_found += squared >= reach * reach ? 0U : 1U;
  }
  return n_found;
}

#ifdef __x86_64__
/// The same with eight bodies at a time.
template <int D, bool wraps>
__attribute__((target("avx512f,avx512vl"))) std::size_t search_avx512(const BodyColumns<D>& bodies, Index i,
                                                                      Index first, Index last, Index* found) {
  constexpr Index width = 8;
  using Lanes = Real __attribute__((vector_size(8 * width)));
  const Lanes zero{};
  std::array<Lanes, std::size_t{D}> x, period;
  for (std::size_t k = 0; k < D; ++k) {
    x[k] = zero + bodies.x[k][i];
    if constexpr (wraps) period[k] = zero + bodies.period[k][i];
  }
  const Lanes radius = zero + bodies.radius[i];
  __m256i numbers = _mm256_add_epi32(_mm256_set1_epi32(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  std::size_t n_found = 0;
  for (Index j = first; j < last; j += width) {
    const unsigned in_range = last - j >= width ? 0xffU : (1U << (last - j)) - 1;
    Lanes squared = zero;
    for (std::size_t k = 0; k < D; ++k) {
      Lanes d = x[k] - _mm512_loadu_pd(bodies.x[k] + j);
      if constexpr (wraps) d += period[k] - _mm512_loadu_pd(bodies.period[k] + j);
      squared += d * d;
    }
    const Lanes reach = radius + _mm512_loadu_pd(bodies.radius + j) + bodies.skin;
    const __mmask8 near =
        _mm512_mask_cmp_pd_mask(static_cast<__mmask8>(in_range), squared, reach * reach, _CMP_NGE_UQ);
    // To a register and then to memory: compressing into memory is slow on some processors.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(found + n_found),
                        _mm256_maskz_compress_epi32(near, numbers));
    n_found += static_cast<unsigned>(std::popcount(static_cast<unsigned>(near)));
    numbers = _mm256_add_epi32(numbers, _mm256_set1_epi32(width));
  }
  return n_found;
}
#endif

template <int D>
constexpr NearSearches<D> portable_set{"portable", &search_portable<D, false>, &search_portable<D, true>};
#ifdef __x86_64__
template <int D>
constexpr NearSearches<D> avx512_set{"avx512", &search_avx512<D, false>, &search_avx512<D, true>};
#endif

}  // namespace

template <int D>
std::span<const NearSearches<D>* const> available_near_searches() {
  static const auto sets = runnable<NearSearches<D>>({&portable_set<D>,
#ifdef __x86_64__
                                                      &avx512_set<D>
#endif
  });
  return sets;
}

template <int D>
const NearSearches<D>& near_searches() {
  return chosen(available_near_searches<D>());
}

template std::span<const NearSearches<2>* const> available_near_searches<2>();
template std::span<const NearSearches<3>* const> available_near_searches<3>();
template const NearSearches<2>& near_searches<2>();
template const NearSearches<3>& near_searches<3>();

}  // namespace scree
