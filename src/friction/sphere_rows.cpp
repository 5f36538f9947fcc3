#include "friction/sphere_rows.hpp"

#include <algorithm>

#include "core/reset.hpp"
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
  rolling_.clear();
  has_own_scales_ = false;
  lanes_.begin(none);
}

template <int D>
std::size_t SphereRows<D>::add(Index a, Index b) {
  const std::size_t place = lanes_.add(a, b);
  if (lanes_.n_groups() > groups_.size()) {
    Group& fresh = groups_.emplace_back();  // zeros
    std::fill_n(fresh.a, Group::size, none_);
    std::fill_n(fresh.b, Group::size, none_);
  }
  groups_[place / Group::size].a[place % Group::size] = a;
  groups_[place / Group::size].b[place % Group::size] = b;
  return place;
}

template <int D>
SphereContact<D> SphereRows<D>::operator[](std::size_t c) const {
  const auto place = static_cast<std::size_t>(lanes_.place()[c]);
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
void SphereRows<D>::set_own_scale(std::size_t c, Real least) {
  if (!has_own_scales_) {
    has_own_scales_ = true;
    OwnScales none{};
    std::ranges::fill(none.floor, 1.0);
    reset(own_scales_, groups_.size(), none);
  }
  const auto place = static_cast<std::size_t>(lanes_.place()[c]);
  const std::size_t k = place % Group::size;
  // Round-off of the local solution counts as much less than a tolerance can be.
  constexpr Real most_weight = 1e6, tiny = 1e-100;
  OwnScales& scales = own_scales_[place / Group::size];
  const Group& group = groups_[place / Group::size];
  Real inverse_mass = 0;
  for (std::size_t side = 2; side-- > 0;) {
    const Real diagonal = 1 / group.inverse_W[side][k];
    inverse_mass = diagonal - group.g[side][k];
    scales.weight[side][k] = std::min(diagonal / inverse_mass, most_weight);
  }
  scales.floor[k] = std::max(tiny, (least / inverse_mass) * (least / inverse_mass));
}

template <int D>
void SphereRows<D>::set_bias(std::size_t c, const Real* w) {
  const auto place = static_cast<std::size_t>(lanes_.place()[c]);
  for (std::size_t i = 0; i < D; ++i) groups_[place / Group::size].w[i][place % Group::size] = w[i];
}

template <int D>
void SphereRows<D>::divide_bias(Real by) {
  for (Group& group : groups_)
    for (auto& entry : group.w)
      for (Real& w : entry) w /= by;
  for (RollingGroup<D>& group : rolling_)
    for (auto& entry : group.w)
      for (Real& w : entry) w /= by;
}

template class SphereRows<2>;
template class SphereRows<3>;
template std::span<const SphereRows<2>::Kernels* const> available_sphere_kernels<2>();
template std::span<const SphereRows<3>::Kernels* const> available_sphere_kernels<3>();

}  // namespace scree
