#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/domain.hpp"
#include "comm/exchange_volume.hpp"
#include "comm/record_exchange.hpp"
#include "core/body_halo.hpp"
#include "core/types.hpp"
#include "geometry/lattice.hpp"
#include "particles/block_table.hpp"
#include "particles/body_store.hpp"
#include "particles/contact_memory.hpp"

namespace scree {

/// What a sweep moves: a body's active copy, four numbers (docs/method.md, "The active copy").
struct alignas(32) SweepRecord {
  Real x[3];
  Real radius;
};
template <int D>
Vec<D> position_of(const SweepRecord& record) {
  Vec<D> position;
  for (int k = 0; k < D; ++k) position[k] = record.x[k];
  return position;
}

/// What messages are for.
enum class Traffic { transfers, ghost_copies, to_owners, partial_sums, ghost_fetches, migration, memory };
constexpr std::size_t n_traffic_kinds = 7;
constexpr std::array<const char*, n_traffic_kinds> traffic_names{
    "halo_transfers", "ghost_copies", "to_owners", "partial_sums", "ghost_fetches", "migration", "memory"};

/// Everything that one rank holds of another rank's bodies, and how values reach it: the halo of a run.
///
/// A rank that owns a block also needs the bodies one cell layer beyond its upper faces: these are its
/// ghosts. Values move in three ways, each one message per pair of neighbouring ranks:
/// - `copy_to_ghosts` copies from every owned body to all its ghosts, `add_to_owners` adds in reverse;
/// - a *transfer* moves the active copy of a body during a sweep. Bodies near block faces are touched in
///   several colours, by several ranks. Each rank passes the body on between its last colour and the next
///   rank's first, so every read sees the latest copy, nothing is summed and nothing is computed twice.
///   Transfers between two ranks share a stage where they can, which saves messages;
/// - *partial sums* (of forces, say) of a body by colour go to its owner, who adds them up in the order of
///   colours.
/// Which blocks touch a body follows from its cell, so both ends make the same plan without messages.
template <int D>
class GhostExchange final : public BodyHalo {
 public:
  /// Stages of transfers: 0 comes before the first colour of the first of several sweeps in a row, p + 1
  /// after colour p of the last one: then every active copy is back with its owner; n_colours + p + 1 after
  /// colour p of the others: then every active copy is with the rank that touches it first in the next one.
  static constexpr int n_stages = 2 * Lattice<D>::n_colours + 1;

  explicit GhostExchange(const Comm& comm);

  const Comm& comm() const override { return comm_; }
  Index n_owned() const override { return n_owned_; }
  Index n_local() const override { return n_local_; }
  int n_colours() const override { return colours; }

  /// Fetches the ghosts of this rank's blocks and plans all exchanges. `table` holds the owned blocks and
  /// gets those of the ghosts; `memory` (owned bodies on entry) gets the ghosts' entries. Collective.
  void rebuild(const Domain& domain, const Lattice<D>& lattice, BlockTable<D>& table,
               std::span<const Place> places, BodyStore<D>& bodies, ContactMemory& memory);

  /// After bodies have gone: local body i is `numbers`[i] now, or gone (-1). `at_owner`: of ghosts, what
  /// their owners call them now. Local, but every rank that holds a body must leave it out.
  void renumber(std::span<const Index> numbers, std::span<const Index> at_owner);

  /// values[n_local * width]: copies owned entries to the ghosts of other ranks. Collective.
  void copy_to_ghosts(std::span<Real> values, int width) override;
  void copy_to_ghosts(std::span<Vec<D>> values) { copy_to_ghosts<D>(values); }
  /// The same of vectors of other lengths (spins, orientations).
  template <int n>
  void copy_to_ghosts(std::span<Vec<n>> values) {
    copy_to_ghosts({reinterpret_cast<Real*>(values.data()), values.size() * n}, n);
  }
  /// The same for numbers from several arrays, overlapped with other work: take(body, numbers) writes
  /// `width` numbers of an owned body, put(body, numbers) reads those of a ghost. Collective.
  template <class Take>
  void begin_copy_to_ghosts(int width, Take&& take) {
    count(Traffic::ghost_copies, volume_of_copy(width));
    begin_numbers(ghosts_, width, take);
  }
  template <class Put>
  void end_copy_to_ghosts(int width, Put&& put) {
    end_numbers(ghosts_, width, put);
  }
  /// The owned bodies that these copy, once for each rank that gets them.
  std::span<const Index> copied() const { return ghosts_.sent_places(); }
  /// counts[n_local]: adds the entries of ghosts to the owner's entry. Collective.
  void add_to_owners(std::span<std::int32_t> counts);
  /// values[n_local * width]: the same for real numbers, whose last bits depend on the ranks. Collective.
  void add_to_owners(std::span<Real> values, int width) override;
  /// values[n_local * width]: every owner's entry becomes the least of its own and those of its ghosts
  /// (exact). Collective.
  void min_to_owners(std::span<Real> values, int width);

  /// values[n_local * width]: moves the active copies of a stage. Collective.
  void begin_transfer(int stage, std::span<const Real> values, int width) override;
  void end_transfer(int stage, std::span<Real> values, int width) override;
  void begin_transfer(int stage, std::span<SweepRecord> records) {
    begin_transfer(stage, numbers(records), record_width);
  }
  void end_transfer(int stage, std::span<SweepRecord> records) {
    end_transfer(stage, numbers(records), record_width);
  }
  /// 1 for every local body whose active copy leaves or reaches this rank during a sweep. Empty on a single
  /// rank.
  std::span<const std::uint8_t> shared() const { return shared_; }

  /// The sum over the contacts of one colour at a body, computed by a rank that does not own it.
  struct PartialSum {
    Index body;
    int colour;
  };
  /// Those that this rank computes, by ghost and colour, ...
  std::span<const PartialSum> sums_leaving() const { return sums_leaving_; }
  /// ... and those that others compute for bodies of this rank.
  std::span<const PartialSum> sums_arriving() const { return sums_arriving_; }
  /// Sends them to the owners: take(k, numbers) writes the `width` numbers of sums_leaving()[k],
  /// put(k, numbers) reads those of sums_arriving()[k]. Collective.
  template <class Take>
  void begin_partial_sums(int width, Take&& take) {
    count(Traffic::partial_sums, volume_of_partial_sums(width));
    begin_numbers(sums_, width, take);
  }
  template <class Put>
  void end_partial_sums(int width, Put&& put) {
    end_numbers(sums_, width, put);
  }

  /// Sends what this rank remembers of contacts to the owners of their first bodies: `contacts[k].body` is a
  /// ghost here. Returns what others remember of owned bodies, by sender. Collective.
  std::vector<RememberedContact> send_to_owners(Index n_owned,
                                                std::span<const RememberedContact> contacts) const;

  /// Ranks with which this one exchanges values.
  std::span<const int> neighbours() const { return neighbours_; }

  /// What this rank sends in one exchange of `width` numbers per body.
  ExchangeVolume volume_of_copy(int width) const { return ghosts_.volume(bytes_of(width)); }
  ExchangeVolume volume_to_owners(int width) const {
    return ghosts_.volume(bytes_of(width), Direction::reverse);
  }
  ExchangeVolume volume_of_partial_sums(int width) const { return sums_.volume(bytes_of(width)); }
  ExchangeVolume volume_of_stage(int stage, int width) const {
    return stages_[stage].volume(bytes_of(width));
  }
  /// What this rank has sent since the start.
  const ExchangeVolume& sent(Traffic kind) const { return volume_[static_cast<std::size_t>(kind)]; }
  /// Counts what others send on behalf of the decomposition.
  void count(Traffic kind, const ExchangeVolume& volume) const {
    volume_[static_cast<std::size_t>(kind)] += volume;
  }

 private:
  using Direction = RecordExchange::Direction;
  struct Home {
    int rank;
    Index index;
  };
  void plan_transfers(const Domain& domain, const Lattice<D>& lattice, const BlockTable<D>& table,
                      std::span<const Place> places);

  static constexpr int colours = Lattice<D>::n_colours;
  static constexpr int record_width = sizeof(SweepRecord) / sizeof(Real);
  static std::span<Real> numbers(std::span<SweepRecord> records) {
    return {reinterpret_cast<Real*>(records.data()), records.size() * record_width};
  }
  template <class Take>
  static void begin_numbers(RecordExchange& exchange, int width, const Take& take) {
    const std::size_t size = bytes_of(width);
    exchange.begin_packed(size, Direction::forward, [&](const Index* places, std::size_t n, std::byte* out) {
      for (std::size_t k = 0; k < n; ++k) take(places[k], reinterpret_cast<Real*>(out + k * size));
    });
  }
  template <class Put>
  static void end_numbers(RecordExchange& exchange, int width, const Put& put) {
    const std::size_t size = bytes_of(width);
    exchange.end_packed(size, Direction::forward,
                        [&](const Index* places, std::size_t n, const std::byte* in) {
                          for (std::size_t k = 0; k < n; ++k)
                            put(places[k], reinterpret_cast<const Real*>(in + k * size));
                        });
  }
  static std::size_t bytes_of(int width) { return sizeof(Real) * static_cast<std::size_t>(width); }

  Comm comm_;
  Index n_owned_ = 0, n_local_ = 0;  // bodies, as of the last rebuild
  std::vector<Home> home_;           // of each ghost
  std::vector<int> neighbours_;
  RecordExchange ghosts_;
  std::vector<RecordExchange> stages_;
  RecordExchange sums_;
  std::vector<PartialSum> sums_leaving_, sums_arriving_;
  std::vector<Index> kept_leaving_, kept_arriving_;  // scratch of renumber()
  std::vector<std::uint8_t> shared_;
  mutable std::array<ExchangeVolume, n_traffic_kinds> volume_{};  // a log, no part of the state
};

}  // namespace scree
