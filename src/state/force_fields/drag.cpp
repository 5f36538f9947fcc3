#include "state/force_field.hpp"

namespace scree {
namespace {

/// F = -c v, linear viscous drag of a medium at rest. In a deforming domain the medium flows with it, so
/// that a body and its images feel the same: v is against L (x - centre). It has no potential.
template <int D>
class Drag final : public ForceField<D> {
 public:
  void describe(Section& section) override {
    section.real("coefficient", coefficient_,
                 {.unit = Unit::mass_rate,
                  .range = non_negative,
                  .required = true,
                  .doc = "Force over velocity [N s/m = kg/s]"});
  }

  void add(const State<D>& state, Real, std::span<Vec<D>> force) const override {
    for (std::size_t i = 0; i < force.size(); ++i)
      if (this->acts_on(state.bodies, i)) force[i] -= coefficient_ * velocity_about_flow(state, i);
  }

  bool has_potential() const override { return false; }
  void add_potential(const State<D>&, std::span<Real>) const override {}

  /// 2 m / c: the step multiplies the velocity by 1 - dt c / m.
  Real longest_step(Real mass) const override { return 2 * mass / coefficient_; }

 private:
  Real coefficient_ = 0;
};

}  // namespace

SCREE_PLUGIN(ForceField, drag, Drag,
             "linear viscous drag of a medium at rest, or that flows with a deforming domain")

}  // namespace scree
