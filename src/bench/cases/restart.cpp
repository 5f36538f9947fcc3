#include <optional>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/packing.hpp"
#include "core/command_line.hpp"
#include "core/error.hpp"
#include "core/scratch_folder.hpp"
#include "core/timing.hpp"
#include "run/checkpoint.hpp"
#include "run/simulation.hpp"

namespace scree {

namespace {

/// A run of a packing that is saved, read again and made ready to step; all bodies must be the same, bit by
/// bit.
class RestartBench : public PackingBench {
 public:
  RestartBench() : PackingBench({3}, {100'000, 1'000'000}, 100'000) {}

  void add_options(CommandLine& app) override {
    PackingBench::add_options(app);
    add_folder(app);
  }
  void run(const BenchRun& run) override {
    for_each_size([&]<int D>(std::int64_t n) { measure<D>(run, n); });
  }

 private:
  template <int D>
  void measure(const BenchRun& run, std::int64_t n_bodies) const;
};

template <int D>
void RestartBench::measure(const BenchRun& run, std::int64_t n_bodies) const {
  const Comm& comm = run.comm();
  const PackingOptions options{.bodies = n_bodies, .more = {}};
  Simulation<D> simulation(comm, packing<D>(options));
  for (int i = 0; i < 5; ++i) simulation.step();
  simulation.save_memory();
  const ScratchFolder folder(comm, folder_);
  const std::string path = folder.path() + "/state.scree";
  std::vector<Real> write_seconds, read_seconds;
  reset_timers();
  for (int repetition = 0; repetition < repetitions_; ++repetition) {
    write_seconds.push_back(seconds_of_call(comm, TimeKind::wall, [&] {
      write_checkpoint<D>(simulation.state(), path, "restart", packing_text<D>(options), {},
                          simulation.measure_memories());
    }));
    std::optional<Simulation<D>> restarted;
    read_seconds.push_back(
        seconds_of_call(comm, TimeKind::wall, [&] { restarted.emplace(comm, packing<D>(options), path); }));
    if (restarted->hash() != simulation.hash())
      throw RunError("the state read from a checkpoint is not the one that was written");
  }
  const auto bytes = static_cast<Real>(folder.bytes());
  const Timing write = timing_of(std::move(write_seconds));
  const Timing read = timing_of(std::move(read_seconds));
  const std::vector<TimerRow> timers = timer_table(comm);
  const Real reading = seconds_of(timers, "read checkpoint") / repetitions_;
  const Real rebuild = seconds_of(timers, "neighbours") / repetitions_;
  const auto bodies = static_cast<Real>(simulation.n_bodies());
  BenchRow row("write and restart");
  row.key("dimension", std::int64_t{D}).size("bodies", simulation.n_bodies());
  row.seconds = write.median + read.median;
  row.spread = (write.spread * write.median + read.spread * read.median) / row.seconds;
  row.phases = phases_within(timers, "start");
  row.timing("write", "s", write.median, write.spread);
  row.timing("restart", "s", read.median, read.spread);
  row.result("of_it_reading", "s", reading);
  row.result("of_it_first_rebuild", "s", rebuild);
  row.result("bytes", "B", bytes);
  row.result("written_per_second", "B/s", bytes / write.median);
  row.result("read_per_second", "B/s", bytes / reading);
  row.result("restart_ns_per_body", "ns", 1e9 * read.median * comm.size() / bodies);
  row.result("same_state", "-", std::string("yes"));
  run.add(std::move(row));
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(restart, scree::RestartBench,
                 "a checkpoint written, read on these ranks and made ready to step; the same bits")
