#include "particles/body_store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "core/error.hpp"

namespace scree {

template <int D>
void BodyStore<D>::resize(Index n_owned, Index n_ghosts) {
  n_owned_ = n_owned;
  n_ghosts_ = n_ghosts;
  for_each_field([&](const FieldInfo& info, auto& values) {
    const Index n = is_of_ghosts(info) ? n_owned + n_ghosts : n_owned;
    const std::size_t count = n;
    // Left to itself a vector doubles.
    if (count > values.capacity() && !values.empty()) values.reserve(count + count / 16);
    values.resize(count);
  });
}

template <int D>
void BodyStore<D>::carry_extra(std::span<const ExtraField> fields) {
  extra_.clear();
  for (const ExtraField& field : fields) add_extra(field);
}

template <int D>
std::size_t BodyStore<D>::add_extra(const ExtraField& field) {
  extra_.push_back({field.info, {}});
  if (field.is_integer) extra_.back().values = std::vector<std::int32_t>();
  return extra_.size() - 1;
}

template <int D>
void BodyStore<D>::carry_path(bool carried) {
  if (carried == carries_path_) return;
  carries_path_ = carried;
  previous_ = std::vector<Vec<D>>(carried ? static_cast<std::size_t>(n_owned_) : 0);
}

template <int D>
void BodyStore<D>::reorder(std::span<const Index> order) {
  // One array for all fields in turn, gone afterwards.
  std::vector<std::byte> scratch;
  for_each_field([&](const FieldInfo&, auto& values) {
    using T = typename std::remove_cvref_t<decltype(values)>::value_type;
    static_assert(std::is_trivially_copyable_v<T>);
    scratch.resize(std::max(scratch.size(), order.size() * sizeof(T)));
    for (std::size_t i = 0; i < order.size(); ++i) {
      SCREE_ASSERT(order[i] >= 0 && order[i] < n_owned_);
      std::memcpy(scratch.data() + i * sizeof(T), &values[order[i]], sizeof(T));
    }
    values.resize(order.size());
    if (!order.empty()) std::memcpy(values.data(), scratch.data(), order.size() * sizeof(T));
  });
  n_owned_ = static_cast<Index>(order.size());
  n_ghosts_ = 0;
}

template <int D>
void BodyStore<D>::keep(std::span<const Index> local, Index n_owned) {
  for_each_field([&](const FieldInfo&, auto& values) {
    const bool has_ghosts = values.size() > static_cast<std::size_t>(n_owned_);
    const std::size_t n = has_ghosts ? local.size() : static_cast<std::size_t>(n_owned);
    for (std::size_t i = 0; i < n; ++i) values[i] = values[local[i]];
    values.resize(n);
  });
  n_owned_ = n_owned;
  n_ghosts_ = static_cast<Index>(local.size()) - n_owned;
}

template class BodyStore<2>;
template class BodyStore<3>;

}  // namespace scree
