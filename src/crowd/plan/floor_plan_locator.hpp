#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "crowd/plan/floor_plan.hpp"

namespace scree {

/// Cells of equal size over a box, each with a list of numbers of what lies in it.
class BucketGrid {
 public:
  BucketGrid() = default;
  /// About `n_cells` cells over `box`, which must not be empty.
  BucketGrid(const Box<2>& box, std::size_t n_cells);

  int n(int axis) const { return n_[static_cast<std::size_t>(axis)]; }
  Real lower(int axis, int cell) const { return box_.lower[axis] + cell * size_[axis]; }
  Real size(int axis) const { return size_[axis]; }
  /// Number of the cell of a coordinate along an axis, that of the nearest cell if it is outside.
  int cell_of(int axis, Real x) const;
  std::size_t place(int i, int j) const {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(n(0)) + static_cast<std::size_t>(i);
  }
  bool covers(const Vec<2>& x) const { return box_.contains(x); }

  /// Puts item `item` into cell (i, j); after the last one call `sort`.
  void put(int i, int j, std::int32_t item) {
    entries_.push_back({static_cast<std::int32_t>(place(i, j)), item});
  }
  void sort();
  std::span<const std::int32_t> items(std::size_t cell) const {
    return {items_.data() + first_[cell], items_.data() + first_[cell + 1]};
  }

 private:
  struct Entry {
    std::int32_t cell;
    std::int32_t item;
  };
  Box<2> box_;
  std::array<int, 2> n_{};
  Vec<2> size_;
  std::vector<Entry> entries_;
  std::vector<std::int32_t> items_;
  std::vector<std::size_t> first_;
};

/// Says in which of some polygons, which must not overlap, a point lies. A grid of cells knows this for one
/// point of each cell; a query counts the edges between that point and its own. Points on a lower or left
/// boundary count as inside, those on an upper or right one as outside, so that adjacent polygons share no
/// point. O(edges log edges) to build, O(1) on average per query.
class PolygonLocator {
 public:
  explicit PolygonLocator(std::span<const PolygonWithHoles> polygons);
  /// The number of the polygon that holds x, or -1.
  int find(const Vec<2>& x) const;

 private:
  struct Side {
    Vec<2> a, b;
    std::uint32_t label;  // of its polygon: number + 1
  };
  static bool is_left(const Side& side, const Vec<2>& x);
  std::uint32_t crossed(std::size_t cell, const Vec<2>& from, const Vec<2>& to) const;
  Vec<2> reference(int i, int j) const;

  std::vector<Side> sides_;
  BucketGrid grid_;
  std::vector<std::uint32_t> label_;  // at the reference point of each cell
};

}  // namespace scree
