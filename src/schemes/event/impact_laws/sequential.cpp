#include <algorithm>

#include "schemes/event/impact_law.hpp"

namespace scree {
namespace {

/// One constraint after the other: the one approached fastest, the first of these, takes
///     v <- v - (1 + e) M^-1 J^T (J v) / (J M^-1 J^T)
template <int D>
class SequentialImpacts final : public ImpactLaw<D> {
 protected:
  void step(const ImpactProblem<D>& problem, std::span<Vec<D>> velocity, std::span<Real> impulse) override {
    const auto speed = [&](std::size_t i) {
      return this->approach_[i] / norm(problem.constraints[i].normal);
    };
    const std::size_t worst = *std::ranges::max_element(this->active_, {}, speed);
    const Real p =
        (1 + this->restitution(problem, worst)) * this->approach_[worst] * this->effective_mass_[worst];
    apply_impulse<D>(problem, worst, p, velocity);
    impulse[worst] += p;
  }
};

}  // namespace

SCREE_PLUGIN(ImpactLaw, sequential, SequentialImpacts, "one contact at a time, the fastest closing first")

}  // namespace scree
