#include "core/simd.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>

namespace scree {

namespace {

/// Width of a set among others; of a name that is none: as many as there are sets.
std::ptrdiff_t width_of(std::string_view set) {
  return std::ranges::find(instruction_sets, set) - std::begin(instruction_sets);
}

/// AMD's family 25 (Zen 4) has data paths of 256 bits; its successors have 512.
bool runs_avx512_in_halves() {
#ifdef __x86_64__
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

bool processor_runs(std::string_view set) {
  if (set == "portable") return true;
#ifdef __x86_64__
  if (set == "avx2") return __builtin_cpu_supports("avx2");
  if (set == "avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#endif
  return false;
}

std::size_t choose_set(std::span<const std::string_view> sets, std::string_view wanted, bool halves) {
  const auto widest_up_to = [&](std::string_view limit) {
    const auto wider =
        std::ranges::find_if(sets, [&](std::string_view set) { return width_of(set) > width_of(limit); });
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(wider - sets.begin(), 1)) - 1;
  };
  if (processor_runs(wanted)) return widest_up_to(wanted);
  const bool has_avx2 = std::ranges::find(sets, std::string_view("avx2")) != sets.end();
  return widest_up_to(halves && has_avx2 ? "avx2" : "avx512");
}

std::size_t choose_set(std::span<const std::string_view> sets) {
  static const bool halves = runs_avx512_in_halves();
  const char* wanted = std::getenv("SCREE_INSTRUCTION_SET");
  return choose_set(sets, wanted ? wanted : "", halves);
}

}  // namespace scree
