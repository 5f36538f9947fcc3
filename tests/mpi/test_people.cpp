// People are the same, bit by bit, for any number of ranks: who is there, who comes, where they go, who
// leaves.
#include <algorithm>

#include "unit/crowd/building.hpp"

using namespace scree;

namespace {

const std::string hall =
    "[walkable]\npolygon = [[0, 0], [30, 0], [30, 12], [0, 12]]\n"
    "[walkable.obstacles.posts]\ncircles = [[10, 5, 0.5], [20, 5, 0.3]]\n"
    "[exits.east]\nline = [[30, 4], [30, 6]]\nmax_flow = 3\n[exits.west]\nline = [[0, 4], [0, "
    "6]]\nopen_until = [2]\n"
    "[journeys.go]\n[[journeys.go.steps]]\nchoice = 'quickest'\n";

struct Person {
  scree::Vec<2> position;
  Real radius, desired_speed, premovement_end;
  std::int32_t agent_type, type, destination;
  bool operator==(const Person&) const = default;
};

Person person(const Building& building, std::size_t i) {
  const BodyStore<2>& bodies = building.state.bodies;
  return {bodies.position()[i],
          bodies.radius()[i],
          agent::desired_speed(bodies)[i],
          agent::premovement_end(bodies)[i],
          agent::agent_type(bodies)[i],
          bodies.type()[i],
          agent::destination(bodies)[i]};
}

/// Compares what all ranks hold together with what each has alone.
void check_same(const Building& together, const Building& alone) {
  const Comm& world = together.state.comm;
  CHECK(together.state.next_id == alone.state.next_id);
  CHECK(world.sum(static_cast<std::int64_t>(together.size())) == static_cast<std::int64_t>(alone.size()));
  std::vector<std::size_t> place(alone.state.next_id, alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) place[alone.state.bodies.id()[i]] = i;
  std::int64_t n_different = 0;
  for (std::size_t i = 0; i < together.size(); ++i) {
    const std::size_t j = place.at(static_cast<std::size_t>(together.state.bodies.id()[i]));
    n_different += j == alone.size() || person(together, i) != person(alone, j) ? 1 : 0;
  }
  CHECK(n_different == 0);
  for (std::size_t s = 0; s < together.state.outlets.size(); ++s)
    CHECK(together.state.outlets[s].n_removed == alone.state.outlets[s].n_removed);
  for (std::size_t f = 0; f < together.state.inlets.size(); ++f) {
    CHECK(together.state.inlets[f].n_made == alone.state.inlets[f].n_made);
    CHECK(together.state.inlets[f].n_dropped == alone.state.inlets[f].n_dropped);
    CHECK(together.state.inlets[f].n_tries == alone.state.inlets[f].n_tries);
  }
}

void check_start(const std::string& lines, std::array<bool, 2> periodic = {}) {
  INFO(lines);
  Building together(hall + lines, Comm(), periodic), alone(hall + lines, Comm(MPI_COMM_SELF), periodic);
  together.populate();
  alone.populate();
  together.choose();
  alone.choose();
  check_same(together, alone);
}

}  // namespace

TEST_CASE("people: starts are the same for any number of ranks", "[crowd]") {
  check_start("[populations.few]\ncount = 2\n");
  check_start(
      "[populations.loose]\ndensity = 1.5\npremovement = { distribution = 'gamma', shape = 2, scale = 5 }\n");
  check_start("[populations.dense]\ndensity = 6\n");
  check_start("[populations.lattice]\nplacement = 'lattice'\ncount = 500\n");
  check_start(
      "[agents.a]\n[agents.b]\nradius = { distribution = 'uniform', min = 0.1, max = 0.4 }\n"
      "[populations.a]\nagents = ['a', 'b']\nshares = [0.7, 0.3]\ncount = 300\n"
      "[populations.b]\nregion = [[1, 1], [15, 1], [1, 11]]\ndensity = 3\n");
}

TEST_CASE("people: refusals are the same for any number of ranks", "[crowd]") {
  for (const std::string lines :
       {"count = 4000\n", "density = 9\n", "density = 7.6\nplacement = 'lattice'\n"}) {
    const auto message = [&](const Comm& comm) {
      return message_of([&] { Building(hall + "[populations.a]\n" + lines, comm).populate(); });
    };
    const std::string alone = message(Comm(MPI_COMM_SELF));
    CHECK(alone != "");
    CHECK(message(Comm()) == alone);
  }
}

TEST_CASE("people: who comes, chooses and leaves is the same for any number of ranks", "[crowd]") {
  const std::string deck =
      hall +
      "[populations.start]\ncount = 200\n"
      "[sources.in]\nregion = [[13, 1], [17, 1], [17, 11], [13, 11]]\nrate = 40\nlimit = 150\n";
  Building together(deck, Comm()), alone(deck);
  std::vector<Index> staying;
  for (Building* building : {&together, &alone}) {
    building->populate();
    building->choose();
    for (int step = 0; step < 60; ++step) {
      building->tick(0.1);
      building->exits.switch_doors(building->state, [] {});
      // Everybody glides to where they are going, through each other.
      BodyStore<2>& bodies = building->state.bodies;
      for (std::size_t i = 0; i < building->size(); ++i)
        bodies.position()[i][0] = std::clamp(
            bodies.position()[i][0] + (agent::destination(bodies)[i] == 0 ? 0.4 : -0.4), -0.7, 30.7);
      if (building->exits.remove_arrived(building->state, staying)) {
        building->state.memory = building->state.memory.of(staying);
        bodies.reorder(staying);
      }
      building->feed();
      building->choose();
    }
    CHECK(building->people.exhausted(building->state));
  }
  check_same(together, alone);
  CHECK(alone.state.outlets[0].n_removed > 0);
  CHECK(alone.state.outlets[1].n_removed > 0);
}
