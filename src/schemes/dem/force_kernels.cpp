#include "schemes/dem/force_kernels.hpp"

#include <vector>

#include "schemes/pbd/pair_kernels.hpp"

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

namespace {
std::vector<const ForceKernels*> find_available() {
  const ForceKernels* all[] = {&portable::force_kernels_of_set,
#ifdef SCREE_WIDE_KERNELS
                               &avx2::force_kernels_of_set, &avx512::force_kernels_of_set
#endif
  };
  std::vector<const ForceKernels*> sets;
  for (const PairKernels* runs : available_pair_kernels<3>())
    for (const ForceKernels* set : all)
      if (set->instruction_set == runs->instruction_set) sets.push_back(set);
  return sets;
}
}  // namespace

std::span<const ForceKernels* const> available_force_kernels() {
  static const std::vector<const ForceKernels*> sets = find_available();
  return sets;
}

const ForceKernels& force_kernels() {
  const auto sets = available_force_kernels();
  for (const ForceKernels* set : sets)
    if (set->instruction_set == pair_kernels<3>().instruction_set) return *set;
  return *sets.front();
}

}  // namespace scree
