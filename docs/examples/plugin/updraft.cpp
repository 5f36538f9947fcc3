#include "state/force_field.hpp"

namespace scree {

/// A force on every body, upwards: along y in the plane, along z in space.
template <int D>
class Updraft final : public ForceField<D> {
 public:
  void describe(Section& section) override {
    section.real("force", force_, {.range = non_negative, .required = true, .doc = "Force on each body [N]"});
  }
  void add(const State<D>& state, Real, std::span<Vec<D>> force) const override {
    for (std::size_t i = 0; i < force.size(); ++i)
      if (this->acts_on(state.bodies, i)) force[i][D - 1] += force_;
  }
  bool has_potential() const override { return false; }
  void add_potential(const State<D>&, std::span<Real>) const override {}
  Real longest_step(Real) const override { return 1e30; }

 private:
  Real force_ = 0;
};

SCREE_PLUGIN(ForceField, updraft, Updraft, "constant force upwards")

}  // namespace scree
