#include <vector>

#include "bench/case.hpp"
#include "bench/run_cases.hpp"

#define SCREE_ENTRY(name) ::scree::BenchEntry BenchCase_##name();
#include "bench/cases/cases.def"
#undef SCREE_ENTRY

namespace scree {

std::span<const BenchEntry> bench_cases() {
  static const std::vector<BenchEntry> list = [] {
    std::vector<BenchEntry> all{
#define SCREE_ENTRY(name) BenchCase_##name(),
#include "bench/cases/cases.def"
#undef SCREE_ENTRY
    };
    all.insert(all.begin() + 1, run_cases().begin(), run_cases().end());  // schemes first
    return all;
  }();
  return list;
}

}  // namespace scree
