#include "crowd/people/listed_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/error.hpp"
#include "core/even_share.hpp"
#include "core/log.hpp"
#include "core/sparse_all_to_all.hpp"
#include "crowd/people/crowd_placement.hpp"
#include "particles/packing/bins.hpp"
#include "particles/packing/patches.hpp"
#include "particles/packing/region.hpp"

namespace scree {

namespace {

constexpr GlobalId nobody = std::numeric_limits<GlobalId>::max();

std::string point_text(const Vec<2>& x) {
  return fmt::format("({:.6g}, {:.6g}) m", x[0], x[1]);
}

/// "0.32 m from the wall from (0, 0) to (10, 0) m".
std::string nearest_wall(const FloorPlan& plan, const Vec<2>& x) {
  Real min = HUGE_VAL;
  std::string text = "far from any wall";
  for (const Edge& wall : plan.walls()) {
    const Real distance = foot_on(wall, x, wall.normal).distance;
    if (distance >= min) continue;
    min = distance;
    text = fmt::format("{:.3g} m from the wall from ({:g}, {:g}) to {}", distance, wall.a[0], wall.a[1],
                       point_text(wall.b));
  }
  return text;
}

/// A person, as it is sent to the ranks of the patches that it is near to.
struct Disk {
  NewBody<2> body;  ///< the number among all in place of the id
  Person person;
  bool is_own;
};

}  // namespace

/// The first fault that ranks met, by the number of the person among all.
struct ListedStart::Fault {
  GlobalId key = nobody;
  std::string message;

  template <class Words>
  void record(GlobalId at, const Words& words) {
    if (at < key) key = at, message = words();
  }
  void throw_if_any(const Comm& comm) const {
    const std::string first = message_of_smallest(comm, key, message);
    if (!first.empty()) throw InputError(first);
  }
};

std::string ListedStart::name(const Person& person) const {
  return fmt::format("person {} ({})", person.id, file_of(person).place(person.row));
}

/// Those whose doors stand at the start.
std::vector<Exit> ListedStart::shut_exits() const {
  std::vector<Exit> shut;
  for (const Exit& exit : exits)
    if (!exit.is_open(state.clock.time)) shut.push_back(exit);
  return shut;
}

void ListedStart::require_inside(std::span<const Person> people) const {
  const EvenShare share(state.comm, n_people);
  Fault fault;
  std::int64_t n_outside = 0;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const Person& person = people[i];
    const Vec<2>& x = person.x;
    const FloorPlan& plan = building.plan(person.level);
    if (plan.contains(x)) continue;
    ++n_outside;
    fault.record(share.first + static_cast<GlobalId>(i), [&] {
      const std::string level = building.n_levels() > 1 ? " of " + building.level(person.level).name : "";
      return fmt::format("{} at {} is outside of the walkable area{}, {}", name(person), point_text(x), level,
                         nearest_wall(plan, x));
    });
  }
  const std::int64_t n_all = state.comm.sum(n_outside);
  if (n_all > 1 && fault.key != nobody) fault.message += fmt::format("; so are {} more", n_all - 1);
  fault.throw_if_any(state.comm);
}

void ListedStart::require_off_walls(std::span<const Person> people) const {
  const EvenShare share(state.comm, n_people);
  const std::vector<Exit> shut = shut_exits();
  std::map<int, NearObstacles> near;
  Fault fault;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const Person& person = people[i];
    const auto level = near.find(person.level) != near.end()
                           ? near.find(person.level)
                           : near.emplace(std::piecewise_construct, std::forward_as_tuple(person.level),
                                          std::forward_as_tuple(state.obstacles, shut, state.box,
                                                                person.level, largest_radius))
                                 .first;
    Real min = HUGE_VAL;
    level->second.for_each_near(person.x,
                                [&](Real distance, const Vec<2>&) { min = std::min(min, distance); });
    const Real radius = person.radius;
    if (min >= (1 - PersonFile::overlap_limit) * radius) continue;
    fault.record(share.first + static_cast<GlobalId>(i), [&] {
      return fmt::format(
          "{} of radius {:g} m at {} overlaps a wall or obstacle by {:.3g} m: move it, or set separate = "
          "true "
          "at {}",
          name(person), radius, point_text(person.x), radius - min, file_of(person).where());
    });
  }
  fault.throw_if_any(state.comm);
}

void ListedStart::require_apart(std::span<const Person> people) const {
  require_off_walls(people);
  Fault fault;
  std::int64_t n_pairs = 0;
  for (int level = 0; level < building.n_levels(); ++level)
    if (state.comm.any(std::ranges::any_of(people, [&](const Person& p) { return p.level == level; })))
      n_pairs += find_overlaps(level, people, fault);
  const std::int64_t n_all = state.comm.sum(n_pairs);
  if (n_all > 1 && fault.key != nobody) fault.message += fmt::format(" ({} pairs overlap)", n_all);
  fault.throw_if_any(state.comm);
}

/// Counts the pairs that this rank finds on a level. Collective.
std::int64_t ListedStart::find_overlaps(int level, std::span<const Person> people, Fault& fault) const {
  const Comm& comm = state.comm;
  const EvenShare share(comm, n_people);
  const Patches<2> patches(comm, building.plan(level).bounds(), state.box);
  const Real reach = 2 * largest_radius;
  std::vector<Disk> outgoing;
  std::vector<int> destination;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const Person& person = people[i];
    if (person.level != level) continue;
    const int owner = patches.owner(person.x);
    patches.for_each_near(person.x, reach, [&](int rank, const Vec<2>& image) {
      const bool is_own = rank == owner && image == person.x;
      outgoing.push_back({{share.first + static_cast<GlobalId>(i), image, person.radius}, person, is_own});
      destination.push_back(rank);
    });
  }
  const std::vector<Disk> around = exchange_values<Disk>(comm, outgoing, destination);
  const Vec<2> corner = patches.corner(comm.rank());
  Bins<2> bins(corner - filled<2>(reach), corner + patches.extent() + filled<2>(reach), reach,
               static_cast<std::int64_t>(around.size()));
  for (const Disk& disk : around) bins.add(disk.body);
  std::int64_t n_pairs = 0;
  for (const Disk& disk : around) {
    if (!disk.is_own) continue;
    bins.any_near(disk.body.position, reach, [&](Index k) {
      const Disk& other = around[k];
      if (other.body.id <= disk.body.id) return false;
      const Real r = disk.body.radius, s = other.body.radius;
      const Real distance = norm(disk.body.position - other.body.position);
      if (distance >= r + s - PersonFile::overlap_limit * std::min(r, s)) return false;
      ++n_pairs;
      // Of several partners of one person the first.
      fault.record(disk.body.id * n_people + other.body.id, [&] {
        return fmt::format(
            "{} at {} and {} overlap by {:.3g} m: move them, make them smaller, or set separate = true at {}",
            name(disk.person), point_text(disk.body.position), name(other.person), r + s - distance,
            file_of(disk.person).where());
      });
      return false;
    });
  }
  return n_pairs;
}

void ListedStart::separate_on(int level, std::vector<Person>& people) const {
  const Comm& comm = state.comm;
  const EvenShare share(comm, n_people);
  std::vector<PlacedPerson> moving;
  std::vector<NewBody<2>> fixed;
  std::string where;
  for (const PersonFile* file : files)
    if (file->separates() && where.empty()) where = file->where();
  for (std::size_t i = 0; i < people.size(); ++i) {
    const NewBody<2> body{share.first + static_cast<GlobalId>(i), people[i].x, people[i].radius};
    if (!building.may_touch(body.position, people[i].level, level, 2 * largest_radius)) continue;
    if (people[i].level == level && file_of(people[i]).separates())
      moving.push_back({body, 0});
    else
      fixed.push_back(body);
  }
  const std::int64_t n_moving = comm.sum(static_cast<std::int64_t>(moving.size()));
  if (n_moving == 0) return;
  const std::vector<Exit> shut = shut_exits();
  const NearObstacles near(state.obstacles, shut, state.box, level, largest_radius);
  // Also behind exits, where people of a trajectory may be.
  const StartSpace space(building, near, {}, state.box, {}, where);
  const StartSpace* const spaces[] = {&space};
  const PlacementTask task{comm, state.box, 0, 0, n_moving, {}, spaces, fixed};
  if (!push_apart(task, moving))
    throw InputError(fmt::format(
        "{}: the {} people of this and other files on one floor find no places without overlap near their "
        "own: make them smaller, or leave some out",
        where, n_moving));
  std::vector<int> home;
  std::vector<NewBody<2>> moved;
  for (const PlacedPerson& person : moving) {
    moved.push_back(person.body);
    home.push_back(EvenShare::owner(n_people, person.body.id, comm.size()));
  }
  for (const NewBody<2>& body : exchange_values<NewBody<2>>(comm, moved, home))
    people[share.at(body.id)].x = body.position;
}

void ListedStart::report_moves(std::span<const Vec<2>> before, std::span<const Person> people) const {
  const EvenShare share(state.comm, n_people);
  Fault fault;
  Real largest = 0;
  std::int64_t n_moved = 0, n_separated = 0;
  for (std::size_t i = 0; i < people.size(); ++i) {
    const PersonFile& file = file_of(people[i]);
    n_separated += file.separates() ? 1 : 0;
    const Real moved = norm(state.box.shortest(people[i].x - before[i]));
    n_moved += moved > 0 ? 1 : 0;
    largest = std::max(largest, moved);
    if (moved > file.separate_limit())
      fault.record(share.first + static_cast<GlobalId>(i), [&] {
        return fmt::format(
            "{} at {} would be moved by {:.3g} m, more than separate_limit = {:g} m: raise it, make people "
            "smaller, or leave some out",
            name(people[i]), point_text(before[i]), moved, file.separate_limit());
      });
  }
  fault.throw_if_any(state.comm);
  log::info("people from files: {} of {} moved so that nobody overlaps, by {:.3g} m at most",
            state.comm.sum(n_moved), state.comm.sum(n_separated), state.comm.max(largest));
}

void ListedStart::separate(std::vector<Person>& people) const {
  if (std::ranges::none_of(files, [](const PersonFile* file) { return file->separates(); })) return;
  std::vector<Vec<2>> before;
  for (const Person& person : people) before.push_back(person.x);
  for (int level = 0; level < building.n_levels(); ++level) separate_on(level, people);
  report_moves(before, people);
}

}  // namespace scree
