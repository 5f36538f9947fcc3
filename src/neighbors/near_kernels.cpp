#include "neighbors/near_kernels.hpp"

#include "core/simd.hpp"

namespace scree {

SCREE_IN_ALL_SETS(extern const NearKernels near_kernels_2d, near_kernels_3d;)

template <int D>
std::span<const NearKernels* const> available_near_kernels() {
  static const auto sets = D == 2 ? runnable<NearKernels>({SCREE_OF_ALL_SETS(near_kernels_2d)})
                                  : runnable<NearKernels>({SCREE_OF_ALL_SETS(near_kernels_3d)});
  return sets;
}

template <int D>
const NearKernels& near_kernels() {
  return chosen(available_near_kernels<D>());
}

template const NearKernels& near_kernels<2>();
template const NearKernels& near_kernels<3>();
template std::span<const NearKernels* const> available_near_kernels<2>();
template std::span<const NearKernels* const> available_near_kernels<3>();

}  // namespace scree
