#include "schemes/dem/force_sums.hpp"

#include <limits>
#include <numeric>
#include <utility>

#include "core/error.hpp"

namespace scree {

namespace {

void add(ForceRecord& sum, const ForceRecord& part) {
  for (int c = 0; c < 3; ++c) {
    sum.force[c] += part.force[c];
    sum.torque[c] += part.torque[c];
  }
}

constexpr Index out_of_turn = std::numeric_limits<Index>::max();

/// Of each local body.
struct PartCounts {
  std::vector<Index> n_parts;    // number of blocks that touch it
  std::vector<Index> last_turn;  // of those blocks; out_of_turn: they run in another order than the colours
  std::vector<Index> first_leaving;  // of the sums for other ranks; -1: none
};

template <int D>
PartCounts count_parts(std::size_t n_blocks, const GhostExchange<D>& ghosts, const TouchedBodies<D>& touched,
                       const BlockSchedule<D>& turns) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const auto n_local = at(ghosts.n_local());
  constexpr Index never = -1;
  PartCounts counts{std::vector<Index>(n_local, 0), std::vector<Index>(n_local, never),
                    std::vector<Index>(n_local, -1)};
  for (std::size_t b = 0; b < n_blocks; ++b)
    for (const Index body : touched.of(b)) {
      ++counts.n_parts[at(body)];
      Index& last = counts.last_turn[at(body)];
      last = last < turns.turn_of(b) ? turns.turn_of(b) : out_of_turn;
    }
  constexpr Index whole = 2;  // what other ranks add or need is never added to forces directly
  for (const auto& sum : ghosts.sums_arriving()) {
    counts.n_parts[at(sum.body)] += whole;
    counts.last_turn[at(sum.body)] = out_of_turn;
  }
  const auto leaving = ghosts.sums_leaving();
  for (std::size_t k = leaving.size(); k-- > 0;) {
    counts.first_leaving[at(leaving[k].body)] = static_cast<Index>(k);
    counts.n_parts[at(leaving[k].body)] += whole;
  }
  return counts;
}

}  // namespace

template <int D>
void ForceSums<D>::plan(const SweepSchedule<D>& schedule, const GhostExchange<D>& ghosts,
                        const TouchedBodies<D>& touched, const BlockSchedule<D>& turns) {
  const auto blocks = schedule.all_blocks();
  const auto leaving = ghosts.sums_leaving();
  const auto arriving = ghosts.sums_arriving();
  const std::size_t n_local = ghosts.n_local();
  n_leaving_ = leaving.size();
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };

  const auto [n_parts, last_turn, first_leaving] = count_parts(blocks.size(), ghosts, touched, turns);
  auto n_places = static_cast<Index>(leaving.size() + arriving.size());
  std::vector<Part> own;  // in the order of colours
  std::vector<Index> sum_in_turn(n_local, -1);
  block_parts_.clear();
  first_part_.assign(1, 0);
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    for (const auto& block : schedule.blocks(colour)) {
      const std::size_t b = &block - blocks.data();
      for (const Index body : touched.of(b)) {
        if (n_parts[at(body)] < 2) continue;
        if (Index place = first_leaving[at(body)]; place >= 0) {
          while (leaving[at(place)].colour != colour) ++place;
          SCREE_ASSERT(leaving[at(place)].body == body);
          block_parts_.push_back({body, place});
        } else if (sum_in_turn[at(body)] >= 0) {
          block_parts_.push_back({body, ~sum_in_turn[at(body)]});
        } else {
          own.push_back({body, n_places++});
          block_parts_.push_back(own.back());
          if (last_turn[at(body)] != out_of_turn) sum_in_turn[at(body)] = own.back().place;
        }
      }
      first_part_.push_back(static_cast<Index>(block_parts_.size()));
    }
    for (std::size_t k = 0; k < arriving.size(); ++k)
      if (arriving[k].colour == colour)
        own.push_back({arriving[k].body, static_cast<Index>(leaving.size() + k)});
  }
  parts_.assign(at(n_places), ForceRecord{});
  order_summands(own, n_local);
}

/// Body by body the places of `own`, which are in the order of colours.
template <int D>
void ForceSums<D>::order_summands(std::span<const Part> own, std::size_t n_local) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  std::vector<Index> next(n_local + 1, 0);
  for (const Part& part : own) ++next[at(part.body) + 1];
  summed_.clear();
  first_summed_.clear();
  first_summand_.assign(1, 0);
  for (std::size_t i = 0; i < n_local; ++i) {
    if (i % BlockSchedule<D>::chunk_size == 0) first_summed_.push_back(static_cast<Index>(summed_.size()));
    if (next[i + 1] == 0) continue;
    summed_.push_back(static_cast<Index>(i));
    first_summand_.push_back(first_summand_.back() + next[i + 1]);
  }
  first_summed_.push_back(static_cast<Index>(summed_.size()));
  std::partial_sum(next.begin(), next.end(), next.begin());
  summands_.resize(own.size());
  for (const Part& part : own) summands_[at(next[at(part.body)]++)] = part.place;
}

template <int D>
void ForceSums<D>::collect(std::size_t b, std::span<ForceRecord> forces) {
  for (Index k = first_part_[b]; k < first_part_[b + 1]; ++k) {
    const Part part = block_parts_[k];
    const ForceRecord made = std::exchange(forces[part.body], ForceRecord{});
    if (part.place >= 0)
      parts_[part.place] = made;
    else
      add(parts_[~part.place], made);
  }
}

template <int D>
void ForceSums<D>::add_up(std::size_t chunk, std::span<ForceRecord> forces) const {
  const std::size_t end = first_summed_[chunk + 1];
  for (std::size_t s = first_summed_[chunk]; s < end; ++s) {
    const std::size_t first = first_summand_[s];
    const std::size_t last = first_summand_[s + 1];
    ForceRecord sum = parts_[summands_[first]];
    for (std::size_t k = first + 1; k < last; ++k) add(sum, parts_[summands_[k]]);
    forces[summed_[s]] = sum;
  }
}

template class ForceSums<2>;
template class ForceSums<3>;

}  // namespace scree
