// Smoke and toxic gas: laws against numbers from their sources, fields against their grids, exits that close.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "crowd/hazard/hazard.hpp"
#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

const std::string hall =
    "[walkable]\npolygon = [[0, 0], [20, 0], [20, 10], [0, 10]]\n"
    "[exits.east]\nline = [[20, 4], [20, 6]]\n[exits.west]\npolygon = [[0, 4], [1, 4], [1, 6], [0, 6]]\n";

struct Smoky {
  BuildingPlan plan;
  JourneyPlan journey_plan;
  Hazard hazard;

  explicit Smoky(const std::string& toml, const std::string& building = hall + "[hazard]\n") {
    Deck deck = Deck::from_text(building + toml, "test.toml");
    plan.describe(deck.root());
    journey_plan.describe(deck.root(), plan);
    hazard.describe(deck.root(), plan, journey_plan);
    deck.require_all_read();
  }
};

/// Of all tests here; outlives MPI.
struct Folder {
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("scree_test_smoke_" + std::to_string(::getpid()));
};
std::string in_folder(const std::string& name) {
  static const Folder folder;
  return (folder.path / name).string();
}

std::string smoke_file(const std::string& content) {
  const std::string path = in_folder("smoke.csv");
  std::ofstream(path, std::ios::binary) << content;
  return "file = '" + path + "'\n";
}

std::string refusal(const std::string& toml) {
  return message_of([&] { Smoky smoky(toml); });
}

}  // namespace

TEST_CASE("the dose of NIST 2.6 reaches 1 after 207.58 s", "[crowd]") {
  const Real rate = dose_rate({.carbon_monoxide = 0.005, .carbon_dioxide = 0.02, .oxygen = 0.18});
  CHECK(1 / rate == Approx(207.58).margin(0.005));
  // By hand, term by term: 4.607e-7 * 5000^1.036 = 3.1303e-3; exp(2.3864) / 7.1 = 1.53158; 1 / (60
  // exp(6.564)).
  CHECK(dose_rate({.carbon_monoxide = 0.005, .carbon_dioxide = {}, .oxygen = {}}) ==
        Approx(3.1303e-3).epsilon(1e-4));
  CHECK(dose_rate({.carbon_monoxide = 0.005, .carbon_dioxide = 0.02, .oxygen = {}}) ==
        Approx(3.1303e-3 * 1.53158).epsilon(1e-4));
  CHECK(dose_rate({.carbon_monoxide = {}, .carbon_dioxide = {}, .oxygen = 0.18}) ==
        Approx(1 / (60 * std::exp(6.564))).epsilon(1e-9));
}

TEST_CASE("clean air gives no dose", "[crowd]") {
  CHECK(dose_rate({.carbon_monoxide = 0, .carbon_dioxide = 0, .oxygen = 0.209}) == 0);
  CHECK(dose_rate({}) == 0);
}

TEST_CASE("speed in smoke falls as Frantzich and Nilsson found, to a least factor", "[crowd]") {
  const SmokeSpeed speed;
  CHECK(speed.factor(0) == 1);
  CHECK(speed.factor(1) == Approx(0.91926).margin(5e-6));
  CHECK(speed.factor(6.193) == Approx(0.5).margin(1e-4));
  CHECK(speed.factor(50) == 0.1);
  const Smoky table("extinction = 2\nspeed_table = [[0, 1], [1, 0.8], [3, 0.4]]\n");
  CHECK(table.hazard.speed_factor({{1, 1}}, 0, 0) == Approx(0.6));
  CHECK(Smoky("extinction = 9\nspeed_table = [[0, 1], [1, 0.8], [3, 0.4]]\n")
            .hazard.speed_factor({{1, 1}}, 0, 0) == 0.4);
  CHECK(Smoky("carbon_monoxide = 0.001\n").hazard.speed_factor({{1, 1}}, 0, 0) == 1);
}

TEST_CASE("fields are linear between the points of a grid, and go on beyond its ends", "[crowd]") {
  std::string rows = "x[m],y[m],t[s],CO,K[1/m]\n";
  const auto extinction = [](Real x, Real y, Real t) { return 0.1 + 0.01 * x + 0.02 * y + 0.004 * t; };
  for (const Real t : {30.0, 0.0, 10.0})
    for (const Real x : {0.0, 5.0, 12.0, 20.0})
      for (const Real y : {0.0, 10.0})
        rows += std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(t) + ",0.001," +
                std::to_string(extinction(x, y, t)) + "\n";
  const Smoky smoky(smoke_file(rows));
  const auto factor = [&](Real x, Real y, Real t) { return smoky.hazard.speed_factor({{x, y}}, 0, t); };
  const auto expected = [&](Real x, Real y, Real t) { return 1 - 0.057 / 0.706 * extinction(x, y, t); };
  CHECK(factor(5, 10, 10) == Approx(expected(5, 10, 10)).epsilon(1e-7));
  CHECK(factor(7.3, 3.1, 22.5) == Approx(expected(7.3, 3.1, 22.5)).epsilon(1e-7));
  CHECK(factor(20.7, 3.1, 5) == Approx(expected(20, 3.1, 5)).epsilon(1e-7));
  CHECK(factor(7.3, 3.1, 99) == Approx(expected(7.3, 3.1, 30)).epsilon(1e-7));
  CHECK(smoky.hazard.dose_rate({{3, 3}}, 0, 3) ==
        Approx(dose_rate({.carbon_monoxide = 0.001, .carbon_dioxide = {}, .oxygen = {}})).epsilon(1e-6));
  const Smoky in_time(smoke_file("t,K\n0,0\n100,2\n"));
  CHECK(in_time.hazard.speed_factor({{7, 7}}, 0, 25) == Approx(1 - 0.057 / 0.706 * 0.5));
}

TEST_CASE("smoke closes an exit when it passes a limit there, and for good", "[crowd]") {
  const std::string field = smoke_file(
      "t,x,y,K,temperature\n0,0,0,0,20\n0,20,0,0,20\n0,0,10,0,20\n0,20,10,0,20\n"
      "100,0,0,0,20\n100,20,0,4,120\n100,0,10,0,20\n100,20,10,4,120\n");
  const auto switches = [&](const std::string& more, std::size_t exit) {
    Smoky smoky(field + more);
    smoky.journey_plan.place(smoky.plan, 0.2);
    smoky.hazard.close_routes(smoky.journey_plan, smoky.plan);
    return smoky.journey_plan.exits()[exit].switches;
  };
  const std::vector<Real> east = switches("[hazard.closes.east]\nextinction = 1\n", 0);
  REQUIRE(east.size() == 2);
  CHECK(east[1] == Approx(25));
  CHECK(switches("[hazard.closes.east]\nextinction = 3\ntemperature = 60\n", 0)[1] == Approx(40));
  CHECK(switches("[hazard.closes.hot]\nexit = 'west'\ntemperature = 60\n", 1) == std::vector<Real>{0});
  CHECK(switches("[hazard.closes.east]\nextinction = 9\n", 0) == std::vector<Real>{0});
  Exit exit;
  exit.switches = switches("[hazard.closes.east]\ntemperature = 10\n", 0);
  CHECK_FALSE(exit.is_open(0));
}

TEST_CASE("smoke closes a connector when it passes a limit at an end or in the middle of it", "[crowd]") {
  const std::string house =
      "[floors.ground]\nelevation = 0\nwalkable = { polygon = [[0, 0], [4, 0], [4, 6], [0, 6]] }\n"
      "[floors.upper]\nelevation = 3\nwalkable = { polygon = [[10, 0], [14, 0], [14, 6], [10, 6]] }\n"
      "[connectors.stair]\npolygon = [[4, 2], [10, 2], [10, 4], [4, 4]]\n"
      "bottom = { floor = 'ground', line = [[4, 2], [4, 4]] }\ntop = { floor = 'upper', line = [[10, 2], "
      "[10, 4]] }\n"
      "[exits.door]\nfloor = 'ground'\nline = [[0, 2], [0, 4]]\n[hazard]\n";
  // On the stair K rises to 2 at x = 10 m, to 1 at its foot; in the file its axes are those of the building.
  const std::string field = [] {
    std::string rows = "t,x,y,floor,K\n";
    for (const char* floor : {"ground", "upper", "stair"})
      for (const int t : {0, 100})
        for (const int x : {0, 4, 10, 14})
          for (const int y : {0, 6}) {
            const double k = std::string(floor) != "stair" || t == 0 ? 0 : x <= 4 ? 1 : 2;
            rows += fmt::format("{},{},{},{},{}\n", t, x, y, floor, k);
          }
    return smoke_file(rows);
  }();
  const auto closing = [&](const std::string& more) {
    Smoky smoky(field + more, house);
    smoky.journey_plan.place(smoky.plan, 0.2);
    smoky.plan.join(0.2);
    smoky.hazard.close_routes(smoky.journey_plan, smoky.plan);
    const int stair = smoky.plan.find("stair");
    CHECK(smoky.plan.may_enter(smoky.plan.find("upper"), stair, 0));
    return smoky.plan.level(stair).incline->closed_from;
  };
  CHECK(closing("[hazard.closes.stair]\nextinction = 0.5\n") ==
        Approx(25));  // 2 /m at the upper end after 100 s
  CHECK(closing("[hazard.closes.any]\nconnector = 'stair'\nextinction = 1\n") == Approx(50));
  CHECK(closing("[hazard.closes.stair]\nextinction = 3\n") == HUGE_VAL);
  CHECK(closing("[hazard.closes.door]\nextinction = 0.5\n") == HUGE_VAL);
  const auto refused = [&](const std::string& more) {
    return message_of([&] { Smoky smoky(field + more, house); });
  };
  CHECK_THAT(refused("[hazard.closes.stairs]\nextinction = 1\n"),
             Catch::Contains("no exit or connector") && Catch::Contains("did you mean \"stair\""));
  CHECK_THAT(refused("[hazard.closes.x]\nconnector = 'upper'\nextinction = 1\n"),
             Catch::Contains("connectors.upper") && Catch::Contains("stair"));
  CHECK_THAT(refused("[hazard.closes.x]\nconnector = 'stair'\nexit = 'door'\nextinction = 1\n"),
             Catch::Contains("remove one"));
}

TEST_CASE("what cannot be in a field of smoke is named with its place", "[crowd]") {
  const std::string square = "t,x,y,K\n0,0,0,1\n0,20,0,1\n0,0,10,1\n";
  CHECK_THAT(refusal(smoke_file(square)),
             Catch::Contains("not a grid") && Catch::Contains("x = 20 m, y = 10 m"));
  CHECK_THAT(refusal(smoke_file(square + "0,0,10,2\n")),
             Catch::Contains("smoke.csv:5") && Catch::Contains("in line 4 already"));
  CHECK_THAT(refusal(smoke_file("x,y,K\n0,0,1\n5,0,1\n0,9,1\n5,9,1\n")),
             Catch::Contains("from x = 0 to 5 m") && Catch::Contains("from 0 to 20 m"));
  CHECK_THAT(refusal(smoke_file("t,CO\n0,0\n9,5000\n")),
             Catch::Contains("smoke.csv:3") && Catch::Contains("ppm"));
  CHECK_THAT(refusal(smoke_file("t,K\n0,-1\n")),
             Catch::Contains("smoke.csv:2") && Catch::Contains("less than 0"));
  CHECK_THAT(refusal(smoke_file("t,O2\n0,18\n")), Catch::Contains("percent"));
  CHECK_THAT(refusal(smoke_file("t,smoke\n0,1\n")), Catch::Contains("there is no column \"smoke\""));
  CHECK_THAT(refusal(smoke_file("t,x,K\n0,1,1\n")), Catch::Contains("no column y"));
  CHECK_THAT(refusal(smoke_file("t,x,y\n0,1,1\n")), Catch::Contains("no column of smoke"));
  CHECK_THAT(refusal(smoke_file("t[min],K\n0,1\n")), Catch::Contains("in min"));
  CHECK_THAT(refusal("carbon_monoxide = 5000\n"), Catch::Contains("test.toml:8") && Catch::Contains("ppm"));
  CHECK_THAT(refusal(smoke_file("t,K\n0,1\n") + "extinction = 1\n"), Catch::Contains("remove one of them"));
  CHECK_THAT(refusal("fallen = 'stay'\n"), Catch::Contains("needs file, or one at least"));
  CHECK_THAT(refusal("extinction = 1\nspeed_table = [[1, 1], [0, 1]]\n"), Catch::Contains("rise"));
  CHECK_THAT(refusal("extinction = 1\n[hazard.closes.est]\nextinction = 2\n"), Catch::Contains("\"east\""));
  CHECK_THAT(refusal("extinction = 1\n[hazard.closes.east]\n"), Catch::Contains("needs a limit"));
}
