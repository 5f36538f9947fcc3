#include <fmt/core.h>

#include "analysis/measure.hpp"
#include "core/error.hpp"

namespace scree {
namespace {

/// How a deforming cell is, and how it moves (docs/method.md, "Deforming cells").
template <int D>
class CellShape final : public Measure<D> {
 public:
  std::vector<ColumnInfo> columns(const State<D>& state) const override {
    if (!state.cell.is_given())
      throw InputError(
          fmt::format("{}: \"cell\" is of [domain.deformation], which the deck does not have", this->where_));
    std::vector<ColumnInfo> columns;
    for (int k = 0; k < D; ++k)
      columns.push_back({fmt::format("length_{}", "xyz"[k]), "m", fmt::format("length along {}", "xyz"[k])});
    for (int k = 0; k < D; ++k)
      columns.push_back({fmt::format("strain_rate_{}", "xyz"[k]), "1/s",
                         fmt::format("rate of strain along {}, positive: longer", "xyz"[k])});
    columns.push_back(
        {"offset", "m", "how far along flow the image across the gradient lies, within half a period"});
    columns.push_back({"shear_rate", "1/s", "rate of shear"});
    columns.push_back({"shear_strain", "-", "shear since the start of the run"});
    return columns;
  }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    const State<D>& state = sample.state;
    for (int k = 0; k < D; ++k) row.push_back(state.box.length(k));
    for (int k = 0; k < D; ++k) row.push_back(state.cell.strain_rate(state.box, k));
    row.push_back(state.box.offset);
    row.push_back(state.cell.shear_rate(state.box));
    row.push_back(state.cell.shear_strain());
  }
};

}  // namespace

SCREE_PLUGIN(Measure, cell, CellShape, "lengths, tilt and rates of a deforming periodic cell")

}  // namespace scree
