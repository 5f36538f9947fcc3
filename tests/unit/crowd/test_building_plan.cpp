// Buildings of several floors: what their decks say, and what lines open.
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

TEST_CASE("building: ways lead over lines at the speed of the connector", "[crowd]") {
  const auto times = [](const std::string& more) {
    const Site site(floors + stair + more);
    FloorField ways;
    Deck deck = Deck::from_text("[navigation]\nwall_clearance = 0", "test.toml");
    ways.describe(deck.root());
    const Destination door{"exits.door", "test.toml:1:1", {{{{0, 2}}, {{0.5, 2}}, {{0.5, 4}}, {{0, 4}}}}, 0};
    ways.build(Comm(MPI_COMM_SELF), site.plan, site.plan.bounds(), {}, {door});
    const std::vector<Vec<2>> at{{{11, 3}}, {{6, 3}}, {{2.5, 3}}};
    const std::vector<std::int32_t> levels{1, 2, 0};
    ways.fetch({at, levels}, 12);
    std::vector<Real> found;
    for (std::size_t i = 0; i < at.size(); ++i) found.push_back(ways.travel_time(0, at[i], levels[i]));
    CHECK(ways.direction(0, at[0], 1)[0] == Approx(-1).margin(1e-3));
    CHECK(ways.direction(0, {{9.03, 3}}, 1)[0] == Approx(-1).margin(1e-3));
    CHECK(ways.direction(0, {{3.02, 3}}, 2)[0] == Approx(-1).margin(1e-3));
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
  const WayCheck check(site.plan, {{0, {{{0, 2}}, {{0.5, 2}}, {{0.5, 4}}, {{0, 4}}}}}, 0.2);
  CHECK(check.has_no_way({{11, 3}}, 1));
  CHECK_FALSE(check.has_no_way({{11, 3}}, 0));
  CHECK_FALSE(check.reaches(1));
  CHECK(WayCheck(site.plan, {{1, {{{0, 2}}, {{0.5, 2}}, {{0.5, 4}}, {{0, 4}}}}}, 0.2).reaches(0));
}
