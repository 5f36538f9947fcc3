#include "friction/general_rows.hpp"

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
GeneralRows<D>::GeneralRows() : GeneralRows::PackedRows(chosen(available_general_kernels<D>())) {}

template class GeneralRows<2>;
template class GeneralRows<3>;
template std::span<const GeneralRows<2>::Kernels* const> available_general_kernels<2>();
template std::span<const GeneralRows<3>::Kernels* const> available_general_kernels<3>();

}  // namespace scree
