#pragma once
#include <fmt/format.h>

#include <string>

#include "core/types.hpp"

namespace scree {

/// The text of an OBJ file with sheets of triangles, for verifications and tests of meshes.
class ObjSheets {
 public:
  /// Adds n x n squares with the corners place(i, j), i and j from 0 to n, cut along diagonals that
  /// alternate. Corners run counter-clockwise where i x j points to the front.
  template <class Place>
  void add(int n, const Place& place) {
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i <= n; ++i) {
        const Vec<3> x = place(i, j);
        text_ += fmt::format("v {} {} {}\n", x[0], x[1], x[2]);
      }
    const auto corner = [&](int i, int j) { return n_vertices_ + 1 + j * (n + 1) + i; };
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const int a = corner(i, j), b = corner(i + 1, j), c = corner(i, j + 1), d = corner(i + 1, j + 1);
        text_ += (i + j) % 2 == 0 ? fmt::format("f {} {} {}\nf {} {} {}\n", a, b, d, a, d, c)
                                  : fmt::format("f {} {} {}\nf {} {} {}\n", a, b, c, b, d, c);
      }
    n_vertices_ += (n + 1) * (n + 1);
  }
  /// The surface of a box, each face cut into 2 n^2 triangles; faces share their corners to the last bit.
  void add_box(const Vec<3>& lower, const Vec<3>& upper, int n) {
    for (int axis = 0; axis < 3; ++axis)
      for (const bool is_upper : {false, true})
        add(n, [&](int i, int j) {
          const int u = (axis + (is_upper ? 1 : 2)) % 3, v = (axis + (is_upper ? 2 : 1)) % 3;
          Vec<3> x;
          x[axis] = is_upper ? upper[axis] : lower[axis];
          x[u] = between(lower[u], upper[u], i, n);
          x[v] = between(lower[v], upper[v], j, n);
          return x;
        });
  }
  /// From a to b in n steps, with both ends as they are.
  static Real between(Real a, Real b, int i, int n) { return i == n ? b : a + (b - a) * i / n; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int n_vertices_ = 0;
};

}  // namespace scree
