#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "neighbors/sweep_schedule.hpp"
#include "state/state.hpp"

namespace scree {

template <int D>
struct Body {
  GlobalId id;
  Vec<D> position;
  Real radius;
};

/// n bodies anywhere in the box, the same on all ranks; they may overlap.
template <int D>
std::vector<Body<D>> random_bodies(const Box<D>& box, int n, Real smallest, Real largest,
                                   std::uint64_t seed) {
  std::vector<Body<D>> bodies;
  for (GlobalId id = 0; id < n; ++id) {
    RandomStream stream(seed, id, 1);
    Body<D> body{id, {}, stream.uniform(smallest, largest)};
    for (int k = 0; k < D; ++k) body.position[k] = stream.uniform(box.lower[k], box.upper[k]);
    bodies.push_back(body);
  }
  return bodies;
}

/// Those of `bodies` that `mine(id)` chooses, as owned bodies of a new state.
template <int D, class Mine>
State<D> state_of(const Comm& comm, const Box<D>& box, const std::vector<Body<D>>& bodies, const Mine& mine) {
  State<D> state{.comm = comm, .box = box};
  for (const Body<D>& body : bodies) {
    if (!mine(body.id)) continue;
    const Index i = state.bodies.n_owned();
    const std::size_t at = i;
    state.bodies.resize(i + 1, 0);
    state.bodies.id()[at] = body.id;
    state.bodies.position()[at] = body.position;
    state.bodies.previous()[at] = body.position;
    state.bodies.radius()[at] = body.radius;
    state.bodies.mobility()[at] = 1;
  }
  state.memory.clear(state.bodies.n_owned());
  return state;
}

/// Shortest vector from b to an image of a.
template <int D>
Vec<D> nearest_image(const Box<D>& box, const Vec<D>& a, const Vec<D>& b) {
  Vec<D> d = a - b;
  for (int k = 0; k < D; ++k)
    if (box.is_periodic(k)) d[k] -= box.length(k) * std::round(d[k] / box.length(k));
  return d;
}

using IdPair = std::pair<GlobalId, GlobalId>;  // the smaller id first

/// All pairs with gap < skin, by looking at every pair; in ascending order.
template <int D>
std::vector<IdPair> near_pairs(const Box<D>& box, const std::vector<Body<D>>& bodies, Real skin) {
  std::vector<IdPair> pairs;
  for (const Body<D>& a : bodies)
    for (const Body<D>& b : bodies)
      if (a.id < b.id && norm(nearest_image(box, a.position, b.position)) < a.radius + b.radius + skin)
        pairs.emplace_back(a.id, b.id);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// The candidates of a schedule in the order of a sweep. `ids` are those of the local bodies.
template <int D>
std::vector<IdPair> pairs_of(const SweepSchedule<D>& schedule, std::span<const GlobalId> ids) {
  std::vector<IdPair> pairs;
  schedule.for_each_pair(
      [&](std::size_t, Index low, Index high, Index) { pairs.emplace_back(ids[low], ids[high]); });
  return pairs;
}

/// The bodies that the pairs of a block name, each once.
template <int D>
std::vector<Index> bodies_of(const SweepSchedule<D>& schedule,
                             const typename SweepSchedule<D>::Block& block) {
  std::vector<Index> bodies;
  schedule.for_each_pair(block, [&](std::size_t, Index low, Index high, Index) {
    bodies.push_back(low);
    bodies.push_back(high);
  });
  std::sort(bodies.begin(), bodies.end());
  bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  return bodies;
}

}  // namespace scree
