#include "crowd/look_ahead_kernels.hpp"

#include "core/simd.hpp"

namespace scree {

SCREE_IN_ALL_SETS(extern const LookAheadKernels look_ahead_kernels_of_set;)

std::span<const LookAheadKernels* const> available_look_ahead_kernels() {
  static const auto sets = runnable<LookAheadKernels>({SCREE_OF_ALL_SETS(look_ahead_kernels_of_set)});
  return sets;
}

const LookAheadKernels& look_ahead_kernels() {
  return chosen(available_look_ahead_kernels());
}

}  // namespace scree
