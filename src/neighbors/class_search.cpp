#include "neighbors/class_search.hpp"

#include <algorithm>
#include <cmath>

namespace scree {

namespace {

/// Where the cell of b may lie from that of a, in the order in which the search by cells looks: the row of a,
/// then the rows ahead.
template <int D>
constexpr Index n_directions = D == 2 ? 2 : 5;
template <int D>
Index direction_from(const Cell<D>& a, const Cell<D>& b) {
  if constexpr (D == 2) {
    return b[1] - a[1];
  } else {
    const Index dy = b[1] - a[1];
    return b[2] == a[2] ? dy : 3 + dy;
  }
}

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

/// Below that ratio the cells of the lattice are narrow enough for all.
template <int D>
int ClassSearch<D>::classes_for(Real largest, Real smallest) {
  constexpr Real one_size = 3;
  if (!(largest >= one_size * smallest)) return 1;
  return std::min(max_classes, 1 + static_cast<int>(std::floor(std::log2(largest / smallest))));
}

/// The cell of a class where an entry lies; beyond its last one if the class has none there.
template <int D>
Cell<D> ClassSearch<D>::cell_in(const Class& which, const Block& block, std::size_t entry) const {
  const LatticeCell& coarse = cells_[at(lattice_cell_[entry])];
  Cell<D> cell;
  for (std::size_t k = 0; k < D; ++k) {
    const int axis = static_cast<int>(k);
    // Bodies outside of open faces count to the cells at the border, as on the lattice.
    const Real part = std::clamp((block.columns.x[k][entry] - coarse.lower[axis]) * which.per_length[axis],
                                 Real{0}, static_cast<Real>(which.parts[k] - 1));
    cell[k] = coarse.place[k] * which.parts[k] + static_cast<std::int32_t>(part);
  }
  return cell;
}

template <int D>
bool ClassSearch<D>::holds(const Class& which, const Cell<D>& cell) const {
  for (std::size_t k = 0; k < D; ++k)
    if (cell[k] > which.below[k]) return false;
  return true;
}

template <int D>
Index ClassSearch<D>::number_in(const Class& which, const Cell<D>& cell) const {
  Index number = 0;
  for (std::size_t k = D; k-- > 0;) number = number * (which.below[k] + 1) + cell[k];
  return number;
}

/// Finds the class of each entry and the cells of each class.
template <int D>
void ClassSearch<D>::divide(const Block& block, int n_classes) {
  const Lattice<D>& lattice = block.lattice;
  const auto n = at(block.cell_start.back());
  n_classes_ = n_classes;
  for (Class& one : classes_) one.first = one.end = one.in_cells = 0, one.largest = 0;
  class_of_.resize(n);
  lattice_cell_.resize(n);
  cells_.clear();
  Cell<D> size, cell{};
  for (std::size_t k = 0; k < D; ++k) size[k] = lattice.block_cells[k] + 1;
  do {
    const auto number = cells_.size();
    LatticeCell& coarse = cells_.emplace_back();
    coarse.place = cell;
    for (std::size_t k = 0; k < D; ++k) {
      const int axis = static_cast<int>(k);
      std::int32_t global = block.place[k] * lattice.block_cells[k] + cell[k];
      if (global >= lattice.n_cells[k]) global -= lattice.n_cells[k];  // through a periodic face
      coarse.lower[axis] = lattice.origin[axis] + global * lattice.cell_edge[axis];
    }
    for (auto i = at(block.cell_start[number]); i < at(block.cell_start[number + 1]); ++i) {
      const Real radius = block.columns.radius[i];
      std::uint8_t c = 0;
      for (Real limit = lattice.largest_radius / 2; c + 1 < n_classes && radius <= limit; limit /= 2) ++c;
      class_of_[i] = c;
      lattice_cell_[i] = static_cast<Index>(number);
      ++classes_[c].end;
      classes_[c].largest = std::max(classes_[c].largest, radius);
    }
  } while (next_cell<D>(cell, size));
  Index first = 0;
  for (int c = 0; c < n_classes; ++c) {
    Class& one = classes_[at(c)];
    const Index count = one.end;
    one.first = first;
    one.end = first += count;
    // Not many more cells than bodies.
    constexpr Real cells_per_body = 4, beyond_rounding = 1 + 1e-9;
    const Real along_axis = std::pow(cells_per_body * count, 1.0 / D);
    const Real width = Lattice<D>::reach(one.largest, lattice.skin) * beyond_rounding;
    for (std::size_t k = 0; k < D; ++k) {
      const Real max = std::min(lattice.cell_edge[static_cast<int>(k)] / width,
                                along_axis / static_cast<Real>(lattice.block_cells[k]));
      one.parts[k] = std::max(1, static_cast<std::int32_t>(max));
      one.below[k] = lattice.block_cells[k] * one.parts[k];
      one.per_length[static_cast<int>(k)] = one.parts[k] / lattice.cell_edge[static_cast<int>(k)];
    }
  }
}

/// Puts the entries in order of class and cell; those in no cell of their class come last in it.
template <int D>
void ClassSearch<D>::sort_into_cells(const Block& block) {
  const auto n = at(block.cell_start.back());
  for (int c = 0; c < n_classes_; ++c) {
    Class& one = classes_[at(c)];
    std::size_t n_cells = 1;
    for (std::size_t k = 0; k < D; ++k) n_cells *= at(one.below[k] + 1);
    one.start.assign(one.empty() ? 0 : n_cells + 2, 0);
  }
  cell_of_column_.resize(n);  // by entry until they have columns
  for (std::size_t i = 0; i < n; ++i) {
    Class& own = classes_[class_of_[i]];
    const Cell<D> cell = cell_in(own, block, i);
    const bool is_inside = holds(own, cell);
    const Index number = is_inside ? number_in(own, cell) : static_cast<Index>(own.start.size()) - 2;
    cell_of_column_[i] = number;
    if (is_inside) ++own.in_cells;
    ++own.start[at(number) + 1];
  }
  for (int c = 0; c < n_classes_; ++c) {
    Class& one = classes_[at(c)];
    one.in_cells += one.first;
    if (one.empty()) continue;
    one.start[0] = one.first;
    for (std::size_t k = 1; k < one.start.size(); ++k) one.start[k] += one.start[k - 1];
  }
  entry_.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    entry_[at(classes_[class_of_[i]].start[at(cell_of_column_[i])]++)] = static_cast<Index>(i);
  // Each start has become the next one.
  for (int c = 0; c < n_classes_; ++c) {
    std::vector<Index>& start = classes_[at(c)].start;
    if (start.empty()) continue;
    std::copy_backward(start.begin(), start.end() - 1, start.end());
    start[0] = classes_[at(c)].first;
  }
  wraps_ = block.find == near_searches<D>().through_faces;
  columns_.resize(n, wraps_);
  columns_.view.skin = around_.view.skin = block.columns.skin;
  for (std::size_t j = 0; j < n; ++j) columns_.copy(j, block.columns, at(entry_[j]), wraps_);
}

template <int D>
void ClassSearch<D>::Columns::resize(std::size_t n, bool wraps) {
  radius.resize(n + near_search_padding);
  view.radius = radius.data();
  for (std::size_t k = 0; k < D; ++k) {
    x[k].resize(n + near_search_padding);
    period[k].resize(wraps ? n + near_search_padding : 0);
    view.x[k] = x[k].data();
    view.period[k] = period[k].data();
  }
}

template <int D>
void ClassSearch<D>::Columns::copy(std::size_t to, const BodyColumns<D>& from, std::size_t place,
                                   bool wraps) {
  radius[to] = from.radius[place];
  for (std::size_t k = 0; k < D; ++k) x[k][to] = from.x[k][place];
  if (!wraps) return;
  for (std::size_t k = 0; k < D; ++k) period[k][to] = from.period[k][place];
}

/// Notes the near ones of columns [first, last).
template <int D>
void ClassSearch<D>::look(Index column, Index first, Index last, const Block& block) {
  const auto max = at(last - first) + near_search_padding;
  if (near_.size() < max) near_.resize(max);
  const std::size_t n_near = block.find(columns_.view, column, first, last, near_.data());
  const Index own = entry_[at(column)];
  for (std::size_t k = 0; k < n_near; ++k) {
    const Index other = entry_[at(near_[k])];
    found_.push_back({std::min(own, other), std::max(own, other)});
  }
}

/// Each pair of adjacent cells of a class once, as PairSearch does with those of the lattice.
template <int D>
void ClassSearch<D>::look_within(const Class& own, const Block& block) {
  if (own.first == own.in_cells) return;
  const Cell<D>& top = own.below;
  Cell<D> size, cell{};
  for (std::size_t k = 0; k < D; ++k) size[k] = top[k] + 1;
  Index number = 0;
  do {
    const Index here = number++;
    const Index a0 = own.start[at(here)], a1 = own.start[at(here + 1)];
    if (a0 == a1) continue;
    const auto pair_with = [&](Index from, Index to) {
      const Index b0 = own.start[at(from)], b1 = own.start[at(to + 1)];
      if (b0 == b1) return;
      for (Index a = a0; a < a1; ++a) look(a, b0, b1, block);
    };
    const std::int32_t x = cell[0];
    bool in_top_row = cell[1] == top[1];
    if constexpr (D == 3) in_top_row = in_top_row || cell[2] == top[2];
    if (!in_top_row && x < top[0]) {
      const Index end = own.start[at(here + 2)];
      for (Index a = a0; a < a1; ++a) look(a, a + 1, end, block);
    }
    const Index left = x > 0 ? -1 : 0, right = x < top[0] ? 1 : -1;
    if (right < left) continue;
    const std::int32_t planes = D == 3 ? 1 : 0;
    for (std::int32_t dz = 0; dz <= planes; ++dz)
      for (std::int32_t dy = dz == 0 ? 1 : -1; dy <= 1; ++dy) {
        const std::int32_t y = cell[1] + dy;
        if (y < 0 || y > top[1] || (dy == 0 && cell[1] == top[1])) continue;
        Index row = here + dy * size[0];
        if constexpr (D == 3) {
          if (cell[2] + dz > top[2] || (dz == 0 && cell[2] == top[2])) continue;
          row += dz * size[0] * size[1];
        }
        pair_with(row + left, row + right);
      }
  } while (next_cell<D>(cell, size));
}

/// Copies those of a larger class in the cells around one of its cells, from the second place on. A body
/// above the block meets those within it only.
template <int D>
void ClassSearch<D>::take_around(const Class& larger, const Cell<D>& cell) {
  Cell<D> size, min, max;
  for (std::size_t k = 0; k < D; ++k) {
    size[k] = larger.below[k] + 1;
    min[k] = std::max(cell[k] - 1, 0);
    max[k] = cell[k] == larger.below[k] ? cell[k] - 1 : cell[k] + 1;
  }
  around_column_.clear();
  const std::int32_t z0 = D == 3 ? min[D - 1] : 0, z1 = D == 3 ? max[D - 1] : 0;
  for (std::int32_t z = z0; z <= z1; ++z)
    for (std::int32_t y = min[1]; y <= max[1]; ++y) {
      const Index row = (z * size[1] + y) * size[0];
      for (Index b = larger.start[at(row + min[0])]; b < larger.start[at(row + max[0] + 1)]; ++b)
        around_column_.push_back(b);
    }
  around_.resize(1 + around_column_.size(), wraps_);
  for (std::size_t k = 0; k < around_column_.size(); ++k)
    around_.copy(1 + k, columns_.view, at(around_column_[k]), wraps_);
}

/// From each body of a class to those of a larger class. One after the other lie in the same cell of it.
template <int D>
void ClassSearch<D>::look_among_larger(const Class& own, const Class& larger, const Block& block) {
  if (larger.first == larger.in_cells) return;
  Index around = -1;  // the cell that was taken last
  for (Index a = own.first; a < own.end; ++a) {
    const Cell<D> cell = cell_in(larger, block, at(entry_[at(a)]));
    if (!holds(larger, cell)) continue;
    if (const Index number = number_in(larger, cell); number != around) {
      take_around(larger, cell);
      around = number;
    }
    if (around_column_.empty()) continue;
    around_.copy(0, columns_.view, at(a), wraps_);
    const std::size_t max = around_column_.size() + near_search_padding;
    if (near_.size() < max) near_.resize(max);
    const auto end = static_cast<Index>(1 + around_column_.size());
    const std::size_t n_near = block.find(around_.view, 0, 1, end, near_.data());
    const Index entry = entry_[at(a)];
    for (std::size_t k = 0; k < n_near; ++k) {
      const Index other = entry_[at(around_column_[at(near_[k] - 1)])];
      found_.push_back({std::min(entry, other), std::max(entry, other)});
    }
  }
}

/// By counting: pairs of one a and one way are few, unless a is far larger than others.
template <int D>
void ClassSearch<D>::sort_pairs(const Block& block) {
  const auto n = at(block.cell_start.back());
  constexpr auto directions = n_directions<D>;
  const auto bucket_of = [&](const EntryPair& pair) {
    const Index cell = lattice_cell_[at(pair.a)];
    const Index first = block.cell_start[at(cell)], count = block.cell_start[at(cell) + 1] - first;
    const Index direction =
        direction_from<D>(cells_[at(cell)].place, cells_[at(lattice_cell_[at(pair.b)])].place);
    return at(directions * first + direction * count + pair.a - first);
  };
  bucket_.assign(at(directions) * n + 1, 0);
  for (const EntryPair& pair : found_) ++bucket_[bucket_of(pair) + 1];
  for (std::size_t k = 1; k < bucket_.size(); ++k) bucket_[k] += bucket_[k - 1];
  sorted_.resize(found_.size());
  for (const EntryPair& pair : found_) sorted_[at(bucket_[bucket_of(pair)]++)] = pair;
  const auto by_b = [](const EntryPair& p, const EntryPair& q) { return p.b < q.b; };
  for (std::size_t first = 0, k = 0; k + 1 < bucket_.size(); ++k) {
    const auto last = at(bucket_[k]);
    if (last > first + 1) std::sort(&sorted_[first], &sorted_[first] + (last - first), by_b);
    first = last;
  }
}

template <int D>
std::span<const EntryPair> ClassSearch<D>::search(const Block& block, int n_classes) {
  divide(block, n_classes);
  sort_into_cells(block);
  found_.clear();
  for (int c = 0; c < n_classes; ++c) {
    const Class& own = classes_[at(c)];
    if (own.empty()) continue;
    look_within(own, block);
    for (int larger = 0; larger < c; ++larger) look_among_larger(own, classes_[at(larger)], block);
  }
  sort_pairs(block);
  return sorted_;
}

template class ClassSearch<2>;
template class ClassSearch<3>;

}  // namespace scree
