#include "schemes/dem/force_kernels.hpp"

#include "core/simd.hpp"

namespace scree {

SCREE_IN_ALL_SETS(extern const ForceKernels force_kernels_of_set;)

std::span<const ForceKernels* const> available_force_kernels() {
  static const auto sets = runnable<ForceKernels>({SCREE_OF_ALL_SETS(force_kernels_of_set)});
  return sets;
}

bool is_bonded(const SoftLaw& pair, NormalLaw law, Real gap, Real effective_radius) {
  if (!pair.attraction) return false;
  const Real modulus = law == NormalLaw::hertz ? 0.5 * pair.stiffness : 0;
  return gap <= pair.attraction->end(effective_radius, modulus);
}

const ForceKernels& force_kernels() {
  return chosen(available_force_kernels());
}

}  // namespace scree
