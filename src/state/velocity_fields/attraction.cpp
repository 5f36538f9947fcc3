#include "state/velocity_field.hpp"

namespace scree {
namespace {

/// f = -rate (x - point): the gradient flow of rate |x - point|^2 / 2. Alone, a body approaches as exp(-rate
/// t).
template <int D>
class Attraction final : public VelocityField<D> {
 public:
  void describe(Section& section) override {
    section.point("point", point_, {.unit = Unit::length, .doc = "where bodies are drawn to"});
    section.real("rate", rate_,
                 {.unit = Unit::rate,
                  .range = non_negative,
                  .required = true,
                  .doc = "speed per distance from the point"});
  }
  void evaluate(Real, std::span<const Vec<D>> position, std::span<Vec<D>> velocity) const override {
    for (std::size_t i = 0; i < position.size(); ++i) velocity[i] = rate_ * (point_ - position[i]);
  }

 private:
  Vec<D> point_{};
  Real rate_ = 0;
};

}  // namespace

SCREE_PLUGIN(VelocityField, attraction, Attraction,
             "towards a point, at a speed proportional to the distance")

}  // namespace scree
