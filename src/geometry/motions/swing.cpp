#include "geometry/motions/harmonic.hpp"
#include "geometry/motions/turn.hpp"

namespace scree {

namespace {

/// Turn by the angle A sin(2 pi f t + phase) about a fixed point (2D) or axis (3D): the deck gives the shape
/// at the middle of its path.
template <int D>
class Swing final : public Motion<D> {
 public:
  void describe(Section& section) override {
    turn_.describe(section, true);
    section.real("amplitude", amplitude_,
                 {.unit = Unit::angle, .required = true, .doc = "largest angle from the middle"});
    harmonic_.describe(section);
  }

  Pose<D> pose(Real time) const override { return turn_.pose(amplitude_ * harmonic_.value(time)); }

  Vec<D> velocity(const Vec<D>& x, Real time) const override {
    return turn_.velocity(x, amplitude_ * harmonic_.slope(time));
  }

  Vec<D == 2 ? 1 : 3> spin(Real time) const override {
    return turn_.spin(amplitude_ * harmonic_.slope(time));
  }

 private:
  Turn<D> turn_;
  Real amplitude_ = 0;
  Harmonic harmonic_;
};

}  // namespace

SCREE_PLUGIN(Motion, swing, Swing, "harmonic oscillation about an axis")

}  // namespace scree
