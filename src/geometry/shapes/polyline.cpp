#include "geometry/edge.hpp"

namespace scree {

namespace {

/// A chain of straight walls without thickness, one part per edge, touched from both sides. Bodies keep the
/// side they come from: see ThinWall. Exact.
class Polyline final : public ThinWall {
 public:
  void describe(Section& section) override {
    bool closed = false;
    section.boolean("closed", closed, {.doc = "whether an edge joins the last point to the first"});
    const std::vector<Vec<2>> corners =
        read_corners(section, "points", closed ? 3 : 2, closed, "corners of the wall, in order");
    if (!section.reading()) return;
    for (std::size_t i = 0; i + 1 < corners.size(); ++i) edges_.emplace_back(corners[i], corners[i + 1]);
    if (closed) edges_.emplace_back(corners.back(), corners.front());
    join();
  }
};

}  // namespace

SCREE_PLUGIN_ONLY(Shape, 2, polyline, Polyline, "thin wall along a chain of points, two-sided")

}  // namespace scree
