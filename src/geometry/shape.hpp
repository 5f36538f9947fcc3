#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/section.hpp"
#include "core/types.hpp"
#include "geometry/box.hpp"
#include "geometry/convex/wall_contact.hpp"
#include "geometry/pose.hpp"

namespace scree {

/// The point of a surface that is nearest to a given point p, seen from p.
template <int D>
struct SurfacePoint {
  Vec<D> normal;      ///< unit, from the surface into the free space [-]
  Real distance = 0;  ///< signed distance of p from the surface [m]; negative inside the solid

  /// Distance of everything from what it does not touch, however near [m]; finite, so that arithmetic with
  /// it is.
  static constexpr Real out_of_reach = 1e30;
  static SurfacePoint none() { return {unit_vector<D>(0), out_of_reach}; }
  bool in_reach() const { return distance < out_of_reach; }
};

/// Lines and triangles that show a surface in ParaView.
template <int D>
struct Outline {
  std::vector<Vec<D>> points;
  std::vector<std::array<int, 2>> lines;      ///< 2D
  std::vector<std::array<int, 3>> triangles;  ///< 3D
};

/// A piece of a surface so simple that the time when a body in free flight touches it is the root of a
/// polynomial.
template <int D>
struct SurfacePiece {
  enum class Kind {
    plane,   ///< solid behind it: gap = n . (x - p) - r
    edge,    ///< two-sided, where 0 <= t . (x - p) <= length: gap = |n . (x - p)| - r
    sphere,  ///< gap = front (|x - p| - radius) - r; a corner has radius 0
  };
  Kind kind = Kind::plane;
  Vec<D> point{};    ///< p [m]
  Vec<D> normal{};   ///< n, unit
  Vec<D> tangent{};  ///< t, unit
  Real length = 0;   ///< [m]
  Real radius = 0;   ///< [m]
  Real front = 1;    ///< -1: bodies are inside of the sphere
};

/// Parts of a shape that points are near: what lists of candidates are made of.
template <int D>
struct NearParts {
  struct Entry {
    int part;
    int point;
    friend auto operator<=>(const Entry&, const Entry&) = default;  // NOLINT(*-nullptr): a bug of the check
  };
  std::vector<Entry> found;
  std::vector<SurfacePoint<D>> surface;  ///< scratch
};

/// A fixed surface in its own frame, made of one or more parts. A part is one unilateral constraint for a
/// body near it, gap = distance(x) - radius >= 0, where the distance from the shape has a *local minimum* on
/// it: a body touches a surface once per local minimum, never once per part. A polygon has one part per edge,
/// a plane has one.
template <int D>
class Shape {
 public:
  virtual ~Shape() = default;
  virtual void describe(Section& section) = 0;
  virtual int n_parts() const { return 1; }
  /// Smallest box that holds part `part`, cut to `domain` where the part is unbounded (`lower > upper` if
  /// empty).
  virtual Box<D> bounds(int part, const Box<D>& domain) const = 0;
  /// Distance and normal of `part` at each point of `at`; SurfacePoint::none() where its nearest point is no
  /// local minimum of the distance from the shape, or where another part stands for it. `from` holds where
  /// each point was at the start of the step (the same frame): a part without thickness (segment, polyline
  /// edge) takes the side of `from` when the path crossed it, so a body cannot tunnel; parts that bound a
  /// solid ignore it. Costs O(points), no allocation.
  virtual void nearest(int part, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                       std::span<SurfacePoint<D>> result) const = 0;
  /// As nearest() where that finds a distance below reach[i]; elsewhere it may answer none(), for less work.
  /// Nothing below reach[i] is found before the point and the part have moved by clearance[i] [m], but for a
  /// point that came into a solid; 0: not known. As it stands, nearest().
  virtual void nearest_within(int part, std::span<const Vec<D>> at, std::span<const Vec<D>> from,
                              std::span<const Real> reach, std::span<SurfacePoint<D>> result,
                              std::span<Real> clearance) const;
  /// Distance of `part` from each point, whether it is a local minimum or not: what lists of candidates go
  /// by. Not above what `nearest` answers now; without a side. Costs and allocates as `nearest`.
  virtual void distances(int part, std::span<const Vec<D>> at, std::span<SurfacePoint<D>> result) const {
    nearest(part, at, at, result);
  }
  /// Appends to near.found the parts that are nearer than reach[i] to point at[i], by distances(), in any
  /// order. `cut`: where unbounded parts end; no point must be farther than its reach from it. As it stands,
  /// O(parts * points).
  virtual void find_near(std::span<const Vec<D>> at, std::span<const Real> reach, const Box<D>& cut,
                         NearParts<D>& near) const;
  /// Of all parts the nearest to a point, with its distance as nearest() has it without a path. As it
  /// stands, O(parts).
  virtual SurfacePoint<D> closest(const Vec<D>& at) const;
  /// Contact points of a convex body with `part`, in the frame of the shape: gaps of the rounded body, its
  /// core with `rounding` around [m], that are at most `reach` and at most `width` above the least [m]; of
  /// too many those that Candidates::reduce() takes. `from`: where the centre of the body was when the step
  /// began. `found` is replaced. A body of one point gets what nearest() says of a sphere, bit by bit. Each
  /// point is a local minimum for which `part` answers, as in nearest(). A pure function of its arguments; no
  /// allocation. As it stands, corners of the core by nearest() (add_corners()): exact where the free space
  /// is convex, in containers.
  virtual void touch(int part, const ConvexCore<D>& core, const BodyPose<D>& pose, Real rounding,
                     const Vec<D>& from, Real reach, Real width, WallContacts<D>& found) const;
  /// Edges, from end to end, that touch() does not detect where they lie on faces or edges of a body: all
  /// that it looks at is corners of bodies.
  virtual std::vector<std::array<Vec<D>, 2>> undetected_edges() const { return {}; }
  /// The parts that a body can pass on to while it touches: those that share an edge or corner with `part`,
  /// ascending. What a contact remembers passes on with it.
  virtual std::span<const int> neighbours(int /*part*/) const { return {}; }
  /// Whether it has no thickness: all space is free, and bodies keep the side they come from.
  virtual bool is_thin() const { return false; }
  /// Whether a body that went into the solid may come out of it elsewhere: not from a half-space, nor from
  /// all that is around a container.
  virtual bool has_far_side() const { return !is_thin(); }
  /// Upper bound of how far the distances of its parts change where the shape goes from its own frame to
  /// `moved` [m]; only points of the surface in `region` count. 0 for a motion that leaves the surface as it
  /// is: a plane that slides in itself, a cylinder that turns about its axis. As it stands, the largest
  /// displacement of any point of the surface, O(parts).
  virtual Real travel(const Pose<D>& moved, const Box<D>& region) const;
  virtual Outline<D> outline(const Box<D>& domain) const = 0;
  /// Part `part` as simple pieces; empty if it is not made of such. Pieces may repeat each other.
  virtual std::vector<SurfacePiece<D>> pieces(int /*part*/) const { return {}; }
};

/// The shape "plane", and "disk" or "sphere" that holds bodies, for programs. `normal`: unit.
template <int D>
std::unique_ptr<Shape<D>> make_plane(const Vec<D>& point, const Vec<D>& normal);
template <int D>
std::unique_ptr<Shape<D>> make_round_container(const Vec<D>& center, Real radius);

template <>
std::span<const Entry<Shape<2>>> registry<Shape<2>>();
template <>
std::span<const Entry<Shape<3>>> registry<Shape<3>>();
}  // namespace scree
