#include "schemes/pbd/pair_kernels.hpp"

#include <cmath>
#include <numbers>

#include "core/random.hpp"
#include "core/simd.hpp"

namespace scree {

SCREE_IN_ALL_SETS(extern const PairKernels kernels_2d, kernels_3d;)

template <int D>
std::span<const PairKernels* const> available_pair_kernels() {
  static const auto sets = D == 2 ? runnable<PairKernels>({SCREE_OF_ALL_SETS(kernels_2d)})
                                  : runnable<PairKernels>({SCREE_OF_ALL_SETS(kernels_3d)});
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
