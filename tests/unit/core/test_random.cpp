#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/random.hpp"

using scree::philox4x32;
using scree::RandomStream;
using scree::Real;
using Words = std::array<std::uint32_t, 4>;

TEST_CASE("random: Philox 4x32-10 gives the published answers for three keys", "[core]") {
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox4x32({ones, ones, ones, ones}, {ones, ones}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random: a stream is a function of seed, id and purpose alone", "[core]") {
  RandomStream first(1, 2, 3);
  RandomStream other(1, 2, 4);
  CHECK(first.bits() != other.bits());
  const std::uint64_t second_draw = first.bits();
  RandomStream again(1, 2, 3);
  again.bits();
  CHECK(again.bits() == second_draw);
  constexpr scree::GlobalId beyond_32_bits = scree::GlobalId{1} << 32;
  CHECK(RandomStream(1, 2, 3).bits() != RandomStream(1, 2 + beyond_32_bits, 3).bits());
  CHECK(RandomStream(1, 2, 3).bits() != RandomStream(1 + (std::uint64_t{1} << 32), 2, 3).bits());
}

TEST_CASE("random: 100000 uniform numbers stay in [0, 1) with mean 1/2 and variance 1/12 to 5 sigma",
          "[core]") {
  constexpr int n = 100000;
  Real sum = 0;
  Real squares = 0;
  Real min = 1;
  Real max = 0;
  for (int id = 0; id < n; ++id) {
    const Real u = RandomStream(42, id, 1).uniform();
    min = std::min(min, u);
    max = std::max(max, u);
    sum += u;
    squares += u * u;
  }
  CHECK(min >= 0);
  CHECK(min < 1e-4);
  CHECK(max < 1);
  CHECK(max > 1 - 1e-4);
  CHECK(std::abs(sum / n - 0.5) < 5 * std::sqrt(1 / 12.0 / n));
  CHECK(std::abs(squares / n - 1 / 3.0) < 5 * std::sqrt(4 / 45.0 / n));  // var(u^2) = 1/5 - 1/9
}

TEST_CASE("random: 100000 normal numbers have the first four moments 0, 1, 0, 3 to 5 sigma", "[core]") {
  constexpr int n = 100000;
  Real moment[5] = {};
  RandomStream stream(7, 0, 2);
  for (int i = 0; i < n; ++i) {
    const Real x = stream.normal();
    for (int k = 1; k <= 4; ++k) moment[k] += std::pow(x, k) / n;
  }
  // Variances of x, x^2, x^3, x^4: 1, 2, 15, 96.
  CHECK(std::abs(moment[1]) < 5 * std::sqrt(1.0 / n));
  CHECK(std::abs(moment[2] - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::abs(moment[3]) < 5 * std::sqrt(15.0 / n));
  CHECK(std::abs(moment[4] - 3) < 5 * std::sqrt(96.0 / n));
}
