#include <fmt/format.h>

#include "particles/shapes/made_shape.hpp"

namespace scree {
namespace {

/// A convex polygon in the plane.
class PolygonBody final : public MadeShape<2> {
 public:
  void describe(Section& section) override {
    std::vector<std::vector<Real>> points;
    section.points("points", points, 2,
                   {.unit = Unit::length,
                    .required = true,
                    .doc = "Corners, in any order; each must be one of the convex hull of all"});
    describe_rounding(section);
    if (!section.reading()) return;
    std::vector<Vec<2>> corners;
    for (const auto& point : points) corners.push_back({{point[0], point[1]}});
    const auto hull = with_place(section, [&] { return hull_of<2>(corners); });
    if (hull.vertices.size() < corners.size())
      section.fail("points", fmt::format("not convex: {} of its {} points are no corners of the hull",
                                         corners.size() - hull.vertices.size(), corners.size()));
    set(with_place(section, [&] { return hull_shape<2>(corners, rounding()); }));
  }
};

}  // namespace

SCREE_PLUGIN_ONLY(ShapeKind, 2, polygon, PolygonBody, "convex polygon with round corners")

}  // namespace scree
