// Smoke, and people of a file, on several floors: the same bits on any number of ranks and through restarts,
// over the time at which smoke closes a stair too.
#include "crowd/agent_fields.hpp"
#include "crowd/crowd_environment.hpp"
#include "crowd/hazard/hazard.hpp"
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

using namespace scree;

namespace {

/// Two floors, two stairs; smoke closes the west one after 1 s, and people fall in the gas at the east end
/// above.
const std::string house =
    deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 4, .block_cells = 1}, R"(
[floors.ground]
elevation = 0
[floors.ground.walkable]
polygon = [[0, 0], [16, 0], [16, 8], [0, 8]]
[floors.ground.walkable.obstacles.west]
polygon = [[2, 3], [5, 3], [5, 5], [2, 5]]
[floors.ground.walkable.obstacles.east]
polygon = [[11, 3], [14, 3], [14, 5], [11, 5]]
[floors.upper]
elevation = 3
[floors.upper.walkable]
polygon = [[0, 0], [16, 0], [16, 8], [0, 8]]
[floors.upper.walkable.obstacles.west]
polygon = [[2, 3], [5, 3], [5, 5], [2, 5]]
[floors.upper.walkable.obstacles.east]
polygon = [[11, 3], [14, 3], [14, 5], [11, 5]]
[connectors.west]
polygon = [[2, 3], [5, 3], [5, 5], [2, 5]]
bottom = { floor = "ground", line = [[2, 3], [2, 5]] }
top = { floor = "upper", line = [[5, 3], [5, 5]] }
[connectors.east]
polygon = [[11, 3], [14, 3], [14, 5], [11, 5]]
bottom = { floor = "ground", line = [[14, 3], [14, 5]] }
top = { floor = "upper", line = [[11, 3], [11, 5]] }
[exits.door]
floor = "ground"
line = [[0, 3], [0, 5]]
[navigation]
cell = 0.2
[populations.crowd]
floor = "upper"
region = [[5.5, 0], [16, 0], [16, 8], [5.5, 8]]
count = 50
premovement = { distribution = "uniform", min = 0, max = 6 }
[populations.survey]
file = "PEOPLE"
[hazard]
file = "GAS"
[hazard.closes.west]
extinction = 1
)");
constexpr Real closes_at = 1;

std::string with_files(const Scratch& folder) {
  const std::string people = folder / "people.csv", gas = folder / "gas.csv";
  if (Comm().is_root()) {
    std::ofstream rows(people);
    rows << "id,x,y,floor,speed,leaves_at,group\n";
    int id = 1000;
    for (const char* floor : {"upper", "ground"})
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 3; ++j)
          rows << id++ << ',' << 0.5 + 0.5 * i << ',' << 0.5 + 0.5 * j << ',' << floor << ','
               << (i % 2 == 0 ? "1.3" : "") << ',' << (j == 0 ? "door" : "") << ','
               << (j == 0 ? std::to_string(i / 3) : "") << '\n';  // groups of three and two, on both floors
    rows << "7,3.5,4,west,1.1,,\n8,12.5,4.2,east,,door,2\n";      // on the flights, one with a group
    std::ofstream fields(gas);
    fields << "t,x,y,floor,K,CO,CO2\n";
    for (const char* floor : {"ground", "upper", "west", "east"})
      for (const int t : {0, 2})
        for (const int x : {0, 12, 16})
          for (const int y : {0, 8}) {
            const std::string name = floor;
            fields << t << ',' << x << ',' << y << ',' << name << ',' << (name == "west" ? t : 0.3) << ','
                   << (name == "upper" && x == 16 ? 0.1 : 0) << ",0.1\n";
          }
  }
  Comm().barrier();
  std::string text = house;
  text.replace(text.find("PEOPLE"), 6, people);
  text.replace(text.find("GAS"), 3, gas);
  return text;
}

const std::vector<Overrides> variants{
    {},
    {"hazard.fallen=vanish"},
    {"navigation.density_cost.weight=0.5", "navigation.density_cost.update=0.4"}};

std::int64_t owned_where(const State<2>& state, const std::function<bool(std::size_t)>& is_meant) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i) n += is_meant(i) ? 1 : 0;
  return state.comm.sum(n);
}

}  // namespace

TEST_CASE("smoke and people of a file on two floors: the same bits on any number of ranks", "[mpi]") {
  const Scratch folder;
  const std::string text = with_files(folder);
  for (const Overrides& variant : variants) {
    const Outcome outcome = check_invariant<2>(text, variant, 90);
    CHECK(outcome.n_contacts > 5);
  }
}

TEST_CASE("smoke that closes a stair: checkpoints before and after go on as if there had been none",
          "[mpi]") {
  const Scratch folder;
  const std::string text = with_files(folder);
  for (const Overrides& variant : variants)
    check_restarts<2>({.text = text, .overrides = variant, .n_steps = 80, .splits = {5, 19, 20, 21, 65}});
}

TEST_CASE("people of a file start on the floors that it names, and a stair in smoke is left, not entered",
          "[mpi]") {
  const Scratch folder;
  Simulation<2> simulation(Comm(), read_deck<2>(with_files(folder)));
  const State<2>& state = simulation.state();
  const BuildingPlan& building = *crowd_world(state)->building;
  const int west = building.find("west"), upper = building.find("upper"), ground = building.find("ground");
  const auto n_listed_on = [&](int level) {
    return owned_where(state, [&](std::size_t i) {
      const GlobalId id = state.bodies.id()[i];
      return state.bodies.level()[i] == level && ((id >= 1000 && id < 1048) || id == 7 || id == 8);
    });
  };
  CHECK(n_listed_on(upper) == 24);
  CHECK(n_listed_on(ground) == 24);
  CHECK(n_listed_on(west) == 1);
  CHECK(n_listed_on(building.find("east")) == 1);
  // Groups have the least id of their members, of all floors.
  for (const auto& [group, size] : {std::pair(1000, 6), {1009, 6}, {8, 5}})
    CHECK(owned_where(state, [&, p = group](std::size_t i) { return agent::group(state.bodies)[i] == p; }) ==
          size);
  CHECK(owned_where(state, [&](std::size_t i) { return agent::group(state.bodies)[i] >= 0; }) == 17);

  // Who is in the flight at the closing, or so near its end that it cannot stop before, may still be there.
  std::int64_t n_at_closing = -1, n_fallen = 0;
  while (state.clock.time < 25) {
    simulation.step();
    const auto n_west = [&] {
      return owned_where(state, [&](std::size_t i) { return state.bodies.level()[i] == west; });
    };
    if (n_at_closing < 0 && state.clock.time >= closes_at) n_at_closing = n_west();
    if (state.clock.time > 15) REQUIRE(n_west() == 0);
    n_fallen = owned_where(state, [&](std::size_t i) { return is_incapacitated(state.bodies, i); });
  }
  CHECK(n_at_closing > 0);
  CHECK(n_fallen > 1);
  CHECK(state.outlets[0].n_removed > 24);
}
