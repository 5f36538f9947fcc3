#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/section.hpp"
#include "core/types.hpp"

namespace scree {

/// Keys of [neighbors], [decomposition] and of what happens at open faces of the domain.
struct NeighborhoodSettings {
  /// What pairs are listed for, if for more than contacts.
  struct Purpose {
    std::string_view what = "the neighbour list";
    std::string_view set_by = "the radii";  ///< what makes its range long
    std::int64_t block_cells = 0;           ///< instead of the choice for contacts; 0: that choice
  };
  Real skin = 0;                  ///< [m]; 0: chosen from the radii
  std::int64_t size_classes = 0;  ///< of the search; 0: as many as pay. Never changes results
  std::int64_t block_cells = 0;  ///< cells along the edge of a block; 0: chosen from dimension and body count
  Real rebalance_threshold = 1.1;
  Real rebalance_cost = 2;
  bool rebalance = true;
  /// What a block weighs: what its load is measured to cost, or its bodies and candidate pairs.
  enum class Weights : std::uint8_t { automatic, measured, counts };
  Weights weights = Weights::automatic;
  Purpose purpose;
  bool has_problems = false;    ///< contact problems (SchemeTraits)
  bool in_classes = true;       ///< pairs of a batch have no common body (SchemeTraits)
  bool searches_pairs = false;  ///< pairs are searched between lists (SchemeTraits)

  void describe(Section& root);
  /// Replaces "auto" by what suits a scheme.
  void choose_weights(bool same_for_any_owners) {
    if (weights == Weights::automatic) weights = same_for_any_owners ? Weights::measured : Weights::counts;
  }
};

/// Bodies that are made after the start of a run.
struct BodiesToCome {
  std::int64_t count = 0;
  Real smallest = HUGE_VAL;  ///< radius [m]; a typical one will do
  Real largest = 0;          ///< no radius exceeds it [m]
  void include(const BodiesToCome& others) {
    count += others.count;
    smallest = std::min(smallest, others.smallest);
    largest = std::max(largest, others.largest);
  }
};

/// What becomes of a body found outside an open face of the domain.
enum class Outside { error, remove, keep };

}  // namespace scree
