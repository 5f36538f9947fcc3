#include "geometry/facets.hpp"
#include "geometry/round.hpp"
#include "geometry/shapes/side.hpp"
#include "geometry/surface_travel.hpp"
#include "geometry/thin_shell.hpp"
#include "geometry/touch.hpp"

namespace scree {

namespace {

/// A circular cylinder of radius R and length L with axis a -> b. With r the distance of a point from the
/// axis and z its coordinate along it (z = 0 at a):
///
/// side = "outside": solid with flat ends. With p = r - R and q = |z - L/2| - L/2, exact everywhere:
///   distance = sqrt(p^2 + q^2) next to the rims (p, q > 0), otherwise max(p, q).
///
/// side = "inside": a tube that holds bodies, open at both ends.
///   0 <= z <= L: distance = R - r.  Beyond an end: distance from the rim, positive, so bodies may leave and
///   come back round the rim. The wall has no outer face: a body that is beside the tube (r > R) is pulled
///   in.
/// caps = true: parts 1 and 2 close the tube at a and b: distance = z and L - z, and part 0 is R - r for
/// every z. The
///   free space is where all three are positive; each is exact there.
///
/// endless = true: the cylinder goes on beyond a and b, as a drum does that is periodic along its axis:
///   distance = r - R or R - r for every z, exact everywhere.
///
/// On the axis the normal is a fixed direction across it.
///
/// Convex bodies: the solid and the open tube by touch_curved(); the open tube is a pipe that they touch from
/// outside, too, as they may be wider than its mouth (see ThinShell).
class Cylinder final : public Shape<3> {
 public:
  void describe(Section& section) override {
    section.point<3>("a", a_, {.unit = Unit::length, .required = true, .doc = "centre of one end"});
    section.point<3>("b", b_, {.unit = Unit::length, .required = true, .doc = "centre of the other end"});
    section.real("radius", radius_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "radius"});
    inside_ = bodies_inside(section);
    section.boolean(
        "caps", caps_,
        {.doc = "whether flat ends close a cylinder with side = \"inside\"; a solid one always has them"});
    section.boolean("endless", endless_,
                    {.doc = "whether it is infinite; a and b are then two points of its axis"});
    if (!section.reading()) return;
    length_ = norm(b_ - a_);
    if (!(length_ > 0)) section.fail("b", "is the same point as a: the cylinder has no length");
    if (caps_ && !inside_)
      section.fail("caps", "is for side = \"inside\": a solid cylinder always has its ends");
    if (caps_ && endless_) section.fail("caps", "an endless cylinder has no ends to close");
    axis_ = (b_ - a_) * (1 / length_);
    across_ = perpendicular(axis_);
    if (inside_ && !caps_ && !endless_)
      tube_ = make_thin_shell(a_, axis_, Edge({{radius_, 0}}, {{radius_, length_}}));
  }

  int n_parts() const override { return caps_ ? 3 : 1; }
  bool has_far_side() const override { return !inside_; }

  Box<3> bounds(int part, const Box<3>& domain) const override {
    Box<3> box = Box<3>::empty();
    const auto [first, last] = ends(domain);
    if (part != cap_b) include_disk(box, first, axis_, radius_);
    if (part != cap_a) include_disk(box, last, axis_, radius_);
    return box;
  }

  void nearest(int part, std::span<const Vec<3>> at, std::span<const Vec<3>>,
               std::span<SurfacePoint<3>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Real z = dot(axis_, at[i] - a_);
      if (part == cap_a)
        result[i] = {axis_, z};
      else if (part == cap_b)
        result[i] = {-axis_, length_ - z};
      else {
        const Direction<3> radial = direction_across(at[i] - a_, axis_, across_);
        if (endless_)
          result[i] = inside_ ? SurfacePoint<3>{-radial.unit, radius_ - radial.length}
                              : SurfacePoint<3>{radial.unit, radial.length - radius_};
        else
          result[i] = inside_ ? from_tube(radial, z) : from_solid(radial, z);
      }
    }
  }

  void touch(int part, const ConvexCore<3>& core, const BodyPose<3>& pose, Real rounding, const Vec<3>& from,
             Real reach, Real width, WallContacts<3>& found) const override {
    const TouchQuery<3> query{{core, pose}, rounding, reach, width};
    if (query.is_sphere() || (inside_ && part == 0 && !tube_)) {
      Shape::touch(part, core, pose, rounding, from, reach, width, found);
    } else if (part == cap_a) {
      touch_plane(query, a_, axis_, found);
    } else if (part == cap_b) {
      touch_plane(query, b_, -axis_, found);
    } else if (tube_) {
      tube_->touch(part, core, pose, rounding, from, reach, width, found);
    } else {
      const std::array<WallRim, 2> rims{
          {{a_, axis_, across_, radius_, {}}, {b_, axis_, across_, radius_, {}}}};
      touch_curved(*this, part, query, from, std::span(rims).first(endless_ ? 0 : 2), found);
    }
  }

  Real travel(const Pose<3>& moved, const Box<3>& region) const override {
    const Box<3> box = bounds(0, region);
    return std::min(farthest_displacement(moved, box),
                    farthest_displacement(without_spin(moved, a_, axis_, endless_), box));
  }

  Outline<3> outline(const Box<3>& domain) const override {
    constexpr int n = 64;
    Outline<3> outline;
    const Vec<3> u = radius_ * across_;
    const Vec<3> v = radius_ * cross(axis_, across_);
    const auto [first, last] = ends(domain);
    const int ring_a = add_circle(outline, first, u, v, n);
    const int ring_b = add_circle(outline, last, u, v, n);
    add_band(outline, ring_a, ring_b, n);
    if (caps_ || (!inside_ && !endless_)) {
      add_fan(outline, a_, ring_a, n);
      add_fan(outline, b_, ring_b, n);
    }
    return outline;
  }

 private:
  static constexpr int cap_a = 1;
  static constexpr int cap_b = 2;

  /// a and b, or for an endless cylinder where its axis enters and leaves the slab around `domain`.
  std::pair<Vec<3>, Vec<3>> ends(const Box<3>& domain) const {
    if (!endless_) return {a_, b_};
    Real first = HUGE_VAL;
    Real last = -HUGE_VAL;
    for (unsigned c = 0; c < Box<3>::n_corners; ++c) {
      const Real z = dot(axis_, domain.corner(c) - a_);
      first = std::min(first, z);
      last = std::max(last, z);
    }
    return {a_ + first * axis_, a_ + last * axis_};
  }

  SurfacePoint<3> from_solid(const Direction<3>& radial, Real z) const {
    const Vec<3> outward = z >= length_ / 2 ? axis_ : -axis_;
    const Real p = radial.length - radius_;
    const Real q = std::abs(z - length_ / 2) - length_ / 2;
    if (p > 0 && q > 0) {
      const auto [normal, distance] = direction(p * radial.unit + q * outward, radial.unit);
      return {normal, distance};
    }
    return p > q ? SurfacePoint<3>{radial.unit, p} : SurfacePoint<3>{outward, q};
  }

  SurfacePoint<3> from_tube(const Direction<3>& radial, Real z) const {
    const Real beyond = z < 0 ? z : z > length_ ? z - length_ : 0;
    if (caps_ || beyond == 0) return {-radial.unit, radius_ - radial.length};
    const auto [normal, distance] =
        direction((radial.length - radius_) * radial.unit + beyond * axis_, -radial.unit);
    return {normal, distance};
  }

  Vec<3> a_{};
  Vec<3> b_{};
  Real radius_ = 1;
  bool inside_ = false;
  bool caps_ = false;
  bool endless_ = false;
  Real length_ = 0;
  Vec<3> axis_{};
  Vec<3> across_{};
  std::unique_ptr<Shape<3>> tube_;  // open: what bodies with edges touch
};

}  // namespace

SCREE_PLUGIN_ONLY(Shape, 3, cylinder, Cylinder, "solid cylinder, or tube that holds bodies")

}  // namespace scree
