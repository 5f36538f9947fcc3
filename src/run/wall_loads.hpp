#pragma once
#include <span>
#include <vector>

#include "contact/contact_graph.hpp"
#include "state/state.hpp"

namespace scree {

/// What bodies exert on the drawn cells of obstacles, cells in the order of the outlines.
struct WallLoads {
  std::vector<double> force;     ///< three components per cell [N; m/s in first-order schemes]
  std::vector<double> pressure;  ///< sum of the normal forces over the area, compression positive [Pa]
};

/// The loads of the `outlines` of all obstacles, in their order. Of a shape that draws one cell per part (a
/// mesh) each cell has its own; of others all cells share the load of the obstacle by area (2D: by length, 1
/// m thick). Sums are exact multiples of 2^-40 of the largest force, so they do not depend on the ranks.
/// Rank 0, which draws, gets them; the others get none. O(contacts + cells). Collective.
template <int D>
WallLoads wall_loads(const State<D>& state, const ContactGraph<D>& contacts,
                     std::span<const Outline<D>> outlines);

}  // namespace scree
