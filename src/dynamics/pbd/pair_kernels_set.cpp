// Compiled once per instruction set, with SCREE_SET naming the set (see dynamics/CMakeLists.txt). The
// arithmetic of a pair is the same in all of them; only the number of pairs per register differs.
#include <algorithm>

#include "dynamics/kernels/lanes.hpp"
#include "dynamics/pbd/pair_kernels.hpp"

namespace scree::SCREE_SET {

namespace {

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
