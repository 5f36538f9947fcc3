#include <algorithm>
#include <cmath>

#include "schemes/event/impact_law.hpp"

namespace scree {
namespace {

/// One contact at a time, the fastest closing first. Up to the yield speed v_y a contact rebounds with the
/// restitution e of its pair. Above it the surfaces yield, and with the approach speed v it is
/// e (v_y / v)^(1/4): K. L. Johnson, Contact Mechanics, 1985, section 11.5.
template <int D>
class YieldingImpacts final : public ImpactLaw<D> {
 public:
  void describe(Section& section) override {
    ImpactLaw<D>::describe(section);
    section.real("yield_speed", yield_speed_,
                 {.unit = Unit::speed,
                  .range = non_negative,
                  .doc = "Approach speed above which restitution falls; 0: it never does"});
  }

 protected:
  void step(const ImpactProblem<D>& problem, std::span<Vec<D>> velocity, std::span<Real> impulse) override {
    const auto speed = [&](std::size_t i) {
      return this->approach_[i] / norm(problem.constraints[i].normal);
    };
    const std::size_t fastest = *std::ranges::max_element(this->active_, {}, speed);
    const Real e = this->restitution(problem, fastest) * remaining_share(speed(fastest));
    const Real p = (1 + e) * this->approach_[fastest] * this->effective_mass_[fastest];
    apply_impulse<D>(problem, fastest, p, velocity);
    impulse[fastest] += p;
  }

 private:
  Real remaining_share(Real speed) const {
    const bool yields = yield_speed_ > 0 && speed > yield_speed_;
    return yields ? std::pow(yield_speed_ / speed, 0.25) : 1;
  }

  Real yield_speed_ = 0;  // [m/s]
};

}  // namespace

SCREE_PLUGIN(ImpactLaw, yielding, YieldingImpacts, "one contact at a time, restitution falls with speed")

}  // namespace scree
