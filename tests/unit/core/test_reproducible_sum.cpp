#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/parallel.hpp"
#include "core/random.hpp"

using scree::Real;
using scree::ReproducibleSum;

namespace {

scree::Comm world() {
  return scree::Comm();
}

std::uint64_t bits(Real value) {
  return std::bit_cast<std::uint64_t>(value);
}

/// Numbers of both signs whose magnitudes span 20 decades.
std::vector<Real> wild_numbers(int n) {
  std::vector<Real> values;
  scree::RandomStream stream(5, 0, 1);
  for (int i = 0; i < n; ++i) values.push_back(stream.uniform(-1, 1) * std::pow(10, stream.uniform(-10, 10)));
  return values;
}

}  // namespace

TEST_CASE("reproducible sum: 20 orders of 1000 wild numbers give the same bits, unlike a plain sum",
          "[core]") {
  std::vector<Real> values = wild_numbers(1000);
  const Real expected = ReproducibleSum::sum(world(), values);
  const Real plain = std::accumulate(values.begin(), values.end(), 0.0);
  bool plain_differs = false;
  scree::RandomStream stream(6, 0, 1);
  for (int turn = 0; turn < 20; ++turn) {
    for (std::size_t i = values.size() - 1; i > 0; --i) std::swap(values[i], values[stream.bits() % (i + 1)]);
    CHECK(bits(ReproducibleSum::sum(world(), values)) == bits(expected));
    plain_differs = plain_differs || bits(std::accumulate(values.begin(), values.end(), 0.0)) != bits(plain);
  }
  CHECK(plain_differs);
  const auto exact = std::accumulate(values.begin(), values.end(), 0.0L);
  CHECK(std::abs(static_cast<Real>(expected - exact)) <=
        1000 * 0x1p-60 * 1e10 + std::abs(expected) * 0x1p-52);
}

TEST_CASE("reproducible sum: integers and halves are exact, and large terms may cancel", "[core]") {
  CHECK(ReproducibleSum::sum(world(), std::vector<Real>{1, 2, 3.5, -0.25}) == 6.25);
  CHECK(ReproducibleSum::sum(world(), std::vector<Real>{1e15, 0.125, -1e15}) == 0.125);
  CHECK(ReproducibleSum::sum(world(), std::vector<Real>{}) == 0);
  CHECK(ReproducibleSum::sum(world(), std::vector<Real>{0, -0.0}) == 0);
}

TEST_CASE("reproducible sum: the smallest and largest numbers survive", "[core]") {
  constexpr Real tiny = std::numeric_limits<Real>::denorm_min();
  constexpr Real huge = std::numeric_limits<Real>::max();
  CHECK(ReproducibleSum::sum(world(), std::vector<Real>{tiny, tiny, tiny}) == 3 * tiny);
  CHECK(ReproducibleSum::sum(world(), std::vector<Real>{huge, tiny, -huge, huge}) == huge);
  CHECK(std::isinf(ReproducibleSum::sum(world(), std::vector<Real>{huge, huge})));
}

TEST_CASE("reproducible sum: a term that is not finite makes its own quantity NaN and no other", "[core]") {
  std::vector<Real> totals(3);
  const auto terms = [](std::size_t i, std::span<Real> term) {
    term[0] = static_cast<Real>(i);
    term[1] = i == 1 ? std::numeric_limits<Real>::quiet_NaN() : 1;
    term[2] = i == 2 ? -HUGE_VAL : 1;
  };
  ReproducibleSum::sum(world(), 4, totals, terms);
  CHECK(totals[0] == 6);
  CHECK(std::isnan(totals[1]));
  CHECK(std::isnan(totals[2]));
}

TEST_CASE("reproducible sum: each term is rounded to 60 bits below the largest, ties to even", "[core]") {
  scree::RandomStream stream(7, 0, 1);
  for (const std::size_t n : {1, 2, 3, 1000, 1001}) {
    std::vector<Real> values{0x1p60 - 0x1p8};  // of 60 bits, so the unit is 1
    for (std::size_t i = 1; i < n; ++i) {
      const Real size = std::scalbn(1.0, static_cast<int>(stream.bits() % 64) - 4);
      // Every third is a tie, or as near to one as a number can be.
      const Real near = i % 3 == 0 ? std::floor(size) + 0.5 : stream.uniform(-1, 1) * size;
      values.push_back(std::min(i % 9 == 0 ? std::nextafter(near, 0) : near, values[0]));
    }
    __extension__ __int128 exact = 0;
    for (const Real value : values) exact += std::llrint(value);
    CHECK(bits(ReproducibleSum::sum(world(), values)) == bits(static_cast<Real>(exact)));
    // Several at once, of different lengths, and term by term.
    const std::vector<Real> none;
    std::vector<Real> opposite(values), together(3), one_by_one(2);
    for (Real& value : opposite) value = -value;
    const std::array<std::span<const Real>, 3> columns{values, none, opposite};
    ReproducibleSum::sum(world(), columns, together);
    CHECK(bits(together[0]) == bits(static_cast<Real>(exact)));
    CHECK(together[1] == 0);
    CHECK(together[2] == -together[0]);
    ReproducibleSum::sum(world(), n, one_by_one, [&](std::size_t i, std::span<Real> term) {
      term[0] = values[i];
      term[1] = opposite[i];
    });
    CHECK(one_by_one[0] == together[0]);
    CHECK(one_by_one[1] == together[2]);
  }
}
