#include "geometry/direction.hpp"
#include "geometry/facets.hpp"
#include "geometry/shapes/side.hpp"
#include "geometry/touch.hpp"

namespace scree {

namespace {

/// A disk (2D) or sphere (3D) of radius R about c. side = "outside": solid, distance = |x - c| - R; "inside":
/// bodies are in it, distance = R - |x - c|. Exact; at the centre the normal is along the first axis.
template <int D>
class Sphere final : public Shape<D> {
 public:
  Sphere() = default;
  Sphere(const Vec<D>& center, Real radius, Real front) : center_(center), radius_(radius), front_(front) {}
  void describe(Section& section) override {
    section.point<D>("center", center_, {.unit = Unit::length, .required = true, .doc = "centre"});
    section.real("radius", radius_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "radius"});
    front_ = bodies_inside(section) ? -1 : 1;
  }

  bool has_far_side() const override { return front_ > 0; }

  Box<D> bounds(int, const Box<D>&) const override {
    return {center_ - filled<D>(radius_), center_ + filled<D>(radius_), {}};
  }

  void nearest(int, std::span<const Vec<D>> at, std::span<const Vec<D>>,
               std::span<SurfacePoint<D>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto [outward, r] = direction(at[i] - center_, unit_vector<D>(0));
      result[i] = {front_ * outward, front_ * (r - radius_)};
    }
  }

  void touch(int part, const ConvexCore<D>& core, const BodyPose<D>& pose, Real rounding, const Vec<D>& from,
             Real reach, Real width, WallContacts<D>& found) const override {
    if (front_ < 0 || core.vertices().size() == 1)
      return Shape<D>::touch(part, core, pose, rounding, from, reach, width, found);
    static const ConvexCore<D> point(ConvexHull<D>{{Vec<D>{}}, {}});
    touch_core<D>({{core, pose}, rounding, reach, width}, {point, {center_, {}, radius_}}, radius_, found);
  }

  Real travel(const Pose<D>& moved, const Box<D>&) const override {
    return norm(moved.to_world(center_) - center_);
  }

  std::vector<SurfacePiece<D>> pieces(int) const override {
    return {{.kind = SurfacePiece<D>::Kind::sphere, .point = center_, .radius = radius_, .front = front_}};
  }

  Outline<D> outline(const Box<D>&) const override {
    Outline<D> outline;
    if constexpr (D == 2) {
      constexpr int n = 96;
      add_ring(outline,
               add_circle(outline, center_, unit_vector<2>(0, radius_), unit_vector<2>(1, radius_), n), n);
    } else {
      constexpr int n = 48;        // points of a circle of latitude
      constexpr int n_bands = 24;  // from pole to pole
      int above = -1;
      for (int band = 1; band < n_bands; ++band) {
        const Real angle = std::numbers::pi * band / n_bands;
        const Real r = radius_ * std::sin(angle);
        const int ring = add_circle(outline, center_ + unit_vector<3>(2, radius_ * std::cos(angle)),
                                    unit_vector<3>(0, r), unit_vector<3>(1, r), n);
        if (band > 1) add_band(outline, above, ring, n);
        above = ring;
      }
      add_fan(outline, center_ + unit_vector<3>(2, radius_), 0, n);
      add_fan(outline, center_ - unit_vector<3>(2, radius_), above, n);
    }
    return outline;
  }

 private:
  Vec<D> center_{};
  Real radius_ = 1;
  Real front_ = 1;  // +1: bodies outside
};

}  // namespace

template <int D>
std::unique_ptr<Shape<D>> make_round_container(const Vec<D>& center, Real radius) {
  return std::make_unique<Sphere<D>>(center, radius, -1);
}
template std::unique_ptr<Shape<2>> make_round_container<2>(const Vec<2>&, Real);
template std::unique_ptr<Shape<3>> make_round_container<3>(const Vec<3>&, Real);

SCREE_PLUGIN_ONLY(Shape, 2, disk, Sphere<2>, "solid disk, or round container")
SCREE_PLUGIN_ONLY(Shape, 3, sphere, Sphere<3>, "solid sphere, or round container")

}  // namespace scree
