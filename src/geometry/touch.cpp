#include "geometry/touch.hpp"

#include <algorithm>

#include "geometry/convex/side.hpp"

namespace scree {
namespace {

template <int D>
void give_manifold(const Manifold<D>& manifold, WallContacts<D>& found) {
  found.n = manifold.n;
  found.cores_overlap = manifold.cores_overlap;
  for (std::size_t i = 0; i < static_cast<std::size_t>(manifold.n); ++i) {
    const auto& p = manifold.points[i];
    found.points[i] = {manifold.normal, p.place, p.gap, p.feature};
  }
}

/// The pose of a body in coordinates about its centre.
template <int D>
BodyPose<D> about_itself(const BodyPose<D>& pose) {
  return {{}, pose.axes, pose.size};
}

}  // namespace

template <int D>
void TouchPoints<D>::add(const Vec<D>& x, const Vec<D>& normal, Real distance, std::uint32_t feature) {
  const Real gap = distance - query_.rounding;
  if (gap > highest_gap()) return;
  min_ = std::min(min_, gap);
  int place = n_;
  if (n_ < max) {
    ++n_;
  } else {
    for (int i = place = 0; i < n_; ++i)
      if (points_[i].gap > points_[place].gap) place = i;
    if (gap >= points_[place].gap) return;
  }
  points_[place] = {x, normal, gap, feature};
}

template <int D>
void TouchPoints<D>::give(WallContacts<D>& found) const {
  found.n = 0;
  found.cores_overlap = min_ < -query_.rounding;
  if (n_ == 0) return;
  Candidates<D> candidates(query_.body.pose.size);
  const Real same = same_number * query_.body.pose.size;
  const auto at = [&](int i) -> const Point& { return points_[i]; };
  Vec<D> normal;
  for (int i = 0; i < n_; ++i) {
    if (at(i).gap > highest_gap()) continue;
    bool is_first = true;
    for (int k = 0; k < i && is_first; ++k)
      is_first = norm(at(i).x - at(k).x) > same || norm(at(i).normal - at(k).normal) > same_number;
    if (!is_first) continue;
    if (at(i).gap == min_) normal = at(i).normal;
    candidates.add(at(i).x, at(i).gap, static_cast<std::uint32_t>(i));
  }
  candidates.reduce(normal, [&](const Vec<D>& x, Real gap, std::uint32_t i) {
    const Point& p = at(static_cast<int>(i));
    found.points[found.n++] = {p.normal, x + (query_.rounding + 0.5 * gap) * p.normal, gap, p.feature};
  });
}

template <int D>
void add_corners(const Shape<D>& shape, int part, const TouchQuery<D>& query, const Vec<D>& from,
                 TouchPoints<D>& points) {
  constexpr int batch = 8;
  const int n = static_cast<int>(query.body.core.vertices().size());
  std::array<Vec<D>, batch> x, at, start;
  std::array<SurfacePoint<D>, batch> seen;
  start.fill(from);
  for (int first = 0; first < n; first += batch) {
    const auto n_here = static_cast<std::size_t>(std::min(batch, n - first));
    for (std::size_t k = 0; k < n_here; ++k) {
      x[k] = query.corner(first + static_cast<int>(k));
      at[k] = query.body.pose.centre + x[k];
    }
    shape.nearest(part, std::span(at).first(n_here), std::span(start).first(n_here),
                  std::span(seen).first(n_here));
    // A part of a mesh does not detect corners beside it, however wide the gaps that are asked for.
    for (std::size_t k = 0; k < n_here; ++k)
      if (seen[k].in_reach())
        points.add(x[k], -seen[k].normal, seen[k].distance, static_cast<std::uint32_t>(first) + k);
  }
  if (n == 1) return;
  Vec<D> direction;
  CoreSide<D> side;
  Real farthest = 0;
  const BodyPose<D> pose = about_itself(query.body.pose);
  const PosedCore<D> body{query.body.core, pose};
  points.keep_if([&](const Vec<D>& corner, const Vec<D>& normal, Real, std::uint32_t i) {
    if (!(normal == direction)) {
      direction = normal;
      side = side_towards(body, normal);
      farthest = dot(normal, query.corner(body.support(normal)));
    }
    bool is_of_side = farthest - dot(normal, corner) <= same_number * pose.size;
    side.for_each_corner(body.core, [&](int k) { is_of_side = is_of_side || k == static_cast<int>(i); });
    return is_of_side;
  });
}

template <int D>
void touch_plane(const TouchQuery<D>& query, const Vec<D>& point, const Vec<D>& normal,
                 WallContacts<D>& found) {
  const BodyPose<D> pose = about_itself(query.body.pose);
  const Plane<D> wall{-normal, dot(normal, query.body.pose.centre - point)};
  give_manifold(
      contact_points_with_plane<D>({query.body.core, pose}, query.rounding, wall, query.reach, query.width),
      found);
}

template <int D>
void touch_core(const TouchQuery<D>& query, const PosedCore<D>& wall, Real wall_rounding,
                WallContacts<D>& found) {
  const BodyPose<D> pose = about_itself(query.body.pose);
  const BodyPose<D> wall_pose{wall.pose.centre - query.body.pose.centre, wall.pose.axes, wall.pose.size};
  give_manifold(contact_points<D>({query.body.core, pose}, {wall.core, wall_pose}, query.rounding,
                                  wall_rounding, query.reach, query.width),
                found);
}

template <int D>
void Shape<D>::touch(int part, const ConvexCore<D>& core, const BodyPose<D>& pose, Real rounding,
                     const Vec<D>& from, Real reach, Real width, WallContacts<D>& found) const {
  const TouchQuery<D> query{{core, pose}, rounding, reach, width};
  TouchPoints<D> points(query);
  add_corners(*this, part, query, from, points);
  points.give(found);
}

#define SCREE_TOUCH(D)                                                                                    \
  template class TouchPoints<D>;                                                                          \
  template void add_corners(const Shape<D>&, int, const TouchQuery<D>&, const Vec<D>&, TouchPoints<D>&);  \
  template void touch_plane(const TouchQuery<D>&, const Vec<D>&, const Vec<D>&, WallContacts<D>&);        \
  template void touch_core(const TouchQuery<D>&, const PosedCore<D>&, Real, WallContacts<D>&);            \
  template void Shape<D>::touch(int, const ConvexCore<D>&, const BodyPose<D>&, Real, const Vec<D>&, Real, \
                                Real, WallContacts<D>&) const;
SCREE_TOUCH(2)
SCREE_TOUCH(3)
#undef SCREE_TOUCH

}  // namespace scree
