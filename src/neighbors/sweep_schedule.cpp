#include "neighbors/sweep_schedule.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

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
  walls_.clear();
  wall_bodies_.clear();
  n_batches_ = 0;
  n_pairs_ = 0;
  n_held_ = bodies.n_held();
  wall_box_ = box;
  wall_reach_ = 2 * lattice.skin + 0.01 * lattice.largest_radius;

  Lattice<D> of_pairs = lattice;
  of_pairs.skin = std::min(lattice.skin, options.pair_skin);
  std::array<std::vector<BlockToRun<D>>, std::size_t{Lattice<D>::n_colours}> tasks;
  for (const BlockToRun<D>& block : blocks_to_run<D>(lattice, table, owned, shared))
    tasks[index(lattice.colour_of(block.place))].push_back(block);
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    std::vector<BlockToRun<D>>& list = tasks[index(colour)];
    std::sort(list.begin(), list.end(), [](const BlockToRun<D>& p, const BlockToRun<D>& q) {
      return p.boundary != q.boundary ? p.boundary : p.key < q.key;
    });
    colour_[index(colour)] = static_cast<Index>(blocks_.size());
    interior_[index(colour)] = colour_[index(colour)];
    for (const BlockToRun<D>& task : list) {
      Block block{};
      block.key = task.key;
      block.first_batch = n_batches_;
      const std::int64_t pairs_before = n_pairs_;
      block.first_wall = static_cast<Index>(walls_.size());
      first_shift_.push_back(static_cast<Index>(shifts_.size()));
      {
        Scope timer("search");
        search_.search(of_pairs, box, table, bodies, task.place, options.size_classes, levels);
      }
      Scope timer("classes");
      append(search_.within_box(), false);
      block.first_shifted = n_batches_;
      append(search_.through_faces(), true);
      block.last_batch = n_batches_;
      const Index own = table.find(task.key);
      if (own >= 0)
        find_walls(box, bodies, obstacles, lattice.skin, table.blocks()[static_cast<std::size_t>(own)],
                   levels);
      block.last_wall = static_cast<Index>(walls_.size());
      if (block.first_batch == block.last_batch && block.first_wall == block.last_wall) {
        first_shift_.pop_back();
        continue;
      }
      block.n_pairs = n_pairs_ - pairs_before;
      blocks_.push_back(block);
      if (task.boundary) interior_[index(colour)] = static_cast<Index>(blocks_.size());
    }
  }
  colour_.back() = static_cast<Index>(blocks_.size());
  find_wall_neighbours(obstacles);
  // Vectors that grew doubled; what is to spare is for the lists to come, whose length hardly differs.
  const auto trim = [](auto& values) {
    if (values.capacity() <= values.size() + values.size() / 32) return;
    std::remove_cvref_t<decltype(values)> exact;
    exact.reserve(values.size() + values.size() / 64);
    exact.assign(values.begin(), values.end());
    values.swap(exact);
  };
  trim(ends_);
  trim(shifts_);
  trim(wall_bodies_);
  trim(first_wall_neighbour_);
  trim(wall_neighbours_);
  trim(first_wall_beside_);
  trim(walls_beside_);
  trim(bodies_at_walls_);
  // Scratch grows with the largest block, three times as fast as these pairs. A packing of few blocks would
  // hold as much of it as of the list; what a small packing has need not be asked for again and again.
  constexpr std::size_t few = std::size_t{1} << 11;
  if (search_.within_box().capacity() > few) {
    search_ = {};
    const auto free = [](auto&... vectors) { ((vectors = std::remove_cvref_t<decltype(vectors)>()), ...); };
    free(partners_, filled_, classes_of_, class_of_, reach_, near_.found, near_.surface, first_wall_of_body_,
         meets_);
  }
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
  const auto first_batch = static_cast<std::size_t>(n_batches_);
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
void SweepSchedule<D>::renumber(std::span<const Index> numbers, Index n_held, const ObstacleSet<D>& obstacles,
                                std::vector<Index>& kept_walls) {
  const auto renumbered = [&](Index body) { return numbers[static_cast<std::size_t>(body)]; };
  for (Block& block : blocks_) {
    Index* ends = ends_.data() + static_cast<std::size_t>(block.first_batch) * 2 * batch_size;
    for (Index batch = block.first_batch; batch < block.last_batch; ++batch, ends += 2 * batch_size)
      for (Index k = 0; k < batch_size; ++k) {
        const bool was_pair = ends[k] < n_held_;
        const Index low = renumbered(ends[k]), high = renumbered(ends[k + batch_size]);
        const bool is_gone = (low | high) < 0;
        ends[k] = is_gone ? n_held : low;
        ends[k + batch_size] = is_gone ? n_held + 1 : high;
        if (was_pair && is_gone) --block.n_pairs, --n_pairs_;
      }
  }
  n_held_ = n_held;
  kept_walls.clear();
  for (WallBatch& wall : walls_) {
    const Index first = wall.first, last = wall.last;
    wall.first = static_cast<Index>(kept_walls.size());
    for (Index place = first; place < last; ++place) {
      const Index body = renumbered(wall_bodies_[static_cast<std::size_t>(place)]);
      if (body < 0) continue;
      wall_bodies_[kept_walls.size()] = body;
      kept_walls.push_back(place);
    }
    wall.last = static_cast<Index>(kept_walls.size());
  }
  wall_bodies_.resize(kept_walls.size());
  find_wall_neighbours(obstacles);
}

template <int D>
void SweepSchedule<D>::append_classes(const std::vector<Pair>& candidates, bool shifted) {
  classes_of_.assign(search_.n_entries(), 0);
  std::array<Index, 65> first{};  // pairs per class, then place of the next pair of each class
  class_of_.resize(candidates.size());
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    std::uint64_t& low = classes_of_[static_cast<std::size_t>(candidates[c].low)];
    std::uint64_t& high = classes_of_[static_cast<std::size_t>(candidates[c].high)];
    const int chosen = std::countr_one(low | high);
    if (chosen == 64) return append_crowded(candidates, shifted);
    class_of_[c] = static_cast<std::uint8_t>(chosen);
    low |= std::uint64_t{1} << chosen;
    high |= std::uint64_t{1} << chosen;
    ++first[static_cast<std::size_t>(chosen)];
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
    const auto place = static_cast<std::size_t>(first[class_of_[c]]++);
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
    ends_.insert(ends_.end(), batch_size, n_held_);
    ends_.insert(ends_.end(), batch_size, n_held_ + 1);
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
  const auto of = [&](Index entry) -> Partners& { return partners_[static_cast<std::size_t>(entry)]; };
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
      std::uint8_t& filled = filled_[static_cast<std::size_t>(b)];
      if (filled == batch_size) continue;
      Index* ends = &ends_[static_cast<std::size_t>(2 * batch_size * (first_batch + b))];
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
    while (open < static_cast<Index>(filled_.size()) && filled_[static_cast<std::size_t>(open)] == batch_size)
      ++open;
    put(pair, open);
  }
}

template <int D>
void SweepSchedule<D>::find_walls(const Box<D>& box, const BodyStore<D>& bodies,
                                  const ObstacleSet<D>& obstacles, Real skin,
                                  const typename BlockTable<D>::Block& block,
                                  std::span<const LevelMap::Levels> levels) {
  // Bodies outside the box count to border blocks, so the box of the bodies is found from the bodies.
  Box<D> around = Box<D>::empty();
  const auto first = static_cast<std::size_t>(block.first);
  const auto count = static_cast<std::size_t>(block.last - block.first);
  const auto positions = bodies.position().subspan(first, count);
  // Between steps of a scheme that keeps no paths, bodies have not moved.
  const auto from = bodies.step_start().subspan(first, count);
  reach_.resize(count);
  // A wall that swept past since the step began is as far from where it passed as it moved.
  const auto find_reach = [&](Real swept) {
    for (std::size_t i = 0; i < count; ++i)
      reach_[i] = bodies.radius()[first + i] + skin + norm(positions[i] - from[i]) + swept;
  };
  find_reach(0);
  for (std::size_t i = 0; i < count; ++i) {
    around.include(positions[i] - filled<D>(reach_[i]));
    around.include(positions[i] + filled<D>(reach_[i]));
  }
  // Unbounded obstacles are cut to a box; it must reach as far as the bodies do.
  Box<D> cut = box;
  cut.include(around.lower);
  cut.include(around.upper);
  wall_box_.include(cut.lower);
  wall_box_.include(cut.upper);
  Real swept = 0;
  // Image by image, so that constraints ascend.
  const auto find = [&](int o, int image) {
    if (const Real moved = obstacles.moved_in_step(o, around, image); moved != swept)
      find_reach(swept = moved);
    if (!obstacles.may_reach(o, image, around.grown(filled<D>(swept)))) return;
    obstacles.find_near(o, image, positions, reach_, cut, near_);
    if (const int level = obstacles.list()[static_cast<std::size_t>(o)].level; level >= 0 && !levels.empty())
      std::erase_if(near_.found, [&](const auto& entry) {
        return (levels[first + static_cast<std::size_t>(entry.point)] & LevelMap::bit(level)) == 0;
      });
    for (std::size_t k = 0; k < near_.found.size(); ++k) {
      const auto [part, body] = near_.found[k];
      if (k == 0 || part != near_.found[k - 1].part) {
        const auto begin = static_cast<Index>(wall_bodies_.size());
        walls_.push_back({obstacles.first_constraint(o, image) + part, begin, begin});
      }
      wall_bodies_.push_back(block.first + static_cast<Index>(body));
      ++walls_.back().last;
    }
  };
  const int n_obstacles = static_cast<int>(obstacles.list().size());
  for (int o = 0; o < n_obstacles; ++o) find(o, 0);
  for (int image = 1; image < obstacles.n_images(); ++image)
    for (int o = 0; o < n_obstacles; ++o)
      if (std::ranges::binary_search(obstacles.images_of(o), image)) find(o, image);
}

template <int D>
void SweepSchedule<D>::find_wall_neighbours(const ObstacleSet<D>& obstacles) {
  first_wall_neighbour_.clear();
  wall_neighbours_.clear();
  first_wall_beside_.clear();
  walls_beside_.clear();
  bodies_at_walls_.clear();
  first_body_of_block_.clear();
  walls_of_bodies_.clear();
  bool any = false;
  for (int c = 0; c < obstacles.n_constraints() && !any; ++c)
    obstacles.for_each_neighbour(c, [&](int) { any = true; });
  const bool any_beside = any_walls_beside(obstacles);
  if (!any && !any_beside) return;
  if (any) first_wall_neighbour_.push_back(0);
  if (any_beside) first_wall_beside_.push_back(0);
  walls_of_bodies_.resize(wall_bodies_.size());
  for (const Block& block : blocks_) {
    sort_walls_by_body(block);
    for (const WallBatch& wall : walls(block))
      for (const Index body : wall_bodies(wall)) {
        if (!any) break;
        const auto candidates = walls_at(body);
        auto other = candidates.begin();
        // Both are in the order of constraints.
        obstacles.for_each_neighbour(wall.constraint, [&](int constraint) {
          while (other != candidates.end() && other->constraint < constraint) ++other;
          if (other != candidates.end() && other->constraint == constraint)
            wall_neighbours_.push_back(*other);
        });
        first_wall_neighbour_.push_back(static_cast<Index>(wall_neighbours_.size()));
      }
    if (any_beside) find_walls_beside(obstacles, block);
  }
  if (any || !walls_beside_.empty()) return;
  first_wall_beside_.clear();
  bodies_at_walls_.clear();
  first_body_of_block_.clear();
  walls_of_bodies_.clear();
}

/// Whether some block has bodies near several obstacles.
template <int D>
bool SweepSchedule<D>::any_walls_beside(const ObstacleSet<D>& obstacles) const {
  return std::ranges::any_of(blocks_, [&](const Block& block) {
    const auto of_block = walls(block);
    return !of_block.empty() &&
           !obstacles.of_one_shape(of_block.front().constraint, of_block.back().constraint);
  });
}

/// After sort_walls_by_body().
template <int D>
void SweepSchedule<D>::find_walls_beside(const ObstacleSet<D>& obstacles, const Block& block) {
  const auto of_block = walls(block);
  const std::size_t n = of_block.size();
  meets_.assign(n * n, -1);
  // The wall of a candidate, whose places follow each other.
  const auto number_at = [&](Index place) {
    return static_cast<std::size_t>(std::ranges::upper_bound(of_block, place, {}, &WallBatch::first) -
                                    of_block.begin() - 1);
  };
  const auto meet = [&](std::size_t a, std::size_t b) {
    std::int8_t& known = meets_[std::min(a, b) * n + std::max(a, b)];
    if (known < 0)
      known =
          obstacles.may_meet(of_block[a].constraint, of_block[b].constraint, wall_box_, wall_reach_) ? 1 : 0;
    return known == 1;
  };
  for (std::size_t wall = 0; wall < n; ++wall)
    for (const Index body : wall_bodies(of_block[wall])) {
      const auto candidates = walls_at(body);
      // Parts of one shape follow each other.
      if (!obstacles.of_one_shape(candidates.front().constraint, candidates.back().constraint))
        for (const WallPlace& other : candidates)
          if (!obstacles.of_one_shape(of_block[wall].constraint, other.constraint) &&
              meet(wall, number_at(other.place)))
            walls_beside_.push_back(other);
      first_wall_beside_.push_back(static_cast<Index>(walls_beside_.size()));
    }
}

/// Sorts the candidates of a block by body and constraint.
template <int D>
void SweepSchedule<D>::sort_walls_by_body(const Block& block) {
  first_body_of_block_.push_back(static_cast<Index>(bodies_at_walls_.size()));
  if (n_wall_places(block) == 0) return;
  Index last = 0;
  first_body_at_wall_ = std::numeric_limits<Index>::max();
  for (const WallBatch& wall : walls(block))
    for (const Index body : wall_bodies(wall)) {
      first_body_at_wall_ = std::min(first_body_at_wall_, body);
      last = std::max(last, body);
    }
  // Numbers two places on; then starts one place on, which move to the ends as the candidates are put.
  std::vector<Index>& first = first_wall_of_body_;
  first.assign(static_cast<std::size_t>(last - first_body_at_wall_) + 3, 0);
  const auto at = [&](Index body, std::size_t further) -> Index& {
    return first[static_cast<std::size_t>(body - first_body_at_wall_) + further];
  };
  for (const WallBatch& wall : walls(block))
    for (const Index body : wall_bodies(wall)) ++at(body, 2);
  first[0] = first_wall_place(block);
  for (std::size_t k = 1; k < first.size(); ++k) first[k] += first[k - 1];
  for (const WallBatch& wall : walls(block))
    for (Index place = wall.first; place < wall.last; ++place) {
      const Index body = wall_bodies_[static_cast<std::size_t>(place)];
      walls_of_bodies_[static_cast<std::size_t>(at(body, 1)++)] = {place, wall.constraint};
    }
  for (Index body = first_body_at_wall_; body <= last; ++body)
    if (at(body, 0) < at(body, 1)) bodies_at_walls_.push_back({body, at(body, 0), at(body, 1)});
}

template class SweepSchedule<2>;
template class SweepSchedule<3>;

}  // namespace scree
