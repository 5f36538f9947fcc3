#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/bed.hpp"
#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "core/command_line.hpp"
#include "core/timing.hpp"
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
    app.option("--solver", solver_, "of [solver], as scree list solvers names it");
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
  const Comm& comm = run.comm();
  Simulation<3> simulation(comm, bed.deck(n_bodies));
  for (int i = 0; i < 20; ++i) simulation.step();  // impulses were left behind with the tile
  reset_timers();
  const std::int64_t rebuilds = simulation.neighborhood().n_rebuilds();
  std::vector<Real> seconds;
  Real sweeps = 0, contacts = 0, worst_residual = 0, success = 0;
  for (int repetition = 0; repetition < repetitions_; ++repetition) {
    const auto run_steps = [&] {
      for (int i = 0; i < steps_; ++i) {
        simulation.step();
        for (const CertificateEntry& entry : simulation.stepper().certificate()) {
          if (entry.name == "sweeps") sweeps += entry.value;
          if (entry.name == "contacts") contacts += entry.value;
          if (entry.name == "residual") worst_residual = std::max(worst_residual, entry.value);
          if (entry.is_success) success += entry.value;
        }
      }
    };
    seconds.push_back(seconds_of_call(comm, TimeKind::processor, run_steps) / steps_);
  }
  const Timing step = timing_of(std::move(seconds));
  const auto steps = static_cast<Real>(steps_) * repetitions_;
  const auto bodies = static_cast<Real>(n_bodies);
  const std::vector<TimerRow> timers = timer_table(comm);
  const auto us = [&](std::string_view name) {
    return 1e6 * seconds_of(timers, name) / steps * comm.size() / bodies;
  };
  BenchRow row("step");
  row.key("solver", solver_).size("bodies", n_bodies);
  row.time(step);
  row.phases = phases_within(timers, "step");
  row.result("us_per_body_step", "us", 1e6 * step.median * comm.size() / bodies);
  row.result("sweeps_per_step", "-", sweeps / steps);
  row.result("contacts_per_body", "-", contacts / steps / bodies);
  row.result(
      "ns_per_contact_sweep", "ns",
      sweeps > 0 ? 1e9 * seconds_of(timers, "nsgs sweep") * comm.size() / (contacts / steps) / sweeps : 0);
  row.result("friction_us_per_body", "us", us("friction"));
  row.result("neighbours_us_per_body", "us", us("neighbours"));
  row.result("steps_per_rebuild", "-",
             steps / std::max(Real{1}, static_cast<Real>(simulation.neighborhood().n_rebuilds() - rebuilds)));
  row.result("worst_residual", "-", worst_residual);
  row.result("share_of_steps_solved", "-", success / steps);
  row.result("bytes_per_body", "-",
             static_cast<Real>(comm.sum(static_cast<std::int64_t>(simulation.bytes()))) / bodies);
  run.add(std::move(row));
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(nonsmooth, scree::NonsmoothBench,
                 "non-smooth dynamics: a step of a settled bed of rigid spheres")
