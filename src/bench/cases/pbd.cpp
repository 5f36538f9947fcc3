#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/packing.hpp"
#include "core/command_line.hpp"
#include "core/memory.hpp"
#include "core/timing.hpp"
#include "run/simulation.hpp"
#include "schemes/pbd/sweeper.hpp"

namespace scree {

namespace {

/// A dense packing (packing.hpp) that drifts: sweeps of each instruction set, rebuilds, whole steps, memory.
class PbdBench : public PackingBench {
 public:
  PbdBench() : PackingBench({2, 3}, {10'000, 100'000, 1'000'000}, 20'000) {}

  void add_options(CommandLine& app) override {
    PackingBench::add_options(app);
    app.option("--seconds", seconds_, "least time of a repetition").check(positive_number());
    app.option("--block-cells", block_cells_, "cells along the edge of a block; 0: auto");
    app.flag("--all-sets", all_sets_, "every instruction set of this processor");
  }
  void make_quick() override {
    PackingBench::make_quick();
    seconds_ = 0.05;
  }
  std::int64_t study_bodies() const override { return bodies().size() == 1 ? bodies()[0] : 100'000; }

  void run(const BenchRun& run) override {
    for_each_size([&]<int D>(std::int64_t n) { measure<D>(run, n); });
  }

 private:
  template <int D>
  PackingOptions packing_of(std::int64_t n_bodies, Real skin) const {
    return {.bodies = n_bodies, .skin = skin, .block_cells = block_cells_, .more = {}};
  }
  template <int D>
  void measure(const BenchRun& run, std::int64_t n_bodies) const;
  template <int D>
  void measure_steps(const BenchRun& run, std::int64_t n_bodies, BenchRow& row) const;

  Real seconds_ = 0.2;
  std::int64_t block_cells_ = 0;
  bool all_sets_ = false;
};

/// Rebuilds and whole steps, with a skin that suits moving bodies.
template <int D>
void PbdBench::measure_steps(const BenchRun& run, std::int64_t n_bodies, BenchRow& row) const {
  const Comm& comm = run.comm();
  Simulation<D> moving(comm, packing<D>(packing_of<D>(n_bodies, 0.3)));
  for (int i = 0; i < 60; ++i) moving.step();
  reset_timers();
  const std::int64_t rebuilds = moving.neighborhood().n_rebuilds();
  const std::int64_t first = moving.state().clock.step;
  const Timing step = measure_time(comm, repetitions_, 3 * seconds_, [&] { moving.step(); });
  const auto steps = static_cast<Real>(moving.state().clock.step - first);
  const auto n_rebuilds = static_cast<Real>(moving.neighborhood().n_rebuilds() - rebuilds);
  const std::vector<TimerRow> timers = timer_table(comm);
  const Real of_rank = static_cast<Real>(moving.n_bodies()) / comm.size();
  const auto per_rebuild = [&](std::string_view name) {
    return n_rebuilds > 0 ? 1e9 * seconds_of(timers, name) / n_rebuilds / of_rank : 0;
  };
  row.time(step);
  row.phases = phases_within(timers, "step");
  row.result("step_ns_per_body", "ns", 1e9 * step.median / of_rank);
  row.result("rebuild_ns_per_body", "ns", per_rebuild("neighbours"));
  row.result("search_ns_per_body", "ns", per_rebuild("search"));
  row.result("classes_ns_per_body", "ns", per_rebuild("classes"));
  row.result("steps_per_second", "1/s", 1 / step.median).only_in_files();
  row.result("steps_per_rebuild", "-", n_rebuilds > 0 ? steps / n_rebuilds : 0);
}

template <int D>
void PbdBench::measure(const BenchRun& run, std::int64_t n_bodies) const {
  const Comm& comm = run.comm();
  BenchRow steps("step");
  measure_steps<D>(run, n_bodies, steps);

  const std::int64_t memory_before = live_memory();
  Simulation<D> simulation(comm, packing<D>(packing_of<D>(n_bodies, 0.1)));
  // A few steps take the start's lattice order and its deep overlaps away.
  for (int i = 0; i < 20; ++i) simulation.step();
  const State<D>& state = simulation.state();
  const SweepSchedule<D>& schedule = simulation.neighborhood().schedule();
  const auto bodies = static_cast<Real>(simulation.n_bodies());
  const std::int64_t n_pairs = comm.sum(schedule.n_pairs());
  const auto pairs = static_cast<Real>(n_pairs);
  // A sweep must move each record in and out once and read the list: bytes per pair, hence the bound.
  const auto list_bytes =
      static_cast<Real>(comm.sum(std::int64_t{schedule.n_batches()} * 2 * batch_size * 4));
  const Real bound = run.triad() / ((64 * bodies + list_bytes) / pairs);
  const std::int64_t memory = live_memory() - memory_before;
  std::int64_t fields = 0;
  state.bodies.for_each_field([&](const FieldInfo&, const auto& values) {
    fields += static_cast<std::int64_t>(values.capacity() * sizeof(values[0]));
  });

  for (const PairKernels* set : available_pair_kernels<D>()) {
    if (!all_sets_ && set != &pair_kernels<D>()) continue;
    PbdSweeper<D> sweeper(simulation.neighborhood());
    sweeper.prepare(state, false);
    sweeper.load(state);
    sweeper.use(*set);
    const auto sweep = [&](PairMode mode) {
      return measure_time(comm, repetitions_, seconds_, [&] { sweeper.sweep(state, mode, {}); });
    };
    reset_timers();
    const Timing plain = sweep(PairMode::plain);
    const std::vector<TimerRow> timers = timer_table(comm);
    const Real rate = pairs / comm.size() / plain.median;
    BenchRow row("step");
    row.key("dimension", std::int64_t{D}).size("bodies", simulation.n_bodies());
    row.key("instruction_set", std::string(set->instruction_set));
    row.seconds = steps.seconds;
    row.spread = steps.spread;
    row.phases = steps.phases;
    row.result("pairs", "-", n_pairs).only_in_files();
    row.timing("pairs_per_second_per_rank", "1/s", rate, plain.spread);
    row.result("share_of_bandwidth_bound", "-", rate / bound);
    row.result("warm_pairs_per_second_per_rank", "1/s",
               pairs / comm.size() / sweep(PairMode::accumulate).median);
    row.result("exchange_share", "-", seconds_of(timers, "exchange") / seconds_of(timers, "sweeps"));
    row.columns.insert(row.columns.end(), steps.columns.begin(), steps.columns.end());
    row.result("bytes_per_body", "-", static_cast<Real>(comm.sum(memory)) / bodies);
    row.result("list_bytes_per_body", "-", static_cast<Real>(comm.sum(memory - fields)) / bodies);
    row.result("triad_bytes_per_second_per_rank", "B/s", run.triad()).only_in_files();
    run.add(std::move(row));
  }
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(pbd, scree::PbdBench,
                 "position-based dynamics: sweeps, rebuilds, steps and memory of a dense drifting packing")
