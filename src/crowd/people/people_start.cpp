#include <fmt/format.h>

#include <limits>
#include <map>

#include "core/error.hpp"
#include "core/sparse_all_to_all.hpp"
#include "crowd/agent_fields.hpp"
#include "crowd/people/crowd_placement.hpp"
#include "crowd/people/group_placement.hpp"
#include "crowd/people/people.hpp"

namespace scree {

Real People::most_that_fit(const StartSpace& space, const Mixture& mixture) {
  const Real area = mixture.mean_disk_area();
  return densest_disks * space.usable_area(2 * std::sqrt(area / std::numbers::pi)) / area;
}

void People::put_person(State<2>& state, Index i, const NewBody<2>& made, const Traits& traits, int level,
                        std::size_t group, int journey) {
  BodyStore<2>& bodies = state.bodies;
  const auto at = static_cast<std::size_t>(i);
  bodies.id()[at] = made.id;
  bodies.position()[at] = made.position;
  bodies.previous()[at] = made.position;
  bodies.radius()[at] = made.radius;
  bodies.mobility()[at] = 1;
  bodies.group()[at] = static_cast<std::int32_t>(group);
  if (bodies.carries_levels()) bodies.level()[at] = level;
  agent::type(bodies)[at] = traits.kind;
  agent::desired_speed(bodies)[at] = traits.desired_speed;
  agent::entered_at(bodies)[at] = state.clock.time;
  agent::stood_since(bodies)[at] = state.clock.time;
  agent::way_radius(bodies)[at] = made.radius;
  agent::premovement_end(bodies)[at] = state.clock.time + traits.premovement;
  agent::journey(bodies)[at] = journey;
  agent::journey_step(bodies)[at] = 0;
  agent::destination(bodies)[at] = -1;
  agent::party(bodies)[at] = -1;
}

Real People::reach_of_starts() const {
  Real reach = largest_radius();
  for (const Population& p : populations_)
    if (p.groups)
      for (const std::int64_t size : p.groups->sizes)
        reach = std::max(reach, GroupDisk(size, p.mixture.largest_radius()).radius);
  return reach;
}

namespace {

/// Who is placed on one level.
struct PlacedOnLevel {
  explicit PlacedOnLevel(NearObstacles&& obstacles) : near(std::move(obstacles)) {}

  NearObstacles near;
  std::vector<std::unique_ptr<StartSpace>> spaces{};
  std::vector<const StartSpace*> views{};
  std::vector<std::size_t> populations{};  // of the spaces
  std::vector<PlacedPerson> people{};
};

}  // namespace

void People::populate(State<2>& state, const BuildingPlan& building, std::uint64_t seed) const {
  const std::vector<ListedPerson> listed = start_from_files(state, building, seed);
  std::map<int, PlacedOnLevel> levels;
  std::vector<GlobalId> first_ids(populations_.size());
  std::vector<std::optional<GroupList>> parties(populations_.size());
  for (std::size_t p = 0; p < populations_.size(); ++p) {
    const Population& population = populations_[p];
    if (population.file.is_given()) continue;
    const auto entry =
        levels
            .try_emplace(population.level, NearObstacles(state.obstacles, journeys_->exits(), state.box,
                                                         population.level, reach_of_starts()))
            .first;
    PlacedOnLevel& level = entry->second;
    std::vector<NewBody<2>> fixed;
    const auto keep = [&](const NewBody<2>& body, int of) {
      if (building.may_touch(body.position, of, population.level, 2 * largest_radius()))
        fixed.push_back(body);
    };
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
      keep({state.bodies.id()[i], state.bodies.position()[i], state.bodies.radius()[i]},
           level_of(state.bodies, i));
    for (const ListedPerson& person : listed) keep(person.body, person.level);
    for (const auto& [number, other] : levels)
      for (const PlacedPerson& person : other.people)
        if (number != population.level) keep(person.body, number);
    level.populations.push_back(p);
    level.spaces.push_back(std::make_unique<StartSpace>(building, level.near, journeys_->exits(), state.box,
                                                        population.region, population.where));
    level.views.push_back(level.spaces.back().get());
    const StartSpace& space = *level.views.back();
    const std::int64_t n = population.n_people(space.area());
    const Mixture& mixture = population.mixture;
    const auto most = static_cast<std::int64_t>(most_that_fit(space, mixture));
    const auto refuse = [&](const std::string& reason) {
      throw InputError(fmt::format(
          "{}: the {} people of [populations.{}] {}: {} holds {} such people at most, as close as "
          "disks can be; ask for fewer, or for a larger region",
          population.where, n, population.name, reason, space.text(), most));
    };
    if (n == 0)
      throw InputError(fmt::format("{}: density = {:g} is less than half a person in {}", population.where,
                                   population.density, space.text()));
    if (n > most) refuse("do not fit");
    if (population.groups) population.groups->require_room(n, population.name);
    first_ids[p] = take_ids(state, n);
    const PlacementTask task{.comm = state.comm,
                             .domain = state.box,
                             .seed = seed,
                             .first_id = first_ids[p],
                             .count = n,
                             .radius = [&](GlobalId id) { return mixture.radius(seed, id); },
                             .spaces = level.views,
                             .fixed = fixed,
                             .back_and_forth = population.groups.has_value()};
    if (population.groups) {
      if (state.next_id > std::numeric_limits<std::int32_t>::max())
        throw InputError(population.groups->where + ": groups need ids below 2^31: fewer people");
      parties[p].emplace(*population.groups, n);
    }
    const bool has_room =
        population.on_lattice ? place_on_lattice(task, level.people)
        : parties[p] ? place_groups_at_random(task, *parties[p], mixture.largest_radius(), level.people)
                     : place_at_random(task, level.people);
    if (!has_room)
      refuse(population.on_lattice
                 ? "do not fit on a lattice that is wide enough for the largest of them and clear of others"
                 : "found no room without overlaps");
  }

  Index i = state.bodies.n_owned();
  std::size_t n_people = 0;
  for (const auto& [number, level] : levels) n_people += level.people.size();
  state.bodies.resize(i + static_cast<Index>(n_people + listed.size()), 0);
  for (const ListedPerson& person : listed) {
    put_person(state, i, person.body, person.traits, person.level, static_cast<std::size_t>(person.group),
               person.journey);
    agent::party(state.bodies)[static_cast<std::size_t>(i++)] = person.party;
  }
  for (const auto& [number, level] : levels)
    for (const PlacedPerson& person : level.people) {
      const std::size_t group = level.populations[static_cast<std::size_t>(person.space)];
      const Population& population = populations_[group];
      put_person(state, i, person.body, population.mixture.draw(seed, person.body.id), number, group,
                 population.journey);
      if (const auto& list = parties[group]) {
        const std::int64_t k = list->group_of(person.body.id - first_ids[group]);
        if (list->size(k) > 1)
          agent::party(state.bodies)[static_cast<std::size_t>(i)] =
              static_cast<std::int32_t>(first_ids[group] + list->first_member(k));
      }
      ++i;
    }
  share_way_radii(state);
  check_arrivals(state, building, seed);
}

/// Members of a group walk where the widest of them fits through.
void People::share_way_radii(State<2>& state) {
  struct Width {
    GlobalId party;
    Real radius;
    std::int32_t rank;
  };
  const BodyStore<2>& bodies = state.bodies;
  const auto n = static_cast<std::size_t>(bodies.n_owned());
  Outgoing to_homes;
  for (std::size_t i = 0; i < n; ++i)
    if (const GlobalId party = agent::party(bodies)[i]; party >= 0)
      to_homes.to(static_cast<int>(party % state.comm.size()))
          .put(Width{party, bodies.radius()[i], state.comm.rank()});
  const std::vector<Width> arrived = exchange_values<Width>(state.comm, to_homes);
  std::map<GlobalId, Real> widest;
  const auto note = [&](const Width& w) { widest[w.party] = std::max(widest[w.party], w.radius); };
  std::ranges::for_each(arrived, note);
  Outgoing back;
  for (const Width& w : arrived) back.to(w.rank).put(Width{w.party, widest[w.party], w.rank});
  widest.clear();
  std::ranges::for_each(exchange_values<Width>(state.comm, back), note);
  for (std::size_t i = 0; i < n; ++i)
    if (const auto found = widest.find(agent::party(bodies)[i]); found != widest.end())
      agent::way_radius(state.bodies)[i] = found->second;
}

}  // namespace scree
