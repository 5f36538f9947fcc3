#include "schemes/dem/force_kernels.hpp"

#include "core/simd.hpp"

namespace scree {

#define SCREE_DECLARE_SET(name)                   \
  namespace name {                                \
  extern const ForceKernels force_kernels_of_set; \
  }
SCREE_DECLARE_SET(portable)
#ifdef SCREE_WIDE_KERNELS
SCREE_DECLARE_SET(avx2)
SCREE_DECLARE_SET(avx512)
#endif
#undef SCREE_DECLARE_SET

std::span<const ForceKernels* const> available_force_kernels() {
  static const auto sets = runnable<ForceKernels>({&portable::force_kernels_of_set,
#ifdef SCREE_WIDE_KERNELS
                                                   &avx2::force_kernels_of_set, &avx512::force_kernels_of_set
#endif
  });
  return sets;
}

const ForceKernels& force_kernels() {
  return chosen(available_force_kernels());
}

}  // namespace scree
