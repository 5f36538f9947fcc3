#include "geometry/facets.hpp"
#include "geometry/shapes/plane_cut.hpp"
#include "geometry/surface_travel.hpp"
#include "geometry/thin_shell.hpp"

namespace scree {

namespace {

/// A plane wall without thickness, seen from both sides: all points with n . (x - p) = 0 at a distance of at
/// least `hole_radius` and at most `outer_radius` from p. The floor of a silo with an outlet, or the lid of
/// it. See ThinShell.
class Plate final : public ThinShell {
 public:
  void describe(Section& section) override {
    Vec<3> point;
    Vec<3> normal;
    Real hole_radius = 0;
    Real outer_radius = HUGE_VAL;
    section.point<3>("point", point,
                     {.unit = Unit::length,
                      .required = true,
                      .doc = "a point of the plane: the centre of the hole and of the outer circle"});
    section.point<3>("normal", normal,
                     {.required = true, .doc = "direction across the plate, of any length"});
    section.real("hole_radius", hole_radius,
                 {.unit = Unit::length, .range = non_negative, .doc = "radius of a round hole; 0: no hole"});
    section.real("outer_radius", outer_radius,
                 {.unit = Unit::length,
                  .range = positive,
                  .doc = "radius of the plate; without it the plate is infinite"});
    if (!section.reading()) return;
    const Real length = norm(normal);
    if (!(length > 0)) section.fail("normal", "has no direction: its length must not be 0");
    if (!(hole_radius < outer_radius)) section.fail("outer_radius", "must be above hole_radius");
    is_endless_ = !std::isfinite(outer_radius);
    constexpr Real far_out = 1e30;  // [m] beyond every body, and with a finite square
    Edge edge({{hole_radius, 0}}, {{is_endless_ ? far_out : outer_radius, 0}});
    edge.tangent = {{1, 0}};  // free of rounding, so that the normal of a level plate is
    edge.normal = {{0, 1}};
    set(point, normal * (1 / length), edge);
  }

  Box<3> bounds(int part, const Box<3>& domain) const override {
    if (!is_endless_) return ThinShell::bounds(part, domain);
    Box<3> box = Box<3>::empty();
    for (const Vec<3>& x : cut_plane(origin_, axis_, domain)) box.include(x);
    return box;
  }

  Real travel(const Pose<3>& moved, const Box<3>& region) const override {
    if (!is_endless_ || hole_radius() > 0) return ThinShell::travel(moved, region);
    return displacement_of_plane(moved, origin_, axis_, bounds(0, region));
  }

  Outline<3> outline(const Box<3>& domain) const override {
    if (!is_endless_) return ThinShell::outline(domain);
    const std::vector<Vec<3>> polygon = cut_plane_in_order(origin_, axis_, domain);
    return hole_radius() == 0 ? fan_of(polygon) : around_hole(polygon, domain);
  }

 private:
  Real hole_radius() const { return edge_.a[0]; }

  /// The polygon without the hole, drawn between rays from the centre of the hole: some all around, and one
  /// through each corner.
  Outline<3> around_hole(const std::vector<Vec<3>>& polygon, const Box<3>& domain) const {
    const Vec<3> across_too = cross(axis_, across_);
    std::vector<Real> angles;
    for (int i = 0; i < facets_around; ++i)
      angles.push_back(2 * std::numbers::pi * i / facets_around - std::numbers::pi);
    for (const Vec<3>& x : polygon)
      angles.push_back(std::atan2(dot(across_too, x - origin_), dot(across_, x - origin_)));
    std::sort(angles.begin(), angles.end());

    struct Ray {
      Vec<3> direction;
      Real from = 0;  // [m] of its part within the domain and outside of the hole
      Real to = 0;
    };
    std::vector<Ray> rays;
    for (const Real angle : angles) {
      Ray ray{std::cos(angle) * across_ + std::sin(angle) * across_too, hole_radius(), HUGE_VAL};
      for (int k = 0; k < 3; ++k) {
        const Real slope = ray.direction[k];
        if (std::abs(slope) < 1e-12) {  // along this pair of faces
          if (origin_[k] < domain.lower[k] || origin_[k] > domain.upper[k]) ray.to = 0;
          continue;
        }
        const Real to_lower = (domain.lower[k] - origin_[k]) / slope;
        const Real to_upper = (domain.upper[k] - origin_[k]) / slope;
        ray.from = std::max(ray.from, std::min(to_lower, to_upper));
        ray.to = std::min(ray.to, std::max(to_lower, to_upper));
      }
      rays.push_back(ray);
    }
    Outline<3> outline;
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const Ray& ray = rays[i];
      const Ray& next = rays[(i + 1) % rays.size()];
      if (!(ray.from < ray.to) || !(next.from < next.to)) continue;
      const int first = static_cast<int>(outline.points.size());
      for (const Ray& side : {ray, next})
        for (const Real r : {side.from, side.to}) outline.points.push_back(origin_ + r * side.direction);
      outline.triangles.push_back({first, first + 1, first + 3});
      outline.triangles.push_back({first, first + 3, first + 2});
    }
    return outline;
  }

  bool is_endless_ = false;
};

}  // namespace

SCREE_PLUGIN_ONLY(Shape, 3, plate, Plate, "thin plane wall, two-sided, which may have a round hole and rim")

}  // namespace scree
