// Compiled once per instruction set, with SCREE_SET naming the set (see dynamics/CMakeLists.txt). The
// arithmetic of a pair is the same in all of them; only the number of pairs per register differs.
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "contact/sweep_schedule.hpp"
#include "dynamics/pbd/pair_kernels.hpp"

namespace scree::SCREE_SET {

namespace {

#if defined(__AVX512F__)
constexpr int width = 8;
#elif defined(__AVX2__)
constexpr int width = 4;
#else
constexpr int width = 2;
#endif
using Lanes = Real __attribute__((vector_size(8 * width)));
/// The part of a record that one load takes.
using Piece = Real __attribute__((vector_size(width == 2 ? 16 : 32), may_alias));
static_assert(batch_size % width == 0);

#if defined(__AVX512F__)
// The unmasked form of the square root warns in GCC 12.
Lanes square_root(Lanes v) {
  return _mm512_maskz_sqrt_pd(0xff, v);
}
bool any_less(Lanes a, Lanes b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ) != 0;
}
#elif defined(__AVX2__)
Lanes square_root(Lanes v) {
  return _mm256_sqrt_pd(v);
}
bool any_less(Lanes a, Lanes b) {
  return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LT_OQ)) != 0;
}
#else
Lanes square_root(Lanes v) {
  return Lanes{std::sqrt(v[0]), std::sqrt(v[1])};
}
bool any_less(Lanes a, Lanes b) {
  return a[0] < b[0] || a[1] < b[1];
}
#endif
Lanes largest(Lanes a, Lanes b) {
  return a > b ? a : b;
}

struct Bodies {
  Lanes x, y, z, radius;
};

/// Piece `k` of a record: 0 is all of it, or x and y; 1 is z and the radius.
const Piece& piece(const SweepRecord& record, int k = 0) {
  return reinterpret_cast<const Piece*>(&record)[k];
}
Piece& piece(SweepRecord& record, int k = 0) {
  return reinterpret_cast<Piece*>(&record)[k];
}

#if defined(__AVX512F__)
/// The transpose of a 4 x 4 matrix in each half of the registers; its own inverse.
Bodies transpose(Lanes a, Lanes b, Lanes c, Lanes d) {
  const Lanes ab_xz = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
  const Lanes ab_yr = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  const Lanes cd_xz = __builtin_shufflevector(c, d, 0, 8, 2, 10, 4, 12, 6, 14);
  const Lanes cd_yr = __builtin_shufflevector(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
  return {__builtin_shufflevector(ab_xz, cd_xz, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(ab_yr, cd_yr, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(ab_xz, cd_xz, 2, 3, 10, 11, 6, 7, 14, 15),
          __builtin_shufflevector(ab_yr, cd_yr, 2, 3, 10, 11, 6, 7, 14, 15)};
}
Bodies load(const SweepRecord* records, const Index* which) {
  const auto row = [&](int k) {
    return __builtin_shufflevector(piece(records[which[k]]), piece(records[which[k + 4]]), 0, 1, 2, 3, 4, 5,
                                   6, 7);
  };
  return transpose(row(0), row(1), row(2), row(3));
}
void store(const Bodies& bodies, SweepRecord* records, const Index* which) {
  const Bodies rows = transpose(bodies.x, bodies.y, bodies.z, bodies.radius);
  const auto put = [&](Lanes row, int k) {
    piece(records[which[k]]) = __builtin_shufflevector(row, row, 0, 1, 2, 3);
    piece(records[which[k + 4]]) = __builtin_shufflevector(row, row, 4, 5, 6, 7);
  };
  put(rows.x, 0);
  put(rows.y, 1);
  put(rows.z, 2);
  put(rows.radius, 3);
}
#elif defined(__AVX2__)
/// The transpose of a 4 x 4 matrix; its own inverse.
Bodies transpose(Lanes a, Lanes b, Lanes c, Lanes d) {
  const Lanes ab_xz = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Lanes ab_yr = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Lanes cd_xz = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Lanes cd_yr = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return {
      __builtin_shufflevector(ab_xz, cd_xz, 0, 1, 4, 5), __builtin_shufflevector(ab_yr, cd_yr, 0, 1, 4, 5),
      __builtin_shufflevector(ab_xz, cd_xz, 2, 3, 6, 7), __builtin_shufflevector(ab_yr, cd_yr, 2, 3, 6, 7)};
}
Bodies load(const SweepRecord* records, const Index* which) {
  return transpose(piece(records[which[0]]), piece(records[which[1]]), piece(records[which[2]]),
                   piece(records[which[3]]));
}
void store(const Bodies& bodies, SweepRecord* records, const Index* which) {
  const Bodies rows = transpose(bodies.x, bodies.y, bodies.z, bodies.radius);
  piece(records[which[0]]) = rows.x;
  piece(records[which[1]]) = rows.y;
  piece(records[which[2]]) = rows.z;
  piece(records[which[3]]) = rows.radius;
}
#else
Bodies load(const SweepRecord* records, const Index* which) {
  const SweepRecord& a = records[which[0]];
  const SweepRecord& b = records[which[1]];
  return {__builtin_shufflevector(piece(a, 0), piece(b, 0), 0, 2),
          __builtin_shufflevector(piece(a, 0), piece(b, 0), 1, 3),
          __builtin_shufflevector(piece(a, 1), piece(b, 1), 0, 2),
          __builtin_shufflevector(piece(a, 1), piece(b, 1), 1, 3)};
}
void store(const Bodies& bodies, SweepRecord* records, const Index* which) {
  SweepRecord& a = records[which[0]];
  SweepRecord& b = records[which[1]];
  piece(a, 0) = __builtin_shufflevector(bodies.x, bodies.y, 0, 2);
  piece(b, 0) = __builtin_shufflevector(bodies.x, bodies.y, 1, 3);
  piece(a, 1) = __builtin_shufflevector(bodies.z, bodies.radius, 0, 2);
  piece(b, 1) = __builtin_shufflevector(bodies.z, bodies.radius, 1, 3);
}
#endif

Lanes load(const Real* values) {
  Lanes v;
  __builtin_memcpy(&v, values, sizeof v);
  return v;
}
void store(Lanes v, Real* values) {
  __builtin_memcpy(values, &v, sizeof v);
}

Lanes gather(const Real* values, const Index* which) {
  Lanes v{};
  for (int k = 0; k < width; ++k) v[k] = values[which[k]];
  return v;
}

template <int D, PairMode mode, bool shifted, bool weighted>
Real run(const PairBatches& p) {
  const Lanes zero{};
  Lanes deepest = zero;
  for (Index batch = 0; batch < p.n_batches; ++batch) {
    const Index* low_ends = p.ends + 2 * batch_size * batch;
    if (p.prefetch > 0) {
      const Index* ahead = low_ends + 2 * batch_size * p.prefetch;
      for (int k = 0; k < 2 * batch_size; ++k) __builtin_prefetch(p.records + ahead[k], 1);
    }
    for (int part = 0; part < batch_size; part += width) {
      const Index* low = low_ends + part;
      const Index* high = low + batch_size;
      const Index place = batch * batch_size + part;
      Bodies i = load(p.records, low);
      Bodies j = load(p.records, high);

      Lanes dx = i.x - j.x;
      Lanes dy = i.y - j.y;
      Lanes dz = D == 3 ? i.z - j.z : zero;
      if constexpr (shifted) {
        for (int k = 0; k < width; ++k) {
          const Real* shift = p.shift_table + 3 * p.shifts[place + k];
          dx[k] += shift[0];
          dy[k] += shift[1];
          if constexpr (D == 3) dz[k] += shift[2];
        }
      }
      Lanes squared = dx * dx + dy * dy;
      if constexpr (D == 3) squared += dz * dz;
      const Lanes contact_distance = i.radius + j.radius;
      const Lanes tiny = contact_distance * 1e-12;
      Lanes distance = square_root(squared);
      const Lanes gap = distance - contact_distance;
      if (__builtin_expect(any_less(squared, tiny * tiny), 0)) {
        for (int k = 0; k < width; ++k) {
          if (!(squared[k] < tiny[k] * tiny[k])) continue;
          const Vec<3> direction = coincident_direction(p.ids[low[k]], p.ids[high[k]], D);
          dx[k] = direction[0];
          dy[k] = direction[1];
          if constexpr (D == 3) dz[k] = direction[2];
          distance[k] = 1;
        }
      }

      Lanes w_i = zero + 1, w_j = w_i;
      Lanes share = zero + 1 / (2 + p.compliance);
      if constexpr (weighted) {
        w_i = gather(p.mobility, low);
        w_j = gather(p.mobility, high);
        const Lanes total = w_i + w_j + p.compliance;
        share = total > 0 ? 1 / total : zero;
      }

      Lanes push;
      if constexpr (mode == PairMode::plain || mode == PairMode::record) {
        push = largest(-gap, zero) * share;
        deepest = largest(deepest, -gap);
        if constexpr (mode == PairMode::record)
          store(load(p.multipliers + place) + push, p.multipliers + place);
      } else if constexpr (mode == PairMode::accumulate) {
        const Lanes l = load(p.multipliers + place);
        push = largest((-gap - p.compliance * l) * share, -l);
        deepest = largest(deepest, -gap);
        store(l + push, p.multipliers + place);
      } else {
        push = load(p.multipliers + place) * p.scale;
        store(push, p.multipliers + place);
      }

      const Lanes along = push / distance;
      const Lanes step_i = weighted ? w_i * along : along;
      const Lanes step_j = weighted ? w_j * along : along;
      i.x += step_i * dx;
      i.y += step_i * dy;
      j.x -= step_j * dx;
      j.y -= step_j * dy;
      if constexpr (D == 3) {
        i.z += step_i * dz;
        j.z -= step_j * dz;
      }
      store(i, p.records, low);
      store(j, p.records, high);
    }
  }
  Real most = 0;
  for (int k = 0; k < width; ++k) most = std::max(most, deepest[k]);
  return most;
}

template <int D>
constexpr PairKernels make(std::string_view name) {
#define SCREE_MODE(m)                                                          \
  {                                                                            \
    {&run<D, PairMode::m, false, false>, &run<D, PairMode::m, false, true>}, { \
      &run<D, PairMode::m, true, false>, &run<D, PairMode::m, true, true>      \
    }                                                                          \
  }
  return {name, {SCREE_MODE(plain), SCREE_MODE(record), SCREE_MODE(accumulate), SCREE_MODE(warm)}};
#undef SCREE_MODE
}

#define SCREE_TEXT_OF(name) #name
#define SCREE_TEXT(name) SCREE_TEXT_OF(name)

}  // namespace

extern const PairKernels kernels_2d = make<2>(SCREE_TEXT(SCREE_SET));
extern const PairKernels kernels_3d = make<3>(SCREE_TEXT(SCREE_SET));

}  // namespace scree::SCREE_SET
