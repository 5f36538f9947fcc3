#include "neighbors/sweep_schedule.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "core/timing.hpp"
#include "neighbors/blocks_to_run.hpp"

namespace scree {

template <int D>
void SweepSchedule<D>::rebuild(const Lattice<D>& lattice, const Box<D>& box, const BlockTable<D>& table,
                               const BodyStore<D>& bodies, const ObstacleSet<D>& obstacles,
                               const ScheduleOptions& options, const std::function<bool(BlockKey)>& owned,
                               std::span<const std::uint8_t> shared,
                               std::span<const LevelMap::Levels> levels) {
  in_classes_ = options.in_classes;
  blocks_.clear();
  first_shift_.clear();
  ends_.clear();
  shifts_.clear();
  this->clear(lattice, box);
  n_batches_ = 0;
  n_pairs_ = 0;
  n_local_ = bodies.n_local();

  Lattice<D> of_pairs = lattice;
  of_pairs.skin = std::min(lattice.skin, options.pair_skin);
  std::vector<BlockToRun<D>> tasks = blocks_to_run<D>(lattice, table, owned, shared);
  std::ranges::sort(tasks, {}, [&](const BlockToRun<D>& task) {
    return std::tuple(lattice.colour_of(task.place), !task.boundary, task.key);
  });
  auto task = tasks.begin();
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    colour_[index(colour)] = static_cast<Index>(blocks_.size());
    interior_[index(colour)] = colour_[index(colour)];
    for (; task != tasks.end() && lattice.colour_of(task->place) == colour; ++task) {
      Block block{};
      block.key = task->key;
      block.first_batch = n_batches_;
      const std::int64_t pairs_before = n_pairs_;
      block.first_wall = static_cast<Index>(this->walls().size());
      first_shift_.push_back(static_cast<Index>(shifts_.size()));
      {
        Scope timer("search");
        search_.search(of_pairs, box, table, bodies, task->place, options.size_classes, levels);
      }
      Scope timer("classes");
      append(search_.within_box(), false);
      block.first_shifted = n_batches_;
      append(search_.through_faces(), true);
      block.last_batch = n_batches_;
      const Index own = table.find(task->key);
      if (own >= 0) this->find(box, bodies, obstacles, lattice.skin, table.blocks()[own], levels);
      block.last_wall = static_cast<Index>(this->walls().size());
      if (block.first_batch == block.last_batch && block.first_wall == block.last_wall) {
        first_shift_.pop_back();
        continue;
      }
      block.n_pairs = n_pairs_ - pairs_before;
      blocks_.push_back(block);
      if (task->boundary) interior_[index(colour)] = static_cast<Index>(blocks_.size());
    }
  }
  colour_.back() = static_cast<Index>(blocks_.size());
  this->find_neighbours(obstacles, blocks_);
  give_back_memory();
}

template <int D>
void SweepSchedule<D>::give_back_memory() {
  trim_capacity(ends_);
  trim_capacity(shifts_);
  this->trim();
  // Scratch grows with the largest block, three times as fast as these pairs. A packing of few blocks would
  // hold as much of it as of the list; what a small packing has need not be asked for again and again.
  constexpr std::size_t few = std::size_t{1} << 11;
  if (std::max(search_.within_box().capacity(), this->scratch_size()) <= few) return;
  search_ = {};
  free_memory(partners_, filled_, classes_of_, class_of_);
  this->free_scratch();
}

template <int D>
void SweepSchedule<D>::append(const std::vector<Pair>& candidates, bool shifted) {
  n_pairs_ += static_cast<std::int64_t>(candidates.size());
  if (in_classes_)
    append_classes(candidates, shifted);
  else
    append_in_order(candidates, shifted);
}

template <int D>
void SweepSchedule<D>::append_in_order(const std::vector<Pair>& candidates, bool shifted) {
  const std::size_t first_batch = n_batches_;
  const std::size_t first_shift = shifts_.size();
  add_batches(static_cast<Index>((candidates.size() + batch_size - 1) / batch_size), shifted);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const std::size_t at = (first_batch + c / batch_size) * 2 * batch_size + c % batch_size;
    ends_[at] = search_.body(candidates[c].low);
    ends_[at + batch_size] = search_.body(candidates[c].high);
    if (shifted) shifts_[first_shift + c] = candidates[c].shift;
  }
}

template <int D>
void SweepSchedule<D>::renumber(std::span<const Index> numbers, Index n_local,
                                const ObstacleSet<D>& obstacles, std::vector<Index>& kept_walls) {
  const auto renumbered = [&](Index body) { return numbers[body]; };
  for (Block& block : blocks_) {
    Index* ends = ends_.data() + static_cast<std::size_t>(block.first_batch) * 2 * batch_size;
    for (Index batch = block.first_batch; batch < block.last_batch; ++batch, ends += 2 * batch_size)
      for (Index k = 0; k < batch_size; ++k) {
        const bool was_pair = ends[k] < n_local_;
        const Index low = renumbered(ends[k]), high = renumbered(ends[k + batch_size]);
        const bool is_gone = (low | high) < 0;
        ends[k] = is_gone ? n_local : low;
        ends[k + batch_size] = is_gone ? n_local + 1 : high;
        if (was_pair && is_gone) --block.n_pairs, --n_pairs_;
      }
  }
  n_local_ = n_local;
  WallCandidates<D>::renumber(numbers, obstacles, blocks_, kept_walls);
}

template <int D>
void SweepSchedule<D>::append_classes(const std::vector<Pair>& candidates, bool shifted) {
  classes_of_.assign(search_.n_entries(), 0);
  std::array<Index, 65> first{};  // pairs per class, then place of the next pair of each class
  class_of_.resize(candidates.size());
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    std::uint64_t& low = classes_of_[candidates[c].low];
    std::uint64_t& high = classes_of_[candidates[c].high];
    const int chosen = std::countr_one(low | high);
    if (chosen == 64) return append_crowded(candidates, shifted);
    class_of_[c] = static_cast<std::uint8_t>(chosen);
    low |= std::uint64_t{1} << chosen;
    high |= std::uint64_t{1} << chosen;
    ++first[chosen];
  }
  const Index first_batch = n_batches_;
  Index next = n_batches_ * batch_size;
  for (std::size_t k = 0; k < 64; ++k) {
    const Index n = first[k];
    first[k] = next;
    next += (n + batch_size - 1) / batch_size * batch_size;
  }
  const std::size_t first_shift = shifts_.size();
  add_batches(next / batch_size - first_batch, shifted);
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const std::size_t place = first[class_of_[c]]++;
    const std::size_t at = place / batch_size * (2 * batch_size) + place % batch_size;
    ends_[at] = search_.body(candidates[c].low);
    ends_[at + batch_size] = search_.body(candidates[c].high);
    if (shifted)
      shifts_[first_shift + place - static_cast<std::size_t>(first_batch * batch_size)] = candidates[c].shift;
  }
}

/// Empty ones.
template <int D>
void SweepSchedule<D>::add_batches(Index n, bool shifted) {
  for (Index b = 0; b < n; ++b) {
    ends_.insert(ends_.end(), batch_size, n_local_);
    ends_.insert(ends_.end(), batch_size, n_local_ + 1);
  }
  constexpr std::uint8_t unshifted = D == 2 ? 4 : 13;  // s = 0 along every axis
  if (shifted) shifts_.resize(shifts_.size() + static_cast<std::size_t>(n * batch_size), unshifted);
  n_batches_ += n;
}

/// Bodies with many partners, first: one pair of each to a batch. Then the rest, to the first batch with room
/// that has none of their bodies.
template <int D>
void SweepSchedule<D>::append_crowded(const std::vector<Pair>& candidates, bool shifted) {
  constexpr Index many = 64;
  partners_.assign(search_.n_entries(), {});
  const auto of = [&](Index entry) -> Partners& { return partners_[entry]; };
  for (const Pair& pair : candidates) ++of(pair.low).count, ++of(pair.high).count;
  filled_.clear();
  const Index first_batch = n_batches_;
  const std::size_t first_shift = shifts_.size();
  const auto put = [&](const Pair& pair, Index from) {
    const Index low = search_.body(pair.low), high = search_.body(pair.high);
    for (Index b = from;; ++b) {
      if (b == static_cast<Index>(filled_.size())) {
        add_batches(1, shifted);
        filled_.push_back(0);
      }
      std::uint8_t& filled = filled_[b];
      if (filled == batch_size) continue;
      Index* ends = &ends_[2 * batch_size * (first_batch + b)];
      bool meets = false;
      for (Index k = 0; k < 2 * batch_size; ++k) meets |= ends[k] == low || ends[k] == high;
      if (meets) continue;
      ends[filled] = low;
      ends[filled + batch_size] = high;
      if (shifted) shifts_[first_shift + static_cast<std::size_t>(b * batch_size + filled)] = pair.shift;
      ++filled;
      return b;
    }
  };
  const auto is_crowded = [&](const Pair& pair) {
    return of(pair.low).count > many || of(pair.high).count > many;
  };
  for (const Pair& pair : candidates) {
    if (!is_crowded(pair)) continue;
    Partners &low = of(pair.low), &high = of(pair.high);
    const Index b = put(pair, std::max(low.next, high.next));
    if (low.count > many) low.next = b + 1;
    if (high.count > many) high.next = b + 1;
  }
  Index open = 0;
  for (const Pair& pair : candidates) {
    if (is_crowded(pair)) continue;
    while (open < static_cast<Index>(filled_.size()) && filled_[open] == batch_size) ++open;
    put(pair, open);
  }
}

template class SweepSchedule<2>;
template class SweepSchedule<3>;

}  // namespace scree
