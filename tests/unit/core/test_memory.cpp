#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "core/memory.hpp"

using namespace scree;

TEST_CASE("what a piece of code allocates can be counted", "[core]") {
  if (!counts_allocations()) return;
  std::vector<double> numbers;
  numbers.reserve(100);
  std::int64_t before = n_allocations();
  for (int i = 0; i < 100; ++i) numbers.push_back(i);
  REQUIRE(n_allocations() == before);
  before = n_allocations();
  numbers.push_back(100);
  const std::int64_t grown = n_allocations() - before;
  REQUIRE(grown == 1);
}

TEST_CASE("large arrays start on a page of 2 MiB", "[core]") {
  if (!counts_allocations()) return;
  const std::vector<char> large(std::size_t{5} << 20, 'x');
  REQUIRE(reinterpret_cast<std::uintptr_t>(large.data()) % (std::uintptr_t{2} << 20) == 0);
  REQUIRE(large.back() == 'x');
  REQUIRE(peak_memory() > static_cast<std::int64_t>(large.size()));
}

TEST_CASE("what is held at a time is counted, and given back", "[core]") {
  if (!counts_allocations()) return;
  const std::int64_t before = live_memory();
  {
    const std::vector<double> few(100), many(std::size_t{1} << 20);
    const auto asked = static_cast<std::int64_t>(sizeof(double) * (few.size() + many.size()));
    const std::int64_t held = live_memory() - before;
    REQUIRE(held >= asked);
    REQUIRE(held <= asked + 2 * 4096);
  }
  REQUIRE(live_memory() == before);
}

TEST_CASE("memory that was given back is not asked for again from the system", "[core]") {
  if (!counts_allocations()) return;
  const auto page_faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  const auto make_lists = [] {
    const std::vector<char> small(std::size_t{1} << 20, 'x'), large(std::size_t{3} << 20, 'x');
    return small.back() == large.back();
  };
  REQUIRE(make_lists());
  const long before = page_faults();
  for (int round = 0; round < 10; ++round) REQUIRE(make_lists());
  REQUIRE(page_faults() - before < 100);  // of the 10 000 pages that were filled
}
