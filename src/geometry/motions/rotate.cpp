#include "geometry/motions/active_time.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

namespace {

/// Turn by the angle rate * s about a fixed point (2D, counter-clockwise) or axis (3D, right-handed), with s
/// the time moved since `start`.
template <int D>
class Rotate final : public Motion<D> {
 public:
  void describe(Section& section) override {
    if constexpr (D == 2) {
      section.point<2>("center", center_,
                       {.unit = Unit::length, .required = true, .doc = "centre of the rotation"});
    } else {
      section.point<3>("point", center_,
                       {.unit = Unit::length, .required = true, .doc = "a point of the axis"});
      section.point<3>("axis", axis_, {.required = true, .doc = "direction of the axis, of any length"});
    }
    section.real("rate", rate_,
                 {.unit = Unit::angular_speed,
                  .required = true,
                  .doc = "angular velocity, positive counter-clockwise (about the axis, in 3D)"});
    active_.describe(section);
    if constexpr (D == 3) {
      if (!section.reading()) return;
      const Real length = norm(axis_);
      if (!(length > 0)) section.fail("axis", "has no direction: its length must not be 0");
      axis_ *= 1 / length;
    }
  }

  Pose<D> pose(Real time) const override {
    const Real angle = rate_ * active_.elapsed(time);
    Pose<D> pose;
    for (int column = 0; column < D; ++column) {
      const Vec<D> image = turned(unit_vector<D>(column), angle);
      for (int row = 0; row < D; ++row) pose.rotation[static_cast<std::size_t>(row)][column] = image[row];
    }
    pose.translation = center_ - pose.direction_to_world(center_);
    return pose;
  }

  Vec<D> velocity(const Vec<D>& x, Real time) const override {
    return active_.contains(time) ? rate_ * quarter_turn(x - center_) : Vec<D>{};
  }

  Real travel(Real from_time, Real to_time, const Box<D>& domain) const override {
    Real farthest = 0;  // the distance from the axis is convex, so largest at a corner
    for (unsigned c = 0; c < Box<D>::n_corners; ++c)
      farthest = std::max(farthest, norm(quarter_turn(domain.corner(c) - center_)));
    return farthest * std::abs(rate_ * (active_.elapsed(to_time) - active_.elapsed(from_time)));
  }

 private:
  /// The part of d across the axis, turned by a right angle.
  Vec<D> quarter_turn(const Vec<D>& d) const {
    if constexpr (D == 2)
      return {{-d[1], d[0]}};
    else
      return cross(axis_, d);
  }

  /// Rodrigues' formula; in 2D there is no part along the axis.
  Vec<D> turned(const Vec<D>& d, Real angle) const {
    Vec<D> along;
    if constexpr (D == 3) along = axis_ * dot(axis_, d);
    return along + std::cos(angle) * (d - along) + std::sin(angle) * quarter_turn(d);
  }

  Vec<D> center_{};
  Vec<D> axis_{};  // 3D, unit
  Real rate_ = 0;
  ActiveTime active_;
};

}  // namespace

SCREE_PLUGIN(Motion, rotate, Rotate, "turn at constant angular velocity")

}  // namespace scree
