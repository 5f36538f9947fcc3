#include <algorithm>

#include "schemes/event/impact_law.hpp"

namespace scree {
namespace {

/// All approached constraints act at once (Fassino & Pasquero). With v_i the component of v along constraint
/// i, orthogonal in the inner product <x, y> = x . M y,
///     v_i = M^-1 J_i^T (J_i v) / (J_i M^-1 J_i^T),   s = sum of v_i over the approached constraints,
///     one approached:  v <- v - (1 + e) s
///     several:         v <- v - (1 + e) <v, s> / <s, s> s
/// The energy taken is (1 - e^2)/2 <v, s>^2 / <s, s>. Where coefficients differ, e is their mean, weighted
/// with <v_i, v_i>: what is published has one coefficient.
template <int D>
class MultipleImpacts final : public ImpactLaw<D> {
 protected:
  void step(const ImpactProblem<D>& problem, std::span<Vec<D>> velocity, std::span<Real> impulse) override {
    std::ranges::fill(this->sum_, Vec<D>{});  // -s
    Real weighted = 0;
    Real weights = 0;
    for (const std::size_t i : this->active_) {
      const Real p = this->approach_[i] * this->effective_mass_[i];
      apply_impulse<D>(problem, i, p, this->sum_);
      weighted += this->restitution(problem, i) * p * this->approach_[i];
      weights += p * this->approach_[i];
    }
    const bool alone = this->active_.size() == 1;
    const Real e = alone ? this->restitution(problem, this->active_[0]) : weighted / weights;
    const Real factor = (1 + e) * (alone ? 1 : share(problem, velocity));
    for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] += factor * this->sum_[i];
    for (const std::size_t i : this->active_)
      impulse[i] += factor * this->approach_[i] * this->effective_mass_[i];
  }

 private:
  /// <v, s> / <s, s>.
  Real share(const ImpactProblem<D>& problem, std::span<const Vec<D>> velocity) const {
    Real vs = 0;
    Real ss = 0;
    for (std::size_t i = 0; i < velocity.size(); ++i) {
      vs -= problem.mass[i] * dot(velocity[i], this->sum_[i]);
      ss += problem.mass[i] * dot(this->sum_[i], this->sum_[i]);
    }
    return vs / ss;
  }
};

}  // namespace

SCREE_PLUGIN(ImpactLaw, multiple, MultipleImpacts, "all closing contacts at once")

}  // namespace scree
