// Who is with whom, where groups start, and how fast their members walk.
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "crowd/group_walk.hpp"
#include "crowd/people/group_placement.hpp"
#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

GroupRule rule_of(std::vector<std::int64_t> sizes, std::vector<Real> shares) {
  GroupRule rule;
  rule.sizes = std::move(sizes);
  rule.shares = std::move(shares);
  return rule;
}

const std::string hall =
    "[walkable]\npolygon = [[0, 0], [20, 0], [20, 10], [0, 10]]\n[exits.east]\nline = [[20, 4], [20, 6]]\n";

/// People of a hall with their groups, and the largest distance of two members of one group [m].
Real widest_group(const Building& building, std::set<std::int32_t>& groups) {
  const BodyStore<2>& bodies = building.state.bodies;
  Real widest = 0;
  for (std::size_t i = 0; i < building.size(); ++i) {
    groups.insert(agent::group(bodies)[i]);
    for (std::size_t j = 0; j < i; ++j)
      if (agent::group(bodies)[i] >= 0 && agent::group(bodies)[i] == agent::group(bodies)[j])
        widest = std::max(widest, norm(bodies.position()[i] - bodies.position()[j]));
  }
  return widest;
}

/// Members in a file along x who walk to x = 0, all to the destination 0.
std::vector<GroupMember> file(const std::vector<Real>& x, const std::vector<Real>& speed) {
  std::vector<GroupMember> members;
  for (std::size_t k = 0; k < x.size(); ++k)
    members.push_back({.at = {{x[k], 0}},
                       .speed = speed[k],
                       .time_to_go = x[k],
                       .destination = 0,
                       .has_goal = true,
                       .walks = true});
  return members;
}

GroupPace pace(const GroupRule& rule, const std::vector<GroupMember>& members, std::size_t i) {
  return GroupWalk::pace(rule, members, i, 1, false, Box<2>{{{-100, -100}}, {{100, 100}}, {}});
}

}  // namespace

TEST_CASE("groups: everybody is in one group, and shares hold to a group", "[crowd]") {
  for (const std::int64_t n : {4, 5, 17, 100, 1001}) {
    const GroupRule rule = rule_of({1, 2, 3, 4}, {4, 3, 2, 1});
    const GroupList list(rule, n);
    CAPTURE(n, list.n_groups());
    std::int64_t person = 0;
    std::array<std::int64_t, 5> n_of_size{};
    for (std::int64_t k = 0; k < list.n_groups(); ++k) {
      const auto [first_member, size] = list.group(k);
      CHECK(first_member == person);
      for (std::int64_t m = 0; m < size; ++m) CHECK(list.group_of(person++).first_member == first_member);
      ++n_of_size.at(static_cast<std::size_t>(size));
    }
    CHECK(person == n);
    // Of 20 people in 10 groups 4 are alone; what is left over makes up a group of each size at most.
    for (std::size_t s = 1; s < 5; ++s)
      CHECK(std::abs(static_cast<Real>(n_of_size[s]) - static_cast<Real>(n) / 20 * rule.shares[s - 1]) <= 2);
  }
  const GroupList fives(rule_of({5}, {1}), 22);
  CHECK(fives.n_groups() == 5);
  CHECK(fives.group(0).size == 2);
  CHECK(fives.group(4).size == 5);
}

TEST_CASE("groups: members stand in a disk, 10 cm apart", "[crowd]") {
  for (const std::int64_t n : {1, 2, 3, 4, 7, 19, 40}) {
    const GroupDisk disk(n, 0.2);
    CAPTURE(n, disk.radius);
    REQUIRE(disk.at.size() == static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < disk.at.size(); ++i) {
      CHECK(norm(disk.at[i]) + 0.2 <= disk.radius + 1e-12);
      for (std::size_t j = 0; j < i; ++j) CHECK(norm(disk.at[i] - disk.at[j]) > 0.5 - 1e-9);
    }
  }
  CHECK(GroupDisk(1, 0.2).radius == Approx(0.2));
  CHECK(GroupDisk(2, 0.2).radius == Approx(0.45));
  CHECK(GroupDisk(7, 0.2).radius == Approx(0.7));
}

TEST_CASE("groups: members start near each other, and nobody overlaps", "[crowd]") {
  struct Start {
    std::string keys;
    Real max;  // distance of members [m]
    std::size_t n_groups;
  };
  // A disk of five is 1.5 m across, and 45 % of 200 m2 hold 50 of them. On a lattice of 2.5 per m2 (spacing
  // 0.68 m) five in a row are 2.7 m apart, with disorder 3 m.
  for (const Start& start : {Start{"count = 50\n", 1.2, 10}, Start{"count = 200\n", 1.2, 40},
                             Start{"density = 2.5\n", 3.5, 100}}) {
    CAPTURE(start.keys);
    Building building(hall + "[populations.all]\n" + start.keys + "[populations.all.groups]\nsizes = [5]\n");
    building.populate();
    std::set<std::int32_t> groups;
    const Real widest = widest_group(building, groups);
    CAPTURE(widest);
    CHECK(widest < start.max);
    CHECK(groups.size() == start.n_groups);
    CHECK(smallest_gap_of(building) >= 0);
    CHECK(smallest_wall_gap_of(building) >= -1e-9);
    for (std::size_t i = 0; i < building.size(); ++i)
      CHECK(agent::group(building.state.bodies)[i] == building.state.bodies.id()[i] / 5 * 5);
  }
}

TEST_CASE("groups: on a lattice members stand in a row, around its end if need be", "[crowd]") {
  Building building(hall +
                    "[populations.all]\ncount = 40\nplacement = 'lattice'\n"
                    "[populations.all.groups]\nsizes = [5]\n");
  building.populate();
  Real spacing = HUGE_VAL;
  for (std::size_t i = 0; i < building.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      spacing = std::min(spacing, norm(building.positions()[i] - building.positions()[j]));
  std::set<std::int32_t> groups;
  // Four spacings, and one site that is left over.
  CHECK(widest_group(building, groups) <= 5 * spacing * (1 + 1e-9));
  CHECK(groups.size() == 8);
}

TEST_CASE("groups: in a region that holds no disk of the group, members start there all the same",
          "[crowd]") {
  Building building(hall +
                    "[populations.all]\ncount = 5\nregion = [[1, 4], [4, 4], [4, 4.2], [1, 4.2]]\n"
                    "[populations.all.groups]\nsizes = [5]\n");
  building.populate();
  CHECK(building.size() == 5);
  for (const Vec<2>& x : building.positions()) CHECK(std::abs(x[1] - 4.1) <= 0.1);
  CHECK(smallest_gap_of(building) >= 0);
}

TEST_CASE("groups: who is alone has no group", "[crowd]") {
  Building building(hall +
                    "[populations.one]\ncount = 6\n[populations.all]\ncount = 20\n"
                    "[populations.all.groups]\nsizes = [1, 3]\nshares = [1, 3]\n");
  building.populate();
  std::map<std::int32_t, int> n_members;
  for (std::size_t i = 0; i < building.size(); ++i) ++n_members[agent::group(building.state.bodies)[i]];
  CHECK(n_members[-1] == 6 + 2);
  n_members.erase(-1);
  for (const auto& [group, n] : n_members) CHECK(n == 3);
  CHECK(n_members.size() == 6);
}

TEST_CASE("groups: nobody is faster than the slowest within reach", "[crowd]") {
  GroupRule rule = rule_of({3}, {1});
  rule.waits = false;
  const auto members = file({1, 3.5, 6.4}, {1.3, 1.2, 0.5});
  CHECK(pace(rule, members, 0).speed == 1.2);  // the slowest is 5.4 m away
  CHECK(pace(rule, members, 1).speed == 0.5);
  CHECK(pace(rule, members, 2).speed == 0.5);
  rule.keeps_to_slowest = false;
  CHECK(pace(rule, members, 0).speed == 1.3);

  // Who has not started does not hold anybody up by being slow.
  auto late = members;
  late[2].walks = false;
  late[2].speed = 0;
  rule.keeps_to_slowest = true;
  CHECK(pace(rule, late, 1).speed == 1.2);

  // Through a periodic face it is 0.8 m from the first to the last.
  CHECK(GroupWalk::pace(rule, members, 0, 1, false, Box<2>{{{0, 0}}, {{6.2, 5}}, {true, false}}).speed ==
        0.5);
}

TEST_CASE("groups: who is ahead by more than reach waits", "[crowd]") {
  GroupRule rule = rule_of({3}, {1});
  const auto members = file({1, 3.5, 6.4}, {1.3, 1.2, 0.5});
  CHECK(pace(rule, members, 0).waits);
  CHECK(pace(rule, members, 0).speed == Approx(0.3 * 1.2));
  CHECK_FALSE(pace(rule, members, 1).waits);
  CHECK_FALSE(pace(rule, members, 2).waits);

  auto late = members;  // somebody who has not started yet is waited for, one without a route is not
  late[2].walks = false;
  CHECK(pace(rule, late, 0).waits);
  late[2].has_goal = false;
  CHECK_FALSE(pace(rule, late, 0).waits);
  auto lost = members;
  lost[2].time_to_go = HUGE_VAL;
  CHECK_FALSE(pace(rule, lost, 0).waits);
  rule.waits = false;
  CHECK_FALSE(pace(rule, members, 0).waits);
}

TEST_CASE("groups: who is at a later step of the journey waits beyond reach", "[crowd]") {
  const GroupRule rule = rule_of({2}, {1});
  const Box<2> box{{{-100, -100}}, {{100, 100}}, {}};
  auto members = file({9, 2}, {1, 1});
  members[0].journey_step = 1;
  CHECK(GroupWalk::pace(rule, members, 0, 3, false, box).waits);
  CHECK_FALSE(GroupWalk::pace(rule, members, 1, 3, false, box).waits);
  members[0].at[0] = 4;
  CHECK_FALSE(GroupWalk::pace(rule, members, 0, 3, false, box).waits);
  // On a round of three steps the first comes after the last; of two, nobody is ahead.
  members[0].at[0] = 9;
  members[0].journey_step = 0;
  members[1].journey_step = 2;
  CHECK(GroupWalk::pace(rule, members, 0, 3, true, box).waits);
  CHECK_FALSE(GroupWalk::pace(rule, members, 1, 3, true, box).waits);
  members[1].journey_step = 1;
  CHECK_FALSE(GroupWalk::pace(rule, members, 0, 2, true, box).waits);
  CHECK_FALSE(GroupWalk::pace(rule, members, 1, 2, true, box).waits);
}

TEST_CASE("groups: side by side, who is ahead of the centre slows down", "[crowd]") {
  GroupRule rule = rule_of({3}, {1});
  rule.side_by_side = true;
  const auto members = file({1, 1.5, 2}, {1, 1, 1});
  CHECK(pace(rule, members, 0).speed == Approx(0.5));
  CHECK(pace(rule, members, 1).speed == 1);
  CHECK(pace(rule, members, 2).speed == 1);
  CHECK(pace(rule, file({0.1, 1.5, 2.9}, {1, 1, 1}), 0).speed == Approx(0.3));
  rule.side_by_side = false;
  CHECK(pace(rule, members, 0).speed == 1);
}

TEST_CASE("groups: the steps of an escalator wait for nobody", "[crowd]") {
  const GroupRule rule = rule_of({2}, {1});
  auto members = file({1, 6}, {0.5, 0.3});  // the first is 5 m ahead
  members[0].carried = 0.5;
  CHECK(pace(rule, members, 0).waits);
  CHECK(pace(rule, members, 0).speed == 0.5);
  members[0].speed = 1.5;
  CHECK(pace(rule, members, 0).speed == Approx(0.5 + 0.3));
  members[0].at = members[1].at;  // the slow one is near
  members[0].time_to_go = members[1].time_to_go;
  CHECK(pace(rule, members, 0).speed == 0.5);
}
