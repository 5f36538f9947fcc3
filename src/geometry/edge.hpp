#pragma once
#include <span>

#include "geometry/box.hpp"
#include "geometry/direction.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

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

/// Nearest point of edge `part` of a thin wall, seen from `at`. The bodies keep the side they come from:
///   path from -> at crosses no edge:   distance to edge `part`, positive; the normal points to `at`
///   it crosses edges of the wall:      every part answers with the crossed edge nearest to `at`: distance
///   negative,
///                                      the normal points from `at` back to that edge
/// so no edge next to the crossed one can push a body on in the wrong direction. On an edge the normal points
/// to the side of `from`, or to the front if `from` has no side. O(edges) for the crossing test.
SurfacePoint<2> thin_nearest(std::span<const Edge> edges, int part, const Vec<2>& at, const Vec<2>& from);

/// An edge and the corners at its ends.
std::vector<SurfacePiece<2>> pieces_of(const Edge& edge);

/// A shape made of edges, one part each, in the order of the deck.
class EdgeShape : public Shape<2> {
 public:
  int n_parts() const override { return static_cast<int>(edges_.size()); }
  Box<2> bounds(int part, const Box<2>& domain) const override;
  Outline<2> outline(const Box<2>& domain) const override;
  std::vector<SurfacePiece<2>> pieces(int part) const override;

 protected:
  const Edge& edge(int part) const { return edges_[static_cast<std::size_t>(part)]; }
  std::vector<Edge> edges_;
};

/// Edges without thickness, that bodies touch from both sides: see thin_nearest.
class ThinWall : public EdgeShape {
 public:
  void nearest(int part, std::span<const Vec<2>> at, std::span<const Vec<2>> from,
               std::span<SurfacePoint<2>> result) const override;
};

/// The corners of the key `key`, at least `least` of them and no two equal in a row; `closed`: nor last and
/// first.
std::vector<Vec<2>> read_corners(Section& section, std::string_view key, std::size_t least, bool closed,
                                 std::string_view doc);

}  // namespace scree
