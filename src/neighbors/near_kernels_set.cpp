// Compiled once per instruction set, with SCREE_SET naming the set (see neighbors/CMakeLists.txt).
#include "neighbors/lanes.hpp"
#include "neighbors/near_kernels.hpp"

namespace scree::SCREE_SET {

namespace {

/// d . (d + w_low - w_high)
template <int D>
Lanes along_displacement(Lanes dx, Lanes dy, Lanes dz, const SweepRecord* displacements, const Index* low,
                         const Index* high) {
  const Bodies a = load(displacements, low), b = load(displacements, high);
  Lanes sum = dx * (dx + (a.x - b.x)) + dy * (dy + (a.y - b.y));
  if constexpr (D == 3) sum += dz * (dz + (a.z - b.z));
  return sum;
}

template <int D, bool shifted, int n_displacements>
void find_near(const CandidateBatches& p, Real factor, std::uint8_t* found) {
  const Lanes zero{};
  for (Index batch = 0; batch < p.n_batches; ++batch) {
    unsigned near = 0;
    for (int part = 0; part < batch_size; part += width) {
      const Index* low = p.ends + 2 * batch_size * batch + part;
      const Index* high = low + batch_size;
      const Bodies a = load(p.places, low), b = load(p.places, high);
      Lanes dx = a.x - b.x;
      Lanes dy = a.y - b.y;
      Lanes dz = D == 3 ? a.z - b.z : zero;
      if constexpr (shifted)
        for (int k = 0; k < width; ++k) {
          const Real* shift = p.shift_table + 3 * p.shifts[batch * batch_size + part + k];
          dx[k] += shift[0];
          dy[k] += shift[1];
          if constexpr (D == 3) dz[k] += shift[2];
        }
      Lanes squared = dx * dx + dy * dy;
      if constexpr (D == 3) squared += dz * dz;
      const Lanes reach = factor * (a.radius + b.radius);
      const Lanes reach_squared = reach * reach;
      // Comparisons with numbers that are not finite are false.
      unsigned far = less(reach_squared, squared);
      if constexpr (n_displacements > 0) {
        const Lanes min_squared = reach_squared * squared;
        for (int displacement = 0; displacement < n_displacements; ++displacement) {
          const Lanes after = along_displacement<D>(dx, dy, dz, p.displacements[displacement], low, high);
          far &= less(zero, after) & less(min_squared, after * after);
        }
      }
      near |= (~far & ((1U << width) - 1)) << part;
    }
    found[batch] = static_cast<std::uint8_t>(near);
  }
}

template <int D>
constexpr NearKernels make(std::string_view name) {
  return {name,
          {{&find_near<D, false, 0>, &find_near<D, false, 1>, &find_near<D, false, 2>},
           {&find_near<D, true, 0>, &find_near<D, true, 1>, &find_near<D, true, 2>}}};
}

}  // namespace

extern const NearKernels near_kernels_2d = make<2>(name_of_set);
extern const NearKernels near_kernels_3d = make<3>(name_of_set);

}  // namespace scree::SCREE_SET
