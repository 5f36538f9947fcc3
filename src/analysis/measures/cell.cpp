#include <fmt/core.h>

#include "analysis/measure.hpp"
#include "core/error.hpp"

namespace scree {
namespace {

/// How a deforming domain is, and how it moves (docs/method.md, "Deforming domains").
template <int D>
class DomainShape final : public Measure<D> {
 public:
  void check(const State<D>& state) const override {
    if (!state.deformation.is_given())
      throw InputError(
          fmt::format("{}: \"cell\" is of [domain.deformation], which the deck does not have", this->where_));
  }

  MeasuredRow record(const Sample<D>& sample) override {
    const State<D>& state = sample.state;
    MeasuredRow row;
    for (int k = 0; k < D; ++k)
      row.push_back({fmt::format("length_{}", "xyz"[k]), "m", fmt::format("length along {}", "xyz"[k]),
                     state.box.length(k)});
    for (int k = 0; k < D; ++k)
      row.push_back({fmt::format("strain_rate_{}", "xyz"[k]), "1/s",
                     fmt::format("rate of strain along {}, positive: longer", "xyz"[k]),
                     state.deformation.strain_rate(state.box, k)});
    row.push_back({"offset", "m",
                   "how far along flow the image across the gradient lies, within half a period",
                   state.box.offset});
    row.push_back({"shear_rate", "1/s", "rate of shear", state.deformation.shear_rate(state.box)});
    row.push_back(
        {"shear_strain", "-", "shear since the start of the run", state.deformation.shear_strain()});
    return row;
  }
};

}  // namespace

SCREE_PLUGIN(Measure, cell, DomainShape, "lengths, tilt and rates of a deforming domain")

}  // namespace scree
