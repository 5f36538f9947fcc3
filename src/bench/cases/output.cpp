#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/packing.hpp"
#include "core/command_line.hpp"
#include "core/scratch_folder.hpp"
#include "run/simulation.hpp"
#include "run/writers.hpp"

namespace scree {

namespace {

/// Frames and checkpoints of a packing of disks or spheres, written to a folder that goes away.
class OutputBench : public PackingBench {
 public:
  OutputBench() : PackingBench({3}, {100'000, 1'000'000}, 100'000) {}

  void add_options(CommandLine& app) override {
    PackingBench::add_options(app);
    app.option("--writers", writers_, "files of a VTK frame at most, as output.vtk.writers")
        .check(positive_number());
    add_folder(app);
  }
  void run(const BenchRun& run) override {
    for_each_size([&]<int D>(std::int64_t n) { measure<D>(run, n); });
  }

 private:
  struct FrameFormat {
    std::string name;
    std::int64_t n_writers;
    std::function<void()> write, finish;
  };

  template <int D>
  void measure_frames(const BenchRun& run, Simulation<D>& simulation, const ScratchFolder& folder,
                      const FrameFormat& format) const;
  template <int D>
  void measure(const BenchRun& run, std::int64_t n_bodies) const;

  std::int64_t writers_ = 1;
};

/// `write` writes one more frame, `finish` waits for what is still under way.
template <int D>
void OutputBench::measure_frames(const BenchRun& run, Simulation<D>& simulation, const ScratchFolder& folder,
                                 const FrameFormat& format) const {
  format.write();  // the first frame makes folders and headers
  format.finish();
  const std::int64_t bytes_before = folder.bytes();
  std::vector<Real> seconds;
  for (int repetition = 0; repetition < repetitions_; ++repetition) {
    ++simulation.state().clock.step;
    simulation.state().clock.time += simulation.deck().dt;
    seconds.push_back(seconds_of_call(run.comm(), TimeKind::wall, [&] {
      format.write();
      if (repetition + 1 == repetitions_) format.finish();
    }));
  }
  const Timing frame = timing_of(std::move(seconds));
  const Real bytes = static_cast<Real>(folder.bytes() - bytes_before) / repetitions_;
  BenchRow row("frame");
  row.key("dimension", std::int64_t{D}).size("bodies", simulation.n_bodies()).key("format", format.name);
  row.time(frame);
  row.result("bytes", "B", bytes);
  row.result("bytes_per_second", "B/s", bytes / frame.median);
  row.result("bytes_per_body", "-", bytes / static_cast<Real>(simulation.n_bodies()));
  row.result("writing_ranks", "-", format.n_writers);
  run.add(row);
}

template <int D>
void OutputBench::measure(const BenchRun& run, std::int64_t n_bodies) const {
  const Comm& comm = run.comm();
  Simulation<D> simulation(comm, packing<D>({.bodies = n_bodies, .more = {}}));
  for (int i = 0; i < 3; ++i) simulation.step();
  const ScratchFolder folder(comm, folder_);
  const auto ranks = std::int64_t{comm.size()};

  const std::vector<std::int32_t> contact_counts(
      static_cast<std::size_t>(simulation.state().bodies.n_local()));
  const ContactGraph<D> no_contacts;
  const auto measure_series = [&](const std::string& format, std::int64_t n_writers,
                                  const std::string& table) {
    // The settings of a deck that writes this series only, and rows of tables never.
    const RunDeck<D> settings =
        packing<D>({.bodies = n_bodies, .more = table + "\n[output.certificate]\nevery = 1e9\n"});
    const RunFiles run_files{.folder = folder.path() + "/" + format, .name = "frames"};
    files::make_directory(comm, run_files.folder);
    Writers<D> writers(comm, run_files, settings, simulation.state(), "", files::Texts{}, std::nullopt);
    const auto write = [&] {
      const Real time = simulation.state().clock.time;
      writers.write({simulation.state(), no_contacts, contact_counts, simulation.stepper()},
                    time - simulation.deck().dt, false);
    };
    measure_frames(run, simulation, folder, {format, n_writers, write, [&] { writers.complete(); }});
  };
  if (has_vtk())
    measure_series("vtk", std::min(writers_, ranks),
                   "[output.vtk]\nevery_steps = 1\ncontacts = false\nobstacles = false\nwriters = " +
                       std::to_string(writers_));
  measure_series("h5md", ranks, "[output.h5md]\nevery_steps = 1");
  const auto write_checkpoint_file = [&] {
    simulation.save_memory();
    write_checkpoint<D>(simulation.state(),
                        checkpoint_path(folder.path(), "frames", simulation.state().clock.step), "frames", "",
                        {}, simulation.measure_memories());
  };
  measure_frames(run, simulation, folder, {"checkpoint", ranks, write_checkpoint_file, [] {}});
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(output, scree::OutputBench, "a VTK frame, an H5MD frame, a checkpoint: seconds and bytes")
