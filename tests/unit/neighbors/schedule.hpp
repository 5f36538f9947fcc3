#pragma once
#include <span>
#include <vector>

#include "unit/neighbors/random_state.hpp"

namespace scree {

/// The schedule of a single rank.
template <int D>
struct Schedule {
  Lattice<D> lattice;
  State<D> state;
  SweepSchedule<D> schedule;

  Schedule(const Box<D>& box, const std::vector<Body<D>>& bodies, Real skin, int cells_per_block,
           ObstacleSet<D> obstacles = {}, int size_classes = 0)
      : state(state_of(Comm(MPI_COMM_SELF), box, bodies, [](GlobalId) { return true; })) {
    Real largest = 0, second = 0;
    for (const Body<D>& body : bodies) {
      second = std::max(second, std::min(body.radius, largest));
      largest = std::max(largest, body.radius);
    }
    lattice = Lattice<D>::make(box, largest, skin, cells_per_block, second);
    std::vector<Place> places;
    find_places<D>(lattice, state.bodies.position(), places);
    std::vector<Index> order;
    sort_by_place(places, state.bodies.id(), order);
    state.bodies.reorder(order);
    find_places<D>(lattice, state.bodies.position(), places);
    BlockTable<D> table;
    table.add(lattice, state.bodies.position(), places, 0, true);
    obstacles.place(0);
    const std::vector<std::uint8_t> travels(bodies.size(), 0);
    schedule.rebuild(
        lattice, box, table, state.bodies, obstacles, {.size_classes = size_classes},
        [](BlockKey) { return true; }, travels);
  }
  std::vector<IdPair> pairs() const { return pairs_of(schedule, state.bodies.id()); }
};

}  // namespace scree
