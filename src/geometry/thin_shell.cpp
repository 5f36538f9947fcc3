#include "geometry/thin_shell.hpp"

#include "geometry/facets.hpp"
#include "geometry/round.hpp"
#include "geometry/surface_travel.hpp"
#include "geometry/touch.hpp"

namespace scree {

void ThinShell::set(const Vec<3>& origin, const Vec<3>& axis, const Edge& edge) {
  origin_ = origin;
  axis_ = axis;
  across_ = perpendicular(axis);
  edge_ = edge;
}

namespace {

class AnyShell final : public ThinShell {
 public:
  AnyShell(const Vec<3>& origin, const Vec<3>& axis, const Edge& edge) { set(origin, axis, edge); }
  void describe(Section& /*section*/) override {}
};

}  // namespace

std::unique_ptr<Shape<3>> make_thin_shell(const Vec<3>& origin, const Vec<3>& axis, const Edge& edge) {
  return std::make_unique<AnyShell>(origin, axis, edge);
}

Box<3> ThinShell::bounds(int, const Box<3>&) const {
  Box<3> box = Box<3>::empty();
  for (const Vec<2>& end : {edge_.a, edge_.b}) include_disk(box, origin_ + end[1] * axis_, axis_, end[0]);
  return box;
}

Real ThinShell::travel(const Pose<3>& moved, const Box<3>& region) const {
  const Box<3> box = bounds(0, region);
  return std::min(farthest_displacement(moved, box),
                  farthest_displacement(without_spin(moved, origin_, axis_), box));
}

void ThinShell::nearest(int, std::span<const Vec<3>> at, std::span<const Vec<3>> from,
                        std::span<SurfacePoint<3>> result) const {
  for (std::size_t i = 0; i < at.size(); ++i) result[i] = nearest(at[i], from[i]);
}

SurfacePoint<3> ThinShell::nearest(const Vec<3>& at, const Vec<3>& from) const {
  const Real z = dot(axis_, at - origin_);
  const Direction<3> radial = direction_across(at - origin_, axis_, across_);
  const Vec<2> x{{radial.length, z}};
  const Real height_from = edge_.height(in_half_plane(from));
  const bool passed = passes(from, at, height_from, edge_.height(x));

  const Vec<2> side = height_from < 0 ? -edge_.normal : edge_.normal;
  const Foot foot = foot_on(edge_, x, passed ? -side : side);
  const Vec<3> away = foot.away[0] * radial.unit + foot.away[1] * axis_;
  return passed ? SurfacePoint<3>{-away, -foot.distance} : SurfacePoint<3>{away, foot.distance};
}

void ThinShell::touch(int part, const ConvexCore<3>& core, const BodyPose<3>& pose, Real rounding,
                      const Vec<3>& from, Real reach, Real width, WallContacts<3>& found) const {
  constexpr Real endless = 1e20;
  std::array<WallRim, 2> rims;
  std::size_t n = 0;
  for (const Real forward : {-1.0, 1.0}) {
    const Vec<2>& end = forward < 0 ? edge_.a : edge_.b;
    const bool is_middle_of_plate = end[0] == 0 && edge_.tangent[1] == 0;
    if (end[0] < endless && !is_middle_of_plate)
      rims[n++] = {origin_ + end[1] * axis_, axis_, across_, end[0], forward * edge_.tangent};
  }
  const TouchQuery<3> query{{core, pose}, rounding, reach, width};
  if (n > 0 || query.is_sphere())
    return touch_curved(*this, part, query, from, std::span(rims).first(n), found);
  // A plane: its front is where the centre belongs.
  touch_plane(query, origin_, nearest(pose.centre, from).normal, found);
}

Vec<2> ThinShell::in_half_plane(const Vec<3>& x) const {
  return {{direction_across(x - origin_, axis_, across_).length, dot(axis_, x - origin_)}};
}

/// True if the straight path from -> at passes through the shell or ends on it. Along it r is a convex
/// function and z linear, so that the height over the line of the edge is convex or concave and changes sign
/// in one place only: found by halving, since paths through a wall are rare.
bool ThinShell::passes(const Vec<3>& from, const Vec<3>& at, Real height_from, Real height_at) const {
  const bool sides_differ = (height_from > 0 && height_at <= 0) || (height_from < 0 && height_at >= 0);
  if (!sides_differ) return false;
  Real before = 0;
  Real beyond = 1;
  const Real length = norm(at - from);
  Vec<2> there = in_half_plane(at);
  const auto along = [&] { return dot(edge_.tangent, there - edge_.a); };
  for (int halvings = 0; halvings < 60; ++halvings) {
    // The path passes no farther from `there` than what is left of it.
    const Real left = (beyond - before) * length;
    if (along() < -left || along() > edge_.length + left) return false;
    if (along() > left && along() < edge_.length - left) return true;
    const Real middle = (before + beyond) / 2;
    const Vec<2> x = in_half_plane(from + middle * (at - from));
    if (edge_.height(x) * (height_from > 0 ? 1 : -1) > 0)
      before = middle;
    else
      beyond = middle, there = x;
  }
  return along() >= 0 && along() <= edge_.length;
}

Outline<3> ThinShell::outline(const Box<3>&) const {
  Outline<3> outline;
  const auto ring = [&](const Vec<2>& end) {
    return add_circle(outline, origin_ + end[1] * axis_, end[0] * across_, end[0] * cross(axis_, across_),
                      facets_around);
  };
  if (edge_.a[0] == 0) {
    add_fan(outline, origin_ + edge_.a[1] * axis_, ring(edge_.b), facets_around);
  } else if (edge_.b[0] == 0) {
    add_fan(outline, origin_ + edge_.b[1] * axis_, ring(edge_.a), facets_around);
  } else {
    const int first = ring(edge_.a);
    add_band(outline, first, ring(edge_.b), facets_around);
  }
  return outline;
}

}  // namespace scree
