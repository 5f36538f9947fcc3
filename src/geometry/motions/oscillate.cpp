#include "geometry/motions/harmonic.hpp"
#include "geometry/obstacle.hpp"

namespace scree {

namespace {

/// Displacement A sin(2 pi f t + phase): the deck gives the shape at the middle of its path.
template <int D>
class Oscillate final : public Motion<D> {
 public:
  void describe(Section& section) override {
    section.point<D>("amplitude", amplitude_,
                     {.unit = Unit::length, .required = true, .doc = "largest displacement, a vector"});
    harmonic_.describe(section);
  }

  Pose<D> pose(Real time) const override { return {.translation = amplitude_ * harmonic_.value(time)}; }

  Vec<D> velocity(const Vec<D>&, Real time) const override { return amplitude_ * harmonic_.slope(time); }

  Vec<D == 2 ? 1 : 3> spin(Real) const override { return {}; }

 private:
  Vec<D> amplitude_{};
  Harmonic harmonic_;
};

}  // namespace

SCREE_PLUGIN(Motion, oscillate, Oscillate, "harmonic oscillation along a line")

}  // namespace scree
