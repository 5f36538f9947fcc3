// Exits that people know, notice, or are led to.
#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

const std::string hall =
    "[walkable]\npolygon = [[0, 0], [20, 0], [20, 10], [0, 10]]\n"
    "[exits.east]\nline = [[20, 4], [20, 6]]\n"
    "[exits.west]\nline = [[0, 4], [0, 6]]\n"
    "[exits.north]\nline = [[9, 10], [11, 10]]\nopen_until = [50]\n";

/// Where somebody of kind `kind` at x goes.
std::size_t put(Building& building, const Vec<2>& x, std::int32_t kind) {
  const std::size_t at = building.put(x);
  agent::agent_type(building.state.bodies)[at] = kind;
  return at;
}
int destination(const Building& building, std::size_t person) {
  return agent::destination(building.state.bodies)[person];
}

}  // namespace

TEST_CASE("people choose among the exits that their kind knows", "[crowd]") {
  Building building(
      hall +
      "[agents.guest]\nknows = ['exits.east']\n[agents.staff]\n[agents.some]\nknows = ['east', 'north']\n");
  const std::size_t guest = put(building, {{3, 5}}, 0), staff = put(building, {{3, 6}}, 1),
                    some = put(building, {{3, 7}}, 2);
  building.choose();
  CHECK(destination(building, guest) == 0);  // past the west exit
  CHECK(destination(building, staff) == 1);
  CHECK(destination(building, some) == 2);
  building.tick(51);
  building.choose();
  CHECK(destination(building, some) == 0);
}

TEST_CASE("people who know no exit that is open choose among all", "[crowd]") {
  Building building(hall + "[agents.guest]\nknows = ['north']\n");
  const std::size_t guest = put(building, {{3, 5}}, 0);
  building.choose();
  CHECK(destination(building, guest) == 2);
  building.tick(51);
  building.choose();
  CHECK(destination(building, guest) == 1);
}

TEST_CASE("weights and the quickest exit are among known exits, too", "[crowd]") {
  const std::string choice =
      GENERATE("choice = 'quickest'\n", "choice = 'weights'\nexits = ['east', 'west']\nweights = [1, 9]\n");
  Building building(hall + "[agents.guest]\nknows = ['east']\n[[journeys.leave.steps]]\n" + choice);
  std::vector<std::size_t> people;
  for (int k = 0; k < 20; ++k) people.push_back(put(building, {{1 + 0.4 * k, 5}}, 0));
  for (int step = 0; step < 40; ++step) {
    building.choose();
    building.tick(0.25);
  }
  for (const std::size_t person : people) CHECK(destination(building, person) == 0);
}

TEST_CASE("an unknown exit is taken once the route to it is short", "[crowd]") {
  Building building(hall + "[agents.guest]\nknows = ['east']\nnotices = '4 m'\n");
  const std::size_t near = put(building, {{3, 5}}, 0), far = put(building, {{8, 5}}, 0);
  building.choose();
  CHECK(destination(building, near) == 1);
  CHECK(destination(building, far) == 0);
  building.state.bodies.position()[far] = {{2.5, 5}};
  building.tick(0.1);
  building.choose();
  CHECK(destination(building, far) == 1);
}

TEST_CASE("followers leave by the exit of the nearest leader within reach, others by their own choice",
          "[crowd]") {
  Building building(hall +
                    "[agents.visitor]\nfollows = 'warden'\nfollow_reach = '5 m'\n"
                    "[agents.warden]\nknows = ['east']\n[agents.deputy]\nknows = ['north']\n");
  const std::size_t warden = put(building, {{6, 5}}, 1), deputy = put(building, {{4, 4}}, 2);
  const std::size_t led = put(building, {{3, 5}}, 0), alone = put(building, {{0.8, 5}}, 0);
  building.choose();
  CHECK(destination(building, warden) == 0);
  CHECK(destination(building, deputy) == 2);
  CHECK(destination(building, led) == 0);
  CHECK(destination(building, alone) == 1);
  building.state.bodies.position()[warden] = {{5, 5}};
  building.tick(0.1);
  building.choose();
  CHECK(destination(building, alone) == 0);  // 4.2 m from the warden now
  building.state.bodies.position()[warden] = {{15, 5}};
  building.tick(0.1);
  building.choose();
  CHECK(destination(building, led) == 0);  // goes on
}

TEST_CASE("names of exits and leaders are looked up", "[crowd]") {
  const auto refused = [](const std::string& more) {
    return message_of([&] { Building building(hall + more); });
  };
  CHECK_THAT(refused("[agents.a]\nknows = ['est']\n"),
             Catch::Contains("test.toml:11") && Catch::Contains("\"east\""));
  CHECK_THAT(refused("[agents.a]\nknows = []\n"), Catch::Contains("knows is empty"));
  CHECK_THAT(refused("[agents.a]\nnotices = 3\n"), Catch::Contains("goes with knows"));
  CHECK_THAT(refused("[agents.a]\nfollows = 'wardn'\n[agents.warden]\n"),
             Catch::Contains("test.toml:11") && Catch::Contains("\"warden\""));
  CHECK_THAT(refused("[agents.a]\nfollows = 'a'\n"), Catch::Contains("follow itself"));
}
