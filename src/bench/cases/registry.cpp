#include <array>

#include "bench/case.hpp"

#define SCREE_ENTRY(name) ::scree::BenchEntry BenchCase_##name();
#include "bench/cases/cases.def"
#undef SCREE_ENTRY

namespace scree {

std::span<const BenchEntry> bench_cases() {
  static const std::array list{
#define SCREE_ENTRY(name) BenchCase_##name(),
#include "bench/cases/cases.def"
#undef SCREE_ENTRY
  };
  return list;
}

}  // namespace scree
