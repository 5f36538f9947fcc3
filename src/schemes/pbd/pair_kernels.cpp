#include "schemes/pbd/pair_kernels.hpp"

#ifdef SCREE_WIDE_KERNELS
#include <cpuid.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "core/random.hpp"

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

namespace {
template <int D>
std::vector<const PairKernels*> find_available() {
  const auto pick = [](const PairKernels& in_2d, const PairKernels& in_3d) {
    return D == 2 ? &in_2d : &in_3d;
  };
  std::vector<const PairKernels*> sets{pick(portable::kernels_2d, portable::kernels_3d)};
#ifdef SCREE_WIDE_KERNELS
  if (__builtin_cpu_supports("avx2")) sets.push_back(pick(avx2::kernels_2d, avx2::kernels_3d));
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    sets.push_back(pick(avx512::kernels_2d, avx512::kernels_3d));
#endif
  return sets;
}

/// AMD's family 25 (Zen 4) has data paths of 256 bits; its successors have 512.
bool runs_avx512_in_halves() {
#ifdef SCREE_WIDE_KERNELS
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned zen_4 = 25;
  if (!__builtin_cpu_is("amd") || !__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return false;
  const unsigned family = (eax >> 8 & 0xfU) + (eax >> 20 & 0xffU);
  return family == zen_4;
#else
  return false;
#endif
}
}  // namespace

template <int D>
std::span<const PairKernels* const> available_pair_kernels() {
  static const std::vector<const PairKernels*> sets = find_available<D>();
  return sets;
}

template <int D>
const PairKernels& pair_kernels() {
  const auto sets = available_pair_kernels<D>();
  if (const char* wanted = std::getenv("SCREE_INSTRUCTION_SET"))
    for (const PairKernels* set : sets)
      if (set->instruction_set == wanted) return *set;
  static const bool halves = runs_avx512_in_halves();
  return halves && sets.size() > 2 ? *sets[1] : *sets.back();
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
