#include <fmt/format.h>

#include "geometry/edge.hpp"
#include "geometry/shapes/side.hpp"

namespace scree {

namespace {

/// A region with straight edges: an outer ring of corners and rings of holes in it. side = "outside": the
/// region is solid and its holes are free; "inside": bodies walk in the region, its holes and all beyond the
/// ring are solid. One part per edge, in the order of the deck; the front of an edge is the free side,
/// whatever way the ring runs.
///
/// Part i, for a point x at distance d_i from edge i and with nearest edge k of all rings:
///   x is free:                             +d_i, the normal points from edge i to x
///   x is in the solid, but the nearer of
///   edge i and its neighbour faces x:      the same
///   x is elsewhere in the solid:           -d_k, the normal points from x to edge k, whatever i is
/// The side is that of the nearest edge; where a corner is nearest, that of the sum of the two edges'
/// normals. Edge k is exact to rounding, and its answer is the signed distance from the region's boundary:
/// the way out for a body that is pressed in, at any depth. The second case comes up only for a body deep
/// behind one wall of a room and facing another: both then keep it off, and k takes it out. No part ever
/// pulls a body to an edge that is not the nearest.
///
/// Cost: O(1) per point; O(edges) per point behind edge i.
class Polygon final : public EdgeShape {
 public:
  void describe(Section& section) override {
    inside_ = bodies_inside(section);
    add_ring(section, false, "corners of the outer ring, in either sense; it closes by itself");
    section.tables("holes", {.doc = "A hole in the polygon, by a name of your choice."},
                   [this](const std::string&, Section& hole) {
                     add_ring(hole, true, "corners of the hole, in either sense; it closes by itself");
                   });
  }

  void nearest(int part, std::span<const Vec<2>> at, std::span<const Vec<2>>,
               std::span<SurfacePoint<2>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) result[i] = nearest(part, at[i]);
  }

 private:
  struct Joint {
    int previous;   ///< the edge before, in the same ring
    int next;       ///< the edge after
    Vec<2> normal;  ///< unit, of the corner at the edge's start: halves the angle of the two normals
  };

  const Joint& joint(int part) const { return joints_[static_cast<std::size_t>(part)]; }

  /// Normal of the feature of edge `part` that `place` names.
  const Vec<2>& normal(int part, Foot::Place place) const {
    if (place == Foot::Place::interior) return edge(part).normal;
    return joint(place == Foot::Place::start ? part : joint(part).next).normal;
  }

  Foot foot(int part, const Vec<2>& x) const {
    Foot foot = foot_on(edge(part), x, Vec<2>{});
    if (foot.away == Vec<2>{}) foot.away = normal(part, foot.place);
    return foot;
  }

  bool behind(int part, const Foot& foot) const { return dot(foot.away, normal(part, foot.place)) < 0; }

  SurfacePoint<2> nearest(int part, const Vec<2>& x) const {
    const Foot own = foot(part, x);
    const SurfacePoint<2> free{own.away, own.distance};

    int decisive = part;
    Foot nearest = own;
    const auto compare = [&](int other) {
      const Foot candidate = foot(other, x);
      if (candidate.distance < nearest.distance) {
        decisive = other;
        nearest = candidate;
      }
    };
    if (own.place != Foot::Place::interior)
      compare(own.place == Foot::Place::start ? joint(part).previous : joint(part).next);
    if (!behind(decisive, nearest)) return free;

    for (int other = 0; other < n_parts(); ++other) compare(other);
    if (!behind(decisive, nearest)) return free;
    return {-nearest.away, -nearest.distance};
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
    for (int i = 0; i < n; ++i)
      edges_.emplace_back(corners[static_cast<std::size_t>(i)],
                          corners[static_cast<std::size_t>((i + 1) % n)], front);
    require_simple(section, first);
    if (is_hole) require_in_region(section, first);

    for (int i = 0; i < n; ++i) {
      const int previous = first + (i + n - 1) % n;
      const Vec<2> sum = edge(previous).normal + edge(first + i).normal;
      joints_.push_back({previous, first + (i + 1) % n, sum * (1 / norm(sum))});
    }
    ring_starts_.push_back(first);
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
  std::vector<Joint> joints_;     // by edge
  std::vector<int> ring_starts_;  // first edge of each ring
};

}  // namespace

SCREE_PLUGIN_ONLY(Shape, 2, polygon, Polygon, "solid or walkable region with straight edges and holes")

}  // namespace scree
