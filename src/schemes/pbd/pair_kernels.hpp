#pragma once
#include <cstdint>
#include <string_view>

#include "comm/ghost_exchange.hpp"
#include "core/types.hpp"

namespace scree {

/// How a sweep treats a pair with gap g = |x_i - x_j| - (R_i + R_j), n = (x_i - x_j)/|x_i - x_j| and
/// mobilities w (docs/method.md, "Projection of a pair"):
enum class PairMode {
  plain,       ///< dl = max(0, -g/(w_i + w_j)); x_i += w_i dl n, x_j -= w_j dl n
  record,      ///< the same, and l += dl
  accumulate,  ///< dl = max(-l, (-g - a l)/(w_i + w_j + a)); l += dl: may take back its own push
  warm,        ///< l *= scale, dl = l: applies what is remembered, before the first sweep
};
inline constexpr int n_pair_modes = 4;

/// The operands of a kernel call. Batches hold pairs without a common body (neighbors/sweep_schedule.hpp).
struct PairBatches {
  SweepRecord* records = nullptr;  ///< active copies of local bodies, then two dummies far apart
  const Index* ends = nullptr;     ///< first batch to treat
  Index n_batches = 0;
  Real* multipliers = nullptr;           ///< l, one per place of a batch (unused by plain)
  const std::uint8_t* shifts = nullptr;  ///< one per place (shifted kernels only)
  const Real* shift_table = nullptr;     ///< 3 numbers per shift code: what to add to x_i - x_j
  const Real* mobility = nullptr;        ///< w of local bodies, then two dummies (weighted kernels only)
  const GlobalId* ids = nullptr;         ///< of local bodies, for coincident centres
  Real compliance = 0;                   ///< a = alpha / h
  Real scale = 0;                        ///< of warm
  const Index* coming = nullptr;  ///< as ends: with batch b the bodies of coming batch b are prefetched
  Index n_coming = 0;
};

/// Treats the batches in order and returns the largest -g met (of warm: 0).
using PairKernel = Real (*)(const PairBatches&);

/// The kernels of one instruction set, for one dimension. All sets give the same bits: no fused multiply-add,
/// IEEE square root and division, and the same operations per pair.
struct PairKernels {
  std::string_view instruction_set;
  PairKernel kernel[n_pair_modes][2][2];  ///< [mode][shifted][weighted]
};

/// The set to take: see core/simd.hpp.
template <int D>
const PairKernels& pair_kernels();
/// All sets that this processor runs.
template <int D>
std::span<const PairKernels* const> available_pair_kernels();

/// Unit vector from a hash of the two ids: the direction in which coincident centres part.
Vec<3> coincident_direction(GlobalId low, GlobalId high, int dimension);

}  // namespace scree
