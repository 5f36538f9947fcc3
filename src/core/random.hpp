#pragma once
#include <cstdint>

#include "core/types.hpp"

namespace scree {

/// Counter-based random numbers: a pure function of (seed, id, purpose, n), so what a body draws depends neither on
/// the rank that asks nor on what was drawn before. Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw, SC'11).
class RandomStream {
 public:
  /// `purpose` separates uses of the same body: see the constants in `purpose`.
  RandomStream(std::uint64_t seed, GlobalId id, std::uint32_t purpose);
  /// Uniform in [0, 1), 53 bits.
  Real uniform();
  /// Uniform in [low, high).
  Real uniform(Real low, Real high) { return low + (high - low) * uniform(); }
  /// Standard normal (Box-Muller).
  Real normal();
  std::uint64_t bits();

 private:
  std::uint64_t seed_;
  std::uint64_t id_;
  std::uint32_t purpose_;
  std::uint32_t counter_ = 0;
};

/// One number per use of a stream; never renumber, or old decks start differently.
namespace purpose {
inline constexpr std::uint32_t radius = 1;
inline constexpr std::uint32_t position = 2;
inline constexpr std::uint32_t jitter = 3;
inline constexpr std::uint32_t coincident_direction = 4;
}  // namespace purpose

}  // namespace scree
