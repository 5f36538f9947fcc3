#pragma once
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchange_volume.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"

namespace scree {

/// A repeated exchange of array entries between ranks by a fixed plan: the k-th entry that a rank sends to
/// another is the k-th that the other receives from it.
///
/// One message per pair of ranks and direction, by persistent requests between packed buffers: 0.24 us for 10
/// records of 32 bytes between two ranks of one machine, PetscSF takes 1.0 (docs/performance.md). Not
/// collective: two ranks must begin their exchanges in the same order. At most one exchange of an object is
/// in flight. Its buffers outlive the object if an exception is thrown between begin and end.
class RecordExchange {
 public:
  enum class Direction { forward, reverse };  ///< reverse: receivers send

  explicit RecordExchange(const Comm& comm) : comm_(comm) {}
  ~RecordExchange() { clear(); }
  RecordExchange(RecordExchange&& other) noexcept = default;
  RecordExchange& operator=(RecordExchange&&) = delete;
  RecordExchange(const RecordExchange&) = delete;
  RecordExchange& operator=(const RecordExchange&) = delete;

  /// Forgets the plan.
  void clear();
  /// Adds an entry to the plan. Ranks must come in ascending order, and not be this rank.
  void send(int rank, Index place) { append(sent_, rank, place); }
  void receive(int rank, Index place) { append(received_, rank, place); }

  /// Goes on with entries renumbered: sent place p becomes `sent`[p], received place p `received`[p]. Those
  /// that become -1 are no longer exchanged; both ends must agree on them. Between exchanges only. Local.
  void renumber(std::span<const Index> sent, std::span<const Index> received);

  bool empty() const { return sent_.places.empty() && received_.places.empty(); }
  /// Places of the entries that this rank sends, one per receiver.
  std::span<const Index> sent_places() const { return sent_.places; }
  /// Ranks that this one sends to or receives from.
  std::vector<int> peers() const;
  /// What this rank sends in one exchange of entries of so many bytes.
  ExchangeVolume volume(std::size_t entry_bytes, Direction direction = Direction::forward) const;

  /// Begins to send entries values[place * width], ..., width numbers each.
  template <class T>
  void begin(std::span<const T> values, int width, Direction direction = Direction::forward) {
    const std::size_t size = sizeof(T) * static_cast<std::size_t>(width);
    begin_packed(size, direction, [&](const Index* places, std::size_t n, std::byte* out) {
      gather(reinterpret_cast<const std::byte*>(values.data()), places, n, size, out);
    });
  }
  /// Waits for entries of others and for buffers; overwrites values[place * width], ...
  template <class T>
  void end(std::span<T> values, int width, Direction direction = Direction::forward) {
    const std::size_t size = sizeof(T) * static_cast<std::size_t>(width);
    end_packed(size, direction, [&](const Index* places, std::size_t n, const std::byte* in) {
      scatter(in, places, n, size, reinterpret_cast<std::byte*>(values.data()));
    });
  }
  /// The same where each entry has one active copy, which moves. With SCREE_ASSERTS entries that were sent
  /// become NaN, which exposes stale reads.
  void end_move(std::span<Real> values, int width) {
#ifdef SCREE_ASSERTS
    for (const Index place : sent_.places)
      std::fill_n(values.data() + static_cast<std::size_t>(place) * static_cast<std::size_t>(width), width,
                  std::numeric_limits<Real>::quiet_NaN());
#endif
    end(values, width);
  }
  /// As end(), with combine(present, arrived) in place of the entry; in ascending order of the sending ranks.
  template <class T, class Combine>
  void end_combining(std::span<T> values, int width, Direction direction, Combine&& combine) {
    const std::size_t w = width;
    end_packed(sizeof(T) * w, direction, [&](const Index* places, std::size_t n, const std::byte* in) {
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t c = 0; c < w; ++c) {
          T arrived;
          std::memcpy(&arrived, in + (k * w + c) * sizeof(T), sizeof(T));
          T& value = values[static_cast<std::size_t>(places[k]) * w + c];
          value = combine(value, arrived);
        }
    });
  }

  /// For entries assembled from several arrays: pack(places, count, bytes) writes `entry_bytes`
  /// for each place, unpack(places, count, bytes) reads them.
  template <class Pack>
  void begin_packed(std::size_t entry_bytes, Direction direction, Pack&& pack) {
    if (empty()) return;
    Channel& channel = channel_of(entry_bytes, direction);
    start_receives(channel);
    const Side& side = direction == Direction::forward ? sent_ : received_;
    if (!side.places.empty()) pack(side.places.data(), side.places.size(), channel.out.data());
    start_sends(channel);
  }
  template <class Unpack>
  void end_packed(std::size_t entry_bytes, Direction direction, Unpack&& unpack) {
    if (empty()) return;
    Channel& channel = channel_of(entry_bytes, direction);
    wait(channel);
    const Side& side = direction == Direction::forward ? received_ : sent_;
    if (!side.places.empty()) unpack(side.places.data(), side.places.size(), channel.in.data());
  }

 private:
  struct Peer {
    int rank;
    Index first, last;  // of the places
  };
  struct Side {
    std::vector<Peer> peers;
    std::vector<Index> places;
  };
  /// Buffers and requests for entries of one size.
  struct Channel {
    std::size_t entry_bytes;
    Direction direction;
    std::vector<std::byte> out, in;
    std::vector<MPI_Request> requests;  // receives, then sends
    int n_receives = 0;
    bool is_pending = false;
  };

  static void append(Side& side, int rank, Index place);
  static bool renumber(Side& side, std::span<const Index> numbers);
  void forget_channels();
  static void gather(const std::byte* values, const Index* places, std::size_t n, std::size_t size,
                     std::byte* out);
  static void scatter(const std::byte* in, const Index* places, std::size_t n, std::size_t size,
                      std::byte* values);
  Channel& channel_of(std::size_t entry_bytes, Direction direction);
  static void start_receives(Channel& channel);
  static void start_sends(Channel& channel);
  static void wait(Channel& channel);

  Comm comm_;
  Side sent_, received_;
  std::vector<std::unique_ptr<Channel>> channels_;
};

}  // namespace scree
