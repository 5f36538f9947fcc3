// Where people go: exits and when they are open, choices, waypoints, caps of flow.
#include "crowd/journey_plan.hpp"

#include <algorithm>

#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

const std::string room = "[walkable]\npolygon = [[0, 0], [20, 0], [20, 10], [0, 10]]\n";
const std::string west = "[exits.west]\nline = [[0, 4], [0, 6]]\n";
const std::string east = "[exits.east]\nline = [[20, 4], [20, 6]]\n";

std::string journey(const std::string& lines) {
  return "[[journeys.go.steps]]\n" + lines;
}

int destination(const Building& building, std::size_t i) {
  return agent::destination(building.state.bodies)[i];
}

}  // namespace

TEST_CASE("an exit opens and closes at its times", "[crowd]") {
  Building building(room + west + "open_from = ['5 s', 20, 40]\nopen_until = [10, 30]\n" + east +
                    "open_until = ['1 min']\n");
  const Exit& exit = building.journey_plan.exits()[0];
  CHECK(exit.switches == std::vector<Real>{5, 10, 20, 30, 40});
  for (const Real time : {5.0, 9.9, 20.0, 29.0, 40.0, 1000.0}) CHECK(exit.is_open(time));
  for (const Real time : {0.0, 4.9, 10.0, 19.0, 30.0, 39.0}) CHECK_FALSE(exit.is_open(time));
  CHECK(building.journey_plan.exits()[1].switches == std::vector<Real>{0, 60});
  CHECK_FALSE(building.journey_plan.exits()[1].is_open(60));
  CHECK(exit.is_open(0.1 * 50));
}

TEST_CASE("doors stand while exits are closed", "[crowd]") {
  Building building(room + west + "open_from = [5]\n" + east);
  REQUIRE(building.exits.door(0) >= 0);
  CHECK(building.exits.door(1) == -1);
  int calls = 0;
  const auto switch_doors = [&] { return building.exits.switch_doors(building.state, [&] { ++calls; }); };
  CHECK(switch_doors());
  CHECK(building.state.obstacles.active(building.exits.door(0)));
  CHECK_FALSE(switch_doors());
  building.tick(5);
  CHECK(switch_doors());
  CHECK_FALSE(building.state.obstacles.active(building.exits.door(0)));
  CHECK(calls == 2);
}

TEST_CASE("a door shuts as soon as nobody is in the opening; whoever is behind the line leaves", "[crowd]") {
  Building building(room + west + "open_until = [10]\n" + east);
  const std::size_t behind = building.put({{-0.35, 5}}), inside = building.put({{0.1, 4.5}}),
                    before = building.put({{0.6, 5}}), leaning = building.put({{0.1995, 3.9}});
  const auto pass = [&](Real dt) {
    building.tick(dt);
    building.exits.switch_doors(building.state, [] {});
    building.choose();
    return building.state.obstacles.active(building.exits.door(0));
  };
  building.choose();
  for (const std::size_t i : {behind, inside, before, leaning}) CHECK(destination(building, i) == 0);
  CHECK_FALSE(pass(10));
  CHECK(destination(building, behind) == 0);
  CHECK(destination(building, inside) == 0);
  CHECK(destination(building, before) == 1);
  CHECK(destination(building, leaning) == 1);
  // Through the line, but not past it as a whole.
  building.state.bodies.position()[inside] = {{-0.19, 4.5}};
  CHECK_FALSE(pass(0.1));
  CHECK(destination(building, inside) == 0);
  building.state.bodies.position()[inside] = {{-0.21, 4.5}};
  building.state.bodies.position()[behind] = {{-0.6, 5}};
  CHECK(pass(0.1));
  CHECK(building.exits.is_shut(0));
  CHECK(destination(building, inside) == 0);
  std::vector<Index> staying;
  CHECK(building.exits.remove_arrived(building.state, staying));
  CHECK(building.state.outlets[0].n_removed == 1);
  CHECK(std::ranges::find(staying, static_cast<Index>(behind)) == staying.end());
  // It does not open again for somebody who is pressed onto it; a restart finds it as it is.
  building.state.bodies.position()[before] = {{0.1, 5}};
  CHECK(pass(0.1));
  building.state.obstacles.set_active(building.exits.door(0), false);
  building.exits.restore_doors(building.state);
  CHECK(building.state.obstacles.active(building.exits.door(0)));
}

TEST_CASE("before the only door, people stand until it is shut", "[crowd]") {
  Building building(room + west + "open_from = [0, 20]\nopen_until = [10]\n");
  const std::size_t inside = building.put({{0.1, 5}}), before = building.put({{0.6, 5}});
  const auto pass = [&](Real dt) {
    building.tick(dt);
    building.exits.switch_doors(building.state, [] {});
    building.choose();
  };
  building.choose();
  pass(10);
  CHECK(destination(building, inside) == 0);
  CHECK(destination(building, before) == -1);
  // Pushed into the opening, they go on.
  building.state.bodies.position()[before] = {{0.15, 4.5}};
  pass(0.1);
  CHECK(destination(building, before) == 0);
  building.state.bodies.position()[before] = {{0.25, 4.5}};
  pass(0.1);
  CHECK(destination(building, before) == -1);
  building.state.bodies.position()[inside] = {{-0.3, 5}};
  pass(0.1);
  CHECK(building.state.obstacles.active(building.exits.door(0)));
  CHECK(destination(building, inside) == 0);
  CHECK(destination(building, before) == 0);
  pass(10);
  CHECK_FALSE(building.state.obstacles.active(building.exits.door(0)));
  CHECK_FALSE(building.exits.is_shut(0));
}

TEST_CASE("people vanish behind the line, not at it", "[crowd]") {
  Building building(room + west + "absorb_depth = 0.4\n" + east);
  CHECK(building.journey_plan.exits()[0].width() == Approx(2));
  CHECK(building.journey_plan.exits()[0].capacity() == Approx(2.6));
  building.put({{-0.39, 5}});
  building.put({{-0.41, 5}});
  building.put({{10, 5}});
  building.put({{20.6, 4.1}});
  std::vector<Index> staying;
  building.tick(0.1);
  CHECK(building.exits.remove_arrived(building.state, staying));
  CHECK(staying == std::vector<Index>{0, 2});
  CHECK(building.state.outlets[0].n_removed == 1);
  CHECK(building.state.outlets[1].n_removed == 1);
  REQUIRE(building.exits.departures().size() == 2);
  CHECK(building.exits.departures()[0].id == 1);
  CHECK(building.exits.departures()[0].time == 0.1);
  CHECK(building.exits.departures()[1].exit == 1);
}

TEST_CASE("a cap lets people out at its rate, smaller ids first", "[crowd]") {
  Building building(
      room + "[exits.west]\npolygon = [[0, 0], [2, 0], [2, 2], [0, 2]]\nmax_flow = 2\ntakes = 'all'\n");
  for (int i = 0; i < 30; ++i) building.put({{1, 1}});
  std::vector<Index> staying;
  // Steps of 0.15 s: 20 of them last 3 s.
  for (int step = 1; step <= 20; ++step) {
    building.tick(0.15);
    if (building.exits.remove_arrived(building.state, staying)) building.state.bodies.reorder(staying);
    CHECK(building.state.outlets[0].n_removed == static_cast<std::int64_t>(0.3 * step + 1e-9));
  }
  REQUIRE(building.exits.departures().size() == 6);
  for (std::size_t k = 0; k < 6; ++k) CHECK(building.exits.departures()[k].id == static_cast<GlobalId>(k));
  // A pause is not made up for.
  building.tick(10);
  building.tick(0.15);
  building.exits.remove_arrived(building.state, staying);
  CHECK(building.state.outlets[0].n_removed <= 7);
}

TEST_CASE("nearest: the open exit of the shortest route, again when it closes", "[crowd]") {
  Building building(room + west + "open_until = [10]\n" + east + "open_until = [20]\n");
  const std::size_t left = building.put({{5, 5}}), right = building.put({{15, 5}});
  building.choose();
  CHECK(destination(building, left) == 0);
  CHECK(destination(building, right) == 1);
  building.tick(10);
  building.choose();
  CHECK(destination(building, left) == 1);
  // All closed: they go on to the one they had, and others to the nearest.
  building.tick(10);
  const std::size_t late = building.put({{4, 5}});
  building.exits.switch_doors(building.state, [] {});
  building.choose();
  CHECK(destination(building, left) == 1);
  CHECK(destination(building, right) == 1);
  CHECK(destination(building, late) == 0);
}

TEST_CASE("weights: shares of the people, and a closed exit moves only those who wanted it", "[crowd]") {
  const std::string deck =
      room + west + "open_until = [10]\n" + east + "[exits.south]\nline = [[10, 0], [12, 0]]\n" +
      journey("exits = ['west', 'east', 'south']\nchoice = 'weights'\nweights = [1, 3, 0]\n");
  Building building(deck);
  for (int i = 0; i < 1000; ++i) building.put({{5, 5}});
  building.choose();
  std::vector<int> before;
  for (std::size_t i = 0; i < building.size(); ++i) before.push_back(destination(building, i));
  CHECK(std::ranges::count(before, 0) == Approx(250).margin(60));
  CHECK(std::ranges::count(before, 2) == 0);
  building.tick(10);
  building.choose();
  for (std::size_t i = 0; i < building.size(); ++i) CHECK(destination(building, i) == 1);

  Building late(deck);
  late.tick(10);
  for (int i = 0; i < 1000; ++i) late.put({{5, 5}});
  late.choose();
  for (std::size_t i = 0; i < late.size(); ++i) CHECK(destination(late, i) == 1);
}

TEST_CASE("quickest: the nearest while it is empty, others once a queue is there", "[crowd]") {
  Building building(room + west + east + journey("choice = 'quickest'\nupdate = '1 s'\n"));
  for (int i = 0; i < 100; ++i) building.put({{6 + 0.001 * i, 5}});
  building.choose();
  const auto n_east = [&] { return std::ranges::count(agent::destination(building.state.bodies), 1); };
  CHECK(n_east() == 0);
  // One after the other thinks again, so they do not all turn around.
  std::int64_t before = 0;
  for (int step = 0; step < 40; ++step) {
    building.tick(0.05);
    building.choose();
    CHECK(std::abs(n_east() - before) <= 20);
    before = n_east();
  }
  CHECK(before >= 10);
  CHECK(before <= 30);
  // Nobody turns around for a gain of less than 1 s.
  for (int step = 0; step < 40; ++step) {
    building.tick(0.05);
    building.choose();
  }
  CHECK(std::abs(n_east() - before) <= 10);
}

TEST_CASE("journeys lead through waypoints, where people wait", "[crowd]") {
  Building building(room + west + east + "[waypoints.gate]\npolygon = [[9, 4], [11, 4], [11, 6], [9, 6]]\n" +
                    journey("waypoint = 'gate'\nwait = '3 s'\n") + journey("exits = ['east']\n"));
  REQUIRE(building.journey_plan.destinations().size() == 3);
  CHECK(building.journey_plan.destinations()[2].name == "waypoints.gate");
  const std::size_t i = building.put({{5, 5}});
  const auto at = [&](const scree::Vec<2>& x, Real dt) {
    building.state.bodies.position()[i] = x;
    building.tick(dt);
    building.choose();
    return destination(building, i);
  };
  building.choose();
  CHECK(destination(building, i) == 2);
  CHECK(at({{8, 5}}, 1) == 2);
  CHECK(at({{9.1, 5}}, 1) == 2);
  CHECK(agent::waits_until(building.state.bodies)[i] == 5);
  // Pushed out of it, they still wait.
  CHECK(at({{8.9, 5}}, 1) == 2);
  CHECK(at({{9.1, 5}}, 2) == 1);
  CHECK(agent::journey_step(building.state.bodies)[i] == 1);
  CHECK(agent::waits_until(building.state.bodies)[i] == 0);
}

TEST_CASE("a journey may end at a waypoint", "[crowd]") {
  Building building(room + west + "[waypoints.stage]\npolygon = [[9, 4], [11, 4], [11, 6], [9, 6]]\n" +
                    journey("waypoint = 'stage'\n"));
  building.put({{10, 5}});
  building.choose();
  building.tick(5);
  building.choose();
  CHECK(destination(building, 0) == 1);
}

TEST_CASE("a journey that repeats begins anew after its last waypoint", "[crowd]") {
  Building building(room + "[waypoints.a]\npolygon = [[1, 4], [3, 4], [3, 6], [1, 6]]\n" +
                    "[waypoints.b]\npolygon = [[16, 4], [18, 4], [18, 6], [16, 6]]\n" +
                    "[journeys.go]\nrepeat = true\n" + journey("waypoint = 'a'\n") +
                    journey("waypoint = 'b'\nwait = 1\n"));
  const std::size_t i = building.put({{10, 5}});
  const auto at = [&](const scree::Vec<2>& x) {
    building.state.bodies.position()[i] = x;
    building.tick(1);
    building.choose();
    return destination(building, i);
  };
  building.choose();
  CHECK(destination(building, i) == 0);
  for (int round = 0; round < 3; ++round) {
    CHECK(at({{2, 5}}) == 1);
    CHECK(at({{10, 5}}) == 1);
    CHECK(at({{17, 5}}) == 1);
    CHECK(at({{17, 5}}) == 0);
  }
}

TEST_CASE("who has no route has no destination", "[crowd]") {
  Building building(
      "[walkable]\nwkt = 'MULTIPOLYGON(((0 0, 5 0, 5 5, 0 5, 0 0)), ((7 0, 12 0, 12 5, 7 5, 7 0)))'\n"
      "[exits.west]\nline = [[0, 1], [0, 3]]\n");
  building.put({{3, 3}});
  building.put({{9, 3}});
  building.put({{10, 3}});
  building.choose();
  CHECK(destination(building, 0) == 0);
  CHECK(destination(building, 1) == -1);
  CHECK(destination(building, 2) == -1);
}

TEST_CASE("zones multiply speeds", "[crowd]") {
  Building building(room + west +
                    "[zones.a]\npolygon = [[0, 0], [10, 0], [10, 10], [0, 10]]\nspeed_factor = 0.5\n"
                    "[zones.b]\npolygon = [[5, 0], [5, 10], [15, 10], [15, 0]]\nspeed_factor = 0.8\n");
  CHECK(building.journey_plan.speed_factor({{2, 5}}, 0) == 0.5);
  CHECK(building.journey_plan.speed_factor({{7, 5}}, 0) == 0.4);
  CHECK(building.journey_plan.speed_factor({{12, 5}}, 0) == 0.8);
  CHECK(building.journey_plan.speed_factor({{18, 5}}, 0) == 1);
}

TEST_CASE("exits and journeys that make no sense are refused with their place", "[crowd]") {
  const auto message = [](const std::string& lines) {
    return message_of([&] { Building building(room + lines); });
  };
  CHECK_THAT(message("[exits.a]\n"), Catch::Contains("line, polygon and color"));
  CHECK_THAT(message(west + "polygon = [[0, 0], [1, 0], [1, 1]]\n"),
             Catch::Contains("line, polygon and color"));
  CHECK_THAT(message("[exits.a]\nline = [[0, 4]]\n"), Catch::Contains("2 ends"));
  CHECK_THAT(message("[exits.a]\nline = [[4, 4], [5, 5]]\n"), Catch::Contains("test.toml:4:"));
  CHECK_THAT(message("[exits.a]\npolygon = [[30, 0], [31, 0], [31, 1]]\n"), Catch::Contains("outside"));
  CHECK_THAT(message(west + "open_from = [5, 4]\nopen_until = [10, 20]\n"), Catch::Contains("rise"));
  CHECK_THAT(message(west + "open_until = [10, 20]\n"), Catch::Contains("as many times"));
  CHECK_THAT(message(west + journey("exits = ['wets']\n")), Catch::Contains("west"));
  CHECK_THAT(message(west + journey("exits = ['west', 'west']\n")), Catch::Contains("twice"));
  CHECK_THAT(message(west + journey("choice = 'weights'\n")), Catch::Contains("one weight for each"));
  CHECK_THAT(message(west + journey("weights = [1]\n")), Catch::Contains("choice = \"weights\""));
  CHECK_THAT(message(west + journey("wait = 1\n")), Catch::Contains("waypoint"));
  CHECK_THAT(message(west + journey("waypoint = 'a'\n")), Catch::Contains("[waypoints.NAME]"));
  CHECK_THAT(message(west + journey("") + journey("")), Catch::Contains("never reached"));
  CHECK_THAT(message(journey("exits = ['a']\n")), Catch::Contains("[exits.NAME]"));
  CHECK_THAT(message(west + journey("") + "[[journeys.other.steps]]\n[populations.p]\ncount = 3\n"),
             Catch::Contains("which journey") && Catch::Contains("\"go\", \"other\""));
  CHECK_THAT(message(west + "[journeys.go]\n"), Catch::Contains("steps"));
  CHECK_THAT(message(west + "[journeys.go]\nrepeat = true\n" + journey("")), Catch::Contains("waypoints"));
}

TEST_CASE("a region takes nobody who has not started", "[crowd]") {
  Building building(room + "[exits.south]\npolygon = [[0, 0], [2, 0], [2, 2], [0, 2]]\n");
  const std::size_t late = building.put({{1, 1}});
  agent::premovement_end(building.state.bodies)[late] = 5;
  building.choose();
  CHECK(destination(building, late) == 0);
  std::vector<Index> staying;
  building.tick(4.9);
  CHECK_FALSE(building.exits.remove_arrived(building.state, staying));
  building.tick(0.1);
  CHECK(building.exits.remove_arrived(building.state, staying));
}

TEST_CASE("people get into a region over its open border", "[crowd]") {
  const auto width = [](const std::string& polygon) {
    return Building(room + "[exits.a]\npolygon = " + polygon + "\n").journey_plan.exits()[0].width();
  };
  CHECK(width("[[16, 0], [20, 0], [20, 10], [16, 10]]") == Approx(10));  // the end of the hall, however deep
  CHECK(width("[[4, 0], [20, 0], [20, 10], [4, 10]]") == Approx(10));
  CHECK(width("[[18, 3], [24, 3], [24, 7], [18, 7]]") == Approx(4 + 2 + 2));
  CHECK(width("[[8, 4], [9, 4], [9, 5], [8, 5]]") == Approx(4));
  CHECK(width("[[-1, -1], [21, -1], [21, 11], [-1, 11]]") == HUGE_VAL);
}
