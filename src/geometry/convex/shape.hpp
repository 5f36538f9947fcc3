#pragma once
#include <array>
#include <optional>
#include <span>

#include "geometry/convex/mass.hpp"

namespace scree {

/// A convex body: all points within `rounding` of a convex core, a point, a segment, a polygon or a
/// polyhedron. Corners and edges are round, so that two bodies that touch have one normal, that of the
/// closest points of their cores.
///
/// Frame  body axes: centre of mass at 0, principal axes of inertia along x, y, z.
/// Size   the smallest sphere about 0 that holds the body has the radius 1; a body of circumscribed radius R
/// is R times as large
///        in all lengths, its volume R^D and its moments R^(D + 2) times as large.
/// Core   corners of a polyhedron where more than three faces meet are cut off by up to `rounding`.
/// Mass   that of the sharp body: its core with faces moved out by `rounding`, not rounded. A capsule is what
/// it is.
template <int D>
struct ConvexShape {
  ConvexHull<D> core;  ///< one vertex: a sphere; two: a capsule, along x
  Real rounding = 0;
  Real volume = 0;                             ///< 2D: area
  std::array<Real, D == 2 ? 1 : 3> moments{};  ///< principal, of density 1
  Real inscribed_radius = 0;                   ///< of the largest sphere about 0 inside
  Real radius = 1;                             ///< circumscribed, as the shape was described [m]
  /// The frame in which it was described: its axes in body axes (2D: the first), and the centre of mass in it
  /// [m].
  std::array<Vec<D>, D> described_axes{};
  Vec<D> described_centre;

  bool operator==(const ConvexShape&) const = default;
  bool is_sphere() const { return core.vertices.size() == 1; }
};

/// Rounding where the deck names none: this share of the smallest extent.
inline constexpr Real usual_rounding = 1e-3;

/// A box with edges of `size` [m] along the axes (2D: a rectangle). Errors of all makers: InputError whose
/// text goes on after a name, "has a rounding_radius of ...", if `rounding` [m] is not above 0 and below half
/// the smallest extent; an extent is not positive; the largest extent is more than 1000 times the smallest.
/// Without `rounding`: usual_rounding. Local.
template <int D>
ConvexShape<D> box_shape(const Vec<D>& size, std::optional<Real> rounding);

/// A cylinder of `length` [m] along x with hemispheres of `radius` [m] at its ends (2D: a rectangle with half
/// disks).
template <int D>
ConvexShape<D> capsule_shape(Real length, Real radius);

/// A sphere of radius 1.
template <int D>
ConvexShape<D> sphere_shape();

/// The convex hull of points [m]; see hull_of().
template <int D>
ConvexShape<D> hull_shape(std::span<const Vec<D>> points, std::optional<Real> rounding);

}  // namespace scree
