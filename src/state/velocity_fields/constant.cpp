#include <algorithm>

#include "state/velocity_field.hpp"

namespace scree {
namespace {

/// f = velocity, everywhere and at all times.
template <int D>
class ConstantVelocity final : public VelocityField<D> {
 public:
  void describe(Section& section) override {
    section.point("velocity", velocity_,
                  {.unit = Unit::speed, .required = true, .doc = "velocity of every body without contact"});
  }
  void evaluate(Real, std::span<const Vec<D>>, std::span<Vec<D>> velocity) const override {
    std::ranges::fill(velocity, velocity_);
  }

 private:
  Vec<D> velocity_{};
};

}  // namespace

SCREE_PLUGIN(VelocityField, constant, ConstantVelocity, "the same velocity for every body")

}  // namespace scree
