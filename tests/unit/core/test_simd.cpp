// Which instruction set kernels take: by hand for processors of every kind, then on this one.
#include "core/simd.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <string_view>
#include <vector>

#include "friction/general_rows.hpp"
#include "friction/sphere_rows.hpp"
#include "neighbors/near_search.hpp"
#include "schemes/dem/force_kernels.hpp"
#include "schemes/pbd/pair_kernels.hpp"

namespace scree {

namespace {
using Sets = std::vector<std::string_view>;
const Sets all{"portable", "avx2", "avx512"};
const Sets narrow{"portable", "avx2"};     // as a kernel that gains nothing from AVX-512
const Sets no_avx2{"portable", "avx512"};  // as the near search
std::string_view choice(const Sets& sets, std::string_view wanted, bool halves) {
  return sets[choose_set(sets, wanted, halves)];
}
}  // namespace

TEST_CASE("simd: the widest set, but AVX2 where AVX-512 runs in halves and there is an AVX2", "[core]") {
  CHECK(choice(all, "", false) == "avx512");
  CHECK(choice(narrow, "", false) == "avx2");
  CHECK(choice(no_avx2, "", false) == "avx512");
  CHECK(choice({"portable"}, "", false) == "portable");
  CHECK(choice(all, "", true) == "avx2");
  CHECK(choice(narrow, "", true) == "avx2");
  CHECK(choice(no_avx2, "", true) == "avx512");
}

TEST_CASE("simd: a set that is asked for is taken, else the next narrower one that the kernel has",
          "[core]") {
  for (const bool halves : {false, true}) {
    CHECK(choice(all, "portable", halves) == "portable");
    if (processor_runs("avx2")) {
      CHECK(choice(all, "avx2", halves) == "avx2");
      CHECK(choice(no_avx2, "avx2", halves) == "portable");
    }
    if (processor_runs("avx512")) {
      CHECK(choice(all, "avx512", halves) == "avx512");
      CHECK(choice(narrow, "avx512", halves) == "avx2");
    }
    CHECK(choice(all, "z80", halves) == choice(all, "", halves));
  }
}

TEST_CASE("simd: the kernels have the sets of the table, as far as the processor runs them", "[core]") {
  const auto names = [](const auto& kernels) {
    Sets sets;
    for (const auto* set : kernels) sets.push_back(set->instruction_set);
    return sets;
  };
  const auto runs_here = [](const Sets& table) {
    Sets sets;
    for (const std::string_view set : table)
      if (processor_runs(set)) sets.push_back(set);
    return sets;
  };
  CHECK(names(available_pair_kernels<2>()) == runs_here(all));
  CHECK(names(available_pair_kernels<3>()) == runs_here(all));
  CHECK(names(available_force_kernels()) == runs_here(all));
  CHECK(names(available_sphere_kernels<2>()) == runs_here(all));
  CHECK(names(available_sphere_kernels<3>()) == runs_here(all));
  CHECK(names(available_general_kernels<2>()) == runs_here(all));
  CHECK(names(available_general_kernels<3>()) == runs_here(all));
  CHECK(names(available_near_searches<2>()) == runs_here(no_avx2));
  CHECK(names(available_near_searches<3>()) == runs_here(no_avx2));
  CHECK_FALSE(processor_runs("z80"));
  CHECK_FALSE(processor_runs(""));
}

}  // namespace scree
