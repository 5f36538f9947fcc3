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
SphereRows<D>::SphereRows() : Base(chosen(available_sphere_kernels<D>())) {}

template <int D>
void SphereRows<D>::begin(Index none) {
  Base::begin(none);
  rolling_.clear();
  has_own_scales_ = false;
}

template <int D>
SphereContact<D> SphereRows<D>::operator[](std::size_t c) const {
  const std::size_t place = place_of(c), k = place % group_size;
  const Group& group = this->groups_[place / group_size];
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
void SphereRows<D>::set_own_scale(std::size_t c, Real min) {
  if (!has_own_scales_) {
    has_own_scales_ = true;
    OwnScales none{};
    std::ranges::fill(none.floor, 1.0);
    reset(own_scales_, this->groups_.size(), none);
  }
  const std::size_t place = place_of(c), k = place % group_size;
  // Round-off of the local solution counts as much less than a tolerance can be.
  constexpr Real max_weight = 1e6, tiny = 1e-100;
  OwnScales& scales = own_scales_[place / group_size];
  const Group& group = this->groups_[place / group_size];
  Real inverse_mass = 0;
  for (std::size_t side = 2; side-- > 0;) {
    const Real diagonal = 1 / group.inverse_W[side][k];
    inverse_mass = diagonal - group.g[side][k];
    scales.weight[side][k] = std::min(diagonal / inverse_mass, max_weight);
  }
  scales.floor[k] = std::max(tiny, (min / inverse_mass) * (min / inverse_mass));
}

template <int D>
void SphereRows<D>::set_bias(std::size_t c, const Real* w) {
  const std::size_t place = place_of(c);
  for (std::size_t i = 0; i < D; ++i) this->groups_[place / group_size].w[i][place % group_size] = w[i];
}

template <int D>
void SphereRows<D>::divide_bias(Real by) {
  for (Group& group : this->groups_)
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
