#include "schemes/dem/force_kernels.hpp"

#include "core/simd.hpp"

namespace scree {

SCREE_IN_ALL_SETS(extern const ForceKernels force_kernels_of_set;)

std::span<const ForceKernels* const> available_force_kernels() {
  static const auto sets = runnable<ForceKernels>({SCREE_OF_ALL_SETS(force_kernels_of_set)});
  return sets;
}

const ForceKernels& force_kernels() {
  return chosen(available_force_kernels());
}

}  // namespace scree
