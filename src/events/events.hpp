#pragma once
#include "events/feeding.hpp"
#include "events/sinks.hpp"
#include "events/stages.hpp"
#include "schemes/common/stepper.hpp"

namespace scree {

/// What happens between steps: sinks take bodies, feeders make them, stages end and begin. How far each is
/// stands in the State.
template <int D>
struct Events {
  Feeders<D> feeders;
  Sinks<D> sinks;
  Stages<D> stages;

  /// Whether bodies come or go.
  bool change_bodies() const { return !feeders.list().empty() || !sinks.empty(); }
  /// Makes the entries of the State, at the start of the first stage; a checkpoint then fills them in.
  void prepare(State<D>& state) const;
  /// After a step, when the clock has ticked. `first_group`: number of groups before those of the feeders. If
  /// bodies or obstacles changed, the stepper has fitted itself to them. Throws RunError. Collective.
  void apply(State<D>& state, Stepper<D>& stepper, std::size_t first_group, std::uint64_t seed);

 private:
  std::vector<Index> staying_;
};

}  // namespace scree
