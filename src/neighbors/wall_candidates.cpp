#include "neighbors/wall_candidates.hpp"

#include <algorithm>
#include <limits>

namespace scree {

template <int D>
void WallCandidates<D>::clear(const Lattice<D>& lattice, const Box<D>& box) {
  walls_.clear();
  wall_bodies_.clear();
  wall_box_ = box;
  wall_reach_ = 2 * lattice.skin + 0.01 * lattice.largest_radius;
}

template <int D>
void WallCandidates<D>::trim() {
  const auto trim_all = [](auto&... vectors) { (trim_capacity(vectors), ...); };
  trim_all(wall_bodies_, first_wall_neighbour_, wall_neighbours_, first_wall_beside_, walls_beside_,
           bodies_at_walls_);
}

template <int D>
void WallCandidates<D>::free_scratch() {
  free_memory(reach_, near_.found, near_.surface, first_wall_of_body_, meets_);
}

template <int D>
void WallCandidates<D>::renumber(std::span<const Index> numbers, const ObstacleSet<D>& obstacles,
                                 std::span<const Block> blocks, std::vector<Index>& kept_walls) {
  kept_walls.clear();
  for (WallBatch& wall : walls_) {
    const Index first = wall.first, last = wall.last;
    wall.first = static_cast<Index>(kept_walls.size());
    for (Index place = first; place < last; ++place) {
      const Index body = numbers[wall_bodies_[place]];
      if (body < 0) continue;
      wall_bodies_[kept_walls.size()] = body;
      kept_walls.push_back(place);
    }
    wall.last = static_cast<Index>(kept_walls.size());
  }
  wall_bodies_.resize(kept_walls.size());
  find_neighbours(obstacles, blocks);
}

template <int D>
void WallCandidates<D>::find(const Box<D>& box, const BodyStore<D>& bodies, const ObstacleSet<D>& obstacles,
                             Real skin, const typename BlockTable<D>::Block& block,
                             std::span<const LevelMap::Levels> levels) {
  // Bodies outside the box count to border blocks, so the box of the bodies is found from the bodies.
  Box<D> around = Box<D>::empty();
  const std::size_t first = block.first;
  const std::size_t count = block.last - block.first;
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
    if (const int level = obstacles.list()[o].level; level >= 0 && !levels.empty())
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
void WallCandidates<D>::find_neighbours(const ObstacleSet<D>& obstacles, std::span<const Block> blocks) {
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
  const bool any_beside = any_walls_beside(obstacles, blocks);
  if (!any && !any_beside) return;
  if (any) first_wall_neighbour_.push_back(0);
  if (any_beside) first_wall_beside_.push_back(0);
  walls_of_bodies_.resize(wall_bodies_.size());
  for (const Block& block : blocks) {
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
bool WallCandidates<D>::any_walls_beside(const ObstacleSet<D>& obstacles,
                                         std::span<const Block> blocks) const {
  return std::ranges::any_of(blocks, [&](const Block& block) {
    const auto of_block = walls(block);
    return !of_block.empty() &&
           !obstacles.of_one_shape(of_block.front().constraint, of_block.back().constraint);
  });
}

/// After sort_walls_by_body().
template <int D>
void WallCandidates<D>::find_walls_beside(const ObstacleSet<D>& obstacles, const Block& block) {
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
void WallCandidates<D>::sort_walls_by_body(const Block& block) {
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
      const Index body = wall_bodies_[place];
      walls_of_bodies_[at(body, 1)++] = {place, wall.constraint};
    }
  for (Index body = first_body_at_wall_; body <= last; ++body)
    if (at(body, 0) < at(body, 1)) bodies_at_walls_.push_back({body, at(body, 0), at(body, 1)});
}

template class WallCandidates<2>;
template class WallCandidates<3>;

}  // namespace scree
