#include "core/random.hpp"

#include <cmath>
#include <numbers>

namespace scree {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  constexpr int n_rounds = 10;
  constexpr std::uint64_t multiplier_0 = 0xD2511F53;
  constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9;
  constexpr std::uint32_t weyl_1 = 0xBB67AE85;
  for (int round = 0; round < n_rounds; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter[0];
    const std::uint64_t product_1 = multiplier_1 * counter[2];
    counter = {static_cast<std::uint32_t>(product_1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product_1),
               static_cast<std::uint32_t>(product_0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product_0)};
    key = {key[0] + weyl_0, key[1] + weyl_1};
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, GlobalId id, std::uint32_t purpose)
    : seed_(seed), id_(static_cast<std::uint64_t>(id)), purpose_(purpose) {}

std::uint64_t RandomStream::bits() {
  const auto words = philox4x32(
      {counter_++, purpose_, static_cast<std::uint32_t>(id_), static_cast<std::uint32_t>(id_ >> 32)},
      {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
  return std::uint64_t{words[1]} << 32 | words[0];
}

Real RandomStream::uniform() {
  return static_cast<Real>(bits() >> 11) * 0x1p-53;
}

Real RandomStream::normal() {
  const Real radius =
      std::sqrt(-2 * std::log(1 - uniform()));  // 1 - u is in (0, 1], so the logarithm is finite
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace scree
