#pragma once
#include <array>
#include <cstdint>

#include "core/types.hpp"

namespace scree {

/// Philox 4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw, SC'11): four random words for a counter and a key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// Counter-based random numbers: a pure function of (seed, id, purpose, n), so what a body draws depends
/// neither on the rank that asks nor on what was drawn before. A stream repeats after 2^32 numbers.
class RandomStream {
 public:
  /// `purpose` separates uses of the same body: see the constants in `purpose`.
  RandomStream(std::uint64_t seed, GlobalId id, std::uint32_t purpose);
  /// Uniform in [0, 1), 53 bits.
  Real uniform();
  /// Uniform between low and high; high itself comes only by rounding.
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
inline constexpr std::uint32_t velocity = 5;
inline constexpr std::uint32_t inlet = 6;
inline constexpr std::uint32_t agent_kind = 7;
inline constexpr std::uint32_t desired_speed = 8;
inline constexpr std::uint32_t premovement = 9;
inline constexpr std::uint32_t exit_choice = 10;
inline constexpr std::uint32_t update_phase = 11;
inline constexpr std::uint32_t source = 12;
inline constexpr std::uint32_t free_volume = 13;
inline constexpr std::uint32_t orientation = 14;
inline constexpr std::uint32_t escalator = 15;
inline constexpr std::uint32_t crowd_noise = 20;
inline constexpr std::uint32_t service = 21;
}  // namespace purpose

}  // namespace scree
