#include "particles/body_store.hpp"

#include "core/error.hpp"

namespace scree {

template <int D>
void BodyStore<D>::resize(Index n_owned, Index n_ghosts) {
  n_owned_ = n_owned;
  n_ghosts_ = n_ghosts;
  for_each_field([&](const FieldInfo& info, auto& values) {
    const Index n = info.ghosts == Ghosts::keep ? n_owned + n_ghosts : n_owned;
    values.resize(static_cast<std::size_t>(n));
  });
}

template <int D>
void BodyStore<D>::reorder(std::span<const Index> order) {
  for_each_field([&](const FieldInfo&, auto& values) {
    // One scratch array per element type, kept from call to call.
    static thread_local std::remove_reference_t<decltype(values)> scratch;
    scratch.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      SCREE_ASSERT(order[i] >= 0 && order[i] < n_owned_);
      scratch[i] = values[static_cast<std::size_t>(order[i])];
    }
    values.swap(scratch);
  });
  n_owned_ = static_cast<Index>(order.size());
  n_ghosts_ = 0;
}

template class BodyStore<2>;
template class BodyStore<3>;

}  // namespace scree
