#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/buckets.hpp"
#include "geometry/box.hpp"

namespace scree {

/// Cells of equal size over a box, each with a list of numbers of what lies in it.
class BucketGrid {
 public:
  BucketGrid() = default;
  /// About `n_cells` cells over `box`, which must not be empty.
  BucketGrid(const Box<2>& box, std::size_t n_cells);

  int n(int axis) const { return n_[axis]; }
  Real lower(int axis, int cell) const { return box_.lower[axis] + cell * size_[axis]; }
  Real size(int axis) const { return size_[axis]; }
  /// Number of the cell of a coordinate along an axis, that of the nearest cell if it is outside.
  int cell_of(int axis, Real x) const;
  std::size_t place(int i, int j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(n(0)) + static_cast<std::size_t>(i);
  }
  bool covers(const Vec<2>& x) const { return box_.contains(x); }

  std::size_t cell_at(const Vec<2>& x) const { return place(cell_of(0, x[0]), cell_of(1, x[1])); }
  /// Calls f(i, j) for the cells that a box overlaps; what lies beyond the grid counts to the cells at its
  /// rim.
  template <class F>
  void for_each_cell(const Box<2>& box, F&& f) const {
    const int last_i = cell_of(0, box.upper[0]), last_j = cell_of(1, box.upper[1]);
    for (int j = cell_of(1, box.lower[1]); j <= last_j; ++j)
      for (int i = cell_of(0, box.lower[0]); i <= last_i; ++i) f(i, j);
  }

  /// Puts item `item` into cell (i, j); after the last one call `sort`.
  void put(int i, int j, std::int32_t item) {
    entries_.emplace_back(static_cast<std::int32_t>(place(i, j)), item);
  }
  /// Items keep the order in which they were put; a second round of put() replaces all.
  void sort();
  std::span<const std::int32_t> items(std::size_t cell) const { return items_[cell]; }

 private:
  Box<2> box_;
  std::array<int, 2> n_{};
  Vec<2> size_;
  std::vector<std::pair<std::int32_t, std::int32_t>> entries_;  // cell and item
  Buckets<std::int32_t> items_;
};

}  // namespace scree
