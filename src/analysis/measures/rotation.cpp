#include <algorithm>
#include <array>
#include <limits>

#include "analysis/measure.hpp"

namespace scree {
namespace {

/// How bodies spin: with w_i the angular velocities of n bodies, their mean sum w_i / n and their root mean
/// square sqrt(sum |w_i|^2 / n) [rad/s].
template <int D>
class Rotation final : public Measure<D> {
 public:
  void check(const State<D>& state) const override { require_inertia(state, this->where_, "rotation"); }

  MeasuredRow record(const Sample<D>& sample) override {
    const State<D>& state = sample.state;
    const std::size_t n_owned = state.bodies.n_owned();
    constexpr std::size_t n_spin = n_spins<D>;
    std::array<Real, n_spin + 1> sums{};
    ReproducibleSum::sum(state.comm, n_owned, sums, [&](std::size_t i, std::span<Real> term) {
      const Spin<D>& spin = state.bodies.angular_velocity()[i];
      std::ranges::copy(spin.component, term.begin());
      term[n_spin] = dot(spin, spin);
    });
    const auto n = static_cast<Real>(state.comm.sum(static_cast<std::int64_t>(n_owned)));
    const Real per_body = n > 0 ? 1 / n : std::numeric_limits<Real>::quiet_NaN();
    MeasuredRow row;
    for (std::size_t k = 0; k < n_spin; ++k)
      row.push_back({D == 2 ? "mean" : fmt::format("mean_{}", "xyz"[k]), "rad/s",
                     D == 2 ? "mean angular velocity, counter-clockwise; nan without bodies"
                            : fmt::format("mean angular velocity about {}; nan without bodies", "xyz"[k]),
                     sums[k] * per_body});
    row.push_back({"rms", "rad/s", "root mean square of the angular velocities; nan without bodies",
                   std::sqrt(sums[n_spin] * per_body)});
    return row;
  }
};

}  // namespace

SCREE_PLUGIN(Measure, rotation, Rotation, "mean and root mean square of the angular velocities")

}  // namespace scree
