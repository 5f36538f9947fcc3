#include "geometry/shape.hpp"

#include <algorithm>

#include "geometry/surface_travel.hpp"

namespace scree {

template <int D>
void Shape<D>::nearest_within(int part, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                              std::span<const Real> /*reach*/, std::span<SurfacePoint<D>> result,
                              std::span<Real> clearance) const {
  std::ranges::fill(clearance, 0.0);
  nearest(part, at, from, result);
}

template <int D>
void Shape<D>::find_near(std::span<const Vec<D>> at, std::span<const Real> reach, const Box<D>& cut,
                         NearParts<D>& near) const {
  Box<D> around = Box<D>::empty();
  for (std::size_t i = 0; i < at.size(); ++i) {
    around.include(at[i] - filled<D>(reach[i]));
    around.include(at[i] + filled<D>(reach[i]));
  }
  near.surface.resize(at.size());
  for (int part = 0; part < n_parts(); ++part) {
    if (!overlap(around, bounds(part, cut))) continue;
    distances(part, at, near.surface);
    for (std::size_t i = 0; i < at.size(); ++i)
      if (near.surface[i].distance < reach[i]) near.found.push_back({part, static_cast<int>(i)});
  }
}

template <int D>
SurfacePoint<D> Shape<D>::closest(const Vec<D>& at) const {
  SurfacePoint<D> closest = SurfacePoint<D>::none();
  for (int part = 0; part < n_parts(); ++part) {
    SurfacePoint<D> seen;
    nearest(part, {&at, 1}, {&at, 1}, {&seen, 1});
    if (seen.distance < closest.distance) closest = seen;
  }
  return closest;
}

template <int D>
Real Shape<D>::travel(const Pose<D>& moved, const Box<D>& region) const {
  Real farthest = 0;
  for (int part = 0; part < n_parts(); ++part)
    farthest = std::max(farthest, farthest_displacement(moved, bounds(part, region)));
  return farthest;
}

template class Shape<2>;
template class Shape<3>;

}  // namespace scree
