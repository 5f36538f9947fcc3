#pragma once
#include <algorithm>
#include <vector>

#include "schemes/dem/domain_stress.hpp"
#include "schemes/dem/step_context.hpp"

namespace scree {

/// Forces of bodies on each other (docs/method.md, eq. H.1-H.5).
template <int D>
class PairForces {
 public:
  /// After a list build. Local.
  void prepare(const SweepSchedule<D>& schedule) {
    Index longest = 0;
    for (const auto& block : schedule.all_blocks())
      longest = std::max(longest, block.last_batch - block.first_batch);
    list_.resize(3 * longest * batch_size);
  }
  /// Adds those of a block to the records, in the order of a sweep. Local, no allocation.
  void add(StepContext<D>& step, const typename StepContext<D>::Block& block, DomainStress<D>& stress) {
    ForceBatches batches = step.batches;
    batches.forces = step.records.forces.data();
    batches.list = list_.data();
    const auto run = [&](Index first, Index last, bool shifted) {
      if (first == last) return;
      batches.ends = step.schedule.ends().data() + 2 * batch_size * first;
      batches.n_batches = last - first;
      step.histories.fill(batches, first);
      step.counts.add(step.law.kernels.pairs[shifted ? 1 : 0](batches));
    };
    run(block.first_batch, block.first_shifted, false);
    if (block.last_batch == block.first_shifted) return;
    batches.shifts = step.schedule.shifts().data() + step.schedule.first_shift(block);
    stress.add_next_block(step.state, batches);
    run(block.first_shifted, block.last_batch, true);
  }

 private:
  std::vector<Index> list_;  // of touching pairs: scratch of kernels
};

/// Calls f(place, low, high, branch from low to high, shift code or -1) for the pairs of a block.
template <int D, class F>
void for_each_pair(const StepContext<D>& step, const typename StepContext<D>::Block& block, F&& f) {
  step.schedule.for_each_pair(block, [&](std::size_t place, Index low, Index high, Index shift) {
    const auto a = static_cast<std::size_t>(low), b = static_cast<std::size_t>(high);
    const auto &from = step.records.positions[a].x, &to = step.records.positions[b].x;
    Vec<3> branch{{to[0] - from[0], to[1] - from[1], to[2] - from[2]}};
    if (shift >= 0)
      for (int k = 0; k < 3; ++k) branch[k] -= step.batches.shift_table[3 * shift + k];
    f(place, a, b, branch, shift);
  });
}

}  // namespace scree
