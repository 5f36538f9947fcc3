#include "neighbors/load_balancer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace scree {

template <int D>
LoadBalancer<D>::LoadBalancer(const Comm& comm, const NeighborhoodSettings& settings)
    : comm_(comm), settings_(settings), costs_(comm) {
  step_seconds_.reserve(max_timed_steps);
}

template <int D>
void LoadBalancer<D>::RunningImbalance::add(Real steps) {
  sum_of_max += steps * max;
  sum_of_means += steps * mean;
  worst = std::max(worst, now());
}

template <int D>
void LoadBalancer<D>::follow_step(const State<D>& state) {
  if (state.clock.step == last_step_ || comm_.size() == 1) return;
  last_step_ = state.clock.step;
  if (work_) step_seconds_.push_back(work_->seconds());
  work_.reset();
  const std::int64_t age = state.clock.step - list_step_;
  constexpr std::int64_t early = 8, rarely = 32;  // the first step is timed as well: begin_list() starts that
  if ((age == early || age % rarely == 0) && step_seconds_.size() < max_timed_steps) work_.emplace();
}

template <int D>
void LoadBalancer<D>::end_list(const State<D>& state, const SweepSchedule<D>& schedule) {
  work_.reset();
  const std::int64_t n_steps = state.clock.step - list_step_;
  if (comm_.size() == 1 || !has_owners_ || n_steps <= 0) return;
  for (std::size_t k = 0; k < computing; ++k) imbalances_[k].add(static_cast<Real>(n_steps));
  // The same on all ranks: steps are timed by their number.
  if (step_seconds_.empty()) return;
  const auto middle = step_seconds_.begin() + static_cast<std::ptrdiff_t>(step_seconds_.size() / 2);
  std::nth_element(step_seconds_.begin(), middle, step_seconds_.end());
  const Real seconds = *middle + list_seconds_ / static_cast<Real>(n_steps);
  LoadCounts counts{};
  counts[0] = state.bodies.n_owned();
  for (const auto& block : schedule.all_blocks()) {
    const LoadCounts more = counts_of(schedule, block);
    for (std::size_t k = 1; k < n_loads; ++k) counts[k] += more[k];
  }
  costs_.observe(counts, seconds);
  RunningImbalance& spread = imbalances_[computing];
  spread.max = comm_.max(seconds);
  spread.mean = static_cast<Real>(comm_.sum(std::llround(1e9 * seconds))) / 1e9 / comm_.size();
  spread.add(static_cast<Real>(n_steps));
  step_seconds_.clear();
}

/// The imbalance of the present list.
template <int D>
void LoadBalancer<D>::measure_list(const State<D>& state, const SweepSchedule<D>& schedule) {
  if (comm_.size() == 1) return;
  constexpr int n_colours = Lattice<D>::n_colours;
  std::array<std::int64_t, std::size_t{3} + n_colours> counts{};
  const std::int64_t n_bodies = state.bodies.n_owned();
  counts[spread_bodies] = n_bodies;
  counts[spread_pairs] = schedule.n_pairs();
  counts[bodies_and_pairs] = n_bodies + schedule.n_pairs();
  for (int colour = 0; colour < n_colours; ++colour)
    for (const auto& block : schedule.blocks(colour)) counts[3 + colour] += block.n_pairs;
  std::array<std::int64_t, std::size_t{3} + n_colours> sums = counts;
  std::array<Real, std::size_t{3} + n_colours> max;
  std::copy(counts.begin(), counts.end(), max.begin());
  comm_.sum(sums);
  comm_.max(max);
  for (std::size_t k = 0; k < 3; ++k) {
    imbalances_[k].max = max[k];
    imbalances_[k].mean = static_cast<Real>(sums[k]) / comm_.size();
  }
  imbalances_[pairs_by_colour].max = std::accumulate(max.begin() + 3, max.end(), Real{0});
  imbalances_[pairs_by_colour].mean = imbalances_[spread_pairs].mean;
}

template <int D>
LoadReport LoadBalancer<D>::report(const State<D>& state, const SweepSchedule<D>& schedule) {
  end_list(state, schedule);
  list_step_ = state.clock.step;
  LoadReport report;
  report.measured = settings_.weights == NeighborhoodSettings::Weights::measured;
  report.bodies = imbalances_[spread_bodies].over_run();
  report.pairs = imbalances_[spread_pairs].over_run();
  report.bodies_and_pairs = imbalances_[bodies_and_pairs].over_run();
  report.pairs_by_colour = imbalances_[pairs_by_colour].over_run();
  report.computing = imbalances_[computing].over_run();
  report.min_blocks = comm_.min(static_cast<std::int64_t>(schedule.all_blocks().size()));
  report.seconds = costs_.seconds();
  return report;
}

template <int D>
LoadCounts LoadBalancer<D>::counts_of(const SweepSchedule<D>& schedule,
                                      const typename SweepSchedule<D>::Block& block) const {
  const auto walls = schedule.walls(block);
  const std::size_t number = &block - schedule.all_blocks().data();
  return {0, block.n_pairs, walls.empty() ? 0 : walls.back().last - walls.front().first,
          block_contacts_[number]};
}

/// Sorted by key. Bodies count where they are now; candidates and contacts are those of the list that is
/// about to go, so a block that changed hands meanwhile counts by its bodies alone.
template <int D>
void LoadBalancer<D>::find_block_loads(std::span<const Place> places, const SweepSchedule<D>& schedule) {
  block_loads_.clear();
  for (const Place place : places) {
    const BlockKey key = block_key(place);
    if (block_loads_.empty() || block_loads_.back().key != key) block_loads_.push_back({key, {}});
    ++block_loads_.back().counts[0];
  }
  if (has_owners_)
    for (const auto& block : schedule.all_blocks())
      block_loads_.push_back({block.key, counts_of(schedule, block)});
  std::sort(block_loads_.begin(), block_loads_.end(),
            [](const BlockLoad& a, const BlockLoad& b) { return a.key < b.key; });
  std::size_t n = 0;
  for (const BlockLoad& load : block_loads_) {
    if (n == 0 || block_loads_[n - 1].key != load.key) {
      block_loads_[n++] = load;
      continue;
    }
    for (std::size_t k = 0; k < n_loads; ++k) block_loads_[n - 1].counts[k] += load.counts[k];
  }
  block_loads_.resize(n);
}

template <int D>
void LoadBalancer<D>::rebalance(const State<D>& state, std::span<const Place> places,
                                const SweepSchedule<D>& schedule, Domain& domain) {
  const bool first_time = !has_owners_;
  if (!first_time && !settings_.rebalance) return;
  find_block_loads(places, schedule);
  const bool measured = settings_.weights == NeighborhoodSettings::Weights::measured;
  const LoadCounts weight_of = measured ? costs_.weights() : LoadCounts{1, 1, 0, 0};
  std::int64_t local = 0;
  block_keys_.clear();
  block_weights_.clear();
  for (const BlockLoad& load : block_loads_) {
    block_keys_.push_back(load.key);
    block_weights_.push_back(
        std::inner_product(weight_of.begin(), weight_of.end(), load.counts.begin(), std::int64_t{0}));
    local += block_weights_.back();
  }
  const int key_bits = D * state.lattice.curve_bits();
  if (first_time) {
    domain.adopt(domain.propose(block_keys_, block_weights_, key_bits));
    if (settings_.rebalance && has_lists_) ++n_rebalances_;  // other blocks, of a skin that changed
    return;
  }
  const std::int64_t max = comm_.max(local);
  const Real mean = static_cast<Real>(comm_.sum(local)) / comm_.size();
  if (static_cast<Real>(max) <= settings_.rebalance_threshold * mean) return;
  const Domain::Shares shares = domain.propose(block_keys_, block_weights_, key_bits);
  if (shares.max >= max) return;
  // Rebalance when the accumulated loss equals its cost (2-competitive).
  std::int64_t n_leaving = 0;
  for (const BlockLoad& load : block_loads_)
    if (shares.owner_of(load.key) != comm_.rank()) n_leaving += load.counts[0];
  const auto n_bodies = comm_.sum(static_cast<std::int64_t>(places.size()));
  const Real price = settings_.rebalance_cost * static_cast<Real>(comm_.max(n_leaving)) * comm_.size() /
                     static_cast<Real>(std::max<std::int64_t>(n_bodies, 1));
  lost_steps_ +=
      static_cast<Real>(max - shares.max) / mean * static_cast<Real>(state.clock.step - list_step_);
  if (lost_steps_ < price) return;
  domain.adopt(shares);
  lost_steps_ = 0;
  ++n_rebalances_;
}

template <int D>
void LoadBalancer<D>::begin_rebuild() {
  if (comm_.size() > 1) work_.emplace();
}

template <int D>
void LoadBalancer<D>::begin_list(const State<D>& state, const SweepSchedule<D>& schedule) {
  has_owners_ = has_lists_ = true;
  block_contacts_.assign(schedule.all_blocks().size(), 0);
  measure_list(state, schedule);
  list_step_ = last_step_ = state.clock.step;
  step_seconds_.clear();
  if (!work_) return;
  list_seconds_ = work_->seconds();
  work_.emplace();
}

template class LoadBalancer<2>;
template class LoadBalancer<3>;

}  // namespace scree
