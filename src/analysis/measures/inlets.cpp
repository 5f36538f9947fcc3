#include <array>

#include "analysis/measure.hpp"

namespace scree {
namespace {

/// How far the inlets are, or the sources of people: of each, with columns named after it, the bodies made
/// since the start of the run and those that are due and wait for a free place; of all together the rate
/// since the row before. Cost: O(inlets).
template <int D>
class InletCounts final : public Measure<D> {
 public:
  std::vector<ColumnInfo> columns(const State<D>& state) const override {
    if (state.inlets.empty())
      throw InputError(
          this->where_ +
          ": the measure \"inlets\" looks at [inlets.NAME] and, of people, [sources.NAME], but the "
          "deck has no such table");
    std::vector<ColumnInfo> columns{
        {"rate", "1/s",
         "bodies made by all inlets since the row before, over the time between; 0 at the start"}};
    for (const InletProgress& inlet : state.inlets) {
      columns.push_back({"made_" + inlet.name, "-", "bodies that the inlet has made"});
      columns.push_back({"waiting_" + inlet.name, "-", "bodies that are due and wait for a free place"});
    }
    return columns;
  }

  std::span<Real> memory() override { return memory_; }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    Real made = 0;
    for (const InletProgress& inlet : sample.state.inlets) made += static_cast<Real>(inlet.n_made);
    const Real now = sample.state.clock.time, elapsed = now - memory_[row_time];
    row.push_back(elapsed > 0 ? (made - memory_[row_made]) / elapsed : 0);
    memory_ = {now, made};
    for (const InletProgress& inlet : sample.state.inlets)
      row.insert(row.end(), {static_cast<Real>(inlet.n_made), static_cast<Real>(inlet.n_waiting())});
  }

 private:
  enum : std::size_t { row_time, row_made };
  std::array<Real, 2> memory_{};
};

}  // namespace

SCREE_PLUGIN(Measure, inlets, InletCounts,
             "bodies that inlets have made, their rates, and bodies that wait for a place")

}  // namespace scree
