#include "friction/sphere_rows.hpp"

#include <algorithm>

#include "core/memory.hpp"
#include "core/simd.hpp"

namespace scree {

SCREE_IN_ALL_SETS(extern const SphereRows<2>::Kernels sphere_kernels_2d;
                  extern const SphereRows<3>::Kernels sphere_kernels_3d;)

template <int D>
std::span<const typename SphereRows<D>::Kernels* const> available_sphere_kernels() {
  if constexpr (D == 2) {
    static const auto sets = runnable<SphereRows<2>::Kernels>({SCREE_OF_ALL_SETS(sphere_kernels_2d)});
    return sets;
  } else {
    static const auto sets = runnable<SphereRows<3>::Kernels>({SCREE_OF_ALL_SETS(sphere_kernels_3d)});
    return sets;
  }
}

template <int D>
SphereRows<D>::SphereRows() : kernels_(&chosen(available_sphere_kernels<D>())) {}

template <int D>
void SphereRows<D>::begin(Index none) {
  none_ = none;
  groups_.clear();
  place_.clear();
  stretch_first_.assign(1, 0);
  n_in_.clear();
  first_open_ = 0;
  first_group_.assign(static_cast<std::size_t>(none) + 1, 0);
}

template <int D>
std::size_t SphereRows<D>::add(Index a, Index b) {
  // Groups further back are hardly worth to look at, and their bodies are in no cache by now.
  constexpr std::size_t most_open = 8;
  std::size_t& of_a = first_group_[static_cast<std::size_t>(a)];
  std::size_t& of_b = first_group_[static_cast<std::size_t>(b)];
  const std::size_t n = groups_.size();
  while (first_open_ < n && (n_in_[first_open_] == Group::size || n - first_open_ > most_open)) ++first_open_;
  std::size_t here = std::max({of_a, of_b, first_open_});
  while (here < n && n_in_[here] == Group::size) ++here;
  if (here == n) {
    Group& group = groups_.emplace_back();  // zeros
    std::fill_n(group.a, Group::size, none_);
    std::fill_n(group.b, Group::size, none_);
    n_in_.push_back(0);
  }
  const std::size_t lane = n_in_[here]++;
  if (a != none_) of_a = here + 1;
  if (b != none_) of_b = here + 1;
  groups_[here].a[lane] = a;
  groups_[here].b[lane] = b;
  place_.push_back(static_cast<Index>(here * Group::size + lane));
  return static_cast<std::size_t>(place_.back());
}

template <int D>
SphereContact<D> SphereRows<D>::operator[](std::size_t c) const {
  const auto place = static_cast<std::size_t>(place_[c]);
  const Group& group = groups_[place / Group::size];
  const std::size_t k = place % Group::size;
  SphereContact<D> contact;
  contact.a = group.a[k];
  contact.b = group.b[k];
  for (std::size_t i = 0; i < D; ++i) {
    for (std::size_t j = 0; j < D; ++j) contact.F[i][j] = group.F[i][j][k];
    contact.w[i] = group.w[i][k];
  }
  for (std::size_t side = 0; side < 2; ++side) {
    contact.s[side] = group.s[side][k];
    contact.c[side] = group.c[side][k];
    contact.inverse_W[side] = group.inverse_W[side][k];
    contact.g[side] = group.g[side][k];
  }
  contact.mu = group.mu[k];
  return contact;
}

template <int D>
void SphereRows<D>::set_bias(std::size_t c, const Real* w) {
  const auto place = static_cast<std::size_t>(place_[c]);
  for (std::size_t i = 0; i < D; ++i) groups_[place / Group::size].w[i][place % Group::size] = w[i];
}

template <int D>
void SphereRows<D>::divide_bias(Real by) {
  for (Group& group : groups_)
    for (auto& entry : group.w)
      for (Real& w : entry) w /= by;
}

template <int D>
void SphereRows<D>::pack(std::span<const Real> r, std::vector<SphereImpulses<D>>& impulses) const {
  impulses.resize(groups_.size());
  // Lanes that no contact uses stay zero.
  std::ranges::fill(impulses, SphereImpulses<D>{});
  for (std::size_t c = 0; c < place_.size(); ++c) {
    const auto place = static_cast<std::size_t>(place_[c]);
    for (std::size_t i = 0; i < D; ++i)
      impulses[place / Group::size].r[i][place % Group::size] = r[c * D + i];
  }
}

template <int D>
void SphereRows<D>::unpack(std::span<const SphereImpulses<D>> impulses, std::span<Real> r) const {
  for (std::size_t c = 0; c < place_.size(); ++c) {
    const auto place = static_cast<std::size_t>(place_[c]);
    for (std::size_t i = 0; i < D; ++i)
      r[c * D + i] = impulses[place / Group::size].r[i][place % Group::size];
  }
}

template <int D>
std::size_t SphereRows<D>::bytes() const {
  return held_bytes(groups_, place_, stretch_first_, n_in_, first_group_);
}

template class SphereRows<2>;
template class SphereRows<3>;
template std::span<const SphereRows<2>::Kernels* const> available_sphere_kernels<2>();
template std::span<const SphereRows<3>::Kernels* const> available_sphere_kernels<3>();

}  // namespace scree
