#pragma once
#include <cstdint>

#include "core/parallel.hpp"
#include "geometry/box.hpp"
#include "geometry/lattice.hpp"
#include "geometry/obstacle.hpp"
#include "particles/body_store.hpp"
#include "particles/contact_memory.hpp"

namespace scree {

/// Where a run stands in time.
struct Clock {
  std::int64_t step = 0;  ///< steps taken
  Real time = 0;          ///< [s]
  Real last_dt = 0;       ///< length of the last step [s]; 0 before the first
  Real listed_time = 0;   ///< when the neighbour list was built [s]
};

/// All that a restart needs; everything else can be rebuilt from it (and from the deck).
template <int D>
struct State {
  Comm comm;
  Box<D> box;
  BodyStore<D> bodies;
  ObstacleSet<D> obstacles;
  Clock clock;
  Lattice<D> lattice;    ///< the global lattice of cell blocks that orders sweeps: independent of the ranks
  ContactMemory memory;  ///< multipliers remembered by pair
  GlobalId next_id = 0;  ///< the first unused global id
};

}  // namespace scree
