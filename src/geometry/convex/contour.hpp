#pragma once
#include <cstdint>

#include "geometry/convex/core.hpp"

namespace scree {

/// A convex polygon in space, or a segment, or a point, that planes cut; each corner with its share of a
/// feature (contact_points()).
template <int D>
class Contour {
 public:
  static constexpr int max_corners = 32;    ///< of a face
  static constexpr int new_corner = 0xfff;  ///< place of a corner where two sides of the reference meet

  /// A corner as a number: its place 12 bits, the side that made it 7 bits.
  void add(const Vec<D>& x, int place) {
    corner_[which_][n_++] = {x.component, static_cast<std::uint32_t>(place) << 7, place};
  }
  int size() const { return n_; }
  Vec<D> operator[](int i) const { return {at(i).x}; }
  std::uint32_t feature(int i) const { return at(i).feature; }

  /// Keeps what is not beyond the plane through `on_plane` with the normal n (of any length); corners within
  /// `tolerance` [m] are on it. `side` counts from 1 to n_sides, in the order of the sides of the reference.
  void cut(const Vec<D>& n, const Vec<D>& on_plane, Real tolerance, int side, int n_sides);

 private:
  /// Not set to 0 at first: a cut costs what its corners cost.
  struct Corner {
    std::array<Real, D> x;
    std::uint32_t feature;
    int edge;  ///< that starts here: place of its first corner, or -side if it lies along a side
  };
  const Corner& at(int i) const { return corner_[which_][i]; }
  /// The feature of where an edge is cut. Sides s and s + 1 meet at corner s of the reference.
  static std::uint32_t feature_of_cut(int edge, int side, int n_sides) {
    if (edge >= 0) return static_cast<std::uint32_t>(edge << 7 | side);
    const int corner = side == 1 - edge ? -edge : edge == -1 && side == n_sides ? 0 : -1;
    return static_cast<std::uint32_t>(new_corner << 7 | (corner >= 0 ? 64 + corner : side));
  }

  std::array<std::array<Corner, 2 * max_corners>, 2> corner_;
  std::size_t which_ = 0;
  int n_ = 0;
};

template <int D>
void Contour<D>::cut(const Vec<D>& n, const Vec<D>& on_plane, Real tolerance, int side, int n_sides) {
  std::array<Real, 2 * max_corners> beyond;
  const Real limit = tolerance * norm(n), offset = dot(n, on_plane);
  bool all_stay = true;
  for (int i = 0; i < n_; ++i) {
    const Real here = dot(n, (*this)[i]) - offset;
    beyond[i] = here;
    all_stay = all_stay && here <= limit;
  }
  if (all_stay) return;
  auto& kept = corner_[1 - which_];
  std::size_t n_kept = 0;
  // A polygon is closed, a segment is not, and a point has no edge.
  const int n_edges = n_ > 2 ? n_ : n_ - 1;
  for (int i = 0; i < n_; ++i) {
    const Corner& from = at(i);
    const int next = i + 1 < n_ ? i + 1 : 0;
    const Real here = beyond[i], there = beyond[next];
    const bool leads_out = i < n_edges && there > limit;
    if (here <= limit) {
      kept[n_kept] = from;
      if (here >= -limit && leads_out) kept[n_kept].edge = -side;
      ++n_kept;
    }
    const bool crosses = (here < -limit && leads_out) || (here > limit && i < n_edges && there < -limit);
    if (!crosses) continue;
    const Vec<D> x = (*this)[i] + here / (here - there) * ((*this)[next] - (*this)[i]);
    kept[n_kept++] = {x.component, feature_of_cut(from.edge, side, n_sides), leads_out ? -side : from.edge};
  }
  which_ = 1 - which_;
  n_ = static_cast<int>(n_kept);
}

}  // namespace scree
