#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "crowd/plan/bucket_grid.hpp"
#include "crowd/plan/ring.hpp"

namespace scree {

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
  void put_side(std::size_t s);
  void find_labels(Real outside);
  static bool is_left(const Side& side, const Vec<2>& x);
  std::uint32_t crossed(std::size_t cell, const Vec<2>& from, const Vec<2>& to) const;
  Vec<2> reference(int i, int j) const;

  std::vector<Side> sides_;
  BucketGrid grid_;
  std::vector<std::uint32_t> label_;  // at the reference point of each cell
};

}  // namespace scree
