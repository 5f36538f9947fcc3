// Compiled once per instruction set, with SCREE_SET naming the set (see schemes/CMakeLists.txt). The
// arithmetic of a pair is the same in all of them; only the number of pairs per register differs.
#include <algorithm>

#include "neighbors/lanes.hpp"
#include "schemes/pbd/pair_kernels.hpp"

namespace scree::SCREE_SET {

namespace {

template <int D, PairMode mode, bool shifted, bool weighted>
Real run(const PairBatches& p) {
  const Lanes zero{};
  Lanes deepest = zero;
  // Copies, since p might change with every store for all that the compiler knows.
  SweepRecord* const records = p.records;
  const Index* const ends = p.ends;
  Real* const multipliers = p.multipliers;
  const Index n_batches = p.n_batches;
  const Index n_coming = p.n_coming;
  const Real compliance = p.compliance;
  const Real scale = p.scale;
  const Lanes even_share = zero + 1 / (2 + compliance);
  for (Index batch = 0; batch < n_batches; ++batch) {
    const Index* low_ends = ends + 2 * batch_size * batch;
    if (batch < n_coming) {
      const Index* coming = p.coming + 2 * batch_size * batch;
      for (int k = 0; k < 2 * batch_size; ++k) __builtin_prefetch(records + coming[k], 1);
    }
    for (int part = 0; part < batch_size; part += width) {
      const Index* low = low_ends + part;
      const Index* high = low + batch_size;
      const Index place = batch * batch_size + part;
      Bodies i = load(records, low);
      Bodies j = load(records, high);

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
      Lanes share = even_share;
      if constexpr (weighted) {
        w_i = gather(p.mobility, low);
        w_j = gather(p.mobility, high);
        const Lanes total = w_i + w_j + compliance;
        share = total > 0 ? 1 / total : zero;
      }

      Lanes push;
      if constexpr (mode == PairMode::plain || mode == PairMode::record) {
        push = largest(-gap, zero) * share;
        deepest = largest(deepest, -gap);
        if constexpr (mode == PairMode::record) store(load(multipliers + place) + push, multipliers + place);
      } else if constexpr (mode == PairMode::accumulate) {
        const Lanes l = load(multipliers + place);
        push = largest((-gap - compliance * l) * share, -l);
        deepest = largest(deepest, -gap);
        store(l + push, multipliers + place);
      } else {
        push = load(multipliers + place) * scale;
        store(push, multipliers + place);
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
      if constexpr (D == 2) {
        store_in_plane(i, records, low);
        store_in_plane(j, records, high);
      } else {
        store(i, records, low);
        store(j, records, high);
      }
    }
  }
  Real max = 0;
  for (int k = 0; k < width; ++k) max = std::max(max, deepest[k]);
  return max;
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

}  // namespace

extern const PairKernels kernels_2d = make<2>(name_of_set);
extern const PairKernels kernels_3d = make<3>(name_of_set);

}  // namespace scree::SCREE_SET
