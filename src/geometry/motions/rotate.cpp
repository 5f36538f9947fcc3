#include "geometry/motions/active_time.hpp"
#include "geometry/motions/turn.hpp"

namespace scree {

namespace {

/// Turn by the angle rate * s about a fixed point (2D, counter-clockwise) or axis (3D, right-handed), with s
/// the time moved since `start`.
template <int D>
class Rotate final : public Motion<D> {
 public:
  void describe(Section& section) override {
    turn_.describe(section, true);
    section.real("rate", rate_,
                 {.unit = Unit::angular_speed,
                  .required = true,
                  .doc = "angular velocity, positive counter-clockwise (about the axis, in 3D)"});
    active_.describe(section);
  }

  Pose<D> pose(Real time) const override { return turn_.pose(rate_ * active_.elapsed(time)); }

  Vec<D> velocity(const Vec<D>& x, Real time) const override {
    return active_.contains(time) ? turn_.velocity(x, rate_) : Vec<D>{};
  }

  Vec<D == 2 ? 1 : 3> spin(Real time) const override {
    return turn_.spin(active_.contains(time) ? rate_ : 0);
  }

 private:
  Turn<D> turn_;
  Real rate_ = 0;
  ActiveTime active_;
};

}  // namespace

SCREE_PLUGIN(Motion, rotate, Rotate, "turn at constant angular velocity")

}  // namespace scree
