#pragma once
#include "events/inlets.hpp"
#include "events/outlets.hpp"
#include "events/stages.hpp"
#include "schemes/common/stepper.hpp"

namespace scree {

/// What happens between steps: outlets take bodies, inlets make them, stages end and begin. How far each is
/// stands in the State.
template <int D>
struct Events {
  Inlets<D> inlets;
  Outlets<D> outlets;
  Stages<D> stages;

  /// Whether bodies come or go.
  bool change_bodies() const { return !inlets.list().empty() || !outlets.empty(); }
  /// Makes the entries of the State, at the start of the first stage; a checkpoint then fills them in.
  void prepare(State<D>& state) const;
  /// After a step, when the clock has ticked. `first_group`: number of groups before those of the inlets. If
  /// bodies or obstacles changed, the stepper has fitted itself to them. Throws RunError. Collective.
  void apply(State<D>& state, Stepper<D>& stepper, std::size_t first_group, std::uint64_t seed);

 private:
  bool is_carried(State<D>& state, Stepper<D>& stepper);

  std::vector<Index> staying_;
  ContactGraph<D> contacts_;
};

}  // namespace scree
