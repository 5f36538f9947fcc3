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
  void check(const State<D>& state) const override {
    if (state.inlets.empty())
      throw InputError(
          this->where_ +
          ": the measure \"inlets\" looks at [inlets.NAME] and, of people, [sources.NAME], but the "
          "deck has no such table");
  }

  std::span<Real> memory() override { return memory_; }

  MeasuredRow record(const Sample<D>& sample) override {
    Real made = 0;
    for (const InletProgress& inlet : sample.state.inlets) made += static_cast<Real>(inlet.n_made);
    const Real now = sample.state.clock.time, elapsed = now - memory_[row_time];
    MeasuredRow row{{"rate", "1/s",
                     "bodies made by all inlets since the row before, over the time between; 0 at the start",
                     elapsed > 0 ? (made - memory_[row_made]) / elapsed : 0}};
    memory_ = {now, made};
    for (const InletProgress& inlet : sample.state.inlets) {
      row.push_back(
          {"made_" + inlet.name, "-", "bodies that the inlet has made", static_cast<Real>(inlet.n_made)});
      row.push_back({"waiting_" + inlet.name, "-", "bodies that are due and wait for a free place",
                     static_cast<Real>(inlet.n_waiting())});
    }
    return row;
  }

 private:
  enum : std::size_t { row_time, row_made };
  std::array<Real, 2> memory_{};
};

}  // namespace

SCREE_PLUGIN(Measure, inlets, InletCounts,
             "bodies that inlets have made, their rates, and bodies that wait for a place")

}  // namespace scree
