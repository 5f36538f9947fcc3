
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/packing.hpp"
#include "bench/process_memory.hpp"
#include "core/command_line.hpp"
#include "core/memory.hpp"
#include "core/timing.hpp"
#include "run/simulation.hpp"

namespace scree {

namespace {

/// From a deck to the first step: bodies made, placed on ranks, listed.
class StartBench : public PackingBench {
 public:
  StartBench() : PackingBench({2, 3}, {100'000, 1'000'000}, 100'000) {}

  void add_options(CommandLine& app) override {
    PackingBench::add_options(app);
    app.option("--packings", packings_, "lattice, random or both")
        .delimiter(',')
        .check(one_of({"lattice", "random"}));
  }
  void run(const BenchRun& run) override {
    for_each_size([&]<int D>(std::int64_t n) {
      for (const std::string& kind : packings_) measure<D>(run, n, kind);
    });
  }

 private:
  template <int D>
  void measure(const BenchRun& run, std::int64_t n_bodies, const std::string& kind) const;

  std::vector<std::string> packings_{"lattice", "random"};
};

template <int D>
void StartBench::measure(const BenchRun& run, std::int64_t n_bodies, const std::string& kind) const {
  const Comm& comm = run.comm();
  std::vector<Real> seconds;
  std::int64_t made = 0, in_use = 0, peak = 0;
  reset_timers();
  for (int repetition = 0; repetition < repetitions_; ++repetition) {
    reset_peak_memory();
    const std::int64_t before = memory_in_use(), live_before = live_memory();
    std::optional<Simulation<D>> simulation;
    seconds.push_back(seconds_of_call(comm, TimeKind::wall, [&] {
      simulation.emplace(comm, packing<D>({.bodies = n_bodies, .random = kind == "random", .more = {}}));
    }));
    made = simulation->n_bodies();
    in_use = comm.sum(live_memory() - live_before);
    peak = std::max(peak, comm.sum(std::max<std::int64_t>(0, peak_memory() - before)));
  }
  const Timing timing = timing_of(std::move(seconds));
  const auto bodies = static_cast<Real>(made);
  BenchRow row("start");
  row.key("dimension", std::int64_t{D}).size("bodies", made).key("packing", kind);
  row.time(timing);
  row.phases = phases_within(timer_table(comm), "start");
  row.result("ns_per_body", "ns", 1e9 * timing.median * comm.size() / bodies);
  row.result("peak_bytes_per_body", "-", static_cast<Real>(peak) / bodies);
  row.result("held_bytes_per_body", "-", static_cast<Real>(in_use) / bodies);
  run.add(std::move(row));
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(start, scree::StartBench,
                 "from a deck to the first step: bodies made, placed and listed; time and peak memory")
