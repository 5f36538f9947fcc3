#include "analysis/measure.hpp"

namespace scree {
namespace {

/// Number of bodies in the run, N(t). Cost: one reduction a row.
template <int D>
class Count final : public Measure<D> {
 public:
  MeasuredRow record(const Sample<D>& sample) override {
    const auto n_owned = static_cast<std::int64_t>(sample.state.bodies.n_owned());
    return {{"n_bodies", "-", "bodies in the run", static_cast<Real>(sample.state.comm.sum(n_owned))}};
  }
};

}  // namespace

SCREE_PLUGIN(Measure, count, Count, "number of bodies in the run")

}  // namespace scree
