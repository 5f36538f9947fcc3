#include "neighbors/near_pairs.hpp"

#include <algorithm>
#include <cmath>

namespace scree {

namespace {

/// Beyond what round-off does to a distance.
constexpr Real beyond_rounding = 1 + 1e-9;

template <int D>
SweepRecord record_of(const Vec<D>& x, Real radius) {
  SweepRecord record{{}, radius};
  for (int k = 0; k < D; ++k) record.x[k] = x[k];
  return record;
}

Real squared_length(const SweepRecord& record) {
  return record.x[0] * record.x[0] + record.x[1] * record.x[1] + record.x[2] * record.x[2];
}

}  // namespace

template <int D>
bool NearPairs<D>::find(const State<D>& state, const NeighborList<D>& list, const ContactRules<D>& rules) {
  list_ = &list;
  rules_ = &rules;
  load(state);
  if (list_number_ == list.n_placements() && is_current() && !misses_remembered()) return true;
  make_list();
  return false;
}

template <int D>
void NearPairs<D>::load(const State<D>& state) {
  const BodyStore<D>& bodies = state.bodies;
  n_local_ = bodies.n_local();
  const std::size_t n = n_local_;
  bodies_.resize(n + 2);
  const auto position = bodies.position();
  const auto radius = bodies.radius();
  for (std::size_t i = 0; i < n; ++i) bodies_[i] = record_of<D>(position[i], radius[i]);
  bodies_[n] = {};
  bodies_[n + 1] = {{1, 0, 0}, 0};  // points one metre apart
  n_displacements_ = 0;
  constexpr Real max_strain = 0.5;  // a step of more is no step
  stretch_ =
      rules_->is_deforming ? 1 / (1 - std::min(rules_->dt * state.deformation.fastest(), max_strain)) : 1;
  for (const std::span<const Vec<D>> displacement : {rules_->displacement, rules_->other_displacement}) {
    if (displacement.empty()) continue;
    std::vector<SweepRecord>& displacements = displacements_[n_displacements_++];
    displacements.resize(n + 2);
    for (std::size_t i = 0; i < n; ++i) displacements[i] = record_of<D>(stretch_ * displacement[i], 0);
    displacements[n] = displacements[n + 1] = {};
  }
}

/// Whether no pair outside the list can be a contact but by what it remembers.
template <int D>
bool NearPairs<D>::is_current() const {
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_local_); ++i) {
    const SweepRecord& now = bodies_[i];
    const SweepRecord& then = listed_[i];
    const Real spare = then.radius - reach_factor() * now.radius;
    Real moved = 0, displacement = 0;
    for (int k = 0; k < D; ++k) moved += (now.x[k] - then.x[k]) * (now.x[k] - then.x[k]);
    for (int w = 0; w < n_displacements_; ++w)
      displacement = std::max(displacement, squared_length(displacements_[w][i]));
    // (a + b)^2 <= 2 (a^2 + b^2); false for NaN.
    if (!(spare >= 0 && 2 * (moved + displacement) <= spare * spare)) return false;
  }
  return true;
}

/// Whether a pair outside the list is a contact by what it remembers.
template <int D>
bool NearPairs<D>::misses_remembered() const {
  if (!rules_->has_pair_values()) return false;
  const std::size_t per_batch = static_cast<std::size_t>(rules_->width) * batch_size;
  for (std::size_t batch = 0; batch < is_near_.size(); ++batch) {
    bool any = false;
    for (const Real value : rules_->pair_values.subspan(batch * per_batch, per_batch)) any |= value != 0;
    if (any && (remembered(batch) & ~is_near_[batch]) != 0) return true;
  }
  return false;
}

template <int D>
void NearPairs<D>::make_list() {
  // Bodies that hardly move have a twentieth of their radius for some steps, others four times what they move
  // now: few pairs more, and few lists.
  constexpr Real at_least = 0.05, of_displacement = 4;
  const SweepSchedule<D>& schedule = list_->schedule();
  list_number_ = list_->n_placements();
  ++n_lists_;
  n_listed_ = 0;
  listed_ = bodies_;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_local_); ++i) {
    Real displacement = 0;
    for (int w = 0; w < n_displacements_; ++w)
      displacement = std::max(displacement, squared_length(displacements_[w][i]));
    const Real radius = bodies_[i].radius;
    listed_[i].radius =
        reach_factor() * radius + std::max(at_least * radius, of_displacement * std::sqrt(displacement));
  }
  is_near_.resize(schedule.n_batches());
  blocks_.clear();
  ends_.clear();
  places_.clear();
  shifts_.clear();
  const auto n_batches = [&] { return static_cast<Index>(places_.size()) / batch_size; };
  for (const auto& block : schedule.all_blocks()) {
    Block& near = blocks_.emplace_back();
    near.first = n_batches();
    append(block, block.first_batch, block.first_shifted, false);
    near.first_shifted = n_batches();
    append(block, block.first_shifted, block.last_batch, true);
    near.last = n_batches();
  }
  taken_.resize(n_batches());
}

/// The near ones of a block's candidates in these batches, in batches of their own.
template <int D>
void NearPairs<D>::append(const typename SweepSchedule<D>::Block& block, Index first, Index last,
                          bool shifted) {
  if (first == last) return;
  const SweepSchedule<D>& schedule = list_->schedule();
  const std::size_t begin = first;
  const Index* all_ends = schedule.ends().data();
  const std::uint8_t* shifts =
      shifted ? schedule.shifts().data() + static_cast<std::size_t>(schedule.first_shift(block)) : nullptr;
  kernels_->kernel[shifted][0]({.ends = all_ends + 2 * batch_size * begin,
                                .n_batches = last - first,
                                .shifts = shifts,
                                .shift_table = list_->shift_table().data(),
                                .places = listed_.data()},
                               beyond_rounding, &is_near_[begin]);
  constexpr std::uint8_t unshifted = D == 2 ? 4 : 13;  // s = 0 along every axis
  std::size_t n = 0;
  for (std::size_t batch = begin; batch < static_cast<std::size_t>(last); ++batch) {
    if (rules_->has_pair_values()) is_near_[batch] |= remembered(batch);
    for (unsigned left = is_near_[batch]; left != 0; left &= left - 1) ++n;
  }
  n_listed_ += static_cast<std::int64_t>(n);
  std::size_t k = places_.size();
  const std::size_t end = k + (n + batch_size - 1) / batch_size * batch_size;
  places_.resize(end);
  shifts_.resize(end, unshifted);
  ends_.resize(2 * end);
  const auto ends_of = [&](std::size_t place) {
    return &ends_[2 * place - place % batch_size];  // the other end is batch_size further
  };
  for (std::size_t batch = begin; batch < static_cast<std::size_t>(last); ++batch) {
    for (unsigned left = is_near_[batch]; left != 0; left &= left - 1, ++k) {
      const std::size_t from = std::countr_zero(left);
      const Index* low = all_ends + 2 * batch_size * batch + from;
      Index* to = ends_of(k);
      to[0] = low[0];
      to[batch_size] = low[batch_size];
      const std::size_t place = batch * batch_size + from;
      places_[k] = static_cast<Index>(place);
      if (shifted) shifts_[k] = shifts[place - begin * batch_size];
    }
  }
  for (; k < end; ++k) {
    ends_of(k)[0] = n_local_;
    ends_of(k)[batch_size] = n_local_ + 1;
  }
}

template <int D>
void NearPairs<D>::find_near(Index first, Index last, bool shifted) {
  const std::size_t begin = first;
  near_.resize(last - first);
  CandidateBatches batches{.ends = &ends_[2 * batch_size * begin],
                           .n_batches = last - first,
                           .shifts = &shifts_[batch_size * begin],
                           .shift_table = list_->shift_table().data(),
                           .places = bodies_.data()};
  for (std::size_t w = 0; w < 2; ++w) batches.displacements[w] = displacements_[w].data();
  kernels_->kernel[shifted][n_displacements_](batches, beyond_rounding * reach_factor(), near_.data());
}

/// Bits of the pairs of a batch of candidates that remember something.
template <int D>
std::uint8_t NearPairs<D>::remembered(std::size_t batch) const {
  unsigned bits = 0;
  for (std::size_t k = 0; k < batch_size; ++k)
    bits |= static_cast<unsigned>(rules_->remembers_pair(batch * batch_size + k)) << k;
  return static_cast<std::uint8_t>(bits);
}

/// The same of a batch of the list.
template <int D>
unsigned NearPairs<D>::remembered_in_list(std::size_t batch) const {
  unsigned bits = 0;
  for (std::size_t k = 0; k < batch_size; ++k) {
    if (ends_[2 * batch_size * batch + k] == n_local_) break;  // unused places come last
    const std::size_t place = places_[batch * batch_size + k];
    bits |= static_cast<unsigned>(rules_->remembers_pair(place)) << k;
  }
  return bits;
}

template class NearPairs<2>;
template class NearPairs<3>;

}  // namespace scree
