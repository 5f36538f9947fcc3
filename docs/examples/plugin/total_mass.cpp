#include "analysis/measure.hpp"

namespace scree {

/// The sum of all masses, the same bits on any number of ranks.
template <int D>
class TotalMass final : public Measure<D> {
 public:
  std::vector<ColumnInfo> columns(const State<D>& state) const override {
    require_inertia(state, this->where_, "total_mass");
    return {{"mass", "kg", "of all bodies"}};
  }
  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    const auto& bodies = sample.state.bodies;
    row.push_back(ReproducibleSum::sum(sample.state.comm,
                                       bodies.mass().first(static_cast<std::size_t>(bodies.n_owned()))));
  }
};

SCREE_PLUGIN(Measure, total_mass, TotalMass, "sum of all masses")

}  // namespace scree
