#include <fmt/format.h>

#include "core/file_checksum.hpp"
#include "core/input_file.hpp"
#include "core/log.hpp"
#include "geometry/direction.hpp"
#include "geometry/obstacle.hpp"
#include "geometry/surface_travel.hpp"
#include "geometry/triangle_surface.hpp"

namespace scree {

namespace {

/// A surface of triangles from a file, one part per triangle in the order of the file.
///
/// side = "both": without thickness. Bodies touch both sides and keep the side they come from, as with
/// ThinWall: of triangles with a common corner the one that a path passes first answers, the others do not.
/// side = "outside": the surface is closed and solid; "inside": it is closed and holds the bodies. Part t,
/// for a point x whose foot on triangle t is at distance d:
///   x is in front of it there:  +d if the foot is a local minimum (see TriangleSurface), the normal points
///                               from the foot to x
///   x is behind it:             -d, the normal points from x to the foot, if no triangle is nearer;
///                               otherwise part t does not answer
/// So x in the solid gets the way out through the nearest triangle, at any depth, and from no other part.
///
/// Convex bodies: their corners, by the same rule (see Shape::touch).
///
/// Cost: O(1) per point in front, O(log triangles) behind.
class Mesh final : public Shape<3> {
 public:
  void describe(Section& section) override {
    section.text(
        "file", file_,
        {.required = true,
         .doc = "STL (text or binary) or OBJ file; looked for in the current folder, then beside the "
                "deck"});
    section.real("scale", scale_,
                 {.unit = Unit::length,
                  .range = positive,
                  .required = true,
                  .doc = "length of one unit of the file: \"1 mm\" for a drawing in millimetres"});
    section.choice(
        "side", side_, {{"both", Side::both}, {"outside", Side::outside}, {"inside", Side::inside}},
        {.doc = "where bodies may be: on both sides of a thin surface, outside of a closed solid, or "
                "inside of a closed container"});
    section.real("flat_angle", flat_angle_,
                 {.unit = Unit::angle,
                  .range = {.min = 0, .max = 0.5},
                  .doc = "triangles that meet flatter than this are one surface, which touches a body once"});
    if (section.reading()) read(section);
    describe_checksum(section, "file", file_);
  }

  int n_parts() const override { return surface_.size(); }
  Box<3> bounds(int part, const Box<3>&) const override { return surface_.bounds(part); }
  bool is_thin() const override { return side_ == Side::both; }
  std::span<const int> neighbours(int part) const override { return surface_.neighbours(part); }
  std::vector<std::array<Vec<3>, 2>> undetected_edges() const override {
    return surface_.sharp_edges(is_thin());
  }

  void nearest(int part, std::span<const Vec<3>> at, std::span<const Vec<3>> from,
               std::span<SurfacePoint<3>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const TriangleFoot foot = surface_.foot(part, at[i]);
      result[i] = is_thin() ? of_thin(part, at[i], from[i], foot) : of_solid(part, at[i], foot);
    }
  }

  void nearest_within(int part, std::span<const Vec<3>> at, std::span<const Vec<3>> from,
                      std::span<const Real> reach, std::span<SurfacePoint<3>> result,
                      std::span<Real> clearance) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const TriangleSurface::Sides sides = surface_.sides(part, at[i]);
      const Real at_least = surface_.at_least(part, sides);
      if (at_least > reach[i] && may_be_skipped(part, at[i], from[i], at_least)) {
        result[i] = SurfacePoint<3>::none();
        clearance[i] = at_least - reach[i];
        continue;
      }
      const TriangleFoot foot = surface_.foot(part, at[i], sides);
      result[i] = is_thin() ? of_thin(part, at[i], from[i], foot) : of_solid(part, at[i], foot);
      clearance[i] = 0;
    }
  }

  void distances(int part, std::span<const Vec<3>> at, std::span<SurfacePoint<3>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const TriangleFoot foot = surface_.foot(part, at[i]);
      const Real sign = leads_out(part, at[i], foot) ? -1 : 1;
      result[i] = {sign * away(part, foot), sign * foot.distance};
    }
  }

  void find_near(std::span<const Vec<3>> at, std::span<const Real> reach, const Box<3>&,
                 NearParts<3>& near) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      surface_.tree().for_each_within(at[i], reach[i], [&](int part) {
        const TriangleSurface::Sides sides = surface_.sides(part, at[i]);
        if (surface_.at_least(part, sides) < reach[i] &&
            surface_.foot(part, at[i], sides).distance < reach[i])
          near.found.push_back({part, static_cast<int>(i)});
        return true;
      });
      if (const int out = face_to_leave_by(at[i], reach[i]); out >= 0)
        near.found.push_back({out, static_cast<int>(i)});
    }
  }

  SurfacePoint<3> closest(const Vec<3>& at) const override {
    TriangleFoot foot;
    const int part = surface_.nearest(at, foot);
    const Real sign = !is_thin() && is_behind(part, foot) ? -1 : 1;
    return {sign * away(part, foot), sign * foot.distance};
  }

  Real travel(const Pose<3>& moved, const Box<3>& region) const override {
    return surface_.tree().largest(
        region, [&](int part) { return surface_.bounds(part); },
        [&](const Box<3>& box) { return farthest_displacement(moved, box); });
  }

  Outline<3> outline(const Box<3>&) const override {
    return {surface_.mesh().vertices, {}, surface_.mesh().triangles};
  }

 private:
  enum class Side { both, outside, inside };

  /// From the foot to the point; to the front if it is the foot.
  Vec<3> away(int part, const TriangleFoot& foot) const {
    return foot.away == Vec<3>{} ? direction(surface_.front_at(part, foot), surface_.normal(part)).unit
                                 : foot.away;
  }
  bool is_behind(int part, const TriangleFoot& foot) const {
    return dot(foot.away, surface_.front_at(part, foot)) < 0;
  }
  bool leads_out(int part, const Vec<3>& x, const TriangleFoot& foot) const {
    return !is_thin() && is_behind(part, foot) && surface_.is_nearest(part, x, foot);
  }
  /// The triangle through which x comes out of the solid if it is in it, deeper than `depth`; else -1.
  int face_to_leave_by(const Vec<3>& x, Real depth) const {
    if (side_ != Side::outside) return -1;
    const Box<3> box = surface_.bounds();
    for (int k = 0; k < 3; ++k)
      if (x[k] <= box.lower[k] || x[k] >= box.upper[k]) return -1;
    TriangleFoot foot;
    const int part = surface_.nearest(x, foot);
    return is_behind(part, foot) && foot.distance >= depth ? part : -1;
  }

  /// Whether a part that is at least so far away does not answer a sphere that does not reach it. It does if
  /// the path passed it, and if it leads out of the solid, at any depth.
  bool may_be_skipped(int part, const Vec<3>& at, const Vec<3>& from, Real at_least) const {
    if (!is_thin()) return surface_.is_in_front(part, at);
    const Vec<3> path = at - from;
    return dot(path, path) < at_least * at_least;
  }

  SurfacePoint<3> of_solid(int part, const Vec<3>& at, const TriangleFoot& foot) const {
    if (is_behind(part, foot))
      return surface_.is_nearest(part, at, foot) ? SurfacePoint<3>{-foot.away, -foot.distance}
                                                 : SurfacePoint<3>::none();
    return surface_.answers(part, at, foot) ? SurfacePoint<3>{away(part, foot), foot.distance}
                                            : SurfacePoint<3>::none();
  }

  SurfacePoint<3> of_thin(int part, const Vec<3>& at, const Vec<3>& from, const TriangleFoot& foot) const {
    const bool passed = surface_.passes(part, from, at);
    if (!passed && !surface_.answers(part, at, foot)) return SurfacePoint<3>::none();
    const int first = surface_.first_passed(part, from, at);
    const Vec<3> side = surface_.height(part, from) < 0 ? -surface_.normal(part) : surface_.normal(part);
    if (first < 0) return {foot.away == Vec<3>{} ? side : foot.away, foot.distance};
    if (first != part) return SurfacePoint<3>::none();
    const TriangleFoot beyond = surface_.foot_beyond(part, at);
    return {beyond.away == Vec<3>{} ? side : -beyond.away, -beyond.distance};
  }

  void read(Section& section) {
    const std::string path = path_of_input(file_, section.where("file"));
    if (const std::string why = obstacle_to_read(path); !why.empty())
      section.fail("file", fmt::format("'{}' is not there or cannot be opened: {}", file_, why));
    const std::string bytes = read_input(path);
    TriangleMesh mesh = parse_mesh(path, bytes, scale_);
    const MeshRepairs repairs = mend(mesh, side_ != Side::both ? Orient::all : Orient::nothing);
    const auto warn = [&](const std::string& what) { log::warn("{}: {}", section.where("file"), what); };
    if (mesh.n_bytes_beyond > 0)
      warn(fmt::format("'{}' has {} bytes more than its triangles, which are passed over", file_,
                       mesh.n_bytes_beyond));
    for (const std::string& line : repairs.lines(file_)) warn(line);
    Real front = 1;
    if (side_ != Side::both) {
      require_closed(section, mesh, repairs);
      front = repairs.is_outward == (side_ == Side::outside) ? 1 : -1;
    }
    if (mesh.triangles.empty()) section.fail("file", fmt::format("'{}' has no triangle with an area", file_));
    surface_ = TriangleSurface(std::move(mesh), flat_angle_, front);
  }

  void require_closed(const Section& section, const TriangleMesh& mesh, const MeshRepairs& repairs) const {
    const MeshDefects defects = defects_of(mesh);
    std::string places;
    for (const auto& [middle, triangle] : defects.first)
      places += fmt::format("{}({:.6g}, {:.6g}, {:.6g}) m (triangle {})", places.empty() ? "" : " and ",
                            middle[0], middle[1], middle[2], triangle);
    const std::string_view word = side_ == Side::outside ? "outside" : "inside";
    if (!defects.is_closed())
      section.fail("side",
                   fmt::format("\"{}\" needs a closed surface, but {} edges of '{}' have one triangle and {} "
                               "more than two, the first at {}; close it, or use side = \"both\"",
                               word, defects.n_open_edges, file_, defects.n_crowded_edges, places));
    if (repairs.one_sided >= 0)
      section.fail("side",
                   fmt::format("\"{}\" needs a surface with two sides, but '{}' has one, as a Moebius "
                               "strip: its triangles cannot all face the same way, the first at {}",
                               word, file_, places));
  }

  std::string file_;
  Real scale_ = 1;
  Side side_ = Side::both;
  Real flat_angle_ = 0.017453292519943295;  // 1 degree
  TriangleSurface surface_;
};

}  // namespace

SCREE_PLUGIN_ONLY(Shape, 3, mesh, Mesh, "triangles from an STL or OBJ file: thin, solid or container")

}  // namespace scree
