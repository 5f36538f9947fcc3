#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/bed.hpp"
#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "core/command_line.hpp"
#include "core/memory.hpp"
#include "core/timing.hpp"
#include "run/simulation.hpp"

namespace scree {

namespace {

/// Soft contact: a settled bed of glass spheres (bed.hpp) under gravity.
class DemBench : public BenchCase {
 public:
  void add_options(CommandLine& app) override {
    app.option("--bodies", bodies_, "numbers of bodies, over all ranks; multiples of 4096")
        .delimiter(',')
        .check(positive_number());
    app.option("--law", law_, "hertz or linear").check(one_of({"hertz", "linear"}));
    app.option("--settling-time", settling_time_, "of the bed before it is measured [s]")
        .check(positive_number());
    add_repetitions(app);
    add_folder(app);
    app.option("--seconds", seconds_, "least time of a repetition").check(positive_number());
  }
  void make_quick() override {
    bodies_ = {2 * Bed::tile_bodies};
    repetitions_ = 3;
    seconds_ = 0.2;
  }
  std::int64_t study_bodies() const override { return bodies_.back(); }
  void set_bodies(std::int64_t bodies) override { bodies_ = {Bed::nearest(bodies)}; }

  void run(const BenchRun& run) override {
    for (const std::int64_t n : bodies_) Bed::validate(n);
    Bed bed(run.comm(),
            {.scheme = "dem", .tables = tables(), .settling_time = settling_time_, .folder = folder_});
    for (const std::int64_t n : bodies_) measure(run, bed, n);
  }

 private:
  std::string tables() const {
    constexpr Real dt = 5e-5;  // [s], 12 % of the Rayleigh time
    return fmt::format(
        R"([time]
step = {}
[dem]
law = "{}"
[materials.glass]
density = 2500
young_modulus = 1e7
poisson_ratio = 0.3
[pairs]
"glass-glass" = {{ friction = 0.5, restitution = 0.5{} }}
)",
        dt, law_, law_ == "linear" ? ", stiffness = 6511" : "");
  }
  void measure(const BenchRun& run, Bed& bed, std::int64_t n_bodies) const;

  std::vector<std::int64_t> bodies_{4096, 32768, 131072};
  std::string law_ = "hertz";
  Real settling_time_ = 0.5;
  Real seconds_ = 1;
};

void DemBench::measure(const BenchRun& run, Bed& bed, std::int64_t n_bodies) const {
  const Comm& comm = run.comm();
  const std::int64_t memory_before = live_memory();
  Simulation<3> simulation(comm, bed.deck(n_bodies));
  // Springs were left behind with the tile: contacts settle anew.
  for (int i = 0; i < 200; ++i) simulation.step();

  const auto bodies = static_cast<Real>(n_bodies);
  const auto per_body = [&](auto of_rank) {
    return static_cast<Real>(comm.sum(static_cast<std::int64_t>(of_rank))) / bodies;
  };
  BenchRow row("step");
  row.key("law", law_).size("bodies", n_bodies);
  row.result("contacts_per_body", "-", per_body(simulation.find_contacts(0).size()));
  row.result("pairs_per_body", "-", per_body(simulation.neighborhood().schedule().n_pairs()));

  reset_timers();
  const std::int64_t rebuilds = simulation.neighborhood().n_rebuilds();
  const std::int64_t first = simulation.state().clock.step;
  const Timing step = measure_time(comm, repetitions_, seconds_, [&] { simulation.step(); });
  const auto steps = static_cast<Real>(simulation.state().clock.step - first);
  const auto n_rebuilds = static_cast<Real>(simulation.neighborhood().n_rebuilds() - rebuilds);
  const std::vector<TimerRow> timers = timer_table(comm);
  const auto ns = [&](std::string_view name) {
    return 1e9 * seconds_of(timers, name) / steps * comm.size() / bodies;
  };
  row.time(step);
  row.phases = phases_within(timers, "step");
  row.result("body_steps_per_second", "1/s", bodies / step.median);
  row.result("forces_ns_per_body", "ns", ns("forces") - ns("exchange") - ns("move"));
  row.result("exchange_ns_per_body", "ns", ns("exchange"));
  row.result("move_ns_per_body", "ns", ns("move"));
  row.result("neighbours_ns_per_body", "ns", ns("neighbours"));
  row.result("steps_per_rebuild", "-", n_rebuilds > 0 ? steps / n_rebuilds : 0);
  row.result("bytes_per_body", "-", per_body(live_memory() - memory_before));
  run.add(std::move(row));
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(dem, scree::DemBench, "soft contact: body-steps per second of a settled bed of spheres")
