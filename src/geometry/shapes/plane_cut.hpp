#pragma once
#include <algorithm>
#include <vector>

#include "geometry/box.hpp"
#include "geometry/direction.hpp"

namespace scree {

/// The corners of the part of the plane normal . (x - point) = 0 within `box`: where it meets the box's
/// edges; none if it misses the box. `normal` is a unit vector.
template <int D>
std::vector<Vec<D>> cut_plane(const Vec<D>& point, const Vec<D>& normal, const Box<D>& box) {
  const auto height = [&](const Vec<D>& x) { return dot(normal, x - point); };
  std::vector<Vec<D>> corners;
  for (unsigned c = 0; c < Box<D>::n_corners; ++c) {
    const Vec<D> start = box.corner(c);
    const Real start_height = height(start);
    if (start_height == 0) corners.push_back(start);
    for (int axis = 0; axis < D; ++axis) {
      if ((c >> axis & 1U) != 0) continue;  // each edge once, from its lower end
      const Vec<D> end = box.corner(c | 1U << axis);
      const Real end_height = height(end);
      if ((start_height < 0 && end_height > 0) || (start_height > 0 && end_height < 0))
        corners.push_back(start + (end - start) * (start_height / (start_height - end_height)));
    }
  }
  return corners;
}

/// cut_plane with the corners in order around the polygon.
inline std::vector<Vec<3>> cut_plane_in_order(const Vec<3>& point, const Vec<3>& normal, const Box<3>& box) {
  std::vector<Vec<3>> corners = cut_plane(point, normal, box);
  Vec<3> center{};
  for (const Vec<3>& x : corners) center += x * (1.0 / static_cast<Real>(corners.size()));
  const Vec<3> u = perpendicular(normal);
  const Vec<3> v = cross(normal, u);
  const auto angle = [&](const Vec<3>& x) { return std::atan2(dot(v, x - center), dot(u, x - center)); };
  std::sort(corners.begin(), corners.end(),
            [&](const Vec<3>& a, const Vec<3>& b) { return angle(a) < angle(b); });
  return corners;
}

}  // namespace scree
