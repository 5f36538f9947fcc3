#include <functional>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/packing.hpp"
#include "core/command_line.hpp"
#include "core/timing.hpp"
#include "run/simulation.hpp"

namespace scree {

namespace {

/// What ranks send each other: ghosts of a dense packing (packing.hpp), one row per kind of exchange.
class GhostsBench : public PackingBench {
 public:
  GhostsBench() : PackingBench({2, 3}, {10'000, 100'000}, 20'000) {}

  void add_options(CommandLine& app) override {
    PackingBench::add_options(app);
    app.option("--seconds", seconds_, "least time of a repetition").check(positive_number());
  }
  void make_quick() override {
    PackingBench::make_quick();
    seconds_ = 0.02;
  }
  void run(const BenchRun& run) override {
    for_each_size([&]<int D>(std::int64_t n) { measure<D>(run, n); });
  }

 private:
  template <int D>
  void measure_call(const BenchRun& run, Simulation<D>& simulation, const std::string& exchange,
                    const std::function<void()>& work) const;
  template <int D>
  void measure(const BenchRun& run, std::int64_t n_bodies) const;

  Real seconds_ = 0.1;
};

template <int D>
void GhostsBench::measure_call(const BenchRun& run, Simulation<D>& simulation, const std::string& exchange,
                               const std::function<void()>& work) const {
  const Comm& comm = run.comm();
  const State<D>& state = simulation.state();
  Neighborhood<D>& neighborhood = simulation.neighborhood();
  const auto sent = [&] {
    ExchangeVolume volume;
    for (std::size_t kind = 0; kind < n_traffic_kinds; ++kind)
      volume += neighborhood.ghosts().sent(static_cast<Traffic>(kind));
    return volume;
  };
  std::int64_t calls = 0;
  const ExchangeVolume before = sent();
  const std::int64_t migrated = neighborhood.n_migrated();
  reset_timers();
  const Timing call = measure_time(comm, repetitions_, seconds_, [&] {
    work();
    ++calls;
  });
  const ExchangeVolume volume = sent() - before;
  const auto per_call = [&](std::int64_t count) {
    return static_cast<Real>(count) / static_cast<Real>(calls);
  };
  const auto n_ghosts = std::int64_t{state.bodies.n_local() - state.bodies.n_owned()};
  BenchRow row("call");
  row.key("dimension", std::int64_t{D}).size("bodies", simulation.n_bodies()).key("exchange", exchange);
  row.time(call);
  row.phases = phases_within(timer_table(comm), "neighbours");
  row.result("messages_of_all_ranks", "-", per_call(comm.sum(volume.messages)));
  row.result("messages_of_busiest_rank", "-", per_call(comm.max(volume.messages)));
  row.result("bytes_of_all_ranks", "B", per_call(comm.sum(volume.bytes)));
  row.result("bytes_of_busiest_rank", "B", per_call(comm.max(volume.bytes)));
  row.result("ghosts_of_all_ranks", "-", comm.sum(n_ghosts));
  row.result("ghosts_of_fullest_rank", "-", comm.max(n_ghosts));
  row.result("migrated_bodies", "-", per_call(neighborhood.n_migrated() - migrated));
  run.add(row);
}

template <int D>
void GhostsBench::measure(const BenchRun& run, std::int64_t n_bodies) const {
  Simulation<D> simulation(run.comm(), packing<D>({.bodies = n_bodies, .more = {}}));
  for (int i = 0; i < 20; ++i) simulation.step();  // towards a packing without deep overlaps
  State<D>& state = simulation.state();
  Neighborhood<D>& neighborhood = simulation.neighborhood();
  GhostExchange<D>& ghosts = neighborhood.ghosts();
  const std::size_t n_local = state.bodies.n_local();
  std::vector<Vec<D>> positions(state.bodies.position().begin(), state.bodies.position().end());
  measure_call(run, simulation, "copy positions to ghosts", [&] { ghosts.copy_to_ghosts(positions); });
  std::vector<std::int32_t> counts(n_local);
  measure_call(run, simulation, "add counts to owners", [&] { ghosts.add_to_owners(counts); });
  std::vector<Real> sums(n_local * D);
  measure_call(run, simulation, "add vectors to owners", [&] { ghosts.add_to_owners(sums, D); });
  std::vector<SweepRecord> records(n_local);
  const auto transfer = [&](int stage) {
    ghosts.begin_transfer(stage, records);
    ghosts.end_transfer(stage, records);
  };
  constexpr int n_colours = Lattice<D>::n_colours;
  measure_call(run, simulation, "halo transfers of one sweep", [&] {
    for (int stage = 0; stage <= n_colours; ++stage) transfer(stage);
  });
  measure_call(run, simulation, "halo transfers of a sweep among others", [&] {
    for (int colour = 0; colour < n_colours; ++colour) transfer(n_colours + colour + 1);
  });
  // All bodies move on by a mean radius: some change ranks, all lists are made again.
  measure_call(run, simulation, "rebuild with migration", [&] {
    for (std::size_t i = 0; i < static_cast<std::size_t>(state.bodies.n_owned()); ++i)
      state.bodies.position()[i][0] += 0.5;
    state.memory.clear(state.bodies.n_owned());
    neighborhood.rebuild(state);
  });
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(
    ghosts, scree::GhostsBench,
    "exchange between ranks: ghosts, halo transfers of a sweep, rebuilds of lists with migration")
