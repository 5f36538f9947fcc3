#include "analysis/measure.hpp"

namespace scree {
namespace {

/// What the sinks have taken since the start of the run, each and with columns named after it.
template <int D>
class Removed final : public Measure<D> {
 public:
  void describe(Section& section) override {
    if (section.reading()) where_ = section.where("type");
  }

  std::vector<ColumnInfo> columns(const State<D>& state) const override {
    if (state.sinks.empty())
      throw InputError(where_ +
                       ": the measure \"removed\" looks at sinks, but the deck has no [sinks.NAME] table");
    std::vector<ColumnInfo> columns;
    for (const SinkProgress& sink : state.sinks) {
      columns.push_back({"count_" + sink.name, "-", "bodies that the sink has taken"});
      if (state.bodies.has_inertia()) columns.push_back({"mass_" + sink.name, "kg", "their mass"});
    }
    return columns;
  }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    for (const SinkProgress& sink : sample.state.sinks) {
      row.push_back(static_cast<Real>(sink.n_removed));
      if (sample.state.bodies.has_inertia()) row.push_back(sink.mass);
    }
  }

 private:
  std::string where_;
};

}  // namespace

SCREE_PLUGIN(Measure, removed, Removed, "number and mass of the bodies that sinks have taken")

}  // namespace scree
