#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/bed.hpp"
#include "bench/case.hpp"
#include "bench/nonsmooth_steps.hpp"
#include "core/command_line.hpp"
#include "core/memory.hpp"
#include "run/simulation.hpp"

namespace scree {

namespace {

/// Non-smooth dynamics: steps of a settled bed of rigid glass spheres (bed.hpp) under gravity.
class NonsmoothBench : public BenchCase {
 public:
  void add_options(CommandLine& app) override {
    app.option("--bodies", bodies_, "numbers of bodies, over all ranks; multiples of 4096")
        .delimiter(',')
        .check(positive_number());
    app.option("--solver", solver_, "of [solver], as scree list solvers --laboratory names it");
    app.option("--tolerance", tolerance_, "of [solver]").check(positive_number());
    app.option("--settling-time", settling_time_, "of the bed before it is measured [s]")
        .check(positive_number());
    add_repetitions(app);
    add_folder(app);
    app.option("--steps", steps_, "of one repetition").check(positive_number());
  }
  void make_quick() override {
    bodies_ = {Bed::tile_bodies};
    settling_time_ = 0.4;
    repetitions_ = 3;
    steps_ = 10;
  }
  std::int64_t study_bodies() const override { return bodies_.back(); }
  void set_bodies(std::int64_t bodies) override { bodies_ = {Bed::nearest(bodies)}; }

  void run(const BenchRun& run) override {
    for (const std::int64_t n : bodies_) Bed::validate(n);
    Bed bed(run.comm(), {.scheme = "nonsmooth",
                         .tables = tables(),
                         .settling_time = settling_time_,
                         .loose = true,
                         .folder = folder_});
    for (const std::int64_t n : bodies_) measure(run, bed, n);
  }

 private:
  std::string tables() const {
    return fmt::format(
        R"([time]
step = 0.002
[solver]
type = "{}"
tolerance = {}
[materials.glass]
density = 2500
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.5 }}
)",
        solver_, tolerance_);
  }
  void measure(const BenchRun& run, Bed& bed, std::int64_t n_bodies) const;

  std::vector<std::int64_t> bodies_{4096, 32768};
  std::string solver_ = "nsgs";
  Real tolerance_ = 1e-2;
  Real settling_time_ = 0.6;
  int steps_ = 20;
};

void NonsmoothBench::measure(const BenchRun& run, Bed& bed, std::int64_t n_bodies) const {
  const std::int64_t memory_before = live_memory();
  Simulation<3> simulation(run.comm(), bed.deck(n_bodies));
  for (int i = 0; i < 20; ++i) simulation.step();  // impulses were left behind with the tile
  BenchRow row("step");
  row.key("solver", solver_);
  run.add(
      measure_nonsmooth_steps(run.comm(), simulation, memory_before, repetitions_, steps_, std::move(row)));
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(nonsmooth, scree::NonsmoothBench,
                 "non-smooth dynamics: a step of a settled bed of rigid spheres")
