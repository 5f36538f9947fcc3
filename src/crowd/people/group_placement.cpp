#include "crowd/people/group_placement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>

#include "core/even_share.hpp"
#include "particles/packing/random_placement.hpp"

namespace scree {

namespace {

/// Where disks of groups may be: their members in the space, the whole clear of obstacles. How a group is
/// turned follows from where it is.
class GroupSpace {
 public:
  GroupSpace(const StartSpace& space, const Box<2>& domain) : space_(space), domain_(domain) {}

  void add(const GroupDisk& disk) { disks_.emplace(disk.radius, disk); }
  std::vector<Vec<2>> members(const Vec<2>& centre, Real radius) const {
    const GroupDisk& disk = disks_.at(radius);
    RandomStream stream(std::bit_cast<std::uint64_t>(centre[0]), std::bit_cast<GlobalId>(centre[1]),
                        purpose::orientation);
    const Real angle = 2 * std::numbers::pi * stream.uniform();
    const Real c = std::cos(angle), s = std::sin(angle);
    std::vector<Vec<2>> members;
    for (const Vec<2>& x : disk.at)
      members.push_back(wrapped(domain_, centre + Vec<2>{{c * x[0] - s * x[1], s * x[0] + c * x[1]}}));
    return members;
  }

  // What RandomPlacement asks for.
  const Box<2>& bounds() const { return space_.bounds(); }
  Vec<2> draw(RandomStream& stream, Real radius) const { return space_.draw(stream, radius); }
  std::vector<char> free(std::span<const Vec<2>> x, std::span<const Real> radius) const {
    std::vector<char> is_free = space_.free(x, radius);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (is_free[i] != 0)
        is_free[i] = std::ranges::all_of(members(x[i], radius[i]),
                                         [&](const Vec<2>& member) { return space_.holds(member); })
                         ? 1
                         : 0;
    return is_free;
  }

 private:
  const StartSpace& space_;
  Box<2> domain_;
  std::map<Real, GroupDisk> disks_;
};

bool place_disks(const PlacementTask& task, const GroupList& groups, Real largest_radius,
                 std::vector<PlacedPerson>& people) {
  GroupSpace space(task.space(), task.domain);
  std::map<std::int64_t, Real> radius_of_size;
  Real filled_area = 0;
  for (const auto& [size, n_groups] : groups.n_of_size()) {
    const GroupDisk disk(size, largest_radius);
    space.add(disk);
    radius_of_size.emplace(size, disk.radius);
    filled_area += static_cast<Real>(n_groups) * std::numbers::pi * disk.radius * disk.radius;
  }
  constexpr Real loose = 0.45;      // as in place_at_random()
  constexpr std::int64_t few = 10;  // the same
  if (filled_area > loose * task.space().area() && groups.n_groups() > few) return false;

  std::vector<NewBody<2>> disks, earlier(task.fixed.begin(), task.fixed.end());
  for (const PlacedPerson& person : people) earlier.push_back(person.body);
  const EvenShare share(task.comm, groups.n_groups());
  for (std::int64_t k = share.first; k < share.last; ++k) {
    const auto [first_member, size] = groups.group(k);
    disks.push_back({task.first_id + first_member, {}, radius_of_size.at(size)});
  }
  RandomPlacement<2, GroupSpace> placement(task.comm, task.domain, task.seed, space, 0, std::move(disks),
                                           earlier);
  constexpr std::int64_t tries = 100;
  if (!placement.run(tries)) return false;
  const auto number_of_space = static_cast<std::int32_t>(task.spaces.size() - 1);
  for (const NewBody<2>& placed : placement.placed()) {
    GlobalId id = placed.id;
    for (const Vec<2>& x : space.members(wrapped(task.domain, placed.position), placed.radius)) {
      people.push_back({{id, x, task.radius(id)}, number_of_space});
      ++id;
    }
  }
  return true;
}

}  // namespace

GroupDisk::GroupDisk(std::int64_t n_members, Real largest_radius) {
  constexpr Real apart = 0.1;  // [m]
  const Real spacing = 2 * largest_radius + apart;
  // The sites that are nearest to one of them, about their centre.
  const auto rows = static_cast<int>(std::ceil(std::sqrt(static_cast<Real>(n_members)))) + 1;
  for (int j = -rows; j <= rows; ++j)
    for (int i = -2 * rows; i <= 2 * rows; ++i)
      at.push_back({{spacing * (i + 0.5 * j), spacing * std::numbers::sqrt3 / 2 * j}});
  std::ranges::stable_sort(at, {}, [&](const Vec<2>& x) { return std::llround(norm(x) / spacing * 1e6); });
  at.resize(n_members);
  Vec<2> centre;
  for (const Vec<2>& x : at) centre += 1 / static_cast<Real>(n_members) * x;
  for (Vec<2>& x : at) {
    x = x - centre;
    radius = std::max(radius, norm(x) + largest_radius);
  }
}

bool place_groups_at_random(const PlacementTask& task, const GroupList& groups, Real largest_radius,
                            std::vector<PlacedPerson>& people) {
  if (place_disks(task, groups, largest_radius, people)) return true;
  std::vector<PlacedPerson> before = people;
  if (place_pushed_apart(task, people)) return true;
  people = std::move(before);
  return place_at_random(task, people);
}

}  // namespace scree
