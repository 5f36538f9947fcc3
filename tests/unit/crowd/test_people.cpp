// People at the start and from sources: what they are like, and that they have room.
#include <algorithm>
#include <map>
#include <numbers>

#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

const std::string hall =
    "[walkable]\npolygon = [[0, 0], [20, 0], [20, 10], [0, 10]]\n"
    "[exits.east]\nline = [[20, 4], [20, 6]]\n";

std::string sources(const std::string& lines) {
  return hall + "[sources.gate]\nregion = [[1, 1], [5, 1], [5, 9], [1, 9]]\n" + lines;
}

}  // namespace

TEST_CASE("without [agents] there is one kind with the usual values", "[crowd]") {
  Building building(hall + "[populations.all]\ncount = 300\n");
  REQUIRE(building.people.types().size() == 1);
  CHECK(building.people.types()[0].name == "person");
  CHECK(building.people.largest_radius() == 0.199);
  CHECK(building.people.fastest() == 2.2);
  CHECK(building.people.longest_headway() == 0.95);
  CHECK(building.people.body_type_names() == std::vector<std::string>{"all"});
  building.populate();
  REQUIRE(building.size() == 300);
  CHECK(building.state.next_id == 300);
  Real radius = 0, speed = 0;
  for (std::size_t i = 0; i < building.size(); ++i) {
    radius += building.state.bodies.radius()[i] / 300;
    speed += agent::desired_speed(building.state.bodies)[i] / 300;
    CHECK(building.state.bodies.mobility()[i] == 1);
    CHECK(agent::premovement_end(building.state.bodies)[i] == 0);
  }
  CHECK(radius == Approx(0.187).margin(0.003));
  CHECK(speed == Approx(1.34).margin(0.075));
}

TEST_CASE("nobody overlaps anybody, a wall, a column or a door", "[crowd]") {
  const std::string columns =
      "[walkable.obstacles.posts]\ncircles = [[4, 5, 0.5], [8, 5, 0.3], [12, 3, 1.0]]\n"
      "[exits.side]\nline = [[5, 0], [7, 0]]\nopen_until = [60]\n";
  const std::string density = GENERATE("0.5", "2", "4", "5.5", "6");
  INFO(density);
  Building building(hall + columns + "[populations.all]\ndensity = " + density + "\n");
  building.populate();
  building.state.obstacles.set_active(2, true);  // the door
  CHECK(smallest_gap_of(building) >= 0);
  CHECK(smallest_wall_gap_of(building) >= 0);
  const Real area = 200 - std::numbers::pi * (0.25 + 0.09 + 1);
  CHECK(static_cast<Real>(building.size()) == Approx(std::stod(density) * area).margin(1));
  // Nobody starts behind an exit.
  CHECK(std::ranges::all_of(building.positions(),
                            [](const scree::Vec<2>& x) { return x[0] <= 20 && x[1] >= 0; }));
}

TEST_CASE("density of close disks of one size fits", "[crowd]") {
  Building building(hall +
                    "[agents.slim]\nradius = { distribution = 'constant', value = 0.15 }\n"
                    "[populations.all]\nregion = [[2, 2], [12, 2], [12, 8], [2, 8]]\ndensity = 6\n");
  building.populate();
  CHECK(building.size() == 360);
  CHECK(smallest_gap_of(building) >= 0);
  for (const scree::Vec<2>& x : building.positions())
    CHECK((x[0] >= 2 && x[0] <= 12 && x[1] >= 2 && x[1] <= 8));
}

TEST_CASE("a density counts the part of a region that no exit takes, however exits lie", "[crowd]") {
  // Two regions that overlap each other and reach over the edge of the population: 9 m2 of 40 m2.
  Building building(
      "[walkable]\npolygon = [[0, 0], [20, 0], [20, 10], [0, 10]]\n"
      "[exits.a]\npolygon = [[4, 0], [12, 0], [12, 2], [4, 2]]\n"
      "[exits.b]\npolygon = [[7, 0], [9, 0], [9, 3], [7, 3]]\n"
      "[populations.all]\nregion = [[0, 0], [8, 0], [8, 5], [0, 5]]\ndensity = 1\n");
  building.populate();
  CHECK(building.size() == 31);
}

TEST_CASE("one person may start at a point", "[crowd]") {
  const std::string at = "region = [[3, 4], [3.01, 4], [3.01, 4.01], [3, 4.01]]\ncount = ";
  Building building(hall + "[populations.one]\n" + at + "1\n");
  building.populate();
  REQUIRE(building.size() == 1);
  CHECK(building.positions()[0][0] == Approx(3.005).margin(0.005001));
  CHECK(building.positions()[0][1] == Approx(4.005).margin(0.005001));
  Building two(hall + "[populations.two]\n" + at + "2\n");
  CHECK_THAT(message_of([&] { two.populate(); }), Catch::Contains("do not fit") && Catch::Contains("1 such"));
}

TEST_CASE("a lattice has exactly the people asked for", "[crowd]") {
  const int count = GENERATE(1, 2, 7, 100, 800);
  Building building(hall + "[populations.all]\nplacement = 'lattice'\ncount = " + std::to_string(count) +
                    "\n");
  building.populate();
  CHECK(building.size() == static_cast<std::size_t>(count));
  CHECK(smallest_gap_of(building) >= 0);
  CHECK(smallest_wall_gap_of(building) >= -1e-9);
}

TEST_CASE("populations share a region and a periodic corridor without overlap", "[crowd]") {
  const std::string second =
      GENERATE("placement = 'random'\ndensity = 2", "placement = 'random'\ndensity = 4");
  Building building(
      "[walkable]\npolygon = [[0, 0], [10, 0], [10, 4], [0, 4]]\n"
      "[populations.a]\ndensity = 2\n[populations.b]\n" +
          second + "\n",
      Comm(MPI_COMM_SELF), {true, false});
  building.populate();
  CHECK(smallest_gap_of(building) >= 0);
  CHECK(smallest_wall_gap_of(building) >= 0);
  CHECK(std::ranges::count(building.state.bodies.type(), 0) == 80);
  // Without walls at the periodic faces people stand across them.
  CHECK(std::ranges::any_of(building.positions(), [](const scree::Vec<2>& x) { return x[0] < 0.15; }));
}

TEST_CASE("a periodic lattice closes on itself", "[crowd]") {
  Building building(
      "[walkable]\npolygon = [[0, 0], [10, 0], [10, 4], [0, 4]]\n"
      "[populations.a]\nplacement = 'lattice'\ncount = 120\n",
      Comm(MPI_COMM_SELF), {true, false});
  building.populate();
  CHECK(building.size() == 120);
  CHECK(smallest_gap_of(building) >= 0);
}

TEST_CASE("kinds come in their shares", "[crowd]") {
  Building building(hall +
                    "[agents.adult]\n[agents.impaired]\nradius = { distribution = 'constant', value = 0.3 }\n"
                    "speed = { distribution = 'uniform', min = 0.46, max = 0.76 }\n"
                    "[populations.all]\nagents = ['adult', 'impaired']\nshares = [3, 1]\ncount = 400\n"
                    "premovement = { distribution = 'uniform', min = 10, max = 100 }\n");
  building.populate();
  const BodyStore<2>& bodies = building.state.bodies;
  CHECK(std::ranges::count(agent::agent_type(bodies), 1) == Approx(100).margin(30));
  for (std::size_t i = 0; i < building.size(); ++i) {
    if (agent::agent_type(bodies)[i] == 1) CHECK(bodies.radius()[i] == 0.3);
    if (agent::agent_type(bodies)[i] == 1) CHECK(agent::desired_speed(bodies)[i] <= 0.76);
    CHECK((agent::premovement_end(bodies)[i] >= 10 && agent::premovement_end(bodies)[i] <= 100));
  }
}

TEST_CASE("people who do not fit are refused with numbers", "[crowd]") {
  const auto message = [](const std::string& lines) {
    return message_of([&] { Building(hall + "[populations.all]\n" + lines).populate(); });
  };
  CHECK_THAT(message("count = 5000\n"), Catch::Contains("test.toml:6:") && Catch::Contains("5000 people") &&
                                            Catch::Contains("at most") && Catch::Contains("200 m2"));
  CHECK_THAT(message("density = 8\n"), Catch::Contains("no room"));
  CHECK_THAT(message("density = 7.6\nplacement = 'lattice'\n"), Catch::Contains("lattice"));
  CHECK_THAT(message("count = 5\nregion = [[30, 30], [31, 30], [31, 31]]\n"),
             Catch::Contains("nothing of the region"));
  CHECK_THAT(message(""), Catch::Contains("count or density"));
  CHECK_THAT(message("count = 5\nagents = ['peson']\n"), Catch::Contains("\"person\""));
  CHECK_THAT(message("count = 5\nregion = [[0, 0], [5, 5], [5, 0], [0, 5]]\n"),
             Catch::Contains("meets itself"));
  CHECK_THAT(message("count = 5\njourney = 'lave'\n"), Catch::Contains("leave"));
}

TEST_CASE("people come when the integral of the rate says so", "[crowd]") {
  Building building(sources("schedule = [[0, 0], [10, 2], [20, 0], [30, 5]]\nlimit = 27\n"));
  CHECK(building.people.to_come(9.9).count == 0);
  CHECK(building.people.to_come(10.4).count == 0);
  CHECK(building.people.to_come(10.5).count == 1);
  CHECK(building.people.to_come(20).count == 20);
  CHECK(building.people.to_come(30).count == 20);
  CHECK(building.people.to_come(30.2).count == 21);
  CHECK(building.people.to_come(1000).count == 27);
  CHECK_FALSE(building.people.exhausted(building.state));
  for (int step = 0; step < 350; ++step) {
    building.tick(0.1);
    building.feed();
    const auto due = static_cast<std::size_t>(building.people.to_come(building.state.clock.time).count);
    REQUIRE(building.size() == due);
  }
  CHECK(building.people.exhausted(building.state));
  CHECK(smallest_gap_of(building) >= 0);
  CHECK(building.state.memory.n_bodies() == building.state.bodies.n_owned());
}

TEST_CASE("a full region lets people wait, drops them or stops the run", "[crowd]") {
  const std::string lines =
      hall + "[sources.gate]\nregion = [[1, 1], [2, 1], [2, 2], [1, 2]]\nrate = 100\nuntil = 1\nwhen_full = ";
  Building waiting(lines + "'wait'\n");
  waiting.tick(1);
  waiting.feed();
  CHECK(waiting.size() >= 4);
  CHECK(waiting.size() < 15);
  CHECK_FALSE(waiting.people.exhausted(waiting.state));
  // As soon as there is room the others follow.
  const std::size_t n = waiting.size();
  for (scree::Vec<2>& x : waiting.state.bodies.position()) x[0] += 10;
  waiting.tick(1);
  waiting.feed();
  CHECK(waiting.size() > n);

  Building dropping(lines + "'drop'\n");
  dropping.tick(1);
  dropping.feed();
  CHECK(dropping.people.exhausted(dropping.state));
  CHECK(dropping.size() < 20);
  CHECK(dropping.state.inlets[0].n_made == static_cast<std::int64_t>(dropping.size()));
  CHECK(dropping.state.inlets[0].n_made + dropping.state.inlets[0].n_dropped == 100);
  CHECK(smallest_gap_of(dropping) >= 0);

  Building stopping(lines + "'error'\n");
  stopping.tick(1);
  CHECK_THAT(message_of([&] { stopping.feed(); }), Catch::Contains("\"gate\"") && Catch::Contains("no room"));
}

TEST_CASE("a source that is far too fast drops people without trying for each of them", "[crowd]") {
  Building building(
      hall + "[sources.gate]\nregion = [[1, 1], [2, 1], [2, 2], [1, 2]]\nrate = 1e12\nwhen_full = 'drop'\n");
  for (int step = 0; step < 100; ++step) {
    building.tick(0.05);
    building.feed();
  }
  const InletProgress& progress = building.state.inlets[0];
  CHECK(progress.n_made == static_cast<std::int64_t>(building.size()));
  CHECK(static_cast<Real>(progress.n_made + progress.n_dropped) == Approx(5e12));
  CHECK(progress.n_made < 20);
  CHECK(smallest_gap_of(building) >= 0);
}

TEST_CASE("sources that make no sense are refused", "[crowd]") {
  const auto message = [](const std::string& lines) {
    return message_of([&] { Building building(sources(lines)); });
  };
  CHECK_THAT(message(""), Catch::Contains("schedule or rate"));
  CHECK_THAT(message("rate = 1\nschedule = [[0, 1]]\n"), Catch::Contains("schedule or rate"));
  CHECK_THAT(message("schedule = [[5, 1], [4, 2]]\n"), Catch::Contains("rise"));
  CHECK_THAT(message("schedule = [[0, -1]]\n"), Catch::Contains("0 or more"));
  CHECK_THAT(message("schedule = [[0, 0]]\n"), Catch::Contains("nobody"));
  CHECK_THAT(message("rate = 1\nstart = 5\nuntil = 4\n"), Catch::Contains("before it starts"));
}

TEST_CASE("radii and speeds of people need bounds", "[crowd]") {
  const auto message = [](const std::string& lines) {
    return message_of([&] { Building building(hall + "[agents.a]\n" + lines); });
  };
  CHECK_THAT(message("radius = { distribution = 'normal', mean = 0.2, deviation = 0.01 }\n"),
             Catch::Contains("test.toml:6:") && Catch::Contains("max"));
  CHECK_THAT(message("radius = { distribution = 'uniform', min = 0, max = 0.2 }\n"), Catch::Contains("min"));
  CHECK_THAT(message("speed = { distribution = 'gamma', shape = 2, scale = 1 }\n"), Catch::Contains("max"));
}

TEST_CASE("findings name people without a route and starts that are too full", "[crowd]") {
  const auto findings = [](const std::string& lines, bool is_led = false) {
    Building building(lines);
    return building.people.diagnostics(building.plan, building.journey_plan, is_led);
  };
  CHECK(findings(hall + "[populations.all]\ncount = 100\n").empty());
  const std::string apart =
      "[walkable]\nwkt = 'MULTIPOLYGON(((0 0, 5 0, 5 5, 0 5, 0 0)), ((7 0, 12 0, 12 5, 7 5, 7 0)))'\n"
      "[exits.west]\nline = [[0, 1], [0, 3]]\n[populations.all]\n";
  CHECK_THAT(findings(apart + "count = 10\n").at(0),
             Catch::Contains("no route") && Catch::Contains("are 2 m apart at (6.000,"));
  CHECK(findings(apart + "count = 10\nregion = [[0, 0], [5, 0], [5, 5], [0, 5]]\n").empty());
  CHECK_THAT(findings(hall + "[populations.all]\ncount = 2000\n").at(0), Catch::StartsWith("error"));
  CHECK_THAT(findings(hall + "[populations.all]\ncount = 1570\n").at(0), Catch::Contains("may not fit"));
  const std::string nowhere = "[walkable]\nwkt = 'POLYGON((0 0, 9 0, 9 9, 0 9, 0 0))'\n[populations.all]\n";
  CHECK_THAT(findings(nowhere + "count = 10\n").at(0), Catch::Contains("will stand"));
  CHECK(findings(nowhere + "count = 10\n", true).empty());
}
