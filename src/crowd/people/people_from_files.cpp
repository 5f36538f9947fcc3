// People one by one: those of files.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "crowd/people/people.hpp"
#include "particles/file_rows.hpp"
#include "particles/packing/region.hpp"

namespace scree {

Real People::overlap_limit() const {
  return std::ranges::any_of(populations_, [](const Population& p) { return p.file.is_given(); })
             ? PersonFile::overlap_limit
             : 0;
}

void People::list_arrivals(Source& source, const PersonNames& names) {
  PersonFile& file = source.file;
  file.scan(names);
  const PersonFile::Numbers& numbers = file.numbers();
  if (!numbers.is_on_one_level)
    throw InputError(fmt::format(
        "{}: people of one source come on one floor, those of {} on several: make a source of each floor",
        file.where(), file.path()));
  source.level = numbers.level;
  if (numbers.has_places != source.region.empty())
    throw InputError(
        fmt::format("{}: {}", file.where(),
                    numbers.has_places
                        ? "region has no effect: the file says where people come; remove one of them"
                        : "the file does not say where people come: give it columns x and y, or a region"));
  source.listed.reserve(numbers.count);
  file.for_each([&](const Person& person) { source.listed.push_back(person); });
  std::ranges::stable_sort(source.listed, {}, &Person::time);
  std::vector<Real> times;
  for (const Person& person : source.listed) times.push_back(person.time);
  source.arrivals.come_at(std::move(times));
  std::set<GlobalId> ids;
  for (const Person& person : source.listed)
    if (person.id >= 0 && !ids.insert(person.id).second)
      throw InputError(fmt::format("{}: two people have the id {}", file.place(person.row), person.id));
}

std::vector<const PersonFile*> People::files_with_ids() const {
  std::vector<const PersonFile*> files;
  for_each_origin([&](const Origin& origin) {
    if (origin.file.numbers().has_ids) files.push_back(&origin.file);
  });
  return files;
}

GlobalId People::take_ids(State<2>& state, std::int64_t n) const {
  GlobalId above = state.next_id;
  bool is_free = true;
  for (const PersonFile* file : files_with_ids()) {
    const auto [min, greatest] = std::pair(file->numbers().smallest_id, file->numbers().largest_id);
    is_free = is_free && (greatest < state.next_id || min >= state.next_id + n);
    above = std::max(above, greatest + 1);
  }
  const GlobalId first = is_free ? state.next_id : above;
  state.next_id = first + n;
  return first;
}

void People::require_distinct_ids() const {
  struct Given {
    GlobalId id;
    std::int64_t row;
    std::size_t file;
  };
  const std::vector<const PersonFile*> files = files_with_ids();
  std::vector<Given> given;  // of files whose ids may meet those of others
  for (std::size_t f = 0; f < files.size(); ++f) {
    const PersonFile::Numbers& mine = files[f]->numbers();
    if (std::ranges::any_of(files, [&](const PersonFile* other) {
          return other != files[f] && other->numbers().smallest_id <= mine.largest_id &&
                 other->numbers().largest_id >= mine.smallest_id;
        }))
      files[f]->for_each([&](const Person& person) { given.push_back({person.id, person.row, f}); });
  }
  std::ranges::stable_sort(given, {}, &Given::id);
  const auto place = [&](const Given& one) { return files[one.file]->place(one.row); };
  for (std::size_t k = 1; k < given.size(); ++k)
    if (given[k].id == given[k - 1].id)
      throw InputError(fmt::format("{}: the id {} is that of {}, too: no two people of a run have one id",
                                   place(given[k]), given[k].id, place(given[k - 1])));
}

namespace {

/// A group of a file.
struct ListedGroup {
  GlobalId smallest_id = max_id;
  std::int64_t n_members = 0, row = 0;
  int journey = -1;
};

}  // namespace

/// The least id of each group, by the numbers of groups in the file; of groups of one:
/// -1. `id_of(person, k)`: of the k-th row. Local, alike on all ranks.
template <class IdOf>
std::map<std::int64_t, std::int32_t> People::group_ids_of(const Population& population,
                                                          const IdOf& id_of) const {
  const PersonFile& file = population.file;
  std::map<std::int64_t, ListedGroup> groups;
  std::int64_t k = 0;
  file.for_each([&](const Person& person) {
    const GlobalId id = id_of(person, k++);
    if (person.together < 0) return;
    ListedGroup& group = groups[person.together];
    if (group.n_members++ == 0) {
      group.row = person.row;
      group.journey = person.journey;
      require_shared_exit(person.journey, file.place(person.row));
    }
    if (group.journey != person.journey)
      throw InputError(
          fmt::format("{}: the members of a group share their journey and exit, but those of the group {} "
                      "have others than in row {}",
                      file.place(person.row), person.together, group.row));
    group.smallest_id = std::min(group.smallest_id, id);
  });
  std::map<std::int64_t, std::int32_t> group_ids;
  for (const auto& [number, group] : groups)
    group_ids.emplace(number, group.n_members > 1 ? static_cast<std::int32_t>(group.smallest_id) : -1);
  return group_ids;
}

std::vector<Person> People::read_start(State<2>& state, std::int64_t n_people, std::uint64_t seed) const {
  const EvenShare share(state.comm, n_people);
  std::vector<Person> people;
  people.reserve(share.size());
  std::int64_t n_before = 0;
  for (const Population& population : populations_) {
    const PersonFile& file = population.file;
    if (!file.is_given()) continue;
    const PersonFile::Numbers& numbers = file.numbers();
    const bool has_ids = numbers.has_ids;
    const GlobalId first_id = has_ids ? 0 : take_ids(state, numbers.count);
    std::vector<GlobalId> ids;
    std::int64_t k = 0;
    const auto id_of = [&](const Person& person, std::int64_t row) {
      return has_ids ? person.id : first_id + row;
    };
    if (numbers.has_groups && !has_ids && first_id + numbers.count > max_id)
      throw InputError(file.where() + ": groups need ids below 2^31: fewer people");
    const std::map<std::int64_t, std::int32_t> group_ids =
        numbers.has_groups ? group_ids_of(population, id_of) : std::map<std::int64_t, std::int32_t>();
    file.for_each([&](const Person& listed) {
      const std::int64_t number = n_before + k;
      const GlobalId id = id_of(listed, k);
      ++k;
      if (number < share.first || number >= share.last) return;
      Person& person = people.emplace_back(population.mixture.draw(seed, id, listed));
      person.id = id;
      person.x = wrapped(state.box, person.x);
      person.body_type = population.body_type;
      if (person.together >= 0) person.together = group_ids.at(person.together);
      ids.push_back(id);
    });
    if (has_ids) {
      bool is_renumbered = false;
      numbers_by_id(state.comm, file.path(), ids, is_renumbered);  // no two are the same
      state.next_id = std::max(state.next_id, numbers.largest_id + 1);
    }
    n_before += numbers.count;
  }
  return people;
}

std::vector<Person> People::start_from_files(State<2>& state, const BuildingPlan& building,
                                             std::uint64_t seed) const {
  require_distinct_ids();
  std::vector<const PersonFile*> files;
  std::int64_t n_people = 0;
  for (const Population& population : populations_) {
    files.push_back(&population.file);
    n_people += population.file.numbers().count;
  }
  if (n_people == 0) return {};
  std::vector<Person> people = read_start(state, n_people, seed);
  const ListedStart start{.state = state,
                          .building = building,
                          .exits = journey_plan_->exits(),
                          .files = files,
                          .largest_radius = largest_radius(),
                          .n_people = n_people};
  start.require_inside(people);
  start.separate(people);
  start.require_apart(people);
  return people;
}

void People::check_arrivals(State<2>& state, const BuildingPlan& building, std::uint64_t seed) const {
  for (const PersonFile* file : files_with_ids())
    state.next_id = std::max(state.next_id, file->numbers().largest_id + 1);
  share_errors(state.comm, [&] {
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      const Source& source = sources_[s];
      if (!source.file.numbers().has_places) continue;
      const NearObstacles near(state.obstacles, journey_plan_->exits(), state.box, source.level,
                               largest_radius());
      const StartSpace space(building, near, journey_plan_->exits(), state.box, {}, source.where);
      const EvenShare share(state.comm, static_cast<std::int64_t>(source.listed.size()));
      for (std::int64_t k = share.first; k < share.last; ++k) {
        const Person& person = source.listed[k];
        const Vec<2> x = wrapped(state.box, person.x);
        const Real radius = source.mixture.draw(stream_of(s, seed), k, person).radius;
        if (space.holds(x) && !near.touches(x, radius)) continue;
        throw InputError(fmt::format(
            "{}: nobody can come at ({:g}, {:g}) m: it is outside of the walkable area, at an exit, or less "
            "than the radius of {:.4g} m from a wall, an obstacle or a door that closes",
            source.file.place(person.row), person.x[0], person.x[1], radius));
      }
    }
  });
}

}  // namespace scree
