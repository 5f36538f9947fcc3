#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace scree {

/// What became of a house of cards, in the order of Tables 18 and 19 of Chen, Ly and Wojtan (2024): it
/// stands; only the top two cards fell; they fell and took others along; it fell as a whole.
enum class HouseOutcome { stands, top_falls, cascade, collapses };

inline std::string letters_of(HouseOutcome outcome) {
  constexpr const char* letters[] = {"S", "PC", "CC", "TC"};
  return letters[static_cast<int>(outcome)];
}

/// When cards fell [s], infinity for those that did not; `top`: the two cards of the top storey.
struct CardFalls {
  std::vector<Real> top, others;

  Real first_of_top() const { return std::ranges::min(top); }
  Real first_of_others() const { return std::ranges::min(others); }
  std::size_t count() const {
    const auto fell = [](Real time) { return std::isfinite(time); };
    return static_cast<std::size_t>(std::ranges::count_if(top, fell) + std::ranges::count_if(others, fell));
  }
  /// The tables' classes were judged by eye; this rule stands in for the eye: others fell more than 50 ms
  /// after the first of the top, and fewer than nine tenths of all, where the top took others along.
  HouseOutcome outcome() const {
    constexpr Real later = 0.05, nearly_all = 0.9;
    if (count() == 0) return HouseOutcome::stands;
    if (!std::isfinite(first_of_others())) return HouseOutcome::top_falls;
    const bool all = static_cast<Real>(count()) >= nearly_all * static_cast<Real>(top.size() + others.size());
    return first_of_others() > first_of_top() + later && !all ? HouseOutcome::cascade
                                                              : HouseOutcome::collapses;
  }
};

}  // namespace scree
