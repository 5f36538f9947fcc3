#include "schemes/common/body_change.hpp"

namespace scree {

template <int D>
void BodyChange<D>::begin() {
  // While candidates and bodies belong together.
  if (!has_begun_) stepper_.save(state_, SaveFor::change_of_bodies);
  has_begun_ = true;
}

template <int D>
void BodyChange<D>::remove_bodies(std::span<const Index> staying) {
  if (!has_begun_ && stepper_.remove_bodies(state_, staying)) return;
  begin();
  state_.memory = state_.memory.of(staying);
  state_.bodies.reorder(staying);
}

template <int D>
void BodyChange<D>::end() {
  if (has_begun_) stepper_.bodies_changed(state_);
  has_begun_ = false;
}

template class BodyChange<2>;
template class BodyChange<3>;

}  // namespace scree
