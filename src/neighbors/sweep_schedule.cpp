#include "neighbors/sweep_schedule.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "core/timing.hpp"
#include "neighbors/near_search.hpp"

namespace scree {

namespace {

/// Index that steps through a grid of `size` cells along each axis, the first axis fastest.
template <int D>
bool advance(Cell<D>& cell, const Cell<D>& size) {
  for (std::size_t k = 0; k < D; ++k) {
    if (++cell[k] < size[k]) return true;
    cell[k] = 0;
  }
  return false;
}

template <int D>
bool boxes_meet(const Box<D>& a, const Box<D>& b) {
  for (int k = 0; k < D; ++k)
    if (a.lower[k] > b.upper[k] || b.lower[k] > a.upper[k]) return false;
  return true;
}

template <class... T>
std::size_t bytes_of(const std::vector<T>&... vectors) {
  return ((vectors.capacity() * sizeof(T)) + ...);
}

}  // namespace

template <int D>
void SweepSchedule<D>::rebuild(const Lattice<D>& lattice, const Box<D>& box, const BlockTable<D>& table,
                               const BodyStore<D>& bodies, const ObstacleSet<D>& obstacles,
                               Real reach_of_walls, const std::function<bool(BlockKey)>& owned,
                               std::span<const std::uint8_t> shared) {
  blocks_.clear();
  first_shift_.clear();
  ends_.clear();
  shifts_.clear();
  walls_.clear();
  wall_bodies_.clear();
  n_batches_ = 0;
  n_pairs_ = 0;
  n_held_ = bodies.n_held();

  // The blocks to run: those of this rank that hold a body, and empty ones that reach up to bodies on several
  // sides.
  struct Task {
    Cell<D> place;
    BlockKey key;
    bool boundary;
  };
  std::array<std::vector<Task>, std::size_t{Lattice<D>::n_colours}> tasks;
  std::unordered_map<BlockKey, bool> seen;  // key -> boundary
  for (const auto& block : table.blocks()) {
    bool is_shared = false;
    if (!shared.empty())
      for (Index i = block.first; i < block.last; ++i) is_shared |= shared[static_cast<std::size_t>(i)] != 0;
    for (unsigned axes = 0; axes < 1U << D; ++axes) {
      Cell<D> down;
      unsigned wrapped = 0;
      if (!lattice.neighbour(block.place, axes, -1, down, wrapped)) continue;
      const BlockKey key = lattice.key_of(down);
      if (!owned(key)) continue;
      const auto [entry, is_new] = seen.emplace(key, false);
      entry->second |= is_shared;
      if (is_new) tasks[index(lattice.colour_of(down))].push_back({down, key, false});
    }
  }
  for (int colour = 0; colour < Lattice<D>::n_colours; ++colour) {
    std::vector<Task>& list = tasks[index(colour)];
    for (Task& task : list) task.boundary = seen.at(task.key);
    std::sort(list.begin(), list.end(), [](const Task& p, const Task& q) {
      return p.boundary != q.boundary ? p.boundary : p.key < q.key;
    });
    colour_[index(colour)] = static_cast<Index>(blocks_.size());
    interior_[index(colour)] = colour_[index(colour)];
    for (const Task& task : list) {
      Block block{};
      block.key = task.key;
      block.first_batch = n_batches_;
      const std::int64_t pairs_before = n_pairs_;
      block.first_wall = static_cast<Index>(walls_.size());
      first_shift_.push_back(static_cast<Index>(shifts_.size()));
      {
        Scope timer("search");
        gather_block(lattice, box, table, bodies, task.place);
        find_pairs(lattice);
      }
      Scope timer("classes");
      append_classes(plain_, false);
      block.first_shifted = n_batches_;
      append_classes(through_face_, true);
      block.last_batch = n_batches_;
      const Index own = table.find(task.key);
      if (own >= 0)
        find_walls(box, bodies, obstacles, reach_of_walls, table.blocks()[static_cast<std::size_t>(own)]);
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
  // Scratch grows with the largest block. A packing of few blocks would hold as much of it as of the list;
  // what a small packing has need not be asked for again and again.
  constexpr std::size_t little = std::size_t{1} << 16;
  if (scratch_bytes() > little) free_scratch();
}

template <int D>
void SweepSchedule<D>::gather_block(const Lattice<D>& lattice, const Box<D>& box, const BlockTable<D>& table,
                                    const BodyStore<D>& bodies, const Cell<D>& place) {
  // Which table entry holds each corner of the block and its upper neighbours.
  std::array<Index, std::size_t{1} << D> source;
  std::array<unsigned, std::size_t{1} << D> wrapped;
  for (unsigned axes = 0; axes < source.size(); ++axes) {
    Cell<D> up;
    source[axes] =
        lattice.neighbour(place, axes, +1, up, wrapped[axes]) ? table.find(lattice.key_of(up)) : Index{-1};
  }
  local_.clear();
  wraps_ = false;
  local_start_.clear();
  first_of_body_.clear();
  Cell<D> size;
  bool any_thin = false;
  for (std::size_t k = 0; k < D; ++k) {
    size[k] = lattice.block_cells[k] + 1;
    any_thin = any_thin || lattice.is_thin(static_cast<int>(k));
  }
  Cell<D> cell{};
  do {
    local_start_.push_back(static_cast<Index>(local_.size()));
    unsigned axes = 0;
    Cell<D> within = cell;
    for (std::size_t k = 0; k < D; ++k) {
      if (cell[k] < lattice.block_cells[k]) continue;
      axes |= 1U << k;
      within[k] = 0;
    }
    if (source[axes] < 0) continue;
    const auto [begin, end] = table.cell(source[axes], lattice.local_cell(within));
    if (any_thin) {
      // The same cell without the steps along thin axes came earlier, with the same bodies.
      std::size_t first = 0;
      for (std::size_t k = D; k-- > 0;)
        first = first * static_cast<std::size_t>(size[k]) +
                static_cast<std::size_t>(lattice.is_thin(static_cast<int>(k)) ? 0 : cell[k]);
      for (Index i = begin; i < end; ++i) first_of_body_.push_back(local_start_[first] + (i - begin));
    }
    for (Index i = begin; i < end; ++i) {
      const auto body = static_cast<std::size_t>(i);
      local_.push_back({bodies.id()[body], i, static_cast<std::uint8_t>(wrapped[axes])});
      wraps_ = wraps_ || wrapped[axes] != 0;
    }
  } while (advance<D>(cell, size));
  local_start_.push_back(static_cast<Index>(local_.size()));

  const std::size_t n = local_.size();
  radius_.resize(n + near_search_padding);
  for (std::size_t k = 0; k < D; ++k) {
    x_[k].resize(n + near_search_padding);
    period_[k].assign(wraps_ ? n + near_search_padding : 0, 0);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const auto body = static_cast<std::size_t>(local_[i].body);
    radius_[i] = bodies.radius()[body];
    for (std::size_t k = 0; k < D; ++k) {
      const int axis = static_cast<int>(k);
      x_[k][i] = bodies.position()[body][axis];
      if (local_[i].wrapped >> k & 1U) period_[k][i] = box.length(axis);
    }
  }
}

template <int D>
void SweepSchedule<D>::find_pairs(const Lattice<D>& lattice) {
  plain_.clear();
  through_face_.clear();
  const auto start_of = [&](Index cell) { return local_start_[static_cast<std::size_t>(cell)]; };

  BodyColumns<D> columns;
  for (std::size_t k = 0; k < D; ++k) {
    columns.x[k] = x_[k].data();
    columns.period[k] = period_[k].data();
  }
  columns.radius = radius_.data();
  columns.skin = lattice.skin;
  static const NearSearches<D>& searches = near_searches<D>();
  const NearSearch<D> search = wraps_ ? searches.through_faces : searches.within_box;

  // Pairs of body a with bodies [b0, b1). Bodies reached through different faces are seen one period apart.
  const auto visit = [&](Index a, Index b0, Index b1) {
    const auto most = static_cast<std::size_t>(b1 - b0) + near_search_padding;
    if (near_.size() < most) near_.resize(most);
    const std::size_t n_near = search(columns, a, b0, b1, near_.data());
    const Local& p = local_[static_cast<std::size_t>(a)];
    for (std::size_t n = 0; n < n_near; ++n) {
      const Index b = near_[n];
      const Local& q = local_[static_cast<std::size_t>(b)];
      if (p.id == q.id) continue;  // its own image, which it never touches
      const bool in_order = p.id < q.id;
      Index low = in_order ? a : b;
      Index high = in_order ? b : a;
      if (!first_of_body_.empty()) {
        low = first_of_body_[static_cast<std::size_t>(low)];
        high = first_of_body_[static_cast<std::size_t>(high)];
      }
      if (p.wrapped == q.wrapped) [[likely]] {
        plain_.push_back({low, high, 0});
        continue;
      }
      std::uint8_t code = 0;
      for (int k = D - 1; k >= 0; --k)
        code = static_cast<std::uint8_t>(3 * code + periods(in_order ? p : q, in_order ? q : p, k) + 1);
      through_face_.push_back({low, high, code});
    }
  };

  // Each pair of adjacent cells once: from a cell to itself and the next one in its row, then to the three
  // cells of each row that lies ahead. Cells of a row are contiguous, so these are runs of bodies. A pair of
  // cells that both lie in the layer above the block along some axis belongs to the block up there.
  Cell<D> size, top;
  for (std::size_t k = 0; k < D; ++k) {
    top[k] = lattice.block_cells[k];
    size[k] = top[k] + 1;
  }
  struct Row {
    std::int32_t dy, dz;
  };
  static constexpr std::array<Row, 4> rows_ahead{{{1, 0}, {-1, 1}, {0, 1}, {1, 1}}};
  constexpr std::size_t n_rows_ahead = D == 2 ? 1 : 4;
  Cell<D> cell{};
  Index number = 0;
  do {
    const Index a0 = start_of(number), a1 = start_of(number + 1);
    const Index here = number++;
    if (a0 == a1) continue;
    const std::int32_t x = cell[0];
    bool in_top_row = cell[1] == top[1];
    if constexpr (D == 3) in_top_row = in_top_row || cell[2] == top[2];
    // The cell and its next one, unless both or the row belong to another block.
    if (!in_top_row && x < top[0]) {
      const Index end = start_of(here + 2);
      for (Index a = a0; a < a1; ++a) visit(a, a + 1, end);
    }
    for (std::size_t r = 0; r < n_rows_ahead; ++r) {
      const auto [dy, dz] = rows_ahead[r];
      const std::int32_t y = cell[1] + dy;
      if (y < 0 || y > top[1] || (dy == 0 && cell[1] == top[1])) continue;
      Index row = here + dy * size[0];
      if constexpr (D == 3) {
        if (cell[2] + dz > top[2] || (dz == 0 && cell[2] == top[2])) continue;
        row += dz * size[0] * size[1];
      }
      const Index first = x > 0 ? row - 1 : row;
      const Index last = x < top[0] ? row + 1 : row - 1;  // from the layer above only back into the block
      if (last < first) continue;
      const Index b0 = start_of(first), b1 = start_of(last + 1);
      for (Index a = a0; a < a1; ++a) visit(a, b0, b1);
    }
  } while (advance<D>(cell, size));
}

template <int D>
void SweepSchedule<D>::append_classes(std::vector<Candidate>& candidates, bool shifted) {
  n_pairs_ += static_cast<std::int64_t>(candidates.size());
  classes_of_.assign(local_.size(), 0);
  // 64 classes at a time: a body with more partners than that has the rest of its pairs in a further round.
  while (!candidates.empty()) {
    std::array<Index, 65> first{};  // pairs per class, then place of the next pair of each class
    postponed_.clear();
    class_of_.resize(candidates.size());
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      std::uint64_t& low = classes_of_[static_cast<std::size_t>(candidates[c].low)];
      std::uint64_t& high = classes_of_[static_cast<std::size_t>(candidates[c].high)];
      const int chosen = std::countr_one(low | high);
      class_of_[c] = static_cast<std::uint8_t>(chosen);
      if (chosen == 64) {
        postponed_.push_back(candidates[c]);
        continue;
      }
      low |= std::uint64_t{1} << chosen;
      high |= std::uint64_t{1} << chosen;
      ++first[static_cast<std::size_t>(chosen)];
    }
    Index next = n_batches_ * batch_size;
    for (std::size_t k = 0; k < 64; ++k) {
      const Index n = first[k];
      first[k] = next;
      next += (n + batch_size - 1) / batch_size * batch_size;
    }
    const auto old_batches = static_cast<std::size_t>(n_batches_);
    n_batches_ = next / batch_size;
    const auto places = static_cast<std::size_t>(next);
    ends_.resize(2 * places);
    for (std::size_t b = old_batches; b < static_cast<std::size_t>(n_batches_); ++b) {
      std::fill_n(ends_.begin() + static_cast<std::ptrdiff_t>(2 * batch_size * b), batch_size, n_held_);
      std::fill_n(ends_.begin() + static_cast<std::ptrdiff_t>(2 * batch_size * b + batch_size), batch_size,
                  n_held_ + 1);
    }
    const std::size_t first_shift = shifts_.size();
    if (shifted) {
      constexpr std::uint8_t unshifted = D == 2 ? 4 : 13;  // s = 0 along every axis
      shifts_.resize(first_shift + (places - old_batches * batch_size), unshifted);
    }
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      if (class_of_[c] == 64) continue;
      const auto place = static_cast<std::size_t>(first[class_of_[c]]++);
      const std::size_t at = place / batch_size * (2 * batch_size) + place % batch_size;
      ends_[at] = local_[static_cast<std::size_t>(candidates[c].low)].body;
      ends_[at + batch_size] = local_[static_cast<std::size_t>(candidates[c].high)].body;
      if (shifted) shifts_[first_shift + place - old_batches * batch_size] = candidates[c].shift;
    }
    candidates.swap(postponed_);
    if (!candidates.empty()) classes_of_.assign(local_.size(), 0);
  }
}

template <int D>
void SweepSchedule<D>::find_walls(const Box<D>& box, const BodyStore<D>& bodies,
                                  const ObstacleSet<D>& obstacles, Real reach_of_walls,
                                  const typename BlockTable<D>::Block& block) {
  // Bodies outside the box count to border blocks, so the box of the bodies is found from the bodies.
  Box<D> around;
  around.lower = filled<D>(HUGE_VAL);
  around.upper = filled<D>(-HUGE_VAL);
  const auto first = static_cast<std::size_t>(block.first);
  const auto count = static_cast<std::size_t>(block.last - block.first);
  const auto positions = bodies.position().subspan(first, count);
  // Between steps of a scheme that keeps no paths, bodies have not moved.
  const auto from = bodies.step_start().subspan(first, count);
  for (std::size_t i = 0; i < count; ++i) {
    const Real reach = bodies.radius()[first + i] + reach_of_walls + norm(positions[i] - from[i]);
    for (int k = 0; k < D; ++k) {
      around.lower[k] = std::min(around.lower[k], positions[i][k] - reach);
      around.upper[k] = std::max(around.upper[k], positions[i][k] + reach);
    }
  }
  // Unbounded obstacles are cut to a box; it must reach as far as the bodies do.
  Box<D> reached = box;
  for (int k = 0; k < D; ++k) {
    reached.lower[k] = std::min(box.lower[k], around.lower[k]);
    reached.upper[k] = std::max(box.upper[k], around.upper[k]);
  }
  surface_.resize(count);
  for (int c = 0; c < obstacles.n_constraints(); ++c) {
    // A wall that swept past since the step began is as far from where it passed as it moved.
    const Real swept = obstacles.moved_in_step(c, around);
    Box<D> passed = around;
    for (int k = 0; k < D; ++k) {
      passed.lower[k] -= swept;
      passed.upper[k] += swept;
    }
    if (!boxes_meet(passed, obstacles.bounds(c, reached))) continue;
    obstacles.distances(c, positions, surface_);
    const auto begin = static_cast<Index>(wall_bodies_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Real moved = norm(positions[i] - from[i]) + swept;
      if (surface_[i].distance - bodies.radius()[first + i] < reach_of_walls + moved)
        wall_bodies_.push_back(block.first + static_cast<Index>(i));
    }
    const auto end = static_cast<Index>(wall_bodies_.size());
    if (end > begin) walls_.push_back({c, begin, end});
  }
}

template <int D>
void SweepSchedule<D>::find_wall_neighbours(const ObstacleSet<D>& obstacles) {
  first_wall_neighbour_.clear();
  wall_neighbours_.clear();
  bool any = false;
  for (int c = 0; c < obstacles.n_constraints() && !any; ++c)
    obstacles.for_each_neighbour(c, [&](int) { any = true; });
  if (!any) return;
  first_wall_neighbour_.push_back(0);
  for (const Block& block : blocks_)
    for (const WallBatch& wall : walls(block))
      for (const Index body : wall_bodies(wall)) {
        obstacles.for_each_neighbour(wall.constraint, [&](int constraint) {
          // Batches of a block are in the order of constraints, bodies of a batch in theirs.
          const auto other =
              std::ranges::lower_bound(walls(block), Index{constraint}, {}, &WallBatch::constraint);
          if (other == walls(block).end() || other->constraint != constraint) return;
          const auto bodies = wall_bodies(*other);
          const auto found = std::ranges::lower_bound(bodies, body);
          if (found != bodies.end() && *found == body)
            wall_neighbours_.push_back(
                {other->first + static_cast<Index>(found - bodies.begin()), constraint});
        });
        first_wall_neighbour_.push_back(static_cast<Index>(wall_neighbours_.size()));
      }
}

template <int D>
std::size_t SweepSchedule<D>::bytes() const {
  return scratch_bytes() + bytes_of(blocks_, first_shift_, ends_, shifts_, walls_, wall_bodies_,
                                    first_wall_neighbour_, wall_neighbours_);
}

template <int D>
std::size_t SweepSchedule<D>::scratch_bytes() const {
  std::size_t columns = 0;
  for (std::size_t k = 0; k < D; ++k) columns += bytes_of(x_[k], period_[k]);
  return columns + bytes_of(radius_, near_, local_, local_start_, first_of_body_, plain_, through_face_,
                            postponed_, classes_of_, class_of_, surface_);
}

template <int D>
void SweepSchedule<D>::free_scratch() {
  const auto free = [](auto&... vectors) { ((vectors = std::remove_cvref_t<decltype(vectors)>()), ...); };
  for (std::size_t k = 0; k < D; ++k) free(x_[k], period_[k]);
  free(radius_, near_, local_, local_start_, first_of_body_, plain_, through_face_, postponed_, classes_of_,
       class_of_, surface_);
}

template class SweepSchedule<2>;
template class SweepSchedule<3>;

}  // namespace scree
