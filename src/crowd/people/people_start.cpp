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

Real People::max_that_fit(const StartSpace& space, const Mixture& mixture) {
  const Real area = mixture.mean_disk_area();
  return densest_disks * space.usable_area(2 * std::sqrt(area / std::numbers::pi)) / area;
}

void People::put_person(State<2>& state, Index i, const Person& person) {
  BodyStore<2>& bodies = state.bodies;
  bodies.id()[i] = person.id;
  bodies.position()[i] = person.x;
  bodies.previous()[i] = person.x;
  bodies.radius()[i] = person.radius;
  bodies.mobility()[i] = 1;
  bodies.type()[i] = person.body_type;
  if (bodies.carries_levels()) bodies.level()[i] = person.level;
  agent::agent_type(bodies)[i] = person.kind;
  agent::desired_speed(bodies)[i] = person.speed;
  agent::entered_at(bodies)[i] = state.clock.time;
  agent::stood_since(bodies)[i] = state.clock.time;
  agent::route_radius(bodies)[i] = person.radius;
  agent::premovement_end(bodies)[i] = state.clock.time + person.premovement;
  agent::journey(bodies)[i] = person.journey;
  agent::journey_step(bodies)[i] = 0;
  agent::destination(bodies)[i] = -1;
  agent::group(bodies)[i] = static_cast<std::int32_t>(person.together);
}

Real People::reach_of_starts() const {
  Real reach = largest_radius();
  for (const Population& p : populations_)
    if (p.groups)
      for (const std::int64_t size : p.groups->sizes)
        reach = std::max(reach, GroupDisk(size, p.mixture.largest_radius()).radius);
  return reach;
}

/// Finds places for the people of one population after the other.
struct People::Placement {
  /// Who is placed on one level.
  struct OnLevel {
    NearObstacles near;
    std::vector<std::unique_ptr<StartSpace>> spaces{};
    std::vector<const StartSpace*> views{};
    std::vector<const Population*> populations{};  // of the spaces
    std::vector<PlacedPerson> people{};
  };
  struct Numbering {
    GlobalId first_id = 0;
    std::optional<GroupList> group_list{};
  };

  const People& all;
  State<2>& state;
  const BuildingPlan& building;
  std::uint64_t seed;
  std::span<const Person> listed;  // of files
  std::map<int, OnLevel> levels{};
  std::map<const Population*, Numbering> numbering{};

  void place(const Population& population);
  std::vector<NewBody<2>> fixed_near(int level) const;
  void add_placed(std::vector<Person>& people) const;
};

/// People of this rank who have their places and may touch those of a level.
std::vector<NewBody<2>> People::Placement::fixed_near(int level) const {
  std::vector<NewBody<2>> fixed;
  const auto keep = [&](const NewBody<2>& body, int of) {
    if (building.may_touch(body.position, of, level, 2 * all.largest_radius())) fixed.push_back(body);
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
    keep({state.bodies.id()[i], state.bodies.position()[i], state.bodies.radius()[i]},
         level_of(state.bodies, i));
  for (const Person& person : listed) keep({person.id, person.x, person.radius}, person.level);
  for (const auto& [number, other] : levels)
    for (const PlacedPerson& person : other.people)
      if (number != level) keep(person.body, number);
  return fixed;
}

void People::Placement::place(const Population& population) {
  const std::span<const Exit> exits = all.journey_plan_->exits();
  if (!levels.contains(population.level))
    levels.emplace(population.level, OnLevel{.near = {state.obstacles, exits, state.box, population.level,
                                                      all.reach_of_starts()}});
  OnLevel& level = levels.at(population.level);
  level.populations.push_back(&population);
  level.spaces.push_back(std::make_unique<StartSpace>(building, level.near, exits, state.box,
                                                      population.region, population.where));
  level.views.push_back(level.spaces.back().get());
  const StartSpace& space = *level.views.back();
  const std::int64_t n = population.n_people(space.area());
  const Mixture& mixture = population.mixture;
  const auto max = static_cast<std::int64_t>(max_that_fit(space, mixture));
  const auto refuse = [&](const std::string& reason) {
    throw InputError(
        fmt::format("{}: the {} people of [populations.{}] {}: {} holds {} such people at most, as close as "
                    "disks can be; ask for fewer, or for a larger region",
                    population.where, n, population.name, reason, space.text(), max));
  };
  if (n == 0)
    throw InputError(fmt::format("{}: density = {:g} is less than half a person in {}", population.where,
                                 population.density, space.text()));
  if (n > max) refuse("do not fit");
  if (population.groups) population.groups->require_room(n, population.name);
  auto& [first_id, group_list] = numbering[&population];
  first_id = all.take_ids(state, n);
  const std::vector<NewBody<2>> fixed = fixed_near(population.level);
  const PlacementTask task{.comm = state.comm,
                           .domain = state.box,
                           .seed = seed,
                           .first_id = first_id,
                           .count = n,
                           .radius = [&](GlobalId id) { return mixture.radius(seed, id); },
                           .spaces = level.views,
                           .fixed = fixed,
                           .back_and_forth = population.groups.has_value()};
  if (population.groups) {
    if (state.next_id > std::numeric_limits<std::int32_t>::max())
      throw InputError(population.groups->where + ": groups need ids below 2^31: fewer people");
    group_list.emplace(*population.groups, n);
  }
  const bool has_room =
      population.on_lattice ? place_on_lattice(task, level.people)
      : group_list ? place_groups_at_random(task, *group_list, mixture.largest_radius(), level.people)
                   : place_at_random(task, level.people);
  if (!has_room)
    refuse(population.on_lattice
               ? "do not fit on a lattice that is wide enough for the largest of them and clear of others"
               : "found no room without overlaps");
}

/// Adds those of this rank, with what they are like.
void People::Placement::add_placed(std::vector<Person>& people) const {
  for (const auto& [number, level] : levels)
    for (const auto& [body, space] : level.people) {
      const Population& population = *level.populations[space];
      Person& person = people.emplace_back(population.mixture.draw(seed, body.id,
                                                                   {.id = body.id,
                                                                    .x = body.position,
                                                                    .radius = body.radius,
                                                                    .level = number,
                                                                    .journey = population.journey,
                                                                    .body_type = population.body_type}));
      const auto& [first_id, group_list] = numbering.at(&population);
      if (!group_list) continue;
      const auto [first_member, size] = group_list->group_of(body.id - first_id);
      if (size > 1) person.together = first_id + first_member;
    }
}

void People::populate(State<2>& state, const BuildingPlan& building, std::uint64_t seed) const {
  std::vector<Person> people = start_from_files(state, building, seed);
  Placement placement{.all = *this, .state = state, .building = building, .seed = seed, .listed = people};
  for (const Population& population : populations_)
    if (!population.file.is_given()) placement.place(population);
  placement.add_placed(people);
  const Index n_before = state.bodies.n_owned();
  state.bodies.resize(n_before + static_cast<Index>(people.size()), 0);
  for (std::size_t k = 0; k < people.size(); ++k)
    put_person(state, n_before + static_cast<Index>(k), people[k]);
  share_route_radii(state);
  check_arrivals(state, building, seed);
}

/// Members of a group walk where the widest of them fits through.
void People::share_route_radii(State<2>& state) {
  struct Width {
    GlobalId group;
    Real radius;
    std::int32_t rank;
  };
  const BodyStore<2>& bodies = state.bodies;
  const std::size_t n = bodies.n_owned();
  Outgoing to_homes;
  for (std::size_t i = 0; i < n; ++i)
    if (const GlobalId group = agent::group(bodies)[i]; group >= 0)
      to_homes.to(static_cast<int>(group % state.comm.size()))
          .put(Width{group, bodies.radius()[i], state.comm.rank()});
  const std::vector<Width> arrived = exchange_values<Width>(state.comm, to_homes);
  std::map<GlobalId, Real> widest;
  const auto widen = [&](const Width& w) { widest[w.group] = std::max(widest[w.group], w.radius); };
  std::ranges::for_each(arrived, widen);
  Outgoing back;
  for (const Width& w : arrived) back.to(w.rank).put(Width{w.group, widest[w.group], w.rank});
  widest.clear();
  std::ranges::for_each(exchange_values<Width>(state.comm, back), widen);
  for (std::size_t i = 0; i < n; ++i)
    if (const auto found = widest.find(agent::group(bodies)[i]); found != widest.end())
      agent::route_radius(state.bodies)[i] = found->second;
}

}  // namespace scree
