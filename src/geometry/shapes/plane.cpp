#include <algorithm>

#include "geometry/direction.hpp"
#include "geometry/facets.hpp"

namespace scree {

namespace {

/// All points x with n . (x - p) = 0; solid where this is negative. distance = n . (x - p), exact everywhere.
template <int D>
class Plane final : public Shape<D> {
 public:
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

  Box<D> bounds(int, const Box<D>& domain) const override {
    Box<D> box = Box<D>::empty();
    for (const Vec<D>& x : cut(domain)) box.include(x);
    return box;
  }

  void nearest(int, std::span<const Vec<D>> at, std::span<const Vec<D>>,
               std::span<SurfacePoint<D>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) result[i] = {normal_, height(at[i])};
  }

  Outline<D> outline(const Box<D>& domain) const override {
    Outline<D> outline;
    outline.points = cut(domain);
    const int n = static_cast<int>(outline.points.size());
    if constexpr (D == 2) {
      if (n == 2) outline.lines.push_back({0, 1});
    } else {
      Vec<3> center{};
      for (const Vec<3>& x : outline.points) center += x * (1.0 / n);
      const Vec<3> u = perpendicular(normal_);
      const Vec<3> v = cross(normal_, u);
      const auto angle = [&](const Vec<3>& x) { return std::atan2(dot(v, x - center), dot(u, x - center)); };
      std::sort(outline.points.begin(), outline.points.end(),
                [&](const Vec<3>& a, const Vec<3>& b) { return angle(a) < angle(b); });
      for (int i = 2; i < n; ++i) outline.triangles.push_back({0, i - 1, i});
    }
    return outline;
  }

 private:
  Real height(const Vec<D>& x) const { return dot(normal_, x - point_); }

  /// The corners of the plane's part within `box`: where it meets the box's edges; none if it misses the box.
  std::vector<Vec<D>> cut(const Box<D>& box) const {
    std::vector<Vec<D>> corners;
    for (unsigned c = 0; c < Box<D>::n_corners; ++c) {
      const Vec<D> start = box.corner(c);
      const Real start_height = height(start);
      if (start_height == 0) corners.push_back(start);
      for (int axis = 0; axis < D; ++axis) {
        if ((c >> axis & 1U) != 0) continue;  // each edge once, from its lower end
        const Vec<D> end = box.corner(c | 1U << axis);
        const Real end_height = height(end);
        if ((start_height < 0 && end_height > 0) || (start_height > 0 && end_height < 0))
          corners.push_back(start + (end - start) * (start_height / (start_height - end_height)));
      }
    }
    return corners;
  }

  Vec<D> point_{};
  Vec<D> normal_{};
};

}  // namespace

SCREE_PLUGIN(Shape, plane, Plane, "half-space: solid behind a line (2D) or plane (3D), endless")

}  // namespace scree
