// People who go where a leader goes.
#include <algorithm>
#include <cmath>

#include "analysis/gathered.hpp"
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

}  // namespace

void Journeys::follow_leaders(State<2>& state, const FloorField& floor_field) {
  if (std::ranges::all_of(familiarity_, [](const Familiarity& f) { return f.leaders < 0; })) return;
  BodyStore<2>& bodies = state.bodies;
  const auto n_owned = static_cast<std::size_t>(bodies.n_owned());
  const auto is_leader = [&](std::int32_t kind) {
    return std::ranges::any_of(familiarity_, [&](const Familiarity& f) { return f.leaders == kind; });
  };
  std::vector<Leader> mine;
  for (std::size_t i = 0; i < n_owned; ++i) {
    const std::int32_t to = agent::destination(bodies)[i];
    if (!is_exit(to) || !is_leader(agent::type(bodies)[i])) continue;
    mine.push_back({bodies.id()[i], wrapped(state.box, bodies.position()[i]), level_of(bodies, i),
                    agent::type(bodies)[i], to});
  }
  const std::vector<Leader> leaders = gathered_by_id(state.comm, mine);
  for (std::size_t i = 0; i < n_owned; ++i) {
    const Familiarity& own = familiarity_[static_cast<std::size_t>(agent::type(bodies)[i])];
    std::int32_t& destination = agent::destination(bodies)[i];
    if (own.leaders < 0 || !is_exit(destination)) continue;
    if (!may_change_exit(state, i)) continue;
    const Vec<2> x = wrapped(state.box, bodies.position()[i]);
    const Leader* nearest = nullptr;
    Real least = own.follow_reach * own.follow_reach;
    for (const Leader& leader : leaders) {
      if (leader.kind != own.leaders || leader.level != level_of(bodies, i) || leader.id == bodies.id()[i])
        continue;
      const Vec<2> way = state.box.shortest(leader.x - x);
      const Real square = dot(way, way);
      if (nearest ? square < least : square <= least) least = square, nearest = &leader;
    }
    if (nearest && is_open_[static_cast<std::size_t>(nearest->destination)] != 0 &&
        std::isfinite(floor_field.travel_time(nearest->destination, x, level_of(bodies, i),
                                              agent::way_radius(bodies)[i])))
      destination = nearest->destination;
  }
}

/// Whether person i is at a step that leads to exits, chooses for itself (of a group one member does), and is
/// not in the opening of an exit that shuts.
bool Journeys::may_change_exit(const State<2>& state, std::size_t i) const {
  const BodyStore<2>& bodies = state.bodies;
  const std::int32_t journey = agent::journey(bodies)[i];
  const GlobalId party = agent::party(bodies)[i];
  if (journey < 0 || (party >= 0 && party != bodies.id()[i])) return false;
  const Step& step = journeys_[static_cast<std::size_t>(journey)]
                         .steps[static_cast<std::size_t>(agent::journey_step(bodies)[i])];
  return step.is_exit && closed_exit_around(wrapped(state.box, bodies.position()[i]), level_of(bodies, i),
                                            bodies.radius()[i], agent::destination(bodies)[i]) < 0;
}

}  // namespace scree
