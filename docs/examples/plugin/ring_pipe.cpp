#include <cmath>

#include "geometry/obstacle.hpp"

namespace scree {

/// The inside of a pipe that is bent to a ring around the z axis.
class RingPipe final : public Shape<3> {
 public:
  void describe(Section& section) override {
    section.real("ring", ring_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "radius of the ring"});
    section.real("pipe", pipe_,
                 {.unit = Unit::length, .range = positive, .required = true, .doc = "radius of the pipe"});
  }
  Box<3> bounds(int, const Box<3>&) const override {
    const Real r = ring_ + pipe_;
    return {{{-r, -r, -pipe_}}, {{r, r, pipe_}}, {}};
  }
  void nearest(int, std::span<const Vec<3>> at, std::span<const Vec<3>>,
               std::span<SurfacePoint<3>> result) const override {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Real r = std::hypot(at[i][0], at[i][1]), from_axis = std::hypot(r - ring_, at[i][2]);
      const Real out = from_axis > 0 ? (r - ring_) / from_axis : 1,
                 up = from_axis > 0 ? at[i][2] / from_axis : 0;
      const Real x = r > 0 ? at[i][0] / r : 1, y = r > 0 ? at[i][1] / r : 0;
      result[i] = {{{-out * x, -out * y, -up}}, pipe_ - from_axis};
    }
  }
  bool has_far_side() const override { return false; }
  Outline<3> outline(const Box<3>&) const override { return {}; }

 private:
  Real ring_ = 1, pipe_ = 1;
};

SCREE_PLUGIN_ONLY(Shape, 3, ring_pipe, RingPipe, "inside of a pipe that is bent to a ring")

}  // namespace scree
