#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "comm/ghost_exchange.hpp"
#include "geometry/lattice.hpp"
#include "neighbors/sweep_schedule.hpp"
#include "schemes/dem/block_schedule.hpp"
#include "schemes/dem/force_kernels.hpp"

namespace scree {

/// Adds up what the blocks of a sweep find for bodies that several blocks touch, in the order of their
/// colours: the same bits on any number of ranks, whichever block runs first.
template <int D>
class ForceSums {
 public:
  /// Finds the bodies that several blocks touch, and a place for what each of these blocks adds. Local.
  void plan(const SweepSchedule<D>& schedule, const GhostExchange<D>& ghosts, const TouchedBodies<D>& touched,
            const BlockSchedule<D>& turns);

  /// Block `b` of the schedule has run: takes what it added to `forces` at shared bodies, which become 0.
  void collect(std::size_t b, std::span<ForceRecord> forces);
  /// Of GhostExchange::sums_leaving(), sums_arriving().
  const ForceRecord& leaving(std::size_t sum) const { return parts_[sum]; }
  ForceRecord& arriving(std::size_t sum) { return parts_[n_leaving_ + sum]; }
  /// Writes the sums of the shared owned bodies of a chunk of BlockSchedule into `forces`, once all their
  /// parts are there.
  void add_up(std::size_t chunk, std::span<ForceRecord> forces) const;

 private:
  struct Part {
    Index body;
    Index place;  // in parts_; ~place if it is added to what is there
  };
  void order_summands(std::span<const Part> own, std::size_t n_local);

  // First those for other ranks, then those from other ranks, then those of this rank for its own bodies: one
  // for each such body if its blocks run in the order of their colours, and so can add up as they run.
  std::vector<ForceRecord> parts_;
  std::size_t n_leaving_ = 0;
  std::vector<Part> block_parts_;     // that a block makes
  std::vector<Index> first_part_;     // of each block in the schedule, and the end
  std::vector<Index> summed_;         // owned bodies, ascending
  std::vector<Index> first_summed_;   // of each chunk, and the end
  std::vector<Index> summands_;       // of each of them in the order of colours: places in parts_
  std::vector<Index> first_summand_;  // of each of them, and the end
};

}  // namespace scree
