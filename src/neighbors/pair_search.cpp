#include "neighbors/pair_search.hpp"

#include <algorithm>

namespace scree {

template <int D>
void PairSearch<D>::gather(const Lattice<D>& lattice, const Box<D>& box, const BlockTable<D>& table,
                           const BodyStore<D>& bodies, const Cell<D>& place) {
  // Which table entry holds each corner of the block and its upper neighbours.
  std::array<Index, std::size_t{1} << D> source;
  std::array<unsigned, std::size_t{1} << D> wrapped;
  for (unsigned axes = 0; axes < source.size(); ++axes) {
    Cell<D> up;
    source[axes] =
        lattice.neighbour(place, axes, +1, up, wrapped[axes]) ? table.find(lattice.key_of(up)) : Index{-1};
  }
  entries_.clear();
  cell_start_.clear();
  first_of_body_.clear();
  Cell<D> size;
  bool any_thin = false;
  bool wraps = false;  // whether any was reached through a periodic face
  for (std::size_t k = 0; k < D; ++k) {
    size[k] = lattice.block_cells[k] + 1;
    any_thin = any_thin || lattice.is_thin(static_cast<int>(k));
  }
  Cell<D> cell{};
  do {
    cell_start_.push_back(static_cast<Index>(entries_.size()));
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
      for (Index i = begin; i < end; ++i) first_of_body_.push_back(cell_start_[first] + (i - begin));
    }
    for (Index i = begin; i < end; ++i)
      entries_.push_back({bodies.id()[i], i, static_cast<std::uint8_t>(wrapped[axes])});
    wraps = wraps || (wrapped[axes] != 0 && begin < end);
  } while (next_cell<D>(cell, size));
  cell_start_.push_back(static_cast<Index>(entries_.size()));

  // Cells of size classes stand upright.
  if (lattice.gradient >= 0) n_classes_ = 1;
  if (n_classes_ == 0) n_classes_ = any_thin ? 1 : classes_that_pay(lattice, bodies);
  if (n_classes_ > 1 && !any_thin) leave_out_far(lattice, bodies, place);
  fill_columns(lattice, box, bodies, wraps);
}

/// With few bodies in a cell, to go through them takes less than to sort them and their pairs.
template <int D>
int PairSearch<D>::classes_that_pay(const Lattice<D>& lattice, const BodyStore<D>& bodies) const {
  constexpr std::size_t few = 24;
  if (entries_.size() < few * (cell_start_.size() - 1)) return 1;
  Real smallest = HUGE_VAL;
  for (const Entry& entry : entries_) smallest = std::min(smallest, bodies.radius()[entry.body]);
  return ClassSearch<D>::classes_for(lattice.largest_radius, smallest);
}

/// Takes out of the layer above the block what is too far from all that it could be paired with: bodies that
/// do not lie in the layer along the same axis.
template <int D>
void PairSearch<D>::leave_out_far(const Lattice<D>& lattice, const BodyStore<D>& bodies,
                                  const Cell<D>& place) {
  const auto radius = bodies.radius();
  const auto position = bodies.position();
  Cell<D> size, cell{};
  for (std::size_t k = 0; k < D; ++k) size[k] = lattice.block_cells[k] + 1;
  const auto layers_of = [&](const Cell<D>& which) {
    unsigned axes = 0;
    for (std::size_t k = 0; k < D; ++k) axes |= (which[k] == lattice.block_cells[k] ? 1U : 0U) << k;
    return axes;
  };
  const auto entries_of = [&](std::size_t number) {
    const std::size_t first = cell_start_[number];
    return std::span(entries_).subspan(first, static_cast<std::size_t>(cell_start_[number + 1]) - first);
  };
  std::array<Real, std::size_t{1} << D> largest{}, largest_partner{};
  std::size_t number = 0;
  do {
    Real& max = largest[layers_of(cell)];
    for (const Entry& entry : entries_of(number++)) max = std::max(max, radius[entry.body]);
  } while (next_cell<D>(cell, size));
  for (unsigned axes = 0; axes < largest.size(); ++axes)
    for (unsigned others = 0; others < largest.size(); ++others)
      if ((axes & others) == 0) largest_partner[axes] = std::max(largest_partner[axes], largest[others]);
  std::size_t kept = 0;
  number = 0;
  cell = {};
  do {
    const unsigned axes = layers_of(cell);
    const auto here = entries_of(number);
    cell_start_[number++] = static_cast<Index>(kept);
    Vec<D> face;
    for (std::size_t k = 0; k < D; ++k) {
      const int axis = static_cast<int>(k);
      std::int32_t global = place[k] * lattice.block_cells[k] + cell[k];
      if (global >= lattice.n_cells[k]) global -= lattice.n_cells[k];  // through a periodic face
      face[axis] = lattice.origin[axis] + global * lattice.cell_edge[axis];
    }
    constexpr Real beyond_rounding = 1 + 1e-9;
    const Real of_partner = largest_partner[axes] + lattice.skin;
    for (const Entry entry : here) {
      const std::size_t body = entry.body;
      const Real reach = (radius[body] + of_partner) * beyond_rounding;
      bool is_far = false;
      for (int k = 0; k < D; ++k) is_far |= (axes >> k & 1U) != 0 && position[body][k] - face[k] > reach;
      entries_[kept] = entry;
      kept += is_far ? 0 : 1;
    }
  } while (next_cell<D>(cell, size));
  cell_start_.back() = static_cast<Index>(kept);
  entries_.resize(kept);
}

/// The columns of the entries for the search.
template <int D>
void PairSearch<D>::fill_columns(const Lattice<D>& lattice, const Box<D>& box, const BodyStore<D>& bodies,
                                 bool wraps) {
  const std::size_t n = entries_.size();
  radius_.resize(n + near_search_padding);
  for (std::size_t k = 0; k < D; ++k) {
    x_[k].resize(n + near_search_padding);
    period_[k].assign(wraps ? n + near_search_padding : 0, 0);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t body = entries_[i].body;
    radius_[i] = bodies.radius()[body];
    for (std::size_t k = 0; k < D; ++k) {
      const int axis = static_cast<int>(k);
      x_[k][i] = bodies.position()[body][axis];
      if (entries_[i].wrapped >> k & 1U) {
        period_[k][i] += box.length(axis);
        if (axis == box.gradient) period_[box.flow][i] += box.offset;
      }
    }
  }
  for (std::size_t k = 0; k < D; ++k) {
    columns_.x[k] = x_[k].data();
    columns_.period[k] = period_[k].data();
  }
  columns_.radius = radius_.data();
  columns_.skin = lattice.skin;
  static const NearSearches<D>& searches = near_searches<D>();
  find_ = wraps ? searches.through_faces : searches.within_box;
}

/// Adds the near pairs of entry a with entries [first, last).
template <int D>
void PairSearch<D>::add_near(Index a, Index first, Index last) {
  const auto max = static_cast<std::size_t>(last - first) + near_search_padding;
  if (near_.size() < max) near_.resize(max);
  const std::size_t n_near = find_(columns_, a, first, last, near_.data());
  for (std::size_t n = 0; n < n_near; ++n) add_pair(a, near_[n]);
}

/// Bodies reached through different faces are seen one period apart.
template <int D>
inline void PairSearch<D>::add_pair(Index a, Index b) {
  const Entry& p = entries_[a];
  const Entry& q = entries_[b];
  if (p.id == q.id) return;  // its own image, which it never touches
  if (!levels_.empty() && (levels_[p.body] & levels_[q.body]) == 0) return;
  const bool in_order = p.id < q.id;
  Index low = in_order ? a : b;
  Index high = in_order ? b : a;
  if (!first_of_body_.empty()) {
    low = first_of_body_[low];
    high = first_of_body_[high];
  }
  if (p.wrapped == q.wrapped) [[likely]] {
    within_box_.push_back({low, high, 0});
    return;
  }
  const unsigned low_wraps = in_order ? p.wrapped : q.wrapped, high_wraps = in_order ? q.wrapped : p.wrapped;
  unsigned code = 0;
  for (int k = D - 1; k >= 0; --k) code = 3 * code + (low_wraps >> k & 1U) + 1 - (high_wraps >> k & 1U);
  through_faces_.push_back({low, high, static_cast<std::uint8_t>(code)});
}

template <int D>
void PairSearch<D>::search(const Lattice<D>& lattice, const Box<D>& box, const BlockTable<D>& table,
                           const BodyStore<D>& bodies, const Cell<D>& place, int n_classes,
                           std::span<const LevelMap::Levels> levels) {
  n_classes_ = n_classes;
  levels_ = levels;
  gather(lattice, box, table, bodies, place);
  within_box_.clear();
  through_faces_.clear();
  if (entries_.empty()) return;
  if (n_classes_ == 1) return search_cells(lattice);
  for (const auto& [a, b] : classes_.search({lattice, place, cell_start_, columns_, find_}, n_classes_))
    add_pair(a, b);
}

/// By the cells of the lattice.
template <int D>
void PairSearch<D>::search_cells(const Lattice<D>& lattice) {
  const auto start_of = [&](Index cell) { return cell_start_[cell]; };
  // Each pair of adjacent cells once: from a cell to itself and the next one in its row, then to the three
  // cells of each row that lies ahead. Cells of a row are contiguous, so these are runs of bodies. A pair of
  // cells that both lie in the layer above the block along some axis belongs to the block up there.
  const Cell<D>& top = lattice.block_cells;
  Cell<D> size;
  for (std::size_t k = 0; k < D; ++k) size[k] = top[k] + 1;
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
      for (Index a = a0; a < a1; ++a) add_near(a, a + 1, end);
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
      for (Index a = a0; a < a1; ++a) add_near(a, b0, b1);
    }
  } while (next_cell<D>(cell, size));
}

template class PairSearch<2>;
template class PairSearch<3>;

}  // namespace scree
