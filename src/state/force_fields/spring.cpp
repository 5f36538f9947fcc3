#include <algorithm>

#include "state/force_field.hpp"

namespace scree {
namespace {

/// F_a = -k_a (x_a - x0_a) along each axis a; U = sum k_a (x_a - x0_a)^2 / 2.
template <int D>
class Spring final : public ForceField<D> {
 public:
  void describe(Section& section) override {
    section.point("point", point_, {.unit = Unit::length, .doc = "Where the spring is at rest"});
    section.point("stiffness", stiffness_,
                  {.unit = Unit::stiffness,
                   .range = non_negative,
                   .required = true,
                   .doc = "Force over distance from the point, along each axis"});
  }

  void add(const State<D>& state, Real, std::span<Vec<D>> force) const override {
    for (std::size_t i = 0; i < force.size(); ++i) {
      if (!this->acts_on(state.bodies, i)) continue;
      const Vec<D> away = followed_position(state, i) - point_;
      for (int k = 0; k < D; ++k) force[i][k] -= stiffness_[k] * away[k];
    }
  }

  bool has_potential() const override { return true; }
  void add_potential(const State<D>& state, std::span<Real> energy) const override {
    for (std::size_t i = 0; i < energy.size(); ++i) {
      if (!this->acts_on(state.bodies, i)) continue;
      const Vec<D> away = followed_position(state, i) - point_;
      for (int k = 0; k < D; ++k) energy[i] += 0.5 * stiffness_[k] * away[k] * away[k];
    }
  }

  /// 2 sqrt(m / k), of symplectic Euler and of velocity Verlet.
  Real longest_step(Real mass) const override {
    return 2 * std::sqrt(mass / *std::max_element(stiffness_.component.begin(), stiffness_.component.end()));
  }

 private:
  Vec<D> point_{};
  Vec<D> stiffness_{};
};

}  // namespace

SCREE_PLUGIN(ForceField, spring, Spring, "linear springs along the axes, to a point")

}  // namespace scree
