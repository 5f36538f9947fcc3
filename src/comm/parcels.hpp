#pragma once
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "comm/exchange_volume.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"

namespace scree {

/// Bytes for, or from, one other rank.
struct Parcel {
  int rank = 0;
  std::vector<std::byte> bytes;
};

/// Delivers parcels to ranks that do not expect them; returns what arrived, in ascending order of the sending
/// rank. At most one parcel per destination; one for this rank stays where it is. Costs O(log ranks) latency
/// plus the messages themselves. Collective.
std::vector<Parcel> deliver(const Comm& comm, std::vector<Parcel> outgoing);

/// What deliver() sends of these: each parcel and, before it, eight bytes that announce its length. A parcel
/// for this rank must not be among them.
ExchangeVolume volume_of(std::span<const Parcel> outgoing);

/// Appends trivially copyable values to a parcel.
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

/// What goes to other ranks, by destination.
class Outbox {
 public:
  Packer to(int rank) {
    Parcel& parcel = parcels_[rank];
    parcel.rank = rank;
    return Packer(parcel.bytes);
  }
  /// Makes room for so many bytes.
  void reserve(int rank, std::size_t n_bytes) {
    to(rank);
    parcels_[rank].bytes.reserve(n_bytes);
  }
  /// Sends everything, so that the box is empty; returns what arrived. Collective.
  std::vector<Parcel> deliver(const Comm& comm);

 private:
  std::map<int, Parcel> parcels_;
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

/// Sends an outbox of values of one type; returns those that arrived, in ascending order of the sending rank
/// and in the order they were put in. Collective.
template <class T>
std::vector<T> deliver_values(const Comm& comm, Outbox& outbox) {
  std::vector<T> values;
  for (const Parcel& parcel : outbox.deliver(comm)) {
    Unpacker unpacker(parcel.bytes);
    while (!unpacker.empty()) values.push_back(unpacker.take<T>());
  }
  return values;
}

}  // namespace scree
