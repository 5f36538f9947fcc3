#include "schemes/pbd/pair_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.hpp"
#include "core/simd.hpp"

namespace scree {

#define SCREE_DECLARE_SET(name)        \
  namespace name {                     \
  extern const PairKernels kernels_2d; \
  extern const PairKernels kernels_3d; \
  }
SCREE_DECLARE_SET(portable)
#ifdef SCREE_WIDE_KERNELS
SCREE_DECLARE_SET(avx2)
SCREE_DECLARE_SET(avx512)
#endif
#undef SCREE_DECLARE_SET

template <int D>
std::span<const PairKernels* const> available_pair_kernels() {
  const auto pick = [](const PairKernels& in_2d, const PairKernels& in_3d) {
    return D == 2 ? &in_2d : &in_3d;
  };
  static const auto sets = runnable<PairKernels>({pick(portable::kernels_2d, portable::kernels_3d),
#ifdef SCREE_WIDE_KERNELS
                                                  pick(avx2::kernels_2d, avx2::kernels_3d),
                                                  pick(avx512::kernels_2d, avx512::kernels_3d)
#endif
  });
  return sets;
}

template <int D>
const PairKernels& pair_kernels() {
  return chosen(available_pair_kernels<D>());
}

Vec<3> coincident_direction(GlobalId low, GlobalId high, int dimension) {
  RandomStream stream(static_cast<std::uint64_t>(low), high, purpose::coincident_direction);
  const Real angle = stream.uniform(0, 2 * std::numbers::pi);
  const Real height = dimension == 3 ? stream.uniform(-1, 1) : 0;
  const Real radius = std::sqrt(1 - height * height);
  return {{radius * std::cos(angle), radius * std::sin(angle), height}};
}

template const PairKernels& pair_kernels<2>();
template const PairKernels& pair_kernels<3>();
template std::span<const PairKernels* const> available_pair_kernels<2>();
template std::span<const PairKernels* const> available_pair_kernels<3>();

}  // namespace scree
