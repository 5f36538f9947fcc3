#include "geometry/box.hpp"

#include <optional>

#include "geometry/direction.hpp"
#include "geometry/edge.hpp"
#include "geometry/facets.hpp"
#include "geometry/shapes/side.hpp"
#include "geometry/touch.hpp"

namespace scree {

namespace {

/// An axis-aligned box. side = "outside": one solid part. With q_k the amount by which x is beyond the box
/// along axis k (negative within), exact everywhere:
///   distance = sqrt(sum of max(q_k, 0)^2) outside of it, max of q_k within.
/// side = "inside": a container with one part per face, lower and upper for each axis. Each part is the
/// endless plane through its face, so the free space is where all distances are positive, and each is exact
/// there. Bodies touch the solid box as its convex core, without rounding.
template <int D>
class BoxShape final : public Shape<D> {
 public:
  void describe(Section& section) override {
    section.point<D>("lower", box_.lower, {.unit = Unit::length, .required = true, .doc = "lowest corner"});
    section.point<D>("upper", box_.upper, {.unit = Unit::length, .required = true, .doc = "highest corner"});
    inside_ = bodies_inside(section);
    if (!section.reading()) return;
    for (int k = 0; k < D; ++k)
      if (!(box_.lower[k] < box_.upper[k]))
        section.fail("upper", std::string("must be above lower along ") + "xyz"[k]);
    const Vec<D> half = 0.5 * (box_.upper - box_.lower);
    solid_pose_ = {box_.lower + half, {}, norm(half)};
    std::vector<Vec<D>> corners;
    for (unsigned c = 0; c < Box<D>::n_corners; ++c) {
      Vec<D> corner = 1 / solid_pose_.size * half;
      for (int k = 0; k < D; ++k)
        if ((c >> k & 1U) == 0) corner[k] = -corner[k];
      corners.push_back(corner);
    }
    for (int k = 0; k < D; ++k) solid_pose_.axes[k] = unit_vector<D>(k);
    solid_.emplace(hull_of<D>(corners));
  }

  int n_parts() const override { return inside_ ? 2 * D : 1; }
  bool has_far_side() const override { return !inside_; }

  Box<D> bounds(int part, const Box<D>&) const override {
    Box<D> box = box_;
    if (inside_) (is_upper(part) ? box.lower : box.upper)[axis_of(part)] = face(part);
    return box;
  }

  void nearest(int part, std::span<const Vec<D>> at, std::span<const Vec<D>>,
               std::span<SurfacePoint<D>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (inside_) {
        const Real inward = is_upper(part) ? -1 : 1;
        result[i] = {unit_vector<D>(axis_of(part), inward), inward * (at[i][axis_of(part)] - face(part))};
      } else {
        result[i] = from_solid(at[i]);
      }
    }
  }

  void touch(int part, const ConvexCore<D>& core, const BodyPose<D>& pose, Real rounding, const Vec<D>& from,
             Real reach, Real width, WallContacts<D>& found) const override {
    const TouchQuery<D> query{{core, pose}, rounding, reach, width};
    if (query.is_sphere())
      Shape<D>::touch(part, core, pose, rounding, from, reach, width, found);
    else if (inside_)
      touch_plane(query, is_upper(part) ? box_.upper : box_.lower,
                  unit_vector<D>(axis_of(part), is_upper(part) ? -1 : 1), found);
    else
      touch_core(query, {*solid_, solid_pose_}, 0, found);
  }

  std::vector<SurfacePiece<D>> pieces(int part) const override {
    if (inside_) {
      const Vec<D> corner = is_upper(part) ? box_.upper : box_.lower;
      return {{.kind = SurfacePiece<D>::Kind::plane,
               .point = corner,
               .normal = unit_vector<D>(axis_of(part), is_upper(part) ? -1 : 1)}};
    }
    std::vector<SurfacePiece<D>> pieces;
    if constexpr (D == 2) {
      for (const auto& side : {std::array{0U, 1U}, {1U, 3U}, {3U, 2U}, {2U, 0U}})
        for (const SurfacePiece<2>& piece : pieces_of(Edge(box_.corner(side[0]), box_.corner(side[1]))))
          pieces.push_back(piece);
    }
    return pieces;
  }

  Outline<D> outline(const Box<D>&) const override {
    Outline<D> outline;
    for (unsigned c = 0; c < Box<D>::n_corners; ++c) outline.points.push_back(box_.corner(c));
    if constexpr (D == 2) {
      outline.lines = {{0, 1}, {1, 3}, {3, 2}, {2, 0}};
    } else {
      for (int axis = 0; axis < 3; ++axis) {
        const int u = 1 << (axis + 1) % 3;
        const int v = 1 << (axis + 2) % 3;
        for (const int first : {0, 1 << axis}) {
          outline.triangles.push_back({first, first + u, first + u + v});
          outline.triangles.push_back({first, first + u + v, first + v});
        }
      }
    }
    return outline;
  }

 private:
  static int axis_of(int part) { return part / 2; }
  static bool is_upper(int part) { return part % 2 == 1; }
  Real face(int part) const { return (is_upper(part) ? box_.upper : box_.lower)[axis_of(part)]; }

  SurfacePoint<D> from_solid(const Vec<D>& x) const {
    Vec<D> beyond;  // of x, outside of the box
    SurfacePoint<D> face{{}, -HUGE_VAL};
    for (int k = 0; k < D; ++k) {
      const Real below = box_.lower[k] - x[k];
      const Real above = x[k] - box_.upper[k];
      const Real q = std::max(below, above);
      const Real outward = above > below ? 1 : -1;
      beyond[k] = outward * std::max(q, 0.0);
      if (q > face.distance) face = {unit_vector<D>(k, outward), q};
    }
    if (face.distance <= 0) return face;
    const auto [normal, distance] = direction(beyond, face.normal);
    return {normal, distance};
  }

  Box<D> box_{};
  std::optional<ConvexCore<D>> solid_;
  BodyPose<D> solid_pose_;
  bool inside_ = false;
};

}  // namespace

SCREE_PLUGIN(Shape, box, BoxShape, "solid box, or box that holds bodies")

}  // namespace scree
