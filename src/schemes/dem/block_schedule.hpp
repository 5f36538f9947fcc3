#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "comm/ghost_exchange.hpp"
#include "neighbors/sweep_schedule.hpp"

namespace scree {

/// The local bodies that each block of a schedule touches, in the order of first touch.
template <int D>
class TouchedBodies {
 public:
  TouchedBodies(const SweepSchedule<D>& schedule, std::size_t n_local);
  std::span<const Index> of(std::size_t block) const {
    const std::size_t first = first_[block];
    return std::span(body_).subspan(first, static_cast<std::size_t>(first_[block + 1]) - first);
  }

 private:
  std::vector<Index> body_, first_{0};
};

/// In which order the blocks of this rank run where the order does not matter (ForceSums), and when what is
/// done to bodies is done. Blocks run in the order in which their bodies are stored, which keeps what
/// neighbouring blocks share in the cache; bodies move right before the first block that touches them, and
/// take their new accelerations right after the last: memory is gone through once per step, not once per
/// pass. Bodies are treated in chunks of consecutive ones.
template <int D>
class BlockSchedule {
 public:
  static constexpr std::size_t chunk_size = 64;

  /// Local.
  void plan(const SweepSchedule<D>& schedule, const GhostExchange<D>& ghosts,
            const TouchedBodies<D>& touched);

  /// Numbers of blocks of the schedule. Half of those that need nothing from other ranks run while motions
  /// are sent, then those that do, the rest while forces are sent.
  std::span<const Index> order() const { return order_; }
  std::size_t n_early() const { return n_early_; }
  std::size_t n_before_late() const { return n_before_late_; }
  /// The place of a block in order().
  Index turn_of(std::size_t block) const { return turn_of_[block]; }

  /// Chunks that no block needs earlier than the one of this turn.
  std::span<const Index> starts_at(std::size_t turn) const { return begun_.of(turn + 1); }
  /// Chunks that leave before the first turn.
  std::span<const Index> starts_first() const { return begun_.of(0); }
  /// Chunks that no block after this turn touches, nor another rank.
  std::span<const Index> ends_at(std::size_t turn) const { return done_.of(turn); }
  /// The others.
  std::span<const Index> ends_last() const { return done_.of(order_.size()); }

 private:
  struct Lists {
    std::vector<Index> chunks, first;
    void make(std::span<const Index> slot_of_chunk, std::size_t n_slots);
    std::span<const Index> of(std::size_t slot) const {
      const std::size_t begin = first[slot];
      return std::span(chunks).subspan(begin, static_cast<std::size_t>(first[slot + 1]) - begin);
    }
  };
  std::vector<Index> order_, turn_of_;
  std::size_t n_early_ = 0, n_before_late_ = 0;
  Lists begun_, done_;
};

}  // namespace scree
