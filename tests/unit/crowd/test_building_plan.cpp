// Buildings of several floors: what their decks say, and what lines open.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/deck.hpp"
#include "crowd/floor_field/floor_field.hpp"
#include "crowd/plan/building_plan.hpp"
#include "crowd/plan/plan_gap.hpp"
#include "support/message_of.hpp"

using namespace scree;

namespace {

const std::string floors = R"(
[floors.ground]
elevation = 1
walkable = { polygon = [[0, 0], [12, 0], [12, 6], [0, 6]], obstacles = { well = { polygon = [[3, 2], [9, 2], [9, 4], [3, 4]] } } }
[floors.upper]
elevation = 4
walkable = { polygon = [[0, 0], [12, 0], [12, 6], [0, 6]], obstacles = { well = { polygon = [[3, 2], [9, 2], [9, 4], [3, 4]] } } }
)";
const std::string stair = R"(
[connectors.stair]
polygon = [[3, 2], [9, 2], [9, 4], [3, 4]]
bottom = { floor = "ground", line = [[3, 2], [3, 4]] }
top = { floor = "upper", line = [[9, 2], [9, 4]] }
)";

const std::string shaft = R"(
[floors.ground]
elevation = 0
walkable = { polygon = [[0, 0], [10, 0], [10, 6], [0, 6]] }
[floors.middle]
elevation = 3
walkable = { polygon = [[0, 0], [10, 0], [10, 6], [0, 6]] }
[floors.upper]
elevation = 6
walkable = { polygon = [[0, 0], [10, 0], [10, 6], [0, 6]] }
[lifts.lift]
cabin = [[10, 2], [12, 2], [12, 4], [10, 4]]
door = [[10, 2.5], [10, 3.5]]
floors = ["upper", "ground", "middle"]
to = "ground"
speed = 1.5
door_time = 4
dwell = 3
)";

struct Site {
  BuildingPlan plan;
  explicit Site(const std::string& text, Real radius = 0.2) {
    Deck deck = Deck::from_text(text, "test.toml");
    plan.describe(deck.root());
    deck.require_all_read();
    plan.join(radius);
  }
};

Real length_of(const std::vector<Edge>& walls) {
  Real sum = 0;
  for (const Edge& wall : walls) sum += wall.length;
  return sum;
}

}  // namespace

TEST_CASE("building: heights and slopes follow from the ends of a connector", "[crowd]") {
  const Site site(floors + stair);
  REQUIRE(site.plan.n_levels() == 3);
  const Level& flight = site.plan.level(2);
  CHECK(flight.height({{3, 3}}) == 1);
  CHECK(flight.height({{6, 3.5}}) == Approx(2.5));
  CHECK(flight.height({{9, 3}}) == Approx(4));
  CHECK(flight.height({{9.5, 3}}) == Approx(4));
  CHECK(site.plan.level(1).height({{6, 1}}) == 4);
  CHECK(flight.incline->stretch({{1, 0}}) == Approx(std::sqrt(1.25)));
  CHECK(flight.incline->stretch({{0, 1}}) == 1);
  CHECK(flight.incline->up_factor == 0.5);
  CHECK(flight.incline->down_factor == 0.75);
}

TEST_CASE("building: lines are no walls, all else of the border is", "[crowd]") {
  const Site site(floors + stair);
  const Real of_floor = 2 * (12 + 6) + 2 * (6 + 2);
  CHECK(length_of(site.plan.plan(0).walls()) == Approx(of_floor - 2));
  CHECK(length_of(site.plan.plan(1).walls()) == Approx(of_floor - 2));
  CHECK(length_of(site.plan.plan(2).walls()) == Approx(2 * 6));
  // A line may open a part of a side.
  const Site narrow(floors + R"(
[connectors.stair]
polygon = [[3, 2.5], [9, 2.5], [9, 3.5], [3, 3.5]]
bottom = { floor = "ground", line = [[3, 2.5], [3, 3.5]] }
top = { floor = "upper", line = [[9, 3.5], [9, 2.5]] }
)");
  CHECK(length_of(narrow.plan.plan(0).walls()) == Approx(of_floor - 1));
  for (const Edge& wall : narrow.plan.plan(0).walls())
    CHECK_FALSE(segments_touch(wall.a, wall.b, {{2.9, 3}}, {{3.1, 3}}));
  CHECK(site.plan.wkt().starts_with("GEOMETRYCOLLECTION (POLYGON"));
}

TEST_CASE("building: escalators are entered at one end", "[crowd]") {
  const Site up(floors + stair + "type = 'escalator'\nspeed = 0.5\ndirection = 'up'\n");
  CHECK(up.plan.may_enter(0, 2));
  CHECK_FALSE(up.plan.may_enter(2, 0));
  CHECK(up.plan.may_enter(2, 1));
  CHECK_FALSE(up.plan.may_enter(1, 2));
  const Site down(floors + stair + "type = 'escalator'\nspeed = 0.5\ndirection = 'down'\n");
  CHECK(down.plan.may_enter(1, 2));
  CHECK_FALSE(down.plan.may_enter(0, 2));
}

TEST_CASE("building: routes lead over lines at the speed of the connector", "[crowd]") {
  const auto times = [](const std::string& more) {
    const Site site(floors + stair + more);
    FloorField floor_field;
    Deck deck = Deck::from_text("[navigation]\nwall_clearance = 0", "test.toml");
    floor_field.describe(deck.root());
    const Destination door{"exits.door", "test.toml:1:1", {{{{0, 2}}, {{0.5, 2}}, {{0.5, 4}}, {{0, 4}}}}, 0};
    floor_field.build(Comm(MPI_COMM_SELF), site.plan, site.plan.bounds(), {}, {door});
    const std::vector<Vec<2>> at{{{11, 3}}, {{6, 3}}, {{2.5, 3}}};
    const std::vector<std::int32_t> levels{1, 2, 0};
    floor_field.fetch({at, levels}, 12);
    std::vector<Real> found;
    for (std::size_t i = 0; i < at.size(); ++i) found.push_back(floor_field.travel_time(0, at[i], levels[i]));
    CHECK(floor_field.direction(0, at[0], 1)[0] == Approx(-1).margin(1e-3));
    CHECK(floor_field.direction(0, {{9.03, 3}}, 1)[0] == Approx(-1).margin(1e-3));
    CHECK(floor_field.direction(0, {{3.02, 3}}, 2)[0] == Approx(-1).margin(1e-3));
    return found;
  };
  // Down the stair: 6 m in plan at 0.75 / sqrt(1.25).
  const Real on_stair = 6 * std::sqrt(1.25) / 0.75;
  const std::vector<Real> found = times("");
  CHECK(found[2] == Approx(2).margin(0.02));
  CHECK(found[1] == Approx(2.5 + on_stair / 2).margin(0.05));
  CHECK(found[0] == Approx(2.5 + on_stair + 2).margin(0.05));
  CHECK(times("down_factor = 0.25\n")[0] == Approx(2.5 + 3 * on_stair + 2).margin(0.1));
  // Nobody gets down on a staircase that runs up.
  const Site site(floors + stair + "type = 'escalator'\nspeed = 0.5\ndirection = 'up'\n");
  const RouteCheck check(site.plan, {{0, {{{0, 2}}, {{0.5, 2}}, {{0.5, 4}}, {{0, 4}}}}}, 0.2);
  CHECK(check.has_no_route({{11, 3}}, 1));
  CHECK_FALSE(check.has_no_route({{11, 3}}, 0));
  CHECK_FALSE(check.reaches(1));
  CHECK(RouteCheck(site.plan, {{1, {{{0, 2}}, {{0.5, 2}}, {{0.5, 4}}, {{0, 4}}}}}, 0.2).reaches(0));
}

TEST_CASE("building: a lift is entered where it is called, and left where people get out", "[crowd]") {
  Site site(shaft);
  REQUIRE(site.plan.n_levels() == 4);
  const Lift& lift = *site.plan.level(3).lift;
  CHECK(lift.capacity == 16);  // of 4 m2
  CHECK(lift.stops[2].floor == 2);
  CHECK(lift.to == 0);
  CHECK(lift.depth == Approx(2));
  CHECK(site.plan.may_enter(2, 3));
  CHECK(site.plan.may_enter(1, 3));
  CHECK_FALSE(site.plan.may_enter(0, 3));
  CHECK(site.plan.may_enter(3, 0));
  CHECK_FALSE(site.plan.may_enter(3, 2));
  // It comes, waits, goes: two rides of 4 s, three times half of the door, the dwell.
  CHECK(lift.travel_time(2) == Approx(4 + 2 + 3 + 2 + 4 + 2));
  // The door is no wall of the plan, and closed until the cabin stands there.
  CHECK(length_of(site.plan.plan(1).walls()) == Approx(2 * 16 - 1));
  CHECK(length_of(site.plan.plan(3).walls()) == Approx(2 * 4 - 1));
  CHECK(site.plan.map()->level_at({{10.1, 3}}, 1) == 1);
  site.plan.stand(3, 1, 3);
  CHECK(site.plan.level(3).height({{11, 3}}) == 3);
  CHECK(site.plan.map()->level_at({{10.1, 3}}, 1) == 3);
  CHECK(site.plan.map()->level_at({{9.9, 3}}, 3) == 1);
  CHECK(site.plan.map()->level_at({{10.1, 3}}, 2) == 2);
  site.plan.stand(3, -1, 3);
  CHECK(site.plan.map()->level_at({{9.9, 3}}, 3) == 3);
  const Site closes(shaft + "closed_from = 20\n");
  CHECK(closes.plan.may_enter(2, 3, 19.9));
  CHECK_FALSE(closes.plan.may_enter(2, 3, 20));
  CHECK(closes.plan.may_enter(3, 0, 20));
  CHECK(closes.plan.n_closed(20) == 1);
}

TEST_CASE("building: routes reckon with the time of a lift, and lead straight into it", "[crowd]") {
  const Destination exit{"exits.door", "test.toml:1:1", {{{{0, 2}}, {{0.5, 2}}, {{0.5, 4}}, {{0, 4}}}}, 0};
  const auto check_routes = [&](const std::string& more, Real cell, Real lift_time) {
    const Site site(shaft + more);
    FloorField floor_field;
    Deck deck =
        Deck::from_text(fmt::format("[navigation]\nwall_clearance = 0\ncell = {}", cell), "test.toml");
    floor_field.describe(deck.root());
    floor_field.build(Comm(MPI_COMM_SELF), site.plan, site.plan.bounds(), {}, {exit});
    const std::vector<Vec<2>> at{{{5, 3}}, {{5, 3}}, {{11, 3}}};
    const std::vector<std::int32_t> levels{2, 0, 3};
    floor_field.fetch({at, levels}, 12);
    const Real into = 0.75 * (0.5 + 2 * 0.2);
    CHECK(floor_field.travel_time(0, {{5, 3}}, 0) == Approx(4.5).margin(0.1));
    CHECK(floor_field.travel_time(0, {{5, 3}}, 2) == Approx(5 + lift_time + 2 * into + 9.5).margin(0.2));
    CHECK(floor_field.direction(0, {{5, 3}}, 2)[0] == Approx(1).margin(1e-3));
    CHECK(floor_field.direction(0, {{9.8, 3}}, 2)[0] > 0.95);
    CHECK(floor_field.direction(0, {{9.99, 3.1}}, 2)[0] > 0.8);
    CHECK(floor_field.direction(0, {{9.99, 3}}, 0)[0] == Approx(-1).margin(1e-3));
    // In the cabin the route leads out.
    CHECK(floor_field.direction(0, {{11, 3}}, 3)[0] == Approx(-1).margin(1e-3));
    CHECK(floor_field.travel_time(0, {{11, 3}}, 3) == Approx(10.5).margin(0.1));
  };
  check_routes("", 0.1, 17);
  check_routes("", 0.2, 17);
  check_routes("wait = 30\n", 0.1, 41);
  const Site site(shaft);
  const RouteCheck check(site.plan, {{0, {{{0, 2}}, {{0.5, 2}}, {{0.5, 4}}, {{0, 4}}}}}, 0.2);
  CHECK(check.reaches(2));
  CHECK_FALSE(check.has_no_route({{5, 3}}, 2));
  CHECK_FALSE(RouteCheck(site.plan, {{2, {{{0, 2}}, {{0.5, 2}}, {{0.5, 4}}, {{0, 4}}}}}, 0.2).reaches(0));
}

namespace {

/// Two floors of one elevation with a bridge of this length between them, and more in the far one.
std::string bridge(Real length, const std::string& obstacles = "") {
  const auto box = [](Real x0, Real y0, Real x1, Real y1) {
    return fmt::format("[[{}, {}], [{}, {}], [{}, {}], [{}, {}]]", x0, y0, x1, y0, x1, y1, x0, y1);
  };
  return fmt::format(
      "[floors.near]\nelevation = 0\nwalkable = {{ polygon = {} }}\n"
      "[floors.far]\nelevation = 0\nwalkable = {{ polygon = {}{} }}\n"
      "[connectors.bridge]\ntype = 'level'\npolygon = {}\n"
      "bottom = {{ floor = 'near', line = [[4, 2], [4, 4]] }}\n"
      "top = {{ floor = 'far', line = [[{}, 2], [{}, 4]] }}\n",
      box(0, 0, 4, 6), box(4 + length, 0, 8 + length, 6), obstacles, box(4, 2, 4 + length, 4), 4 + length,
      4 + length);
}

}  // namespace

TEST_CASE("building: lines that one person spans are refused, lines side by side are not", "[crowd]") {
  const auto refusal = [](const std::string& text) {
    return message_of([&] { Site(text).plan.require_lines_apart(0.2, 0.1); });
  };
  CHECK_THAT(refusal(bridge(0.5)), Catch::Contains("\"bridge\" is 0.5 m long") &&
                                       Catch::Contains("\"near\"") && Catch::Contains("\"far\"") &&
                                       Catch::Contains("it takes 0.6 m"));
  CHECK_NOTHROW(Site(bridge(0.61)).plan.require_lines_apart(0.2, 0.1));
  // Another one ends beside it in the near floor.
  const auto other = [](const std::string& polygon, const std::string& line) {
    return bridge(5) +
           "[floors.third]\nelevation = 0\nwalkable = { polygon = [[50, 0], [51, 0], [51, 6], [50, 6]] }\n" +
           "[connectors.other]\ntype = 'level'\npolygon = " + polygon +
           "\nbottom = { floor = 'near', line = " + line + " }\n" +
           "top = { floor = 'third', line = [[50, 2], [50, 4]] }\n";
  };
  CHECK_NOTHROW(Site(other("[[4, 4.1], [50, 2], [50, 4], [4, 5.1]]", "[[4, 4.1], [4, 5.1]]"))
                    .plan.require_lines_apart(0.2, 0.1));
}

TEST_CASE("building: walls close behind a line are reported, those beside it are not", "[crowd]") {
  CHECK(Site(bridge(3)).plan.walls_behind_lines(0.2).empty());
  const Site site(
      bridge(3,
             ", obstacles = { post = { polygon = [[7.1, 2.5], [7.5, 2.5], [7.5, 3.5], [7.1, 3.5]] }, "
             "column = { circles = [[7.6, 1, 0.3]] } }"));
  const auto found = site.plan.walls_behind_lines(0.2);
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == 1);
  CHECK_THAT(found[0].second.text, Catch::Contains("0.1 m behind the line to \"bridge\""));
}

TEST_CASE("building: people touch across a line, and nowhere else, who are on two levels", "[crowd]") {
  const Site site(bridge(3));
  CHECK(site.plan.may_touch({{3.7, 3}}, 0, 2, 0.4));
  CHECK(site.plan.may_touch({{4.3, 3}}, 2, 0, 0.4));
  CHECK(site.plan.may_touch({{1, 1}}, 0, 0, 0.4));
  CHECK_FALSE(site.plan.may_touch({{3.5, 3}}, 0, 2, 0.4));
  CHECK_FALSE(site.plan.may_touch({{3.7, 3}}, 0, 1, 0.4));
}
