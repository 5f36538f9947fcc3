// A run that goes on from a checkpoint, on any number of ranks, ends with the bits of one that never stopped.
#include <optional>

#include "app/checkpoint.hpp"
#include "core/error.hpp"
#include "io/compare.hpp"
#include "mpi/simulate.hpp"
#include "unit/io/scratch.hpp"

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

namespace {

template <int D>
void save(Simulation<D>& simulation, const std::string& path) {
  simulation.save_memory();
  write_checkpoint(simulation.state(), path, "test", "deck", {});
}

template <int D>
struct Case {
  std::string text;
  Overrides overrides;
  int n_steps = 18;
  std::vector<int> splits = {1, 6, 11, 12};
};

/// What the checkpoints of a case had to carry, to tell whether anything was tested.
struct Seen {
  std::int64_t n_remembered = 0;
  bool old_list = false;  ///< some checkpoint came later than its neighbour list
  std::int64_t n_removed = 0, n_contacts = 0, n_shared_contacts = 0, n_migrated = 0, n_halvings = 0;
};

template <int D>
Outcome go_on(const Comm& comm, const Case<D>& c, const std::string& path, int n_steps) {
  Simulation<D> simulation(comm, read_deck<D>(c.text, c.overrides), path);
  Outcome outcome;
  take_steps(simulation, n_steps, outcome);
  look_at(simulation, outcome);
  return outcome;
}

template <int D>
Seen check_restarts(const Case<D>& c) {
  std::string what;
  for (const std::string& o : c.overrides) what += o + " ";
  CAPTURE(D, what);
  const Comm world, self(MPI_COMM_SELF);
  const Scratch scratch(world);
  const auto path_of = [&](const std::string& kind, int split) {
    return scratch / (kind + "_" + std::to_string(split) + ".scree");
  };
  // One run on each rank alone and one on all together, both never stopped, both leaving checkpoints.
  Seen seen;
  const auto run = [&](const Comm& comm, const std::string& kind) {
    Simulation<D> simulation(comm, read_deck<D>(c.text, c.overrides));
    Outcome outcome;
    int step = 0;
    for (const int split : c.splits) {
      take_steps(simulation, split - step, outcome);
      step = split;
      save(simulation, path_of(kind, split));
      const State<D>& state = simulation.state();
      seen.n_remembered += world.sum(static_cast<std::int64_t>(state.memory.other.size()));
      seen.old_list = seen.old_list || state.clock.listed_time < state.clock.time;
    }
    take_steps(simulation, c.n_steps - step, outcome);
    look_at(simulation, outcome);
    return outcome;
  };
  const std::string mine = "alone" + std::to_string(world.rank());
  const Outcome alone = run(self, mine);
  const Outcome together = run(world, "together");
  CAPTURE(alone, together);
  CHECK(together.same_result(alone));
  seen.n_removed = together.n_removed;
  seen.n_contacts = together.n_contacts;
  seen.n_shared_contacts = together.n_shared_contacts;
  seen.n_migrated = together.n_migrated;
  seen.n_halvings = together.n_halvings;

  world.barrier();
  for (const int split : c.splits) {
    CAPTURE(split);
    const int rest = c.n_steps - split;
    const auto same = [&](const Outcome& outcome) {
      CAPTURE(outcome);
      CHECK(outcome.state == alone.state);
      CHECK(outcome.contacts == alone.contacts);
      CHECK(outcome.time == alone.time);
    };
    same(go_on(world, c, path_of("alone0", split), rest));
    same(go_on(self, c, path_of("together", split), rest));
    same(go_on(world, c, path_of("together", split), rest));
    const Comparison comparison =
        compare_results(world, path_of("alone0", split), path_of("together", split));
    CHECK(comparison.equal());
  }
  return seen;
}

}  // namespace

TEST_CASE("restart: 200 disks, periodic, warm started, with a turning box", "[mpi]") {
  const std::string mill =
      "[obstacles.mill]\ntype = 'box'\nlower = [0, 0.5]\nupper = [2.4, 0.9]\n"
      "motion = { type = 'rotate', center = [1.2, 0.7], rate = 2 }\n"
      "[obstacles.slide]\ntype = 'segment'\na = [3, -1.5]\nb = [3, 1]\n"
      "motion = { type = 'translate', velocity = [-0.8, 0.1] }\n";
  const Seen seen = check_restarts<2>({disks_deck + mill, {"domain.periodic=[true, true]"}});
  CHECK(seen.n_contacts > 50);
  CHECK(seen.n_remembered > 100);
  if (Comm().size() > 1) {
    CHECK(seen.n_shared_contacts > 0);
    CHECK(seen.n_migrated > 0);
  }
}

TEST_CASE("restart: between two list builds, with the list's positions", "[mpi]") {
  const Seen in_2d =
      check_restarts<2>({disks_deck, {"neighbors.skin=0.5", "time.step=0.01"}, 30, {2, 5, 8, 29}});
  CHECK(in_2d.old_list);
  CHECK(in_2d.n_remembered > 10);
  const Seen in_3d = check_restarts<3>(
      {spheres_deck, {"neighbors.skin=0.3", "time.step=0.02", "domain.periodic=[true, true, true]"}});
  CHECK(in_3d.old_list);
  CHECK(in_3d.n_remembered > 10);
}

TEST_CASE("restart: a new list in every step, and bodies that cross the box in a step", "[mpi]") {
  check_restarts<2>({disks_deck, {"neighbors.skin=0.002", "domain.periodic=[true, false]"}});
  check_restarts<2>(
      {disks_deck, {"time.step=2.8", "domain.periodic=[true, true]", "velocity.point=[4, 3]"}, 8, {2, 5, 7}});
}

TEST_CASE("restart: other methods, mobilities, compliance", "[mpi]") {
  for (const Overrides& overrides :
       {Overrides{"pbd.warm_start=0"}, Overrides{"pbd.method=pgs_dual", "pbd.sweeps=3"},
        Overrides{"pbd.method=jacobi"}, Overrides{"pbd.compliance=0.02", "particles.large.mobility=0"},
        Overrides{"pbd.sweeps=converged"}}) {
    Overrides all = overrides;
    all.push_back("pbd.relative_tolerance=1e-5");
    check_restarts<2>({disks_deck, all, 12, {1, 7}});
  }
}

TEST_CASE("restart: bodies that leave are gone, those far outside are still there", "[mpi]") {
  const Seen seen =
      check_restarts<2>({disks_deck, {"domain.outside=delete", "velocity.point=[-3, -1]"}, 30, {9, 20}});
  CHECK(seen.n_removed > 10);
  check_restarts<2>({disks_deck, {"domain.outside=keep", "velocity.point=[-6, -8]"}, 30, {9, 20}});
  // Nobody is left when the checkpoint is written.
  const Seen empty = check_restarts<2>(
      {disks_deck,
       {"domain.outside=delete", "velocity.point=[-40, -1]", "velocity.rate=2", "time.step=0.1"},
       10,
       {8}});
  CHECK(empty.n_removed == 200);
}

TEST_CASE("restart: halved steps, also after the smallest body has left", "[mpi]") {
  Overrides overrides{"pbd.on_overlap=halve", "pbd.overlap_limit=0.4", "time.step=0.4"};
  CHECK(check_restarts<2>({disks_deck, overrides, 12, {2, 5, 9}}).n_halvings > 0);

  // A tiny disk at the left face leaves before the others: what overlap is too much is then another number.
  overrides = {"pbd.on_overlap=halve",  "pbd.overlap_limit=0.4",    "time.step=0.1",
               "domain.outside=delete", "velocity.point=[-1.3, 1]", "velocity.rate=0.8"};
  const std::string tiny = R"(
[particles.tiny]
radius = { distribution = "constant", value = 0.02 }
source = { type = "random", count = 1, region = { lower = [-0.97, 0.9], upper = [-0.9, 1.1] } }
)";
  const Seen seen = check_restarts<2>({disks_deck + tiny, overrides, 24, {12, 16, 20}});
  CHECK(seen.n_removed > 0);
  CHECK(seen.n_halvings > 0);
}

TEST_CASE("restart: two bodies on more ranks than bodies, and a restart of a restart", "[mpi]") {
  check_restarts<2>({disks_deck,
                     {"particles.small.source.count=1", "particles.large.source.count=1", "velocity.rate=3"},
                     20,
                     {3, 15}});

  const Comm world;
  const Scratch scratch(world);
  const Case<3> c{spheres_deck, {"domain.periodic=[true, true, false]"}};
  const Outcome never_stopped = simulate<3>(world, c.text, c.overrides, 15);
  std::string path;
  for (int leg = 0; leg < 3; ++leg) {
    std::optional<Simulation<3>> simulation;
    if (path.empty())
      simulation.emplace(world, read_deck<3>(c.text, c.overrides));
    else
      simulation.emplace(world, read_deck<3>(c.text, c.overrides), path);
    Outcome outcome;
    take_steps(*simulation, 5, outcome);
    path = scratch / ("leg" + std::to_string(leg) + ".scree");
    save(*simulation, path);
    look_at(*simulation, outcome);
    if (leg == 2) CHECK(outcome.state == never_stopped.state);
  }
}

TEST_CASE("restart: after a last step that was cut short, warm multipliers do not throw bodies about",
          "[mpi]") {
  // 20 steps of 0.05 and one of 1e-6 to the end; then the run goes on with steps of 0.05.
  const Comm world;
  const Scratch scratch(world);
  Simulation<2> first(world, read_deck<2>(disks_deck, {"simulation.end_time=1.000001"}));
  while (first.running()) first.step();
  CHECK(first.state().clock.step == 21);
  CHECK(first.state().clock.last_dt == Approx(1e-6).epsilon(1e-6));
  save(first, scratch / "short.scree");
  Simulation<2> second(world, read_deck<2>(disks_deck), scratch / "short.scree");
  second.step();
  // The field pulls with at most 0.7 times the distance: no body has a reason to be faster than that by much.
  Real fastest = 0;
  for (const Vec<2>& v :
       second.state().bodies.velocity().first(static_cast<std::size_t>(second.state().bodies.n_owned())))
    fastest = std::max(fastest, norm(v));
  CHECK(world.max(fastest) < 10);
}

TEST_CASE("restart: the checkpoint of another program, cut short, or missing is an InputError on all ranks",
          "[mpi]") {
  const Comm world;
  const Scratch scratch(world);
  Simulation<2> simulation(world, read_deck<2>(disks_deck));
  save(simulation, scratch / "whole.scree");
  if (world.is_root()) {
    const std::string whole = content_of(scratch / "whole.scree");
    put(scratch / "half.scree", whole.substr(0, whole.size() / 2));
    put(scratch / "text.scree", "no HDF5 at all");
    put(scratch / "empty.scree", "");
  }
  world.barrier();
  CHECK(read_checkpoint_head(world, scratch / "whole.scree").dimension == 2);
  for (const std::string name : {"half", "text", "empty", "missing"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(read_checkpoint_head(world, scratch / (name + ".scree")), InputError);
  }
}

}  // namespace scree
