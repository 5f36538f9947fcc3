#include "geometry/facets.hpp"
#include "geometry/shapes/plane_cut.hpp"
#include "geometry/surface_travel.hpp"
#include "geometry/touch.hpp"

namespace scree {

namespace {

/// All points x with n . (x - p) = 0; solid where this is negative. distance = n . (x - p), exact everywhere.
template <int D>
class PlaneShape final : public Shape<D> {
 public:
  PlaneShape() = default;
  PlaneShape(const Vec<D>& point, const Vec<D>& normal) : point_(point), normal_(normal) {}
  void describe(Section& section) override {
    section.point<D>("point", point_,
                     {.unit = Unit::length, .required = true, .doc = "a point of the plane"});
    section.point<D>("normal", normal_,
                     {.required = true, .doc = "direction from the plane to the bodies, of any length"});
    if (!section.reading()) return;
    const Real length = norm(normal_);
    if (!(length > 0)) section.fail("normal", "has no direction: its length must not be 0");
    normal_ *= 1 / length;
  }

  bool has_far_side() const override { return false; }

  Box<D> bounds(int, const Box<D>& domain) const override {
    Box<D> box = Box<D>::empty();
    for (const Vec<D>& x : cut_plane(point_, normal_, domain)) box.include(x);
    return box;
  }

  void nearest(int, std::span<const Vec<D>> at, std::span<const Vec<D>>,
               std::span<SurfacePoint<D>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) result[i] = {normal_, dot(normal_, at[i] - point_)};
  }

  void touch(int, const ConvexCore<D>& core, const BodyPose<D>& pose, Real rounding, const Vec<D>&,
             Real reach, Real width, WallContacts<D>& found) const override {
    touch_plane<D>({{core, pose}, rounding, reach, width}, point_, normal_, found);
  }

  Real travel(const Pose<D>& moved, const Box<D>& region) const override {
    return displacement_of_plane(moved, point_, normal_, bounds(0, region));
  }

  std::vector<SurfacePiece<D>> pieces(int) const override {
    return {{.kind = SurfacePiece<D>::Kind::plane, .point = point_, .normal = normal_}};
  }

  Outline<D> outline(const Box<D>& domain) const override {
    if constexpr (D == 3) return fan_of(cut_plane_in_order(point_, normal_, domain));
    Outline<D> outline;
    outline.points = cut_plane(point_, normal_, domain);
    if (outline.points.size() == 2) outline.lines.push_back({0, 1});
    return outline;
  }

 private:
  Vec<D> point_{};
  Vec<D> normal_{};
};

}  // namespace

template <int D>
std::unique_ptr<Shape<D>> make_plane(const Vec<D>& point, const Vec<D>& normal) {
  return std::make_unique<PlaneShape<D>>(point, normal);
}
template std::unique_ptr<Shape<2>> make_plane<2>(const Vec<2>&, const Vec<2>&);
template std::unique_ptr<Shape<3>> make_plane<3>(const Vec<3>&, const Vec<3>&);

SCREE_PLUGIN(Shape, plane, PlaneShape, "infinite half-space: solid behind a line (2D) or plane (3D)")

}  // namespace scree
