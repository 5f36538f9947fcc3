#include "schemes/pbd/sweeper.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace scree {

namespace {
/// While a block runs, the records of the next one are prefetched (measured: docs/performance.md). Each class
/// of pairs names most bodies of the block, so the first quarter of the batches names nearly all. That is
/// enough where the next cache is near; beyond the last-level cache those that are missed cost more than the
/// rest of the list does.
Index share_to_prefetch(Index n_batches, std::size_t bytes_of_records) {
  constexpr std::size_t own_cache = std::size_t{1} << 20;     // what a core has for itself
  constexpr std::size_t shared_cache = std::size_t{8} << 20;  // half of a core's share of the last level
  if (bytes_of_records <= own_cache) return 0;
  return bytes_of_records <= shared_cache ? n_batches / 4 : n_batches;
}

template <int D>
void add(SweepRecord& record, Real factor, const Vec<D>& direction) {
  for (int k = 0; k < D; ++k) record.x[k] += factor * direction[k];
}
}  // namespace

template <int D>
void PbdSweeper<D>::prepare(const State<D>& state, bool weighted, Real radius_factor) {
  const BodyStore<D>& bodies = state.bodies;
  n_owned_ = bodies.n_owned();
  n_local_ = bodies.n_local();
  weighted_ = weighted;
  const std::size_t n = n_local_;
  records_.assign(n + 2, SweepRecord{});
  for (std::size_t i = 0; i < n; ++i) {
    for (int k = 0; k < D; ++k) records_[i].x[k] = bodies.position()[i][k];
    records_[i].radius = radius_factor * bodies.radius()[i];
  }
  records_[n + 1].x[0] = 1;  // the dummies are points one metre apart: they never touch
  mobility_.clear();
  if (weighted_) {
    mobility_.assign(bodies.mobility().begin(), bodies.mobility().begin() + n_local_);
    mobility_.resize(n + 2, 1);
  }
  multipliers_.restore(state, neighborhood_);
  has_shapes_ = bodies.carries_shapes();
  if (has_shapes_) shapes_.prepare(state, neighborhood_);
}

template <int D>
void PbdSweeper<D>::scale_radii(const State<D>& state, Real factor) {
  const auto radius = state.bodies.radius(), mobility = state.bodies.mobility();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_local_); ++i)
    records_[i].radius = mobility[i] != 0 ? factor * radius[i] : radius[i];
}

template <int D>
void PbdSweeper<D>::load(const State<D>& state) {
  const auto position = state.bodies.position();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_owned_); ++i)
    for (int k = 0; k < D; ++k) records_[i].x[k] = position[i][k];
  if (has_shapes_) std::copy_n(state.bodies.orientation().begin(), n_owned_, orientations().begin());
  owned_records_written();
}

template <int D>
void PbdSweeper<D>::owned_records_written() {
#ifdef SCREE_ASSERTS
  for (std::size_t i = static_cast<std::size_t>(n_owned_); i < static_cast<std::size_t>(n_local_); ++i)
    std::fill_n(records_[i].x, D, std::nan(""));  // not live: a sweep that reads it shows
#endif
}

template <int D>
void PbdSweeper<D>::store(State<D>& state) const {
  const auto position = state.bodies.position();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_owned_); ++i)
    position[i] = position_of<D>(records_[i]);
  if (has_shapes_) std::copy_n(shapes_.orientations().begin(), n_owned_, state.bodies.orientation().begin());
}

template <int D>
Real PbdSweeper<D>::sweep(const State<D>& state, PairMode mode, const Parameters& parameters,
                          SweepTurn turn) {
  Scope timer("sweeps");
  const SweepSchedule<D>& schedule = neighborhood_.schedule();
  PairBatches batches;
  batches.records = records_.data();
  batches.mobility = mobility_.data();
  batches.ids = state.bodies.id().data();
  batches.shift_table = neighborhood_.list().shift_table().data();
  batches.compliance = parameters.compliance;
  batches.scale = parameters.scale;
  const auto run = [&](Index first, Index last, bool shifted) {
    batches.ends = schedule.ends().data() + 2 * batch_size * first;
    batches.multipliers = multipliers_.pairs().data() + batch_size * first;
    batches.n_batches = last - first;
    // The next block comes next in the list; the last one is followed by the first of the next sweep.
    const Index following = last < schedule.n_batches() ? last : 0;
    batches.coming = schedule.ends().data() + 2 * batch_size * following;
    batches.n_coming = std::min(share_to_prefetch(last - first, records_.size() * sizeof(SweepRecord)),
                                schedule.n_batches() - following);
    return kernels_->kernel[static_cast<int>(mode)][shifted][weighted_](batches);
  };
  Real deepest = 0;
  const auto mobility = std::span(mobility_).first(weighted_ ? static_cast<std::size_t>(n_local_) : 0);
  const typename ShapeProjection<D>::Sweep of_shapes{state,        neighborhood_, local_records(), mobility,
                                                     multipliers_, mode,          parameters};
  run_colours(turn, [&](const typename SweepSchedule<D>::Block& block) {
    if (has_shapes_) {
      deepest = std::max(deepest, shapes_.run(of_shapes, block));
      return;
    }
    if (block.first_shifted > block.first_batch)
      deepest = std::max(deepest, run(block.first_batch, block.first_shifted, false));
    if (block.last_batch > block.first_shifted) {
      batches.shifts = schedule.shifts().data() + schedule.first_shift(block);
      deepest = std::max(deepest, run(block.first_shifted, block.last_batch, true));
    }
    deepest = std::max(deepest, run_walls(state, block, mode, parameters));
  });
  return deepest;
}

template <int D>
Real PbdSweeper<D>::run_walls(const State<D>& state, const typename SweepSchedule<D>::Block& block,
                              PairMode mode, const Parameters& parameters) {
  Real deepest = 0;
  for (const auto& wall : neighborhood_.schedule().walls(block)) {
    const auto which = neighborhood_.schedule().wall_bodies(wall);
    at_.clear();
    from_.clear();
    for (const Index i : which) {
      at_.push_back(position_of<D>(records_[i]));
      from_.push_back(state.bodies.step_start()[i]);
    }
    surface_.resize(which.size());
    state.obstacles.nearest(wall.constraint, at_, from_, surface_);
    for (std::size_t k = 0; k < which.size(); ++k) {
      const std::size_t i = which[k];
      const Real mobility = weighted_ ? mobility_[i] : 1;
      const Real total = mobility + parameters.compliance;
      if (total == 0) continue;
      const std::size_t place = static_cast<std::size_t>(wall.first) + k;
      Real& multiplier = multipliers_.walls()[place];
      if (!surface_[k].in_reach()) {
        if (multiplier != 0) inherit(state, place, i, mode, parameters.scale);
        continue;
      }
      const Real gap = surface_[k].distance - records_[i].radius;
      Real push = 0;
      switch (mode) {
        case PairMode::plain:
        case PairMode::record:
          push = std::max(-gap, 0.0) / total;
          if (mode == PairMode::record) multiplier += push;
          break;
        case PairMode::accumulate:
          push = std::max((-gap - parameters.compliance * multiplier) / total, -multiplier);
          multiplier += push;
          break;
        case PairMode::warm:
          multiplier *= parameters.scale;
          push = multiplier;
          break;
      }
      if (mode != PairMode::warm) deepest = std::max(deepest, -gap);
      add(records_[i], mobility * push, surface_[k].normal);
    }
  }
  return deepest;
}

/// The contact at `place` is over: its multiplier goes to the neighbouring part that the body touches
/// instead, of several the smallest.
template <int D>
void PbdSweeper<D>::inherit(const State<D>& state, std::size_t place, std::size_t body, PairMode mode,
                            Real scale) {
  const Real multiplier = std::exchange(multipliers_.walls()[place], 0.0);
  const Vec<D> x = position_of<D>(records_[body]);
  const Vec<D> from = state.bodies.step_start()[body];
  for (const auto& other : neighborhood_.schedule().wall_neighbours(place)) {
    Real& taker = multipliers_.walls()[other.place];
    if (taker != 0) continue;
    SurfacePoint<D> seen;
    state.obstacles.nearest(other.constraint, {&x, 1}, {&from, 1}, {&seen, 1});
    if (!seen.in_reach()) continue;
    taker = multiplier;
    if (mode == PairMode::warm && static_cast<std::size_t>(other.place) < place) {
      taker *= scale;  // its turn in this pass is over
      add(records_[body], (weighted_ ? mobility_[body] : 1) * taker, seen.normal);
    }
    return;
  }
}

template class PbdSweeper<2>;
template class PbdSweeper<3>;

}  // namespace scree
