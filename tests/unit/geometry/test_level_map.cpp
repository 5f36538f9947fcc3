#include <catch2/catch.hpp>

#include "geometry/level_map.hpp"

using namespace scree;

namespace {

/// A ground floor (0) to the left of x = 4, a stair (2) from there to x = 10, an upper floor (1) beyond it.
const LevelMap building(
    3, {{.a = {{4, 0}}, .b = {{4, 2}}, .level = {0, 2}, .outward = {{1, 0}}, .depth = 0.9},
        {.a = {{10, 2}}, .b = {{10, 0}}, .level = {1, 2}, .outward = {{-1, 0}}, .depth = 0.9}});

}  // namespace

TEST_CASE("levels: a pair meets across a line, and never through a floor", "[geometry]") {
  CHECK(building.may_meet({{3, 1}}, 0, {{3, 1.3}}, 0));
  CHECK_FALSE(building.may_meet({{3, 1}}, 0, {{3, 1}}, 1));  // one above the other
  CHECK(building.may_meet({{3.9, 1}}, 0, {{4.1, 1.2}}, 2));  // both sides of the line
  CHECK(building.may_meet({{4.1, 1.2}}, 2, {{3.9, 1}}, 0));
  CHECK(building.may_meet({{4, 1.2}}, 2, {{3.9, 1}}, 0));          // in the line itself: beyond it
  CHECK_FALSE(building.may_meet({{3.9, -1}}, 0, {{4.1, -1}}, 2));  // past the end of the line
  CHECK_FALSE(building.may_meet({{5, 1}}, 0, {{5.1, 1}}, 2));      // under the stair
  CHECK_FALSE(building.may_meet({{9.9, 1}}, 0, {{10.1, 1}}, 1));   // no line joins the floors
  CHECK(building.may_meet({{9.9, 1}}, 2, {{10.1, 1}}, 1));
}

TEST_CASE("levels: who crosses a line is on the level beyond it, there and back", "[geometry]") {
  CHECK(building.level_at({{3.99, 1}}, 0) == 0);
  CHECK(building.level_at({{4, 1}}, 0) == 2);
  CHECK(building.level_at({{4, 1}}, 2) == 2);
  CHECK(building.level_at({{3.99, 1}}, 2) == 0);
  CHECK(building.level_at({{4.5, 2.1}}, 0) == 0);  // beside the line
  CHECK(building.level_at({{9, 1}}, 0) == 0);      // under the upper end
  CHECK(building.level_at({{10.01, 1}}, 2) == 1);
  CHECK(building.level_at({{9.99, 1}}, 1) == 2);
}

TEST_CASE("levels: a closed line joins nobody, and lists still know of it", "[geometry]") {
  LevelMap lift(3, {{.a = {{4, 0}}, .b = {{4, 2}}, .level = {0, 2}, .outward = {{1, 0}}, .depth = 0.9},
                    {.a = {{4, 0}}, .b = {{4, 2}}, .level = {1, 2}, .outward = {{1, 0}}, .depth = 0.9}});
  lift.set_open(0, false);
  CHECK_FALSE(lift.may_meet({{3.9, 1}}, 0, {{4.1, 1.2}}, 2));
  CHECK(lift.may_meet({{3.9, 1}}, 1, {{4.1, 1.2}}, 2));
  CHECK(lift.level_at({{4.1, 1}}, 0) == 0);
  CHECK(lift.level_at({{3.9, 1}}, 2) == 1);
  CHECK(lift.beyond({{4.1, 1}}, 0) == 2);
  CHECK(lift.beyond({{3.9, 1}}, 2) == 0);
  CHECK((lift.within_reach({{3, 1}}, 0, 1.5) & LevelMap::bit(2)) != 0);
  lift.set_open(0, true);
  lift.set_open(1, false);
  CHECK(lift.level_at({{3.9, 1}}, 2) == 0);
  CHECK(lift.may_meet({{3.9, 1}}, 0, {{4.1, 1.2}}, 2));
}

TEST_CASE("levels: lists know of all who can meet", "[geometry]") {
  const auto common = [](const Vec<2>& x, int level_of_x, const Vec<2>& y, int level_of_y, Real reach) {
    return (building.within_reach(x, level_of_x, reach) & building.within_reach(y, level_of_y, reach)) != 0;
  };
  CHECK(common({{3, 1}}, 0, {{5, 1}}, 2, 1.5));
  CHECK_FALSE(common({{1, 1}}, 0, {{7, 1}}, 2, 1.5));
  CHECK_FALSE(common({{7, 1}}, 0, {{7, 1}}, 1, 1.5));
  CHECK_FALSE(common({{9.8, 1}}, 0, {{9.8, 1}}, 2, 1.5));  // the line there is none of the ground floor
}
