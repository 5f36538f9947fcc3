#pragma once
#include <span>

#include "geometry/box.hpp"
#include "geometry/direction.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

template <int D>
struct TouchQuery;

/// A straight edge in the plane, with a front side that its unit normal points to.
struct Edge {
  /// `front` = +1: the front is to the left of a -> b; -1: to the right. The ends must differ.
  Edge(const Vec<2>& start, const Vec<2>& end, Real front = 1);

  Vec<2> a;
  Vec<2> b;
  Vec<2> tangent;   ///< unit, from a to b
  Vec<2> normal;    ///< unit, to the front
  Real length = 0;  ///< [m]

  /// Signed distance of x from the line through the edge, positive in front [m].
  Real height(const Vec<2>& x) const { return dot(normal, x - a); }
};

/// The point of an edge that is nearest to a given point x, seen from x.
struct Foot {
  enum class Place { start, interior, end };
  Place place = Place::interior;
  Vec<2> away;        ///< unit, from the foot to x
  Real distance = 0;  ///< of x from the foot, not negative [m]
};

/// Foot of x on `edge`. `otherwise` is the direction `away` for x on the edge itself.
Foot foot_on(const Edge& edge, const Vec<2>& x, const Vec<2>& otherwise);

/// True if the straight path from -> at passes through the edge from one side to the other or ends on it. A
/// path that starts on the line of the edge does not cross: it has no side to come from. Two edges that share
/// an end leave no hole between them.
bool crosses(const Edge& edge, const Vec<2>& from, const Vec<2>& at);

/// True if the closed segments ab and cd have a point in common.
bool segments_touch(const Vec<2>& a, const Vec<2>& b, const Vec<2>& c, const Vec<2>& d);

/// An edge and the corners at its ends.
std::vector<SurfacePiece<2>> pieces_of(const Edge& edge);

/// A shape made of edges, one part each, in the order of the deck. Edges whose ends are the same point, to
/// the last digit, are joined there.
///
/// The distance from x has a local minimum on an edge if the foot of x lies in its interior, and on a corner
/// if the foot of x on all edges that meet there is this corner; the edge with the smallest number answers
/// for it. Edges that meet flatter than 1 degree are one surface: of two that x is in front of, the nearer
/// one answers. So a wall cut into collinear edges touches once, a convex corner once, a concave one twice.
class EdgeShape : public Shape<2> {
 public:
  int n_parts() const override { return static_cast<int>(edges_.size()); }
  Box<2> bounds(int part, const Box<2>& domain) const override;
  void distances(int part, std::span<const Vec<2>> at, std::span<SurfacePoint<2>> result) const override;
  std::span<const int> neighbours(int part) const override {
    return range(neighbours_, first_neighbour_, static_cast<std::size_t>(part));
  }
  Outline<2> outline(const Box<2>& domain) const override;
  std::vector<SurfacePiece<2>> pieces(int part) const override;

 protected:
  /// Another edge that meets the end of one.
  struct Joint {
    int edge;
    Foot::Place place;  ///< the end of that edge which it is
    bool flat;          ///< the two are one surface, or lie one on the other
  };

  const Edge& edge(int part) const { return edges_[part]; }
  /// Finds the joints; once, when all edges are there. O(edges log edges).
  void join();
  /// The edges that meet the start or the end of `part`, ascending.
  std::span<const Joint> joints(int part, Foot::Place end) const {
    return range(joints_, first_joint_,
                 2 * static_cast<std::size_t>(part) + (end == Foot::Place::end ? 1 : 0));
  }
  /// Whether the foot of x on edge `part` is a local minimum for which this edge answers. O(joints).
  bool answers(int part, const Foot& foot, const Vec<2>& x) const;
  /// Contacts of a convex body with edge `part`, a core of two corners; `out`: the edge's normal on the side
  /// where the body belongs. A point counts if `part` answers for it: feet within 1e-9 of the body's size
  /// beyond the edge count as its own, so that of round-off no corner is lost, and of flat joints one part
  /// answers. So a body that slides over edges in a row meets no normal across them.
  ///
  /// If the edge is in the core: the least way out if it leads to the side of `out`, or past an end at which
  /// no other edge is (where one is, it leads out); else back through the line of the edge.
  void touch_edge(int part, const TouchQuery<2>& query, const Vec<2>& out, WallContacts<2>& found) const;
  /// The whole body is to go back through the line across `out` at `foot`, however far.
  static void push_back(const TouchQuery<2>& query, const Vec<2>& foot, const Vec<2>& out,
                        WallContacts<2>& found);
  /// Whether x, a point outside of the wall but for round-off, lies behind the edge.
  virtual bool is_behind(int /*part*/, const Vec<2>& /*x*/) const { return false; }
  std::vector<Edge> edges_;

 private:
  bool counts(int part, const Vec<2>& x, Real tolerance) const;
  template <class T>
  static std::span<const T> range(const std::vector<T>& all, const std::vector<int>& first, std::size_t i) {
    return std::span(all).subspan(first[i], first[i + 1] - first[i]);
  }

  std::vector<Joint> joints_;
  std::vector<int> first_joint_;  // of the start of each edge and of its end, and the end
  std::vector<int> neighbours_;
  std::vector<int> first_neighbour_;
};

/// Edges without thickness, that bodies touch from both sides and at their ends. Bodies keep the side they
/// come from. With the edges that the path from -> at crosses, of an edge and those joined to it:
///   none:  the distance is positive, the normal points to `at`
///   some:  the one that is crossed first answers, the others do not: the distance is negative, the normal
///          points from `at` back to it
/// so no edge next to the crossed one can push a body on in the wrong direction. On an edge the normal points
/// to the side of `from`, or to the front if `from` has no side.
///
/// Convex bodies: if the path of the centre crosses an edge, the whole body goes back through it. Else the
/// side is that of the centre now, beside a joint as seen by the edge that the centre is in front of. An edge
/// in the core of a body more than one edge away from the one that the centre is in front of has the side of
/// its line: right unless the wall turns by more than 90 degrees on the way.
class ThinWall : public EdgeShape {
 public:
  void nearest(int part, std::span<const Vec<2>> at, std::span<const Vec<2>> from,
               std::span<SurfacePoint<2>> result) const override;
  void touch(int part, const ConvexCore<2>& core, const BodyPose<2>& pose, Real rounding, const Vec<2>& from,
             Real reach, Real width, WallContacts<2>& found) const override;
  bool is_thin() const override { return true; }

 private:
  /// Of `part` and the edges joined to it the one that the path from -> at crosses first, -1: none.
  int first_crossed(int part, const Vec<2>& at, const Vec<2>& from) const;
  /// The normal of an edge on the side of the body's centre.
  Vec<2> side_of(int part, const Vec<2>& centre) const;
  SurfacePoint<2> nearest(int part, const Vec<2>& at, const Vec<2>& from) const;
};

/// The corners of the key `key`, at least `min` of them and no two equal in a row; `closed`: nor last and
/// first.
std::vector<Vec<2>> read_corners(Section& section, std::string_view key, std::size_t min, bool closed,
                                 std::string_view doc);

}  // namespace scree
