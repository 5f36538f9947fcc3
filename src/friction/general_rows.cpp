#include "friction/general_rows.hpp"

#include <algorithm>

#include "core/simd.hpp"

namespace scree {

SCREE_IN_ALL_SETS(extern const GeneralRows<2>::Kernels general_kernels_2d;
                  extern const GeneralRows<3>::Kernels general_kernels_3d;)

template <int D>
std::span<const typename GeneralRows<D>::Kernels* const> available_general_kernels() {
  if constexpr (D == 2) {
    static const auto sets = runnable<GeneralRows<2>::Kernels>({SCREE_OF_ALL_SETS(general_kernels_2d)});
    return sets;
  } else {
    static const auto sets = runnable<GeneralRows<3>::Kernels>({SCREE_OF_ALL_SETS(general_kernels_3d)});
    return sets;
  }
}

template <int D>
GeneralRows<D>::GeneralRows() : kernels_(&chosen(available_general_kernels<D>())) {}

template <int D>
void GeneralRows<D>::begin(Index none) {
  none_ = none;
  groups_.clear();
  lanes_.begin(none);
}

template <int D>
std::size_t GeneralRows<D>::place_for(Index a, Index b) {
  const std::size_t place = lanes_.add(a, b);
  if (lanes_.n_groups() > groups_.size()) {
    Group& fresh = groups_.emplace_back();  // zeros
    std::fill_n(fresh.a, group_size, none_);
    std::fill_n(fresh.b, group_size, none_);
    for (int i = 0, at = 0; i < D; ++i, at += i + 1) std::fill_n(fresh.W[at], group_size, 1.0);
  }
  groups_[place / group_size].a[place % group_size] = a;
  groups_[place / group_size].b[place % group_size] = b;
  return place;
}

template class GeneralRows<2>;
template class GeneralRows<3>;
template std::span<const GeneralRows<2>::Kernels* const> available_general_kernels<2>();
template std::span<const GeneralRows<3>::Kernels* const> available_general_kernels<3>();

}  // namespace scree
