#include <algorithm>
#include <string>
#include <vector>

#include "analysis/measure.hpp"
#include "core/suggestion.hpp"
#include "crowd/crowd_environment.hpp"
#include "crowd/crowd_world.hpp"

namespace scree {
namespace {

/// A queue of a journey: who stands in it and waits, who is served, who has been. Cost: O(bodies) and one
/// reduction a row.
class Queue final : public Measure<2> {
 public:
  void describe(Section& section) override {
    if (section.reading()) where_ = section.where("queue");
    section.text("queue", name_, {.doc = "name of the queue; may be left out if there is only one"});
  }

  void check(const State<2>& state) const override { place(state); }

  MeasuredRow record(const Sample<2>& sample) override {
    const QueueReport report =
        crowd_world(sample.state)->environment->queues().reports(sample.state)[place(sample.state)];
    return {{"waiting", "-", "people in the queue who wait", static_cast<Real>(report.n_waiting)},
            {"at_counter", "-", "people who are served", static_cast<Real>(report.n_at_counter)},
            {"served", "-", "people who have been served", static_cast<Real>(report.n_served)},
            {"mean_wait", "s",
             "mean time from joining to the begin of service beyond the walk to the counter, of those; nan "
             "if there are none",
             report.mean_wait}};
  }

 private:
  std::size_t place(const State<2>& state) const {
    const CrowdWorld* world = crowd_world(state);
    std::vector<std::string> names;
    if (world)
      for (const QueueLine& queue : world->environment->journey_plan().queues()) names.push_back(queue.name);
    if (names.empty()) throw InputError(where_ + ": the deck has no queue in a journey to measure");
    if (name_.empty() && names.size() == 1) return 0;
    if (name_.empty())
      throw InputError(
          fmt::format("{}: which queue? There are \"{}\": give queue", where_, fmt::join(names, "\", \"")));
    const auto found = std::ranges::find(names, name_);
    if (found == names.end())
      throw InputError(fmt::format("{}: there is no queue \"{}\"{}; there are \"{}\"", where_, name_,
                                   suggestion(name_, names), fmt::join(names, "\", \"")));
    return static_cast<std::size_t>(found - names.begin());
  }

  std::string name_;
};

}  // namespace

SCREE_PLUGIN_ONLY(Measure, 2, queue, Queue, "people in a queue: who waits, is served, has been served")

}  // namespace scree
