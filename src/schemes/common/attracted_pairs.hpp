#pragma once
#include <vector>

#include "state/state.hpp"

namespace scree {

/// Two materials that attract each other and may touch, and their largest and smallest bodies.
struct AttractedPair {
  int a = 0, b = 0;
  bool at_obstacle = false;         ///< b is that of an obstacle
  Real largest = 0;                 ///< effective radius [m]
  Real smallest = 0;                ///< the same
  Real heaviest = 0, lightest = 0;  ///< of the lighter of two bodies [kg]
};

/// Of the bodies that there are; without some that can move there is no pair. Collective, O(bodies).
template <int D>
std::vector<AttractedPair> attracted_pairs(const State<D>& state);

/// Throws InputError, naming the pair, for an attraction that gravity or sizes make meaningless: a Bond
/// number without gravity, more liquid than R^3. Warns of pull-off forces far above weights. Local, the same
/// on all ranks.
template <int D>
void check_cohesion(const State<D>& state, const std::vector<AttractedPair>& attracted);

}  // namespace scree
