#pragma once
#include <cstdint>

#include "core/sparse_all_to_all.hpp"

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

/// What the exchange of messages to other ranks sends: each of them and, before it, its length.
inline ExchangeVolume volume_of(const Outgoing& outgoing) {
  const auto n = static_cast<std::int64_t>(outgoing.n_messages());
  return {2 * n, n * std::int64_t{sizeof(std::int64_t)} + static_cast<std::int64_t>(outgoing.n_bytes())};
}

}  // namespace scree
