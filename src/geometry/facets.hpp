#pragma once
#include <numbers>
#include <utility>

#include "geometry/obstacle.hpp"

namespace scree {

/// Appends `n` points of the circle center + cos(s) u + sin(s) v; returns the index of the first.
template <int D>
int add_circle(Outline<D>& outline, const Vec<D>& center, const Vec<D>& u, const Vec<D>& v, int n) {
  const int first = static_cast<int>(outline.points.size());
  for (int i = 0; i < n; ++i) {
    const Real angle = 2 * std::numbers::pi * i / n;
    outline.points.push_back(center + std::cos(angle) * u + std::sin(angle) * v);
  }
  return first;
}

/// Appends lines that close the `n` points from `first` on to a ring.
inline void add_ring(Outline<2>& outline, int first, int n) {
  for (int i = 0; i < n; ++i) outline.lines.push_back({first + i, first + (i + 1) % n});
}

/// Appends triangles between two rings of `n` points each.
inline void add_band(Outline<3>& outline, int first, int other, int n) {
  for (int i = 0; i < n; ++i) {
    const int next = (i + 1) % n;
    outline.triangles.push_back({first + i, first + next, other + next});
    outline.triangles.push_back({first + i, other + next, other + i});
  }
}

/// Appends the point `tip` and triangles from it to a ring of `n` points.
inline void add_fan(Outline<3>& outline, const Vec<3>& tip, int first, int n) {
  const int center = static_cast<int>(outline.points.size());
  outline.points.push_back(tip);
  for (int i = 0; i < n; ++i) outline.triangles.push_back({center, first + i, first + (i + 1) % n});
}

/// The convex polygon with these corners, in order.
inline Outline<3> fan_of(std::vector<Vec<3>> corners) {
  Outline<3> outline;
  outline.points = std::move(corners);
  for (int i = 2; i < static_cast<int>(outline.points.size()); ++i)
    outline.triangles.push_back({0, i - 1, i});
  return outline;
}

}  // namespace scree
