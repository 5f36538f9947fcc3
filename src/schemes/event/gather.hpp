#pragma once
#include <mpi.h>

#include <algorithm>
#include <vector>

#include "schemes/event/engine.hpp"
#include "state/state.hpp"

namespace scree {

/// All bodies of all ranks, on every rank, in the order of their ids. Memory and time in proportion to their
/// number on each rank: for runs of few bodies. Collective.
template <int D>
std::vector<FlyingBody<D>> gather_bodies(const State<D>& state) {
  const BodyStore<D>& store = state.bodies;
  std::vector<FlyingBody<D>> mine;
  for (std::size_t i = 0; i < static_cast<std::size_t>(store.n_owned()); ++i)
    mine.push_back({store.id()[i], store.position()[i], store.velocity()[i], store.radius()[i],
                    store.mass()[i], state.type_material[store.type()[i]], store.mobility()[i] == 0});
  constexpr int size = sizeof(FlyingBody<D>);
  const int n_ranks = state.comm.size();
  const int n_bytes = static_cast<int>(mine.size()) * size;
  std::vector<int> counts(n_ranks), starts(static_cast<std::size_t>(n_ranks));
  MPI_Allgather(&n_bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, state.comm.handle());
  int total = 0;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    starts[r] = total;
    total += counts[r];
  }
  std::vector<FlyingBody<D>> all(static_cast<std::size_t>(total / size));
  MPI_Allgatherv(mine.data(), n_bytes, MPI_BYTE, all.data(), counts.data(), starts.data(), MPI_BYTE,
                 state.comm.handle());
  std::ranges::sort(all, {}, &FlyingBody<D>::id);
  return all;
}

/// Puts positions and velocities of all bodies back where they belong. Local.
template <int D>
void scatter_bodies(const std::vector<FlyingBody<D>>& all, State<D>& state) {
  BodyStore<D>& store = state.bodies;
  for (std::size_t i = 0; i < static_cast<std::size_t>(store.n_owned()); ++i) {
    const auto body = std::ranges::lower_bound(all, store.id()[i], {}, &FlyingBody<D>::id);
    store.previous()[i] = store.position()[i];
    store.position()[i] = body->position;
    store.velocity()[i] = body->velocity;
  }
}

}  // namespace scree
