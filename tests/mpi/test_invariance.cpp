// Bit for bit the same run on any number of ranks. Every rank first runs the deck alone; then all run it
// together.
#include <cstdlib>

#include "mpi/invariance.hpp"
#include "schemes/pbd/pair_kernels.hpp"

using namespace scree;

namespace {

/// check_invariant() for runs that would prove nothing if bodies did not touch across ranks, move between
/// ranks, and have their candidates found again.
template <int D>
Outcome check_busy(const std::string& text, const Overrides& overrides, int n_steps = 25) {
  const Outcome outcome = check_invariant<D>(text, overrides, n_steps);
  CAPTURE(outcome);
  CHECK(outcome.n_contacts > 30);
  CHECK(outcome.n_rebuilds > 3);
  if (Comm().size() > 1) {
    CHECK(outcome.n_shared_contacts > 0);
    CHECK(outcome.n_migrated > 0);
  }
  return outcome;
}

template <int D>
const std::string& base_deck() {
  return D == 2 ? disks_deck : spheres_deck;
}

/// Posts that turn, slide and stand, walls without thickness, and a ring with bodies inside and outside.
const std::string moving_obstacles = R"(
[obstacles.mill]
type = "box"
lower = [0, 0.5]
upper = [2.4, 0.9]
motion = { type = "rotate", center = [1.2, 0.7], rate = 2 }
[obstacles.slide]
type = "segment"
a = [3, -1.5]
b = [3, 1]
motion = { type = "translate", velocity = [-0.8, 0.1] }
[obstacles.zigzag]
type = "polyline"
points = [[-0.5, 2], [1, 1.5], [2, 2.2], [3.5, 1.4]]
[obstacles.ring]
type = "polygon"
points = [[4, 3], [8, 3], [8, 7], [4, 7]]
[obstacles.ring.holes.inner]
points = [[4.3, 3.3], [7.7, 3.3], [7.7, 6.7], [4.3, 6.7]]
)";

}  // namespace

TEST_CASE("invariance: where two runs part is named by step, field and body", "[mpi]") {
  const Overrides few{"pbd.sweeps=2"}, more{"pbd.sweeps=3"};
  CHECK(where_runs_part<2>(disks_deck, few, few, 3).starts_with("fields of bodies are the same"));
  const std::string place = where_runs_part<2>(disks_deck, few, more, 3);
  CAPTURE(place);
  CHECK((place.starts_with("step 1, position[") || place.starts_with("step 2, position[")));
  CHECK(place.find(" of body ") != std::string::npos);
  CHECK(place.ends_with(" ulps"));
}

TEST_CASE("invariance: 200 disks and 150 spheres, open, walled, periodic along one axis and along all",
          "[mpi]") {
  for (const std::string periodic : {"[false, false]", "[true, false]", "[false, true]", "[true, true]"})
    check_busy<2>(disks_deck, {"domain.periodic=" + periodic});
  for (const std::string periodic : {"[false, false, false]", "[true, false, false]", "[true, true, true]"})
    check_busy<3>(spheres_deck, {"domain.periodic=" + periodic});
  // Drawn to a point just beyond a corner, they lean on the walls (and push the centres of some through).
  check_busy<2>(disks_deck + walls<2>(), {"velocity.point=[-1.2, -2.2]", "domain.outside=keep"});
  check_busy<3>(spheres_deck + walls<3>(), {"velocity.point=[-1.2, -2.2, -0.2]", "domain.outside=keep"});
}

TEST_CASE("invariance: blocks that are shared out anew at every list, or never", "[mpi]") {
  const bool parallel = Comm().size() > 1;
  const Overrides always{"decomposition.rebalance_threshold=1.0", "decomposition.rebalance_cost=0"};
  const Overrides never{"decomposition.rebalance=false"};
  const Outcome many_2d = check_busy<2>(disks_deck, always);
  const Outcome none_2d = check_busy<2>(disks_deck, never);
  CHECK((many_2d.n_rebalances > 3) == parallel);
  CHECK(none_2d.n_rebalances == 0);
  CHECK(many_2d.state == none_2d.state);
  const Outcome many_3d = check_busy<3>(spheres_deck, always);
  const Outcome none_3d = check_busy<3>(spheres_deck, never);
  CHECK((many_3d.n_rebalances > 3) == parallel);
  CHECK(many_3d.state == none_3d.state);
}

TEST_CASE("invariance: sweeps, memory and compliance of [pbd]", "[mpi]") {
  const std::vector<Overrides> methods{
      {"pbd.sweeps=1", "pbd.warm_start=0"},
      {"pbd.sweeps=3", "pbd.warm_start=1"},
      {"pbd.compliance=0.01"},
      {"pbd.compliance=0.01", "pbd.warm_start=0"},
      {"pbd.sweeps=converged", "pbd.relative_tolerance=1e-5", "pbd.warm_start=0"},
  };
  for (const Overrides& method : methods) {
    Overrides in_2d = method;
    in_2d.push_back("domain.periodic=[true, true]");
    CHECK(check_busy<2>(disks_deck, in_2d, 12).n_pushing > 15);
    Overrides in_3d = method;
    in_3d.push_back("domain.periodic=[true, false, true]");
    CHECK(check_busy<3>(spheres_deck, in_3d, 12).n_pushing > 15);
  }
}

TEST_CASE("invariance: every instruction set gives the same run", "[mpi]") {
  const char* before = std::getenv("SCREE_INSTRUCTION_SET");
  const std::string saved = before ? before : "";
  std::vector<std::uint64_t> states_2d, states_3d;
  for (const PairKernels* set : available_pair_kernels<2>()) {
    ::setenv("SCREE_INSTRUCTION_SET", std::string(set->instruction_set).c_str(), 1);
    states_2d.push_back(check_invariant<2>(disks_deck, {"domain.periodic=[true, true]"}, 15).state);
    states_3d.push_back(check_invariant<3>(spheres_deck, {"particles.small.mobility=0.4"}, 15).state);
  }
  if (before)
    ::setenv("SCREE_INSTRUCTION_SET", saved.c_str(), 1);
  else
    ::unsetenv("SCREE_INSTRUCTION_SET");
  for (const std::uint64_t state : states_2d) CHECK(state == states_2d.front());
  for (const std::uint64_t state : states_3d) CHECK(state == states_3d.front());
}

TEST_CASE("invariance: bodies of mobility 0.3 and 0 among others", "[mpi]") {
  for (const std::string warm : {"pbd.warm_start=0", "pbd.warm_start=0.9"}) {
    check_busy<2>(disks_deck, {"particles.small.mobility=0.3", warm});
    check_busy<2>(disks_deck, {"particles.large.mobility=0", warm});
    check_busy<3>(spheres_deck, {"particles.large.mobility=0", warm});
  }
}

TEST_CASE("invariance: obstacles that turn and slide, thin walls, a polygon with a hole", "[mpi]") {
  const std::string deck = disks_deck + moving_obstacles;
  for (const std::string warm : {"pbd.warm_start=0", "pbd.warm_start=0.9"})
    check_busy<2>(deck, {warm, "domain.periodic=[true, false]"});
  check_busy<3>(spheres_deck +
                    "[obstacles.mill]\ntype = 'box'\nlower = [-0.5, -0.5, 0.5]\nupper = [1, 1, 0.9]\n"
                    "motion = { type = 'rotate', point = [0.2, 0.2, 0.7], axis = [1, 2, 3], rate = 3 }\n"
                    "[obstacles.drum]\ntype = 'cylinder'\na = [1.5, 0.5, 0]\nb = [1.5, 0.5, 5]\n"
                    "radius = 2.4\nside = 'inside'\n",
                {"velocity.rate=0.5", "domain.periodic=[false, false, true]", "simulation.allow_overlap=true",
                 "domain.outside=keep"});
}

TEST_CASE("invariance: bodies that leave through open faces are deleted", "[mpi]") {
  const Overrides overrides{"domain.outside=delete", "velocity.point=[-3, -1]", "velocity.rate=0.9"};
  const Outcome in_2d = check_busy<2>(disks_deck, overrides, 30);
  CHECK(in_2d.n_removed > 10);
  CHECK(in_2d.n_bodies + in_2d.n_removed == 200);
  const Outcome in_3d = check_busy<3>(
      spheres_deck,
      {"domain.outside=delete", "velocity.point=[-2, 0, 1]", "domain.periodic=[false, true, true]"}, 30);
  CHECK(in_3d.n_removed > 10);
  // Until nobody is left.
  const Outcome empty = check_invariant<2>(
      disks_deck, {"domain.outside=delete", "velocity.point=[-40, -1]", "velocity.rate=2", "time.step=0.1"},
      10);
  CHECK(empty.n_removed == 200);
}

TEST_CASE("invariance: bodies far outside of open faces are kept", "[mpi]") {
  check_busy<2>(disks_deck, {"domain.outside=keep", "velocity.point=[-6, -8]"}, 40);
}

TEST_CASE("invariance: bodies that cross several cells and whole blocks in a step", "[mpi]") {
  for (const std::string warm : {"pbd.warm_start=0", "pbd.warm_start=0.9"}) {
    // 2.8 times the rate is nearly 2: the bodies are thrown to the other side of the point, again and again.
    const Overrides fast{"time.step=2.8", "domain.periodic=[true, true]", "velocity.point=[4, 3]", warm};
    const Outcome outcome = check_busy<2>(disks_deck, fast, 8);
    CHECK(outcome.n_rebuilds >= 8);
  }
  check_busy<3>(spheres_deck, {"time.step=2.8", "domain.periodic=[true, true, true]"}, 8);
}

TEST_CASE("invariance: a skin so thin that every step finds the candidates anew", "[mpi]") {
  const Outcome in_2d =
      check_busy<2>(disks_deck, {"neighbors.skin=0.002", "domain.periodic=[true, true]"}, 25);
  CHECK(in_2d.n_rebuilds >= 25);
  const Outcome in_3d = check_busy<3>(spheres_deck, {"neighbors.skin=0.002"}, 25);
  CHECK(in_3d.n_rebuilds >= 25);
}

TEST_CASE("invariance: steps that are halved because of overlap", "[mpi]") {
  for (const std::string warm : {"pbd.warm_start=0", "pbd.warm_start=0.9"}) {
    const Outcome outcome = check_busy<2>(
        disks_deck, {"pbd.on_overlap=halve", "pbd.overlap_limit=0.4", "time.step=0.4", warm}, 12);
    CHECK(outcome.n_halvings > 0);
  }
}

TEST_CASE("invariance: whether a measure follows the path of each step changes nothing", "[mpi]") {
  // Without one, PBD keeps no place where a step started.
  const std::string flow = "[measures.through]\ntype = 'flow'\npoint = [2, 1]\nnormal = [1, 0]\n";
  const std::string rain =
      "[inlets.rain]\ntype = 'pour'\nradius = { distribution = 'uniform', min = 0.1, max = 0.2 }\n"
      "region = { lower = [-1, 6.5], upper = [9, 7.5] }\nrate = 60\n";
  const auto run = [&](const std::string& deck, const Overrides& overrides, int n_steps) {
    const Outcome without = simulate<2>(Comm(), deck, overrides, n_steps);
    CHECK(simulate<2>(Comm(), deck + flow, overrides, n_steps).state == without.state);
    return without;
  };
  run(disks_deck + moving_obstacles, {"domain.periodic=[true, false]"}, 25);
  CHECK(run(disks_deck, {"pbd.on_overlap=halve", "pbd.overlap_limit=0.4", "time.step=0.4"}, 12).n_halvings >
        0);
  CHECK(run(disks_deck + moving_obstacles + rain, {"domain.outside=delete"}, 30).n_bodies > 200);
}

TEST_CASE("invariance: blocks of 1, 2, 5 and 10 cells", "[mpi]") {
  for (const std::string cells : {"1", "2", "5", "10"}) {
    check_busy<2>(disks_deck, {"decomposition.block_cells=" + cells, "domain.periodic=[true, true]"}, 20);
    check_invariant<3>(spheres_deck,
                       {"decomposition.block_cells=" + cells, "domain.periodic=[true, false, true]"}, 15);
  }
}

TEST_CASE("invariance: periodic axes of five and seven cells with blocks of one cell", "[mpi]") {
  // Cells are at least 2 * 0.35 + 0.1 wide: the box is 5.6 cells high and 7.2 wide.
  const Overrides overrides{"decomposition.block_cells=1",     "domain.periodic=[true, true]",
                            "domain.lower=[-1, -2]",           "domain.upper=[4.8, 2.5]",
                            "particles.small.source.count=60", "particles.large.source.count=20"};
  check_busy<2>(disks_deck, overrides, 15);
}

TEST_CASE("invariance: all bodies start in one corner, in one block", "[mpi]") {
  const Overrides overrides{"particles.small.source.region={ lower = [7.5, 6], upper = [9, 8] }",
                            "particles.large.source.region={ lower = [6.7, 6], upper = [7.5, 8] }",
                            "particles.small.source.count=14", "particles.large.source.count=2",
                            "velocity.rate=0.3"};
  const Outcome alone = check_invariant<2>(disks_deck, overrides, 40);
  CHECK(alone.n_contacts > 10);
  CHECK(alone.n_rebuilds > 3);
  if (Comm().size() > 1) CHECK(alone.n_migrated > 0);
}

TEST_CASE("invariance: two bodies and one body, fewer than ranks", "[mpi]") {
  for (const std::string periodic : {"[false, false]", "[true, true]"}) {
    const Overrides two{"particles.small.source.count=1", "particles.large.source.count=1",
                        "domain.periodic=" + periodic, "velocity.rate=3"};
    const Outcome outcome = check_invariant<2>(disks_deck, two, 40);
    CHECK(outcome.n_bodies == 2);
    CHECK(outcome.n_contacts == 1);
  }
  const std::string one = deck({.dimension = 3,
                                .lower = "[0, 0, 0]",
                                .upper = "[5, 5, 5]",
                                .periodic = "[true, true, true]",
                                .step = 0.3},
                               R"(
[velocity]
type = "constant"
velocity = [3, -1, 0.5]
[particles.only]
radius = { distribution = "constant", value = 0.4 }
source = { type = "random", count = 1 }
)");
  const Outcome outcome = check_invariant<3>(one, {}, 20);
  CHECK(outcome.n_bodies == 1);
  if (Comm().size() > 1) CHECK(outcome.n_migrated > 0);
}

TEST_CASE("invariance: coincident centres part the same way", "[mpi]") {
  // A step of length 1/rate brings all bodies to the same point.
  const Outcome outcome =
      check_invariant<2>(disks_deck,
                         {"time.step=2", "velocity.rate=0.5", "particles.small.source.count=40",
                          "particles.large.source.count=10", "velocity.point=[4, 3]"},
                         4);
  CHECK(outcome.n_contacts > 50);
}
