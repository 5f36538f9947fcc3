#pragma once
#include <cstdint>

namespace scree {

/// What a rank sends to others: point-to-point messages and the bytes in them. Sums over ranks count every
/// message once.
struct ExchangeVolume {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;

  ExchangeVolume& operator+=(const ExchangeVolume& other) {
    messages += other.messages;
    bytes += other.bytes;
    return *this;
  }
  friend ExchangeVolume operator-(ExchangeVolume a, const ExchangeVolume& b) {
    return {a.messages - b.messages, a.bytes - b.bytes};
  }
  bool operator==(const ExchangeVolume&) const = default;
};

}  // namespace scree
