#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "geometry/edge.hpp"
#include "geometry/shapes/side.hpp"
#include "geometry/touch.hpp"

namespace scree {

namespace {

/// A region with straight edges: an outer ring of corners and rings of holes in it. side = "outside": the
/// region is solid and its holes are free; "inside": bodies walk in the region, its holes and all beyond the
/// ring are solid. One part per edge, in the order of the deck; the front of an edge is the free side,
/// whatever way the ring runs.
///
/// Part i, for a point x whose foot on edge i is at distance d_i:
///   x is in front of the edge there:   +d_i if the foot is a local minimum (see EdgeShape), the normal
///   points
///                                      from edge i to x
///   x is behind it:                    -d_i, the normal points from x to edge i, if no edge of all rings is
///                                      nearer; otherwise part i does not answer
/// Where a corner is the foot, the sum of the two edges' normals says which side is the front. So x in the
/// solid gets the way out through the nearest edge, at any depth, and from no other part; of a thin solid
/// wall only the face that x is in front of answers. A body deep behind one wall of a room and facing another
/// gets both: the one keeps it off, the other takes it out. No part ever pulls a body to an edge that is not
/// the nearest.
///
/// Convex bodies: the same of their points (see EdgeShape::touch_edge). A body whose centre is in the solid
/// goes out as a whole through the edge that is nearest to its centre.
///
/// Cost: O(1) per point; O(edges) per point, or centre of a body, behind edge i.
class Polygon final : public EdgeShape {
 public:
  void describe(Section& section) override {
    inside_ = bodies_inside(section);
    add_ring(section, false, "corners of the outer ring, in either sense; it closes by itself");
    section.tables("holes", {.doc = "A hole in the polygon, by a name of your choice."},
                   [this](const std::string&, Section& hole) {
                     add_ring(hole, true, "corners of the hole, in either sense; it closes by itself");
                   });
    if (section.reading()) join_rings();
  }

  Box<2> bounds(int part, const Box<2>& domain) const override {
    return EdgeShape::bounds(part, domain).grown(filled<2>(depth_));
  }

  void nearest(int part, std::span<const Vec<2>> at, std::span<const Vec<2>>,
               std::span<SurfacePoint<2>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Foot own = foot(part, at[i]);
      if (behind(part, own))
        result[i] = face_to_leave_by(at[i]) == part ? SurfacePoint<2>{-own.away, -own.distance}
                                                    : SurfacePoint<2>::none();
      else
        result[i] =
            answers(part, own, at[i]) ? SurfacePoint<2>{own.away, own.distance} : SurfacePoint<2>::none();
    }
  }

  void distances(int part, std::span<const Vec<2>> at, std::span<SurfacePoint<2>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Foot own = foot(part, at[i]);
      const bool leads_out = behind(part, own) && face_to_leave_by(at[i]) == part;
      result[i] =
          leads_out ? SurfacePoint<2>{-own.away, -own.distance} : SurfacePoint<2>{own.away, own.distance};
    }
  }

  void touch(int part, const ConvexCore<2>& core, const BodyPose<2>& pose, Real rounding, const Vec<2>& from,
             Real reach, Real width, WallContacts<2>& found) const override {
    const TouchQuery<2> query{{core, pose}, rounding, reach, width};
    if (query.is_sphere()) return Shape::touch(part, core, pose, rounding, from, reach, width, found);
    const int face = is_behind(part, pose.centre) ? face_to_leave_by(pose.centre) : part;
    const bool is_in_solid = is_behind(face, pose.centre);
    if (is_in_solid && face == part) {
      const Foot own = foot(part, pose.centre);
      return push_back(query, pose.centre - own.distance * own.away, -own.away, found);
    }
    touch_edge(part, query, edge(part).normal, found);
    if (is_in_solid && found.cores_overlap) found.n = 0;
  }

 private:
  bool is_behind(int part, const Vec<2>& x) const override { return behind(part, foot(part, x)); }

  /// Normal of the feature of edge `part` that `place` names.
  const Vec<2>& normal(int part, Foot::Place place) const {
    if (place == Foot::Place::interior) return edge(part).normal;
    return corner_normals_[2 * static_cast<std::size_t>(part) + (place == Foot::Place::end ? 1 : 0)];
  }

  Foot foot(int part, const Vec<2>& x) const {
    Foot foot = foot_on(edge(part), x, Vec<2>{});
    if (foot.away == Vec<2>{}) foot.away = normal(part, foot.place);
    return foot;
  }

  bool behind(int part, const Foot& foot) const { return dot(foot.away, normal(part, foot.place)) < 0; }

  /// The part that answers for the point of the boundary which is nearest to x.
  int face_to_leave_by(const Vec<2>& x) const {
    int nearest = 0;
    Foot shortest = foot(0, x);
    for (int other = 1; other < n_parts(); ++other)
      if (const Foot candidate = foot(other, x); candidate.distance < shortest.distance) {
        nearest = other;
        shortest = candidate;
      }
    if (shortest.place == Foot::Place::interior) return nearest;
    // A corner: the edge beside it if x is in front of that after all, but for rounding.
    for (const Joint& joint : joints(nearest, shortest.place))
      nearest = foot(joint.edge, x).place == joint.place ? std::min(nearest, joint.edge) : joint.edge;
    return nearest;
  }

  void add_ring(Section& section, bool is_hole, std::string_view doc) {
    const std::vector<Vec<2>> corners = read_corners(section, "points", 3, true, doc);
    if (!section.reading()) return;
    const int first = n_parts();
    const int n = static_cast<int>(corners.size());

    Real area = 0;  // relative to a corner, so that a ring far from the origin loses no digits
    for (std::size_t i = 1; i + 1 < corners.size(); ++i)
      area += dot(left_of(corners[i] - corners[0]), corners[i + 1] - corners[0]) / 2;
    const bool free_within = inside_ != is_hole;
    const Real front = (area > 0) == free_within ? 1 : -1;
    for (int i = 0; i < n; ++i) edges_.emplace_back(corners[i], corners[(i + 1) % n], front);
    require_simple(section, first);
    if (is_hole) require_in_region(section, first);

    Box<2> box = Box<2>::empty();
    for (const Vec<2>& corner : corners) box.include(corner);
    if (!inside_ && !is_hole)  // a disk in the ring is narrower than its box, and has less area
      depth_ = std::min({box.length(0) / 2, box.length(1) / 2, std::sqrt(std::abs(area) / std::numbers::pi)});
    ring_starts_.push_back(first);
  }

  /// Every corner has two edges: rings neither touch nor repeat a point.
  void join_rings() {
    join();
    corner_normals_.clear();
    for (int part = 0; part < n_parts(); ++part)
      for (const Foot::Place end : {Foot::Place::start, Foot::Place::end}) {
        const Vec<2> sum = edge(part).normal + edge(joints(part, end)[0].edge).normal;
        corner_normals_.push_back(sum * (1 / norm(sum)));
      }
  }

  /// Stops if the newest ring, from edge `first` on, meets itself other than at the ends of consecutive
  /// edges.
  void require_simple(const Section& section, int first) const {
    const int n = n_parts() - first;
    for (int i = 0; i < n; ++i) {
      const Edge& e = edge(first + i);
      const Edge& next = edge(first + (i + 1) % n);
      // A fold: the next edge runs back along this one.
      if (norm(e.normal + next.normal) < flat_fold)
        section.fail("points", fmt::format("the ring folds back on itself at point {}", (i + 1) % n + 1));
      for (int j = i + 2; j < n; ++j) {
        if (i == 0 && j == n - 1) continue;
        if (segments_touch(e.a, e.b, edge(first + j).a, edge(first + j).b))
          section.fail(
              "points",
              fmt::format("the ring meets itself: edges {} and {} (edge 1 starts at point 1)", i + 1, j + 1));
      }
    }
  }

  /// Stops if the newest ring, a hole from edge `first` on, touches another ring or lies outside of the
  /// region.
  void require_in_region(const Section& section, int first) const {
    for (int i = first; i < n_parts(); ++i)
      for (int j = 0; j < first; ++j)
        if (segments_touch(edge(i).a, edge(i).b, edge(j).a, edge(j).b))
          section.fail("points", "the hole touches the outer ring or another hole");
    const auto n_rings = ring_starts_.size();
    for (std::size_t r = 0; r < n_rings; ++r) {
      const int end = r + 1 < n_rings ? ring_starts_[r + 1] : first;
      const bool within = encloses(ring_starts_[r], end, edge(first).a);
      if (r == 0 && !within) section.fail("points", "the hole lies outside of the outer ring");
      if (r > 0 && (within || encloses(first, n_parts(), edge(ring_starts_[r]).a)))
        section.fail("points", "one hole lies within another");
    }
  }

  /// True if the ring of edges [begin, end) goes round x: a ray from x to the right meets it an odd number of
  /// times.
  bool encloses(int begin, int end, const Vec<2>& x) const {
    bool within = false;
    for (int i = begin; i < end; ++i) {
      const Edge& e = edge(i);
      if ((e.a[1] > x[1]) == (e.b[1] > x[1])) continue;
      const Real meets = e.a[0] + (e.b[0] - e.a[0]) * ((x[1] - e.a[1]) / (e.b[1] - e.a[1]));
      if (meets > x[0]) within = !within;
    }
    return within;
  }

  static constexpr Real flat_fold = 1e-9;  // [-] sharper corners (in rad) have no normal to double precision

  bool inside_ = false;
  Real depth_ = 0;  // [m] no point of the solid is farther from its boundary; 0: it is endless
  std::vector<Vec<2>> corner_normals_;  // unit, of the start and the end of each edge: halves the angle of
                                        // the two normals
  std::vector<int> ring_starts_;        // first edge of each ring
};

}  // namespace

SCREE_PLUGIN_ONLY(Shape, 2, polygon, Polygon, "solid or walkable region with straight edges and holes")

}  // namespace scree
