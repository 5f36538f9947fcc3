#pragma once
#include "geometry/edge.hpp"

namespace scree {

/// A wall without thickness, swept out by an edge of the (r, z) half-plane that turns about an axis: r >= 0
/// is the distance from the axis, z the coordinate along it. Part of a plane with a round hole, or of a cone
/// or cylinder. Bodies touch it from both sides and at its rims, and keep the side they come from:
///   path from -> at does not pass through:  distance positive; the normal points to `at`
///   it passes through:                      distance negative; the normal points from `at` back to the wall
/// On the wall the normal points to the side of `from`. Exact: the nearest point of a surface of revolution
/// lies in the half-plane of the body. Two opposite points of a rim are one contact, the nearer one. Convex
/// bodies: touch_curved().
class ThinShell : public Shape<3> {
 public:
  /// The disks about the axis that end the edge; for an edge that the domain cuts, override.
  Box<3> bounds(int part, const Box<3>& domain) const override;
  void nearest(int part, std::span<const Vec<3>> at, std::span<const Vec<3>> from,
               std::span<SurfacePoint<3>> result) const override;
  void touch(int part, const ConvexCore<3>& core, const BodyPose<3>& pose, Real rounding, const Vec<3>& from,
             Real reach, Real width, WallContacts<3>& found) const override;
  bool is_thin() const override { return true; }
  Real travel(const Pose<3>& moved, const Box<3>& region) const override;
  Outline<3> outline(const Box<3>& domain) const override;

 protected:
  /// z is counted from `origin` along the unit vector `axis`; the ends of the edge are (r, z) with r >= 0.
  void set(const Vec<3>& origin, const Vec<3>& axis, const Edge& edge);

  static constexpr int facets_around = 64;

  Vec<3> origin_{};
  Vec<3> axis_{};
  Vec<3> across_{};  // unit, across the axis
  Edge edge_{{{0, 0}}, {{1, 0}}};

 private:
  SurfacePoint<3> nearest(const Vec<3>& at, const Vec<3>& from) const;
  Vec<2> in_half_plane(const Vec<3>& x) const;
  bool passes(const Vec<3>& from, const Vec<3>& at, Real height_from, Real height_at) const;
};

/// The wall that `edge` sweeps out; see ThinShell.
std::unique_ptr<Shape<3>> make_thin_shell(const Vec<3>& origin, const Vec<3>& axis, const Edge& edge);

}  // namespace scree
