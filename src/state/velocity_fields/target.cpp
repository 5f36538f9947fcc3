#include <algorithm>

#include "state/velocity_field.hpp"

namespace scree {
namespace {

/// f = speed min(1, d / arrival) (point - x) / d with d = |point - x|; 0 at the point itself.
template <int D>
class Target final : public VelocityField<D> {
 public:
  void describe(Section& section) override {
    section.point("point", point_, {.unit = Unit::length, .required = true, .doc = "where bodies go"});
    section.real("speed", speed_,
                 {.unit = Unit::speed, .range = non_negative, .required = true, .doc = "speed on the way"});
    section.real("arrival", arrival_,
                 {.unit = Unit::length,
                  .range = non_negative,
                  .doc = "distance from the point within which the speed falls linearly to 0"});
  }
  void evaluate(Real, std::span<const Vec<D>> position, std::span<Vec<D>> velocity) const override {
    for (std::size_t i = 0; i < position.size(); ++i) {
      const Vec<D> displacement = point_ - position[i];
      const Real scale = std::max(norm(displacement), arrival_);
      velocity[i] = scale > 0 ? (speed_ / scale) * displacement : Vec<D>{};
    }
  }

 private:
  Vec<D> point_{};
  Real speed_ = 0;
  Real arrival_ = 0;
};

}  // namespace

SCREE_PLUGIN(VelocityField, target, Target, "straight to a point at constant speed")

}  // namespace scree
