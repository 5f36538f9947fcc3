#pragma once
#include <cstdint>
#include <vector>

#include "contact/contact_graph.hpp"
#include "state/state.hpp"

namespace scree {

/// The drawn lines of obstacles in the plane with the force of people on them, for ParaView.
struct LoadedWalls {
  std::vector<double> points;          ///< 3 per point; on rank 0 only, as all that follows
  std::vector<std::int64_t> lines;     ///< 2 per line
  std::vector<std::int32_t> obstacle;  ///< per line
  std::vector<double> load;            ///< per line [N/m]
};
/// Each line of an outline in equal pieces of at most 1 m; the load of a piece is the sum of the present
/// contact forces on it over its length. Independent of the number of ranks. Collective; O(contacts +
/// pieces).
LoadedWalls loaded_walls(const State<2>& state, const ContactGraph<2>& contacts, Real force_per_speed);

}  // namespace scree
