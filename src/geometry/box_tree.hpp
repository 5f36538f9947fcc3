#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "geometry/box.hpp"

namespace scree {

/// A tree of bounding boxes over items 0, 1, ... of which only the boxes are known. Memory: 28 bytes per
/// item. All queries are local, allocate nothing, and depend on nothing but the boxes.
class BoxTree {
 public:
  BoxTree() = default;
  /// O(n log n).
  explicit BoxTree(std::span<const Box<3>> boxes) : items_(boxes.size()) {
    for (std::size_t i = 0; i < items_.size(); ++i) items_[i] = static_cast<int>(i);
    if (!items_.empty()) split(boxes, 0, items_.size());
  }

  /// Box of all items; empty if there is none.
  Box<3> bounds() const { return nodes_.empty() ? Box<3>::empty() : nodes_[0].box; }

  /// Calls f(item) for all items whose box is not farther than `distance` from x, and maybe some more, until
  /// it returns false. Whether all calls returned true. O(log n + items found).
  template <class F>
  bool for_each_within(const Vec<3>& x, Real distance, F&& f) const {
    std::array<std::uint32_t, max_depth> stack;
    std::size_t depth = 0;
    if (!nodes_.empty()) stack[depth++] = 0;
    const Real squared = distance * distance;
    while (depth > 0) {
      const Node& node = nodes_[stack[--depth]];
      if (squared_distance(node.box, x) > squared) continue;
      if (node.n_items == 0) {
        const auto left = static_cast<std::uint32_t>(&node - nodes_.data()) + 1;
        stack[depth++] = node.first;
        stack[depth++] = left;
        continue;
      }
      for (std::uint32_t i = node.first; i < node.first + node.n_items; ++i)
        if (!f(items_[i])) return false;
    }
    return true;
  }

  /// The largest value(box_of(item)) of all items whose box overlaps `region`, where no box has a larger
  /// value than one that holds it; 0 if there is none. O(log n) if few are near the largest.
  template <class BoxOf, class F>
  Real largest(const Box<3>& region, BoxOf&& box_of, F&& value) const {
    std::array<std::uint32_t, max_depth> stack;
    std::size_t depth = 0;
    if (!nodes_.empty()) stack[depth++] = 0;
    Real max = 0;
    while (depth > 0) {
      const std::uint32_t own = stack[--depth];
      const Node& node = nodes_[own];
      if (!overlap(node.box, region) || value(node.box) <= max) continue;
      for (std::uint32_t i = node.first; i < node.first + node.n_items; ++i)
        if (const Box<3> box = box_of(items_[i]); overlap(box, region)) max = std::max(max, value(box));
      if (node.n_items > 0) continue;
      const bool second_is_larger = value(nodes_[node.first].box) > value(nodes_[own + 1].box);
      stack[depth++] = second_is_larger ? own + 1 : node.first;
      stack[depth++] = second_is_larger ? node.first : own + 1;
    }
    return max;
  }

  /// Asks for the items around x from near to far: f(item, distance) gets the least distance so far [m],
  /// `max` at first, and returns the new one. What is farther than that is left out. O(log n) for x near the
  /// items.
  template <class F>
  void search_nearest(const Vec<3>& x, Real max, F&& f) const {
    struct Entry {
      std::uint32_t node;
      Real squared;
    };
    std::array<Entry, max_depth> stack;
    std::size_t depth = 0;
    if (!nodes_.empty()) stack[depth++] = {0, squared_distance(nodes_[0].box, x)};
    while (depth > 0) {
      const Entry entry = stack[--depth];
      if (entry.squared > max * max * (1 + rounding)) continue;
      const Node& node = nodes_[entry.node];
      if (node.n_items == 0) {
        Entry near{entry.node + 1, 0}, far{node.first, 0};
        near.squared = squared_distance(nodes_[near.node].box, x);
        far.squared = squared_distance(nodes_[far.node].box, x);
        if (far.squared < near.squared) std::swap(near, far);
        stack[depth++] = far;
        stack[depth++] = near;
        continue;
      }
      for (std::uint32_t i = node.first; i < node.first + node.n_items; ++i) max = f(items_[i], max);
    }
  }

 private:
  static constexpr std::size_t items_of_leaf = 4, max_depth = 64;
  static constexpr Real rounding = 16 * std::numeric_limits<Real>::epsilon();

  /// A node with items is a leaf. Of others the first child follows the node, `first` is the second.
  struct Node {
    Box<3> box;
    std::uint32_t first = 0;
    std::uint32_t n_items = 0;
  };

  static Real squared_distance(const Box<3>& box, const Vec<3>& x) {
    Real sum = 0;
    for (int k = 0; k < 3; ++k) {
      const Real beyond = std::max({box.lower[k] - x[k], x[k] - box.upper[k], 0.0});
      sum += beyond * beyond;
    }
    return sum;
  }

  /// Halves the items along the longest axis of their middles.
  void split(std::span<const Box<3>> boxes, std::size_t first, std::size_t last) {
    const std::size_t own = nodes_.size();
    nodes_.push_back({Box<3>::empty()});
    Box<3> middles = Box<3>::empty();
    const auto middle = [&](int item, int axis) {
      const Box<3>& box = boxes[item];
      return 0.5 * (box.lower[axis] + box.upper[axis]);
    };
    for (std::size_t i = first; i < last; ++i) {
      const Box<3>& box = boxes[items_[i]];
      nodes_[own].box.include(box.lower);
      nodes_[own].box.include(box.upper);
      middles.include({{middle(items_[i], 0), middle(items_[i], 1), middle(items_[i], 2)}});
    }
    if (last - first <= items_of_leaf) {
      std::sort(items_.begin() + static_cast<std::ptrdiff_t>(first),
                items_.begin() + static_cast<std::ptrdiff_t>(last));
      nodes_[own].first = static_cast<std::uint32_t>(first);
      nodes_[own].n_items = static_cast<std::uint32_t>(last - first);
      return;
    }
    int axis = 0;
    for (int k = 1; k < 3; ++k)
      if (middles.length(k) > middles.length(axis)) axis = k;
    const std::size_t half = first + (last - first) / 2;
    std::nth_element(items_.begin() + static_cast<std::ptrdiff_t>(first),
                     items_.begin() + static_cast<std::ptrdiff_t>(half),
                     items_.begin() + static_cast<std::ptrdiff_t>(last), [&](int p, int q) {
                       const Real a = middle(p, axis), b = middle(q, axis);
                       return a != b ? a < b : p < q;
                     });
    split(boxes, first, half);
    nodes_[own].first = static_cast<std::uint32_t>(nodes_.size());
    split(boxes, half, last);
  }

  std::vector<Node> nodes_;
  std::vector<int> items_;
};

}  // namespace scree
