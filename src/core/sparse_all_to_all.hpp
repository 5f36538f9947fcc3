#pragma once
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"

namespace scree {

/// Bytes for, or from, one rank.
struct PackedMessage {
  int rank;
  std::vector<std::byte> bytes;
};

/// Appends trivially copyable values to a message.
class Packer {
 public:
  explicit Packer(std::vector<std::byte>& bytes) : bytes_(bytes) {}
  template <class T>
  void put(const T& value) {
    put(std::span<const T>(&value, 1));
  }
  template <class T>
  void put(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t at = bytes_.size();
    bytes_.resize(at + values.size_bytes());
    if (!values.empty()) std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
  }

 private:
  std::vector<std::byte>& bytes_;
};

/// Takes values out in the order they were put in.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T take() {
    T value;
    take(std::span<T>(&value, 1));
    return value;
  }
  template <class T>
  void take(std::span<T> values) {
    SCREE_ASSERT(values.size_bytes() <= bytes_.size());
    if (!values.empty()) std::memcpy(values.data(), bytes_.data(), values.size_bytes());
    bytes_ = bytes_.subspan(values.size_bytes());
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

/// A sparse all-to-all: messages to ranks that do not expect them, at most one per destination. For data
/// without fixed neighbours; a plan that repeats uses RecordExchange.
class Outgoing {
 public:
  /// Packs into the message to `rank`, which is sent even if it stays empty.
  Packer to(int rank) { return Packer(bytes_[rank]); }
  /// Allocates so many bytes.
  void reserve(int rank, std::size_t n_bytes) { bytes_[rank].reserve(n_bytes); }
  std::size_t n_messages() const { return bytes_.size(); }
  std::size_t n_bytes() const;
  /// Sends everything and is empty afterwards; returns what arrived, in ascending order of the sender. A
  /// message to this rank is moved. Costs O(log ranks) latency and the messages. Collective.
  std::vector<PackedMessage> exchange(const Comm& comm);

 private:
  std::map<int, std::vector<std::byte>> bytes_;
};

/// Sends messages of one type; returns the values that arrived, ordered by sender and, from one sender, as
/// put in. Collective.
template <class T>
std::vector<T> exchange_values(const Comm& comm, Outgoing& outgoing) {
  const std::vector<PackedMessage> arrived = outgoing.exchange(comm);
  std::size_t n = 0;
  for (const PackedMessage& message : arrived) n += message.bytes.size() / sizeof(T);
  std::vector<T> values(n);
  std::span<T> rest(values);
  for (const PackedMessage& message : arrived) {
    const std::size_t here = message.bytes.size() / sizeof(T);
    Unpacker(message.bytes).take(rest.first(here));
    rest = rest.subspan(here);
  }
  return values;
}

/// The same for items[i], which go to rank destination[i]. Collective.
template <class T>
std::vector<T> exchange_values(const Comm& comm, std::span<const T> items, std::span<const int> destination) {
  std::map<int, std::size_t> count;
  for (const int rank : destination) ++count[rank];
  Outgoing outgoing;
  for (const auto& [rank, n] : count) outgoing.reserve(rank, n * sizeof(T));
  for (std::size_t i = 0; i < items.size(); ++i) outgoing.to(destination[i]).put(items[i]);
  return exchange_values<T>(comm, outgoing);
}

}  // namespace scree
