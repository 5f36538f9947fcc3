#pragma once
#include <span>

#include "schemes/common/stepper.hpp"
#include "state/state.hpp"

namespace scree {

/// Bodies that come and go and obstacles that are switched between two steps, and how the scheme is fitted to
/// that: once for all of it, or at once where bodies only go.
template <int D>
class BodyChange {
 public:
  /// References must stay valid.
  BodyChange(State<D>& state, Stepper<D>& stepper) : state_(state), stepper_(stepper) {}

  /// Before bodies come or obstacles are switched. From then on state.memory holds what the contacts of the
  /// owned bodies remember, and must be kept in step with them. Collective.
  void begin();
  bool has_begun() const { return has_begun_; }
  /// Takes all owned bodies but `staying` (ascending) out. Collective.
  void remove_bodies(std::span<const Index> staying);
  /// Fits the scheme to what came since begin(). Collective.
  void end();

 private:
  State<D>& state_;
  Stepper<D>& stepper_;
  bool has_begun_ = false;
};

}  // namespace scree
