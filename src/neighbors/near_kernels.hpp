#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "comm/ghost_exchange.hpp"
#include "core/types.hpp"

namespace scree {

/// Candidates in batches, and what kernels read of their bodies; records of local bodies, then of two dummies
/// far apart.
struct CandidateBatches {
  const Index* ends = nullptr;  ///< as SweepSchedule::ends()
  Index n_batches = 0;
  const std::uint8_t* shifts = nullptr;  ///< one per place (shifted kernels only)
  const Real* shift_table = nullptr;     ///< 3 numbers per shift code: what to add to x_low - x_high
  const SweepRecord* places = nullptr;   ///< centres and radii
  /// How bodies would move [m], one way or another (kernels that look at so many).
  const SweepRecord* displacements[2] = {nullptr, nullptr};
};

/// Writes to found[b], bit k, whether pair k of batch b has
///     |d| <= f (R_low + R_high) or d . (d + w_low - w_high) <= f (R_low + R_high) |d|
/// for any of the displacements w, with d = x_low - x_high: the gap is, or would come to be, at most (f - 1)
/// (R_low + R_high). True of numbers that are not finite. All sets give the same bits.
using NearKernel = void (*)(const CandidateBatches& batches, Real factor, std::uint8_t* found);

/// The kernels of one instruction set, for one dimension.
struct NearKernels {
  std::string_view instruction_set;
  NearKernel kernel[2][3];  ///< [shifted][number of displacements]
};

/// The set to take: see core/simd.hpp.
template <int D>
const NearKernels& near_kernels();
/// All sets that this processor runs.
template <int D>
std::span<const NearKernels* const> available_near_kernels();

}  // namespace scree
