#include <numbers>

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
    section.real("frequency", frequency_,
                 {.unit = Unit::frequency, .range = positive, .required = true, .doc = "periods per time"});
    section.real("phase", phase_, {.unit = Unit::angle, .doc = "phase at time 0"});
  }

  Pose<D> pose(Real time) const override { return {.translation = amplitude_ * std::sin(phase(time))}; }

  Vec<D> velocity(const Vec<D>&, Real time) const override {
    return amplitude_ * (angular_frequency() * std::cos(phase(time)));
  }

  Real travel(Real from_time, Real to_time, const Box<D>&) const override {
    return norm(amplitude_) * std::abs(std::sin(phase(to_time)) - std::sin(phase(from_time)));
  }

 private:
  Real angular_frequency() const { return 2 * std::numbers::pi * frequency_; }
  Real phase(Real time) const { return angular_frequency() * time + phase_; }

  Vec<D> amplitude_{};
  Real frequency_ = 1;
  Real phase_ = 0;
};

}  // namespace

SCREE_PLUGIN(Motion, oscillate, Oscillate, "harmonic motion to and fro along a line")

}  // namespace scree
