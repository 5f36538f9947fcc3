#include "geometry/edge.hpp"

namespace scree {

namespace {

/// A straight wall without thickness between two points, touched from both sides and at its ends (posts).
/// Bodies keep the side they come from, so they cannot tunnel: see ThinWall. Exact.
class Segment final : public ThinWall {
 public:
  void describe(Section& section) override {
    Vec<2> a;
    Vec<2> b;
    section.point<2>("a", a, {.unit = Unit::length, .required = true, .doc = "one end"});
    section.point<2>("b", b, {.unit = Unit::length, .required = true, .doc = "the other end"});
    if (!section.reading()) return;
    if (!(norm(b - a) > 0)) section.fail("b", "is the same point as a: the segment has no length");
    edges_.emplace_back(a, b);
    join();
  }
};

}  // namespace

SCREE_PLUGIN_ONLY(Shape, 2, segment, Segment, "thin straight wall between two points, two-sided")

}  // namespace scree
