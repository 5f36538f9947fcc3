#pragma once
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace scree {

/// Instruction sets and who takes which, the only place that decides. Kernels are compiled once per set
/// (scree_kernel_sets() in scripts/cmake/flags.cmake) and give the same bits in each:
///
/// | kernels        | sets                    | where                           |
/// |----------------|-------------------------|---------------------------------|
/// | pair kernels   | portable, avx2, avx512  | schemes/pbd/pair_kernels.hpp    |
/// | force kernels  | portable, avx2, avx512  | schemes/dem/force_kernels.hpp   |
/// | sphere contacts| portable, avx2, avx512  | friction/sphere_rows.hpp        |
/// | other contacts | portable, avx2, avx512  | friction/general_rows.hpp       |
/// | look ahead     | portable, avx2, avx512  | crowd/look_ahead_kernels.hpp    |
/// | near search    | portable, avx512        | neighbors/near_search.hpp       |
/// | near pairs     | portable, avx2, avx512  | neighbors/near_kernels.hpp      |
///
/// The environment variable SCREE_INSTRUCTION_SET names the widest set to take: a kernel without it takes the
/// next narrower one that it has. Without the variable (or with a set that the processor lacks) kernels take
/// the widest set that the processor runs. Exception: Zen 4 runs AVX-512 in two halves, and AVX2 was measured
/// faster there (docs/performance.md), so kernels that have AVX2 take that.

/// Declares something in the namespace of each set, and lists the addresses of these: for kernels that have
/// all sets.
#ifdef SCREE_WIDE_KERNELS
#define SCREE_IN_ALL_SETS(...) \
  namespace portable {         \
  __VA_ARGS__                  \
  }                            \
  namespace avx2 {             \
  __VA_ARGS__                  \
  }                            \
  namespace avx512 {           \
  __VA_ARGS__                  \
  }
#define SCREE_OF_ALL_SETS(name) &portable::name, &avx2::name, &avx512::name
#else
#define SCREE_IN_ALL_SETS(...) \
  namespace portable {         \
  __VA_ARGS__                  \
  }
#define SCREE_OF_ALL_SETS(name) &portable::name
#endif

/// All sets, narrowest first.
inline constexpr std::string_view instruction_sets[] = {"portable", "avx2", "avx512"};

/// False for names of no set. Local.
bool processor_runs(std::string_view set);
/// Which of `sets` to take, as its place: all of them run here, narrowest first, the first is portable.
/// `wanted`: as SCREE_INSTRUCTION_SET, empty if not given; `halves`: the processor runs AVX-512 in two
/// halves.
std::size_t choose_set(std::span<const std::string_view> sets, std::string_view wanted, bool halves);
/// The same for this processor and environment.
std::size_t choose_set(std::span<const std::string_view> sets);

/// Those of `all`, narrowest first, that this processor runs. Kernels: has a member instruction_set.
template <class Kernels>
std::vector<const Kernels*> runnable(std::initializer_list<const Kernels*> all) {
  std::vector<const Kernels*> sets;
  for (const Kernels* kernels : all)
    if (processor_runs(kernels->instruction_set)) sets.push_back(kernels);
  return sets;
}
/// The one to take of what runnable() returned.
template <class Kernels>
const Kernels& chosen(std::span<const Kernels* const> sets) {
  std::array<std::string_view, std::size(instruction_sets)> names;  // no allocation: steps call this
  for (std::size_t k = 0; k < sets.size(); ++k) names[k] = sets[k]->instruction_set;
  return *sets[choose_set(std::span(names).first(sets.size()))];
}

}  // namespace scree
