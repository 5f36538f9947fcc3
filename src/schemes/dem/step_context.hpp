#pragma once
#include "neighbors/neighborhood.hpp"
#include "schemes/common/tunnelling_guard.hpp"
#include "schemes/dem/contact_histories.hpp"
#include "schemes/dem/motion_records.hpp"
#include "schemes/dem/spring_law.hpp"
#include "state/state.hpp"

namespace scree {

/// What the parts of a step of contacts with springs share. It is made again for each: nothing but records
/// and histories goes from one to the next.
template <int D>
struct StepContext {
  using Block = typename SweepSchedule<D>::Block;

  const State<D>& state;
  const SweepSchedule<D>& schedule;
  const SpringLaw<D>& law;
  MotionRecords<D>& records;
  ContactHistories<D>& histories;
  Real time;               ///< obstacles are where they were placed and move as then [s]
  ForceBatches batches{};  ///< what kernels read, but for the pairs; histories advance by batches.dt

  // What it met on this rank.
  ForceCounts counts{};
  PassedThrough passed{};
  Real farthest = 0;  ///< square of the largest distance, by the end of the next step, from the list [m2]
};

}  // namespace scree
