#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "core/types.hpp"

namespace scree {

/// What the search for candidates looks at: bodies by columns. Each column has near_search_padding readable
/// entries more than there are bodies.
template <int D>
struct BodyColumns {
  std::array<const Real*, std::size_t{D}> x{};
  /// What a periodic face adds to the coordinate: 0 or the period. Apart from it, because only the difference
  /// of two of them is exact.
  std::array<const Real*, std::size_t{D}> period{};
  const Real* radius = nullptr;
  Real skin = 0;
};
inline constexpr std::size_t near_search_padding = 8;

/// Writes the numbers j of [first, last) with |x_i - x_j| < R_i + R_j + skin to `found`, ascending, and
/// returns how many they are. `found` has room for last - first + near_search_padding numbers.
template <int D>
using NearSearch = std::size_t (*)(const BodyColumns<D>& bodies, Index i, Index first, Index last,
                                   Index* found);

/// The search for one instruction set; all find the same.
template <int D>
struct NearSearches {
  std::string_view instruction_set;
  NearSearch<D> within_box;     ///< for columns whose `period` is 0 throughout
  NearSearch<D> through_faces;  ///< for any
};

/// The set to take: see core/simd.hpp.
template <int D>
const NearSearches<D>& near_searches();
/// All sets that this processor runs.
template <int D>
std::span<const NearSearches<D>* const> available_near_searches();

}  // namespace scree
