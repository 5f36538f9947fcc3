#pragma once
#include "io/compare.hpp"
#include "mpi/simulate.hpp"
#include "run/checkpoint.hpp"
#include "unit/io/scratch.hpp"

namespace scree {

template <int D>
void save(Simulation<D>& simulation, const std::string& path) {
  simulation.save_memory();
  write_checkpoint(simulation.state(), path, "test", "deck", {}, simulation.measure_memories());
}

template <int D>
struct Case {
  std::string text;
  Overrides overrides;
  int n_steps = 18;
  std::vector<int> splits = {1, 6, 11, 12};
};

/// What the checkpoints of a case had to carry, to show whether anything was tested.
struct Coverage {
  std::int64_t n_remembered = 0;
  bool old_list = false;  ///< some checkpoint came later than its neighbour list
  std::int64_t n_removed = 0, n_contacts = 0, n_shared_contacts = 0, n_migrated = 0, n_halvings = 0;
};

/// Takes `n_steps` steps from a checkpoint.
template <int D>
Outcome go_on(const Comm& comm, const Case<D>& c, const std::string& path, int n_steps) {
  Simulation<D> simulation(comm, read_deck<D>(c.text, c.overrides), path);
  Outcome outcome;
  take_steps(simulation, n_steps, outcome);
  look_at(simulation, outcome);
  return outcome;
}

/// From checkpoints of one rank and of all, on one rank and on all, to the same end as a run that never
/// stopped.
template <int D>
Coverage check_restarts(const Case<D>& c) {
  std::string what;
  for (const std::string& o : c.overrides) what += o + " ";
  CAPTURE(D, what);
  const Comm world, self(MPI_COMM_SELF);
  const Scratch scratch(world);
  const auto path_of = [&](const std::string& kind, int split) {
    return scratch / (kind + "_" + std::to_string(split) + ".scree");
  };
  // One run on each rank alone and one on all together, both never stopped, both leaving checkpoints.
  Coverage covered;
  const auto run = [&](const Comm& comm, const std::string& kind) {
    Simulation<D> simulation(comm, read_deck<D>(c.text, c.overrides));
    Outcome outcome;
    int step = 0;
    for (const int split : c.splits) {
      take_steps(simulation, split - step, outcome);
      step = split;
      save(simulation, path_of(kind, split));
      const State<D>& state = simulation.state();
      covered.n_remembered += world.sum(static_cast<std::int64_t>(state.memory.other.size()));
      covered.old_list = covered.old_list || state.clock.reference_time < state.clock.time;
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
  covered.n_removed = together.n_removed;
  covered.n_contacts = together.n_contacts;
  covered.n_shared_contacts = together.n_shared_contacts;
  covered.n_migrated = together.n_migrated;
  covered.n_halvings = together.n_halvings;

  world.barrier();
  for (const int split : c.splits) {
    CAPTURE(split);
    const int rest = c.n_steps - split;
    const auto same = [&](const Outcome& outcome) {
      CAPTURE(outcome);
      CHECK(outcome.state == alone.state);
      CHECK(outcome.contacts == alone.contacts);
      CHECK(outcome.time == alone.time);
      CHECK(outcome.energy_balance == alone.energy_balance);
    };
    same(go_on(world, c, path_of("alone0", split), rest));
    same(go_on(self, c, path_of("together", split), rest));
    same(go_on(world, c, path_of("together", split), rest));
    const Comparison comparison =
        compare_results(world, path_of("alone0", split), path_of("together", split));
    CHECK(comparison.equal());
  }
  return covered;
}

}  // namespace scree
