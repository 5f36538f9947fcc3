#include "analysis/measure.hpp"

namespace scree {

/// The sum of all masses, the same bits on any number of ranks.
template <int D>
class TotalMass final : public Measure<D> {
 public:
  void check(const State<D>& state) const override { require_inertia(state, this->where_, "total_mass"); }
  MeasuredRow record(const Sample<D>& sample) override {
    const auto& bodies = sample.state.bodies;
    const auto masses = bodies.mass().first(static_cast<std::size_t>(bodies.n_owned()));
    return {{"mass", "kg", "of all bodies", ReproducibleSum::sum(sample.state.comm, masses)}};
  }
};

SCREE_PLUGIN(Measure, total_mass, TotalMass, "sum of all masses")

}  // namespace scree
