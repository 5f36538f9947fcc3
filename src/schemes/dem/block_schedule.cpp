#include "schemes/dem/block_schedule.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace scree {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

template <int D>
TouchedBodies<D>::TouchedBodies(const SweepSchedule<D>& schedule, std::size_t n_local) {
  std::vector<Index> last_block(n_local, -1);
  Index b = 0;
  const auto touch = [&](Index body) {
    if (std::exchange(last_block[at(body)], b) != b) body_.push_back(body);
  };
  for (const auto& block : schedule.all_blocks()) {
    schedule.for_each_pair(block, [&](std::size_t, Index low, Index high, Index) {
      touch(low);
      touch(high);
    });
    for (const auto& wall : schedule.walls(block))
      for (const Index body : schedule.wall_bodies(wall)) touch(body);
    first_.push_back(static_cast<Index>(body_.size()));
    ++b;
  }
}

template <int D>
void BlockSchedule<D>::Lists::make(std::span<const Index> slot_of_chunk, std::size_t n_slots) {
  first.assign(n_slots + 1, 0);
  for (const Index slot : slot_of_chunk) ++first[at(slot) + 1];
  for (std::size_t s = 0; s < n_slots; ++s) first[s + 1] += first[s];
  chunks.resize(slot_of_chunk.size());
  std::vector<Index> next(first.begin(), first.end() - 1);
  for (std::size_t c = 0; c < slot_of_chunk.size(); ++c)
    chunks[at(next[at(slot_of_chunk[c])]++)] = static_cast<Index>(c);
}

template <int D>
void BlockSchedule<D>::plan(const SweepSchedule<D>& schedule, const GhostExchange<D>& ghosts,
                            const TouchedBodies<D>& touched) {
  const auto blocks = schedule.all_blocks();
  std::vector<Index> interior, boundary;
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    for (const auto& block : schedule.boundary_blocks(colour))
      boundary.push_back(static_cast<Index>(&block - blocks.data()));
    for (const auto& block : schedule.interior_blocks(colour))
      interior.push_back(static_cast<Index>(&block - blocks.data()));
  }
  const auto key = [&](Index b) { return blocks[at(b)].key; };
  std::ranges::sort(interior, {}, key);
  std::ranges::sort(boundary, {}, key);
  n_early_ = interior.size() / 2;
  n_before_late_ = n_early_ + boundary.size();
  const auto middle = interior.begin() + static_cast<std::ptrdiff_t>(n_early_);
  order_.assign(interior.begin(), middle);
  order_.insert(order_.end(), boundary.begin(), boundary.end());
  order_.insert(order_.end(), middle, interior.end());
  turn_of_.resize(order_.size());
  for (std::size_t turn = 0; turn < order_.size(); ++turn)
    turn_of_[at(order_[turn])] = static_cast<Index>(turn);

  const auto n_owned = at(ghosts.n_owned());
  const auto n_turns = static_cast<Index>(order_.size());
  constexpr Index never = std::numeric_limits<Index>::max();
  // Slots of Lists.
  std::vector<Index> begun((n_owned + chunk_size - 1) / chunk_size, never), done(begun.size(), -1);
  for (Index turn = 0; turn < n_turns; ++turn)
    for (const Index body : touched.of(at(order_[at(turn)]))) {
      if (at(body) >= n_owned) continue;
      const std::size_t chunk = at(body) / chunk_size;
      begun[chunk] = std::min(begun[chunk], turn + 1);
      done[chunk] = turn;
    }
  for (const Index body : ghosts.copied()) begun[at(body) / chunk_size] = 0;
  for (const auto& sum : ghosts.sums_arriving()) done[at(sum.body) / chunk_size] = n_turns;
  for (std::size_t c = 0; c < begun.size(); ++c) {
    if (begun[c] == never) begun[c] = 0;
    if (done[c] < 0) done[c] = n_turns;
  }
  begun_.make(begun, order_.size() + 1);
  done_.make(done, order_.size() + 1);
}

template class TouchedBodies<2>;
template class TouchedBodies<3>;
template class BlockSchedule<2>;
template class BlockSchedule<3>;

}  // namespace scree
