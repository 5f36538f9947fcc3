#pragma once
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "geometry/mesh.hpp"

namespace scree {

/// Of a triangle its side from one corner to the next.
struct TriangleSide {
  int low, high;  // its corners
  bool forwards;
  int triangle;
  auto edge() const { return std::pair(low, high); }
};

/// All sides, those of an edge together, in the order of their triangles.
inline std::vector<TriangleSide> sides_of(const TriangleMesh& mesh) {
  std::vector<TriangleSide> sides;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = mesh.triangles[t][k], b = mesh.triangles[t][(k + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), a < b, static_cast<int>(t)});
    }
  std::ranges::sort(sides, {},
                    [](const TriangleSide& side) { return std::pair(side.edge(), side.triangle); });
  return sides;
}

/// Calls f(sides of an edge) for each edge.
template <class F>
void for_each_edge(std::span<const TriangleSide> sides, const F& f) {
  for (std::size_t i = 0, end = 0; i < sides.size(); i = end) {
    while (end < sides.size() && sides[end].edge() == sides[i].edge()) ++end;
    f(sides.subspan(i, end - i));
  }
}

inline const Vec<3>& corner_of(const TriangleMesh& mesh, std::size_t triangle, std::size_t k) {
  return mesh.vertices[mesh.triangles[triangle][k % 3]];
}

}  // namespace scree
