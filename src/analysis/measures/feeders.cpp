#include <array>

#include "analysis/measure.hpp"

namespace scree {
namespace {

/// How far the feeders are, or the sources of people: of each, with columns named after it, the bodies made
/// since the start of the run and those that are due and wait for a free place; of all together the rate
/// since the row before. Cost: O(feeders).
template <int D>
class FeederCounts final : public Measure<D> {
 public:
  void describe(Section& section) override {
    if (section.reading()) where_ = section.where("type");
  }

  std::vector<ColumnInfo> columns(const State<D>& state) const override {
    if (state.feeders.empty())
      throw InputError(
          where_ +
          ": the measure \"feeders\" looks at [feeders.NAME] and, of people, [sources.NAME], but the "
          "deck has no such table");
    std::vector<ColumnInfo> columns{
        {"rate", "1/s",
         "bodies made by all feeders since the row before, over the time between; 0 at the start"}};
    for (const FeederProgress& feeder : state.feeders) {
      columns.push_back({"made_" + feeder.name, "-", "bodies that the feeder has made"});
      columns.push_back({"waiting_" + feeder.name, "-", "bodies that are due and wait for a free place"});
    }
    return columns;
  }

  std::span<Real> memory() override { return memory_; }

  void sample(const Sample<D>& sample, std::vector<Real>& row) override {
    Real made = 0;
    for (const FeederProgress& feeder : sample.state.feeders) made += static_cast<Real>(feeder.n_made);
    const Real now = sample.state.clock.time, elapsed = now - memory_[row_time];
    row.push_back(elapsed > 0 ? (made - memory_[row_made]) / elapsed : 0);
    memory_ = {now, made};
    for (const FeederProgress& feeder : sample.state.feeders)
      row.insert(row.end(), {static_cast<Real>(feeder.n_made), static_cast<Real>(feeder.n_waiting())});
  }

 private:
  std::string where_;
  enum : std::size_t { row_time, row_made };
  std::array<Real, 2> memory_{};
};

}  // namespace

SCREE_PLUGIN(Measure, feeders, FeederCounts,
             "what feeders have made, their rates, and what waits for a place")

}  // namespace scree
