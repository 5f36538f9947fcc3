#pragma once
// Records of bodies in lanes, for files that are compiled once per instruction set (core/lanes.hpp).
#include "comm/ghost_exchange.hpp"
#include "core/lanes.hpp"
#include "neighbors/sweep_schedule.hpp"

namespace scree::SCREE_SET {

namespace {

/// The part of a record that one load takes.
using Piece = Real __attribute__((vector_size(width == 2 ? 16 : 32), may_alias));
static_assert(batch_size % width == 0);

struct Bodies {
  Lanes x, y, z, radius;
};

/// Piece `k` of a record: 0 is all of it, or x and y; 1 is z and the radius.
inline const Piece& piece(const SweepRecord& record, int k = 0) {
  return reinterpret_cast<const Piece*>(&record)[k];
}
inline Piece& piece(SweepRecord& record, int k = 0) {
  return reinterpret_cast<Piece*>(&record)[k];
}
/// x and y of a record.
inline Half& half(SweepRecord& record) {
  return reinterpret_cast<Half&>(record);
}

// load(records, which) and store(bodies, records, which) move `width` bodies from and to their records;
// store_in_plane() only x and y, which takes fewer shuffles.
#if defined(__AVX512F__)
/// The transpose of a 4 x 4 matrix in each half of the registers; its own inverse.
inline Bodies transpose(Lanes a, Lanes b, Lanes c, Lanes d) {
  const Lanes ab_xz = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
  const Lanes ab_yr = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  const Lanes cd_xz = __builtin_shufflevector(c, d, 0, 8, 2, 10, 4, 12, 6, 14);
  const Lanes cd_yr = __builtin_shufflevector(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
  return {__builtin_shufflevector(ab_xz, cd_xz, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(ab_yr, cd_yr, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(ab_xz, cd_xz, 2, 3, 10, 11, 6, 7, 14, 15),
          __builtin_shufflevector(ab_yr, cd_yr, 2, 3, 10, 11, 6, 7, 14, 15)};
}
inline Bodies load(const SweepRecord* records, const Index* which) {
  // Loaded and put in place by one instruction, which the compiler does not make of a shuffle.
  const auto row = [&](int k) -> Lanes {
    return _mm512_maskz_insertf64x4(0xff, _mm512_castpd256_pd512(piece(records[which[k]])),
                                    piece(records[which[k + 4]]), 1);
  };
  return transpose(row(0), row(1), row(2), row(3));
}
inline void store_in_plane(const Bodies& bodies, SweepRecord* records, const Index* which) {
  const Lanes even = __builtin_shufflevector(bodies.x, bodies.y, 0, 8, 2, 10, 4, 12, 6, 14);
  const Lanes odd = __builtin_shufflevector(bodies.x, bodies.y, 1, 9, 3, 11, 5, 13, 7, 15);
  const auto put = [&](Lanes pairs, int k) {
    half(records[which[k]]) = __builtin_shufflevector(pairs, pairs, 0, 1);
    half(records[which[k + 2]]) = _mm512_maskz_extractf64x2_pd(0x3, pairs, 1);
    half(records[which[k + 4]]) = _mm512_maskz_extractf64x2_pd(0x3, pairs, 2);
    half(records[which[k + 6]]) = _mm512_maskz_extractf64x2_pd(0x3, pairs, 3);
  };
  put(even, 0);
  put(odd, 1);
}
inline void store(const Bodies& bodies, SweepRecord* records, const Index* which) {
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
inline Bodies transpose(Lanes a, Lanes b, Lanes c, Lanes d) {
  const Lanes ab_xz = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Lanes ab_yr = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Lanes cd_xz = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Lanes cd_yr = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return {
      __builtin_shufflevector(ab_xz, cd_xz, 0, 1, 4, 5), __builtin_shufflevector(ab_yr, cd_yr, 0, 1, 4, 5),
      __builtin_shufflevector(ab_xz, cd_xz, 2, 3, 6, 7), __builtin_shufflevector(ab_yr, cd_yr, 2, 3, 6, 7)};
}
inline Bodies load(const SweepRecord* records, const Index* which) {
  return transpose(piece(records[which[0]]), piece(records[which[1]]), piece(records[which[2]]),
                   piece(records[which[3]]));
}
inline void store_in_plane(const Bodies& bodies, SweepRecord* records, const Index* which) {
  const Lanes even = __builtin_shufflevector(bodies.x, bodies.y, 0, 4, 2, 6);
  const Lanes odd = __builtin_shufflevector(bodies.x, bodies.y, 1, 5, 3, 7);
  half(records[which[0]]) = __builtin_shufflevector(even, even, 0, 1);
  half(records[which[1]]) = __builtin_shufflevector(odd, odd, 0, 1);
  half(records[which[2]]) = __builtin_shufflevector(even, even, 2, 3);
  half(records[which[3]]) = __builtin_shufflevector(odd, odd, 2, 3);
}
inline void store(const Bodies& bodies, SweepRecord* records, const Index* which) {
  const Bodies rows = transpose(bodies.x, bodies.y, bodies.z, bodies.radius);
  piece(records[which[0]]) = rows.x;
  piece(records[which[1]]) = rows.y;
  piece(records[which[2]]) = rows.z;
  piece(records[which[3]]) = rows.radius;
}
#else
inline Bodies load(const SweepRecord* records, const Index* which) {
  const SweepRecord& a = records[which[0]];
  const SweepRecord& b = records[which[1]];
  return {__builtin_shufflevector(piece(a, 0), piece(b, 0), 0, 2),
          __builtin_shufflevector(piece(a, 0), piece(b, 0), 1, 3),
          __builtin_shufflevector(piece(a, 1), piece(b, 1), 0, 2),
          __builtin_shufflevector(piece(a, 1), piece(b, 1), 1, 3)};
}
inline void store_in_plane(const Bodies& bodies, SweepRecord* records, const Index* which) {
  half(records[which[0]]) = __builtin_shufflevector(bodies.x, bodies.y, 0, 2);
  half(records[which[1]]) = __builtin_shufflevector(bodies.x, bodies.y, 1, 3);
}
inline void store(const Bodies& bodies, SweepRecord* records, const Index* which) {
  store_in_plane(bodies, records, which);
  SweepRecord& a = records[which[0]];
  SweepRecord& b = records[which[1]];
  piece(a, 1) = __builtin_shufflevector(bodies.z, bodies.radius, 0, 2);
  piece(b, 1) = __builtin_shufflevector(bodies.z, bodies.radius, 1, 3);
}
#endif

/// Writes x, y and z of the records only.
inline void store_in_space(const Bodies& bodies, SweepRecord* records, const Index* which) {
#if defined(__AVX2__)
  const Bodies rows = transpose(bodies.x, bodies.y, bodies.z, bodies.z);
  const auto put = [&](Piece row, int k) {
    Piece& record = piece(records[which[k]]);
    record = __builtin_shufflevector(row, record, 0, 1, 2, 7);
  };
  const Lanes all[4] = {rows.x, rows.y, rows.z, rows.radius};
  for (int k = 0; k < 4; ++k) {
    put(__builtin_shufflevector(all[k], all[k], 0, 1, 2, 3), k);
#if defined(__AVX512F__)
    put(__builtin_shufflevector(all[k], all[k], 4, 5, 6, 7), k + 4);
#endif
  }
#else
  store_in_plane(bodies, records, which);
  for (int k = 0; k < width; ++k) records[which[k]].x[2] = bodies.z[k];
#endif
}

/// `width` vectors of three numbers each, one after the other.
struct Vectors {
  Lanes x, y, z;
};
inline Vectors load_vectors(const Real* values) {
#if defined(__AVX512F__)
  const Lanes a = load(values);
  const Lanes b = load(values + 8);
  const Lanes c = load(values + 16);
  const Lanes x = __builtin_shufflevector(a, b, 0, 3, 6, 9, 12, 15, -1, -1);
  const Lanes y = __builtin_shufflevector(a, b, 1, 4, 7, 10, 13, -1, -1, -1);
  const Lanes z = __builtin_shufflevector(a, b, 2, 5, 8, 11, 14, -1, -1, -1);
  return {__builtin_shufflevector(x, c, 0, 1, 2, 3, 4, 5, 10, 13),
          __builtin_shufflevector(y, c, 0, 1, 2, 3, 4, 8, 11, 14),
          __builtin_shufflevector(z, c, 0, 1, 2, 3, 4, 9, 12, 15)};
#else
  Vectors v{};
  for (int k = 0; k < width; ++k) {
    v.x[k] = values[3 * k];
    v.y[k] = values[3 * k + 1];
    v.z[k] = values[3 * k + 2];
  }
  return v;
#endif
}
inline void store_vectors(const Vectors& v, Real* values) {
#if defined(__AVX512F__)
  const Lanes a = __builtin_shufflevector(v.x, v.y, 0, 8, -1, 1, 9, -1, 2, 10);
  const Lanes b = __builtin_shufflevector(v.x, v.y, -1, 3, 11, -1, 4, 12, -1, 5);
  const Lanes c = __builtin_shufflevector(v.x, v.y, 13, -1, 6, 14, -1, 7, 15, -1);
  store(__builtin_shufflevector(a, v.z, 0, 1, 8, 3, 4, 9, 6, 7), values);
  store(__builtin_shufflevector(b, v.z, 10, 1, 2, 11, 4, 5, 12, 7), values + 8);
  store(__builtin_shufflevector(c, v.z, 0, 13, 2, 3, 14, 5, 6, 15), values + 16);
#else
  for (int k = 0; k < width; ++k) {
    values[3 * k] = v.x[k];
    values[3 * k + 1] = v.y[k];
    values[3 * k + 2] = v.z[k];
  }
#endif
}

/// `width` rows of four numbers each, one after the other.
inline Bodies load_rows(const Real* values) {
#if defined(__AVX512F__)
  const Bodies pairs = transpose(load(values), load(values + 8), load(values + 16), load(values + 24));
  const auto sorted = [](Lanes v) { return __builtin_shufflevector(v, v, 0, 4, 1, 5, 2, 6, 3, 7); };
  return {sorted(pairs.x), sorted(pairs.y), sorted(pairs.z), sorted(pairs.radius)};
#elif defined(__AVX2__)
  return transpose(load(values), load(values + 4), load(values + 8), load(values + 12));
#else
  Bodies rows{};
  for (int k = 0; k < width; ++k) {
    rows.x[k] = values[4 * k];
    rows.y[k] = values[4 * k + 1];
    rows.z[k] = values[4 * k + 2];
    rows.radius[k] = values[4 * k + 3];
  }
  return rows;
#endif
}
inline void store_rows(const Bodies& rows, Real* values) {
#if defined(__AVX512F__)
  const auto paired = [](Lanes v) { return __builtin_shufflevector(v, v, 0, 2, 4, 6, 1, 3, 5, 7); };
  const Bodies pairs = transpose(paired(rows.x), paired(rows.y), paired(rows.z), paired(rows.radius));
  store(pairs.x, values);
  store(pairs.y, values + 8);
  store(pairs.z, values + 16);
  store(pairs.radius, values + 24);
#elif defined(__AVX2__)
  const Bodies all = transpose(rows.x, rows.y, rows.z, rows.radius);
  store(all.x, values);
  store(all.y, values + 4);
  store(all.z, values + 8);
  store(all.radius, values + 12);
#else
  for (int k = 0; k < width; ++k) {
    values[4 * k] = rows.x[k];
    values[4 * k + 1] = rows.y[k];
    values[4 * k + 2] = rows.z[k];
    values[4 * k + 3] = rows.radius[k];
  }
#endif
}

inline Lanes gather(const Real* values, const Index* which) {
  Lanes v{};
  for (int k = 0; k < width; ++k) v[k] = values[which[k]];
  return v;
}

}  // namespace

}  // namespace scree::SCREE_SET
