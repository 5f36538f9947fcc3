// A run that goes on from a checkpoint, on any number of ranks, ends with the bits of one that never stopped.
#include <optional>

#include "core/error.hpp"
#include "mpi/restarts.hpp"

// PETSc has a Vec too, so everything here is in the namespace.
namespace scree {

TEST_CASE("restart: 200 disks, periodic, warm started, with a turning box", "[mpi]") {
  const std::string mill =
      "[obstacles.mill]\ntype = 'box'\nlower = [0, 0.5]\nupper = [2.4, 0.9]\n"
      "motion = { type = 'rotate', center = [1.2, 0.7], rate = 2 }\n"
      "[obstacles.slide]\ntype = 'segment'\na = [3, -1.5]\nb = [3, 1]\n"
      "motion = { type = 'translate', velocity = [-0.8, 0.1] }\n";
  const Coverage covered = check_restarts<2>({disks_deck + mill, {"domain.periodic=[true, true]"}, 24});
  CHECK(covered.n_contacts > 50);
  CHECK(covered.n_remembered > 100);
  if (Comm().size() > 1) {
    CHECK(covered.n_shared_contacts > 0);
    CHECK(covered.n_migrated > 0);
  }
}

TEST_CASE("restart: between two list builds, with the list's positions", "[mpi]") {
  const Coverage in_2d =
      check_restarts<2>({disks_deck, {"neighbors.skin=0.5", "time.step=0.01"}, 30, {2, 5, 8, 29}});
  CHECK(in_2d.old_list);
  CHECK(in_2d.n_remembered > 10);
  const Coverage in_3d = check_restarts<3>(
      {spheres_deck, {"neighbors.skin=0.3", "time.step=0.02", "domain.periodic=[true, true, true]"}});
  CHECK(in_3d.old_list);
  CHECK(in_3d.n_remembered > 10);
}

TEST_CASE("restart: a new list in every step, and bodies that cross the box in a step", "[mpi]") {
  check_restarts<2>({disks_deck, {"neighbors.skin=0.002", "domain.periodic=[true, false]"}});
  check_restarts<2>(
      {disks_deck, {"time.step=2.8", "domain.periodic=[true, true]", "velocity.point=[4, 3]"}, 8, {2, 5, 7}});
}

TEST_CASE("restart: no memory, mobilities, compliance, sweeps until they converge", "[mpi]") {
  for (const Overrides& overrides :
       {Overrides{"pbd.warm_start=0"}, Overrides{"pbd.compliance=0.02", "particles.large.mobility=0"},
        Overrides{"pbd.sweeps=converged"}}) {
    Overrides all = overrides;
    all.push_back("pbd.relative_tolerance=1e-5");
    check_restarts<2>({disks_deck, all, 12, {1, 7}});
  }
}

TEST_CASE("restart: bodies that leave are gone, those far outside are still there", "[mpi]") {
  const Coverage covered =
      check_restarts<2>({disks_deck, {"domain.outside=delete", "velocity.point=[-3, -1]"}, 30, {9, 20}});
  CHECK(covered.n_removed > 10);
  check_restarts<2>({disks_deck, {"domain.outside=keep", "velocity.point=[-6, -8]"}, 30, {9, 20}});
  // Nobody is left when the checkpoint is written.
  const Coverage empty = check_restarts<2>(
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
  const Coverage covered = check_restarts<2>({disks_deck + tiny, overrides, 24, {12, 16, 20}});
  CHECK(covered.n_removed > 0);
  CHECK(covered.n_halvings > 0);
}

TEST_CASE("restart: a refused step leaves bodies and clock as they were, and the run goes on from there",
          "[mpi]") {
  const Overrides overrides{"pbd.overlap_limit=0.4", "time.step=0.4"};
  Overrides stops = overrides;
  stops.emplace_back("pbd.on_overlap=stop");
  const Comm world;
  Simulation<2> simulation(world, read_deck<2>(disks_deck, stops));
  bool refused = false;
  for (int step = 0; step < 12 && !refused; ++step) {
    const Clock clock = simulation.state().clock;
    const std::uint64_t hash = simulation.hash();
    try {
      simulation.step();
    } catch (const StepRefused& refusal) {
      refused = true;
      CHECK(refusal.code() == ExitCode::solver_failure);
      CHECK(simulation.hash() == hash);
      CHECK(simulation.state().clock.step == clock.step);
      CHECK(simulation.state().clock.time == clock.time);
      CHECK(simulation.state().clock.last_dt == clock.last_dt);
      CHECK(simulation.state().clock.reference_time <= clock.time);
    }
  }
  REQUIRE(refused);
  const Scratch scratch(world);
  save(simulation, scratch / "refused.scree");
  Overrides halves = overrides;
  halves.emplace_back("pbd.on_overlap=halve");
  Simulation<2> again(world, read_deck<2>(disks_deck, halves), scratch / "refused.scree");
  CHECK(again.hash() == simulation.hash());
  again.step();
  CHECK(again.state().clock.last_dt < 0.4);
}

TEST_CASE("restart: in the middle of pouring, between stages, with outlets and moving walls", "[mpi]") {
  const std::string events = R"(
[inlets.rain]
type = "pour"
radius = { distribution = "uniform", min = 0.1, max = 0.2 }
region = { lower = [-1, 6.5], upper = [9, 7.5] }
rate = 60
[inlets.spout]
type = "pour"
radius = { distribution = "constant", value = 0.3 }
region = { center = [9, 3], radius = 0.35 }
rate = 40
max_delay = 2
start = 0.2
count = 60
[outlets.drain]
region = { center = [1.5, -0.8], radius = 1 }
[obstacles.gate]
type = "segment"
a = [0, 1]
b = [3, 1]
[obstacles.mill]
type = "box"
lower = [5, 2]
upper = [7.4, 2.4]
motion = { type = "rotate", center = [6.2, 2.2], rate = 1 }
[[stages]]
name = "shut"
until = { bodies_at_least = 190, time = 0.33, max_time = 3 }
[[stages]]
name = "open"
remove_obstacles = ["gate"]
duration = 0.53
[[stages]]
name = "turn"
add_obstacles = ["mill"]
duration = 1
)";
  const Case<2> c{
      disks_deck + events, {"domain.periodic=[true, false]", "velocity.rate=1.5"}, 30, {5, 12, 22}};
  CHECK(check_restarts<2>(c).n_contacts > 50);
  // The checkpoints had all of this: every stage, and a body that waited for a place.
  Simulation<2> simulation(Comm(), read_deck<2>(c.text, c.overrides));
  const State<2>& state = simulation.state();
  Outcome outcome;
  std::vector<std::int64_t> stages;
  bool waits = false;
  for (const int split : c.splits) {
    take_steps(simulation, split - static_cast<int>(state.clock.step), outcome);
    stages.push_back(state.stage.index);
    waits = waits || state.inlets[1].n_tries > 0;
  }
  CHECK(stages == std::vector<std::int64_t>{0, 1, 2});
  CHECK(waits);
  take_steps(simulation, c.n_steps - static_cast<int>(state.clock.step), outcome);
  CHECK(state.inlets[0].n_made > 60);
  CHECK(state.inlets[1].n_made > 3);
  CHECK(state.outlets[0].n_removed > 20);
}

TEST_CASE("restart: spheres with mass, poured while others leave", "[mpi]") {
  const std::string deck = scree::deck({.dimension = 3,
                                        .scheme = "nonsmooth",
                                        .step = 0.02,
                                        .seed = 6,
                                        .gravity = "[0, 0, -5]",
                                        .skin = 0.4,
                                        .block_cells = 2},
                                       R"(
[domain]
lower = [0, 0, 0]
upper = [4, 3, 4]
periodic = [true, false, false]
outside = "delete"
[solver]
type = "nsgs"
tolerance = 1e-3
[materials.clay]
density = 2
[pairs]
"clay-clay" = { friction = 0.5, restitution = 0.3 }
[inlets.rain]
type = "pour"
material = "clay"
radius = { distribution = "uniform", min = 0.15, max = 0.25 }
region = { lower = [0, 0, 2.4], upper = [4, 3, 4] }
velocity = [0, 0.3, -2]
random_speed = 0.3
mass_rate = 18
[outlets.hole]
region = { lower = [0, 2, 0], upper = [1.5, 3, 0.6] }
[obstacles.floor]
type = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
material = "clay"
)");
  const Case<3> c{deck, {}, 52, {42, 49}};
  const Coverage covered = check_restarts<3>(c);
  CHECK(covered.n_contacts > 20);
  CHECK(covered.n_remembered > 20);
  CHECK(covered.n_removed > 0);  // beyond open faces
  Simulation<3> simulation(Comm(), read_deck<3>(c.text, c.overrides));
  Outcome outcome;
  take_steps(simulation, c.n_steps, outcome);
  CHECK(simulation.state().outlets[0].n_removed > 0);
  CHECK(simulation.state().inlets[0].n_made > 100);
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
  // The field pulls with at most 0.7 times the distance, and an overlap of a radius leaves in a step: no body
  // has a reason to be faster than these by much. Multipliers of the short step would throw them 50000 times
  // as far.
  Real fastest = 0;
  for (const Vec<2>& v : second.state().bodies.velocity().first(second.state().bodies.n_owned()))
    fastest = std::max(fastest, norm(v));
  CHECK(world.max(fastest) < 20);
}

TEST_CASE("restart: solvers with matrices repeat on as many ranks, and agree on one to their tolerance",
          "[mpi]") {
  // Enough spheres for the systems to meet a Krylov method first; what it learns in a solve ends with it.
  const std::string deck = R"(
[simulation]
dimension = 3
scheme = "nonsmooth"
end_time = 100
seed = 8
[domain]
lower = [0, 0, -0.01]
upper = [0.08, 0.08, 0.2]
periodic = [true, true, false]
[time]
step = "2 ms"
[physics]
gravity = [0, 0, -9.81]
[materials.glass]
density = 2500
[pairs."glass-glass"]
friction = 0.5
restitution = 0
[solver]
type = "admm"
tolerance = 1e-2
[particles.grains]
material = "glass"
radius = { distribution = "uniform", min = 4.9e-3, max = 5e-3 }
source = { type = "lattice", spacing = 0.01, region = { lower = [0, 0, 0], upper = [0.08, 0.08, 0.06] } }
random_speed = 0.1
[obstacles.floor]
type = "plane"
point = [0, 0, 0]
normal = [0, 0, 1]
material = "glass"
)";
  const Comm world, self(MPI_COMM_SELF);
  const Scratch scratch(world);
  constexpr int n_steps = 4, split = 2;
  constexpr Real radius = 4.9e-3;
  const auto number_of_step = [](Simulation<3>& simulation, std::string_view name) {
    const auto entries = simulation.stepper().certificate();
    return std::ranges::find(entries, name, &CertificateEntry::name)->value;
  };
  // Factors of several ranks by MUMPS add up what messages bring in the order in which they come.
  struct Variant {
    Overrides overrides;
    bool repeats_bits;
  };
  for (const auto& [overrides, repeats_bits] :
       {Variant{{"solver.type=admm"}, true}, Variant{{"solver.type=ipm", "solver.linear=iterative"}, true},
        Variant{{"solver.type=ipm"}, world.size() == 1}}) {
    CAPTURE(overrides);
    const Case<3> c{deck, overrides};
    Simulation<3> never_stopped(world, read_deck<3>(deck, overrides));
    Outcome outcome;
    take_steps(never_stopped, split, outcome);
    save(never_stopped, scratch / "split.scree");
    take_steps(never_stopped, n_steps - split, outcome);
    look_at(never_stopped, outcome);
    save(never_stopped, scratch / "end.scree");
    CHECK(outcome.n_bodies >= 300);
    CHECK(outcome.n_pushing > 100);
    CHECK(number_of_step(never_stopped, "krylov_iterations") > 0);
    CHECK(number_of_step(never_stopped, "solved") == 1);

    // On as many ranks, and on one: every rank alone, in files of their own.
    const auto largest_move = [&](const Comm& comm, const std::string& name) {
      const std::string path = scratch / (name + std::to_string(world.rank()) + ".scree");
      const std::string path_of_root = scratch / (name + "0.scree");
      Simulation<3> simulation(comm, read_deck<3>(deck, overrides), scratch / "split.scree");
      Outcome again;
      take_steps(simulation, n_steps - split, again);
      look_at(simulation, again);
      CAPTURE(outcome, again, name);
      if (comm.size() == world.size() && repeats_bits) {
        CHECK(again.state == outcome.state);
        CHECK(again.contacts == outcome.contacts);
        CHECK(again.energy_balance == outcome.energy_balance);
      }
      save(simulation, comm.size() == world.size() ? path_of_root : path);
      world.barrier();
      const Comparison comparison = compare_results(world, scratch / "end.scree", path_of_root);
      const auto& fields = comparison.files.at(0).fields;
      return std::ranges::find(fields, "position", &FieldDifference::name)->largest;
    };
    CHECK(largest_move(world, "again") <= 1e-3 * radius);
    CHECK(largest_move(self, "alone") <= 1e-3 * radius);
  }
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
