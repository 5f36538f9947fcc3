#include <algorithm>
#include <limits>

#include "analysis/measure.hpp"

namespace scree {
namespace {

/// Mean and largest speed of the bodies, contacts included.
template <int D>
class Speed final : public Measure<D> {
 public:
  MeasuredRow record(const Sample<D>& sample) override {
    const Comm& comm = sample.state.comm;
    std::vector<Real> speed;
    speed.reserve(sample.state.bodies.n_owned());
    for (const Vec<D>& v : sample.state.bodies.velocity()) speed.push_back(norm(v));
    const Real total = ReproducibleSum::sum(comm, speed);
    const auto n = static_cast<Real>(comm.sum(static_cast<std::int64_t>(speed.size())));
    const Real largest = comm.max(speed.empty() ? 0.0 : std::ranges::max(speed));
    return {{"mean_speed", "m/s", "mean speed of the bodies; nan without bodies",
             n > 0 ? total / n : std::numeric_limits<Real>::quiet_NaN()},
            {"max_speed", "m/s", "largest speed of a body", largest}};
  }
};

}  // namespace

SCREE_PLUGIN(Measure, speed, Speed, "mean and largest speed")

}  // namespace scree
