#pragma once
#include <span>

#include "geometry/convex/candidates.hpp"
#include "geometry/convex/manifold.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

/// What is asked of a wall: contact points of a body, its core with `rounding` around [m], with gaps of at
/// most `reach` [m] and at most `width` [m] above the least.
template <int D>
struct TouchQuery {
  PosedCore<D> body;
  Real rounding, reach, width;

  bool is_sphere() const { return body.core.vertices().size() == 1; }
  /// A corner of the core, from the centre of the body [m].
  Vec<D> corner(int i) const { return body.pose.size * body.pose.direction(body.core.vertices()[i]); }
};

/// Points of a body's core that may become contacts with a wall, each with a direction of its own.
template <int D>
class TouchPoints {
 public:
  explicit TouchPoints(const TouchQuery<D>& query) : query_(query) {}

  /// A point `x` of the core, from the centre of the body, at `distance` along `normal` from the wall.
  void add(const Vec<D>& x, const Vec<D>& normal, Real distance, std::uint32_t feature);
  /// No point with a gap above it becomes a contact.
  Real highest_gap() const { return std::min(query_.reach, min_ + query_.width); }
  /// The least distance of a point from the wall [m]; infinite if there is none.
  Real min_distance() const { return min_ + query_.rounding; }
  /// Keeps the points for which keep(x, normal, gap, feature) is true.
  template <class Keep>
  void keep_if(const Keep& keep) {
    int kept = 0;
    for (int i = 0; i < n_; ++i) {
      const Point& p = points_[i];
      if (keep(p.x, p.normal, p.gap, p.feature)) points_[kept++] = p;
    }
    n_ = kept;
    find_min();
  }
  /// Of points at one place the first, of too many those that Candidates::reduce() takes.
  void give(WallContacts<D>& found) const;

 private:
  static constexpr int max = 64;
  struct Point {
    Vec<D> x, normal;
    Real gap;
    std::uint32_t feature;
  };
  void find_min() {
    min_ = HUGE_VAL;
    for (int i = 0; i < n_; ++i) min_ = std::min(min_, points_[i].gap);
  }

  const TouchQuery<D>& query_;
  std::array<Point, max> points_;
  int n_ = 0;
  Real min_ = HUGE_VAL;
};

/// Adds the corners of the core by what Shape::nearest() answers there; those that look towards the wall:
/// corners of the face, edge or corner of the core that is turned to it. feature: the corner. `from`: where
/// their paths start, of a sphere where it was, of a body its centre.
template <int D>
void add_corners(const Shape<D>& shape, int part, const TouchQuery<D>& query, const Vec<D>& from,
                 TouchPoints<D>& points);

/// Contacts with the half-space behind the plane through `point` whose unit `normal` points to the bodies.
template <int D>
void touch_plane(const TouchQuery<D>& query, const Vec<D>& point, const Vec<D>& normal,
                 WallContacts<D>& found);

/// Contacts with a convex wall: its core, placed, with `wall_rounding` around. As contact_points(), whose
/// tolerances are shares of the sum of both sizes: 1e-9 of it decide which points count as equal.
template <int D>
void touch_core(const TouchQuery<D>& query, const PosedCore<D>& wall, Real wall_rounding,
                WallContacts<D>& found);

/// A circle at which a curved wall ends.
struct WallRim {
  Vec<3> centre;  ///< [m]
  Vec<3> axis;    ///< unit
  Vec<3> across;  ///< unit, across the axis
  Real radius;    ///< [m]; 0: the tip of a cone
  Vec<2> out;     ///< direction in which a thin wall ends: from the axis and along it; 0: a solid's rim
};

/// Contacts with a curved wall that bodies touch from outside, or at rims: a solid cylinder, a thin shell.
/// Points of the core that count, with the distance and normal of Shape::nearest() there:
///   corners                                           feature: the corner
///   least distances along edges, places where edges pass a rim       1 << 24 | edge << 4 | which
/// and points of a rim with the distance and normal of the face of the core that looks at it:
///   the nearest to the face's plane, four at fixed angles, the middle of an arc within the core
///                                                                    2 << 24 | rim << 20 | face << 4 | which
/// A face along the side of a cylinder or cone touches it at its edges and at the rims. Distances are exact
/// but for round-off (least distances along edges: 1e-12 of the edge); what is not complete is the support of
/// a face by a rim that it covers: the square of the four points stands for the circle, and from a tilt of
/// 1e-4 rad on the lowest point too (until then gaps may be too large by 3e-5 radii of the rim).
///
/// `from`: the centre when the step began. If the path of the centre does not pass through a thin wall, the
/// side of a point is that of the centre now: the straight line to it is within the core. Else it is that of
/// `from`. A rim that is inside the core is pushed out through the nearest face. If edges of the core pass
/// through a thin wall, the shorter way out counts: over the rim, where those edges pass, along the normal of
/// edge and rim; or back, by what lies behind the wall. So overlap changes steadily as a body slips off a
/// rim.
///
/// Cost O(corners + edges + rims * faces^2) for bodies within reach. Local.
void touch_curved(const Shape<3>& shape, int part, const TouchQuery<3>& query, const Vec<3>& from,
                  std::span<const WallRim> rims, WallContacts<3>& found);

}  // namespace scree
