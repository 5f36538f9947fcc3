#include "geometry/thin_shell.hpp"

namespace scree {

namespace {

/// The side of a truncated cone with axis a -> b, radius R_a at a and R_b at b, without thickness: a funnel
/// or, with equal radii, a pipe. Open at both ends; with one radius 0 it runs into its tip. See ThinShell.
class Cone final : public ThinShell {
 public:
  void describe(Section& section) override {
    Vec<3> a;
    Vec<3> b;
    Real radius_a = 1;
    Real radius_b = 1;
    section.point<3>("a", a, {.unit = Unit::length, .required = true, .doc = "centre of one end"});
    section.point<3>("b", b, {.unit = Unit::length, .required = true, .doc = "centre of the other end"});
    section.real("radius_a", radius_a,
                 {.unit = Unit::length, .range = non_negative, .required = true, .doc = "radius at a"});
    section.real("radius_b", radius_b,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .required = true,
                  .doc = "radius at b; 0 at one end closes it with a tip"});
    if (!section.reading()) return;
    const Real length = norm(b - a);
    if (!(length > 0)) section.fail("b", "is the same point as a: the cone has no height");
    if (radius_a == 0 && radius_b == 0) section.fail("radius_b", "is 0, and so is radius_a");
    set(a, (b - a) * (1 / length), Edge({{radius_a, 0}}, {{radius_b, length}}));
  }
};

}  // namespace

SCREE_PLUGIN_ONLY(Shape, 3, cone, Cone, "thin conical wall such as a funnel, two-sided, open at its ends")

}  // namespace scree
