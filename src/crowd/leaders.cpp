// People who go where a leader goes.
#include <mpi.h>

#include <algorithm>

#include "crowd/agent_fields.hpp"
#include "crowd/journeys.hpp"
#include "particles/fill/region.hpp"

namespace scree {

namespace {

/// Somebody whom others may follow.
struct Leader {
  GlobalId id;
  Vec<2> x;
  std::int32_t level;
  std::int32_t kind;
  std::int32_t destination;
};

/// The leaders of all ranks, by id.
std::vector<Leader> all_leaders(const Comm& comm, const std::vector<Leader>& mine) {
  const auto size = static_cast<std::size_t>(comm.size());
  const int n_bytes = static_cast<int>(mine.size() * sizeof(Leader));
  std::vector<int> counts(size), first(size);
  MPI_Allgather(&n_bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, comm.handle());
  int total = 0;
  for (std::size_t r = 0; r < size; ++r) first[r] = total, total += counts[r];
  std::vector<Leader> all(static_cast<std::size_t>(total) / sizeof(Leader));
  MPI_Allgatherv(mine.data(), n_bytes, MPI_BYTE, all.data(), counts.data(), first.data(), MPI_BYTE,
                 comm.handle());
  std::ranges::sort(all, {}, &Leader::id);
  return all;
}

}  // namespace

void Journeys::follow_leaders(State<2>& state) {
  if (std::ranges::all_of(familiarity_, [](const Familiarity& f) { return f.leaders < 0; })) return;
  BodyStore<2>& bodies = state.bodies;
  const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
  const auto is_leader = [&](std::int32_t kind) {
    return std::ranges::any_of(familiarity_, [&](const Familiarity& f) { return f.leaders == kind; });
  };
  const auto n_exits = static_cast<std::int32_t>(exits_.size());
  std::vector<Leader> mine;
  for (std::size_t i = 0; i < n_owned; ++i) {
    const std::int32_t to = agent::destination(bodies)[i];
    if (to < 0 || to >= n_exits || !is_leader(agent::type(bodies)[i])) continue;
    mine.push_back({bodies.id()[i], wrapped(state.box, bodies.position()[i]), level_of(bodies, i),
                    agent::type(bodies)[i], to});
  }
  const std::vector<Leader> leaders = all_leaders(state.comm, mine);
  for (std::size_t i = 0; i < n_owned; ++i) {
    const Familiarity& own = familiarity_[static_cast<std::size_t>(agent::type(bodies)[i])];
    std::int32_t& destination = agent::destination(bodies)[i];
    if (own.leaders < 0 || destination < 0 || destination >= n_exits) continue;
    if (!may_change_exit(state, i)) continue;
    const Vec<2> x = wrapped(state.box, bodies.position()[i]);
    const Leader* nearest = nullptr;
    Real least = own.follow_reach * own.follow_reach;
    for (const Leader& leader : leaders) {
      if (leader.kind != own.leaders || leader.level != level_of(bodies, i) || leader.id == bodies.id()[i])
        continue;
      Vec<2> way = leader.x - x;
      for (int k = 0; k < 2; ++k)
        if (state.box.is_periodic(k))
          way[k] -= state.box.length(k) * std::round(way[k] / state.box.length(k));
      const Real square = dot(way, way);
      if (nearest ? square < least : square <= least) least = square, nearest = &leader;
    }
    if (nearest && is_open_[static_cast<std::size_t>(nearest->destination)] != 0)
      destination = nearest->destination;
  }
}

/// Whether person i is at a step that leads to exits, and not in the opening of one that shuts.
bool Journeys::may_change_exit(const State<2>& state, std::size_t i) const {
  const BodyStore<2>& bodies = state.bodies;
  const std::int32_t journey = agent::journey(bodies)[i];
  if (journey < 0 || agent::dose(bodies)[i] >= 1) return false;
  const Step& step = journeys_[static_cast<std::size_t>(journey)]
                         .steps[static_cast<std::size_t>(agent::journey_step(bodies)[i])];
  return step.is_exit && closed_exit_around(wrapped(state.box, bodies.position()[i]), level_of(bodies, i),
                                            bodies.radius()[i], agent::destination(bodies)[i]) < 0;
}

}  // namespace scree
