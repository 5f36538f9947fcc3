#include "analysis/measure.hpp"

namespace scree {
namespace {

/// What the outlets have taken since the start of the run, each and with columns named after it.
template <int D>
class Removed final : public Measure<D> {
 public:
  void check(const State<D>& state) const override {
    if (state.outlets.empty())
      throw InputError(
          this->where_ +
          ": the measure \"removed\" looks at outlets, but the deck has no [outlets.NAME] table");
  }

  MeasuredRow record(const Sample<D>& sample) override {
    MeasuredRow row;
    for (const OutletProgress& outlet : sample.state.outlets) {
      row.push_back({"count_" + outlet.name, "-", "bodies that the outlet has taken",
                     static_cast<Real>(outlet.n_removed)});
      if (sample.state.bodies.has_inertia())
        row.push_back({"mass_" + outlet.name, "kg", "their mass", outlet.mass});
    }
    return row;
  }
};

}  // namespace

SCREE_PLUGIN(Measure, removed, Removed, "number and mass of the bodies that outlets have taken")

}  // namespace scree
