#include "analysis/measure.hpp"

namespace scree {
namespace {

/// Number of bodies in the run, N(t). Cost: one reduction a row.
template <int D>
class Count final : public Measure<D> {
 public:
  std::vector<ColumnInfo> columns(const State<D>&) const override {
    return {{"bodies", "-", "bodies in the run"}};
  }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    row.push_back(
        static_cast<Real>(sample.state.comm.sum(static_cast<std::int64_t>(sample.state.bodies.n_owned()))));
  }
};

}  // namespace

SCREE_PLUGIN(Measure, count, Count, "number of bodies in the run")

}  // namespace scree
