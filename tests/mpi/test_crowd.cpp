// People: bit for bit the same run on any number of ranks, by the projection's own sweeps, by "nsgs" and by
// sweeps on positions; other solvers let the same people out in the same order. Checkpoints go on as if there
// had been none.
#include <algorithm>
#include <cmath>

#include "crowd/crowd_environment.hpp"
#include "mpi/invariance.hpp"
#include "mpi/restarts.hpp"

using namespace scree;

namespace {

/// A hall with a post and two doors, one of which opens and closes and the other lets few through; those in
/// the middle come in during the run. Everything that people do is on.
const std::string hall =
    deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 11, .block_cells = 1}, R"(
[crowd]
noise = 0.02
[crowd.avoidance]
horizon = 1
[walkable]
polygon = [[0, 0], [16, 0], [16, 8], [0, 8]]
[walkable.obstacles.post]
circles = [[13, 4.6, 0.3]]
[exits.east]
line = [[16, 3.4], [16, 4.8]]
max_flow = 2
[exits.west]
line = [[0, 3], [0, 5]]
open_from = [0.2, 1.6]
open_until = [1]
[zones.mud]
polygon = [[3, 1], [6, 1], [6, 7], [3, 7]]
speed_factor = 0.8
[journeys.leave]
[[journeys.leave.steps]]
choice = "quickest"
update = 0.3
[navigation]
cell = 0.2
[navigation.density_cost]
weight = 0.5
update = 0.4
[agents.small]
[agents.large]
radius = { distribution = "uniform", min = 0.22, max = 0.28 }
headway_time = 0.7
[populations.crowd]
agents = ["small", "large"]
shares = [0.7, 0.3]
region = [[7, 1], [15.5, 1], [15.5, 7], [7, 7]]
count = 210
premovement = { distribution = "uniform", min = 0, max = 0.8 }
[populations.west]
region = [[0.4, 1], [3, 1], [3, 7], [0.4, 7]]
count = 50
[sources.middle]
region = [[8, 2], [10, 2], [10, 3], [8, 3]]
rate = 6
limit = 12
)");

const Overrides few{"populations.crowd.count=4", "populations.west.count=3", "sources.middle.limit=2"};

Overrides with(Overrides first, const Overrides& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

struct Departed {
  GlobalId id;
  Real time;
  std::int32_t exit;
  bool operator==(const Departed&) const = default;
};

struct Evacuation {
  std::vector<Departed> people;  ///< who left, by time, then id
  std::uint64_t state = 0;
};

/// Everybody's route out, the same on all ranks of `comm`.
Evacuation evacuate(const Comm& comm, const std::string& text, const Overrides& overrides, Real until) {
  Simulation<2> simulation(comm, read_deck<2>(text, overrides));
  State<2>& state = simulation.state();
  std::vector<Departed> mine;
  while (simulation.running() && state.clock.time < until) {
    simulation.step();
    for (const Departure& d : crowd_world(state)->environment->departures())
      mine.push_back({d.id, d.time, d.exit});
    crowd_world(state)->environment->departures().clear();
  }
  std::vector<Real> time(state.next_id, -1);
  std::vector<std::int64_t> exit(time.size());
  for (const Departed& d : mine) {
    time[d.id] = d.time;
    exit[d.id] = d.exit;
  }
  comm.max(time);
  comm.sum(exit);
  Evacuation evacuation{{}, simulation.hash()};
  for (std::size_t i = 0; i < time.size(); ++i)
    if (time[i] >= 0)
      evacuation.people.push_back({static_cast<GlobalId>(i), time[i], static_cast<std::int32_t>(exit[i])});
  std::ranges::stable_sort(evacuation.people, {}, &Departed::time);
  return evacuation;
}

/// Times at which people leave have the bits of one rank. Returns how many left.
std::size_t check_departures(const std::string& text, const Overrides& overrides, Real until) {
  const Evacuation alone = evacuate(Comm(MPI_COMM_SELF), text, overrides, until);
  const Evacuation together = evacuate(Comm(), text, overrides, until);
  CAPTURE(overrides, alone.people.size(), together.people.size());
  CHECK(together.people == alone.people);
  CHECK(together.state == alone.state);
  return alone.people.size();
}

const std::vector<Overrides> models{{}, {"crowd.model=pbd"}, {"crowd.solver.type=nsgs"}};

}  // namespace

TEST_CASE("crowd: 260 people with everything on", "[mpi]") {
  for (const Overrides& model : models) {
    const Outcome outcome = check_invariant<2>(hall, model, 60);
    CHECK(outcome.n_contacts > 5);
    CHECK(outcome.n_pushing > 5);
    if (Comm().size() > 1) {
      CHECK(outcome.n_shared_contacts > 0);
      CHECK(outcome.n_migrated > 0);
    }
  }
}

TEST_CASE("crowd: everybody leaves at the same times on any number of ranks", "[mpi]") {
  for (const Overrides& model : models) {
    CHECK(check_departures(hall, with(few, model), 60) == 9);
    CHECK(check_departures(hall, model, 15) > 40);
  }
}

TEST_CASE("crowd: one person, and nobody at first", "[mpi]") {
  for (const Overrides& model : models) {
    const Overrides one{"populations.crowd.count=1", "populations.west.count=1", "sources.middle.limit=1"};
    CHECK(check_departures(hall, with(one, model), 60) == 3);
  }
  const std::string empty =
      "[simulation]\ndimension = 2\nscheme = 'crowd'\nend_time = 100\n[time]\nstep = 0.05\n"
      "[walkable]\npolygon = [[0, 0], [9, 0], [9, 4], [0, 4]]\n[exits.door]\nline = [[9, 1], [9, 3]]\n"
      "[sources.all]\nregion = [[0, 0], [3, 0], [3, 4], [0, 4]]\nrate = 1\nlimit = 5\n";
  CHECK(check_departures(empty, {}, 60) == 5);
}

TEST_CASE("crowd: a corridor that closes on itself", "[mpi]") {
  const std::string corridor = deck({.scheme = "crowd",
                                     .lower = "[0, -0.5]",
                                     .upper = "[30, 3.5]",
                                     .periodic = "[true, false]",
                                     .step = 0.05,
                                     .end_time = 1000},
                                    R"(
[walkable]
polygon = [[-5, 0], [35, 0], [35, 3], [-5, 3]]
[walkable.obstacles.post]
circles = [[-0.1, 1.4, 0.25], [29.9, 1.4, 0.25]]
[crowd]
direction = [2, 0.3]
[populations.walkers]
count = 180
)");
  for (const Overrides& model : models) {
    const Outcome outcome = check_invariant<2>(corridor, model, 80);
    CHECK(outcome.n_pushing > 5);
    if (Comm().size() > 1) CHECK(outcome.n_migrated > 0);
  }
}

TEST_CASE("crowd: a door that closes on a stream shuts without overlap and traps nobody", "[mpi]") {
  const std::string room = deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .block_cells = 1}, R"(
[walkable]
polygon = [[0, 0], [8, 0], [8, 5], [0, 5]]
[exits.east]
line = [[8, 1.5], [8, 3.5]]
open_from = [0, 20]
open_until = [2]
[populations.crowd]
region = [[5, 0], [7.7, 0], [7.7, 5], [5, 5]]
count = 50
)");
  // Another exit to turn to, or none.
  for (const std::string& others : {std::string("[exits.west]\nline = [[0, 2], [0, 3]]\n"), std::string()}) {
    CAPTURE(others);
    Simulation<2> simulation(Comm(), read_deck<2>(room + others));
    const State<2>& state = simulation.state();
    Real shut_at = -1;
    std::int64_t n_at_last = 0;
    while (state.clock.time < 12) {
      simulation.step();
      Real worst = 0;
      for (const CertificateEntry& entry : simulation.stepper().certificate())
        if (entry.name.find("overlap") != std::string::npos) worst = std::max(worst, entry.value);
      CHECK(worst < 2e-3);
      if (shut_at < 0 && crowd_world(state)->environment->exits().is_shut(0)) shut_at = state.clock.time;
      if (state.clock.time < 8) n_at_last = state.outlets[0].n_removed;
    }
    CHECK(shut_at > 2.04);
    CHECK(shut_at < 5);
    CHECK(state.outlets[0].n_removed == n_at_last);
    std::int64_t n_behind = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
      n_behind += state.bodies.position()[i][0] > 8 ? 1 : 0;
    CHECK(state.comm.sum(n_behind) == 0);
    check_invariant<2>(room + others, {}, 80);
    check_restarts<2>(
        {.text = room + others, .overrides = {}, .n_steps = 90, .splits = {39, 41, 44, 50, 60}});
  }
}

TEST_CASE("crowd: solvers of contact problems let people out in the same order", "[mpi]") {
  // Without noise and choices, small differences stay small.
  const std::string room =
      deck({.scheme = "crowd", .step = 0.05, .end_time = 1000, .seed = 3, .block_cells = 1}, R"(
[crowd]
tolerance = 1e-9
max_sweeps = 100000
[walkable]
polygon = [[0, 0], [8, 0], [8, 5], [0, 5]]
[exits.door]
line = [[8, 2], [8, 3.2]]
[populations.crowd]
count = 40
)");
  const Evacuation own = evacuate(Comm(MPI_COMM_SELF), room, {}, 40);
  REQUIRE(own.people.size() == 40);
  for (const std::string solver : {"admm", "ipm"}) {
    CAPTURE(solver);
    const Evacuation other = evacuate(Comm(), room, {"crowd.solver.type=" + solver}, 40);
    REQUIRE(other.people.size() == 40);
    for (std::size_t k = 0; k < own.people.size(); ++k) {
      CHECK(other.people[k].id == own.people[k].id);
      CHECK(std::abs(other.people[k].time - own.people[k].time) < 1e-6);
    }
  }
}

TEST_CASE("crowd: checkpoints go on as if there had been none", "[mpi]") {
  for (const Overrides& model : models) {
    const Coverage covered =
        check_restarts<2>({.text = hall, .overrides = model, .n_steps = 48, .splits = {1, 9, 23, 31}});
    CHECK(covered.n_remembered > 0);
    CHECK(covered.old_list);
    CHECK(covered.n_contacts > 0);
    if (Comm().size() > 1) CHECK(covered.n_shared_contacts > 0);
    check_restarts<2>({.text = hall, .overrides = with(few, model), .n_steps = 48, .splits = {2, 30}});
  }
}
