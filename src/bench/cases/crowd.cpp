#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/packing.hpp"
#include "core/command_line.hpp"
#include "core/memory.hpp"
#include "run/simulation.hpp"

namespace scree {

namespace {

/// A square crowd of the default people in a hall twice as long, walking to its open far side.
class CrowdBench : public BenchCase {
 public:
  void add_options(CommandLine& app) override {
    app.option("--agents", agents_, "numbers of people, over all ranks")
        .delimiter(',')
        .check(positive_number());
    app.option("--densities", densities_, "at the start [1/m2]").delimiter(',').check(positive_number());
    app.option("--columns", columns_, "among the crowd, on a square grid")
        .delimiter(',')
        .check(non_negative_number());
    app.option("--model", model_, "projection or pbd").check(one_of({"projection", "pbd"}));
    app.option("--tolerance", tolerance_, "of the projection [m]").check(positive_number());
    app.option("--step", dt_, "length of a step [s]").check(positive_number());
    app.option("--warm-up", warm_up_, "steps before the first timing").check(non_negative_number());
    add_repetitions(app);
    app.option("--steps", steps_, "of one repetition").check(positive_number());
  }
  void make_quick() override {
    agents_ = {2000};
    densities_ = {3};
    warm_up_ = 50;
    repetitions_ = 3;
    steps_ = 10;
  }
  std::int64_t study_bodies() const override { return agents_[0]; }
  void set_bodies(std::int64_t bodies) override { agents_ = {bodies}; }

  void run(const BenchRun& run) override {
    for (const std::int64_t agents : agents_)
      for (const Real density : densities_)
        for (const std::int64_t columns : columns_) measure(run, agents, density, columns);
  }

 private:
  RunDeck<2> hall(std::int64_t agents, Real density, std::int64_t columns) const;
  void measure(const BenchRun& run, std::int64_t agents, Real density, std::int64_t columns) const;

  std::vector<std::int64_t> agents_{10'000};
  std::vector<Real> densities_{1, 3};
  std::vector<std::int64_t> columns_{0, 400};  // in the area of the crowd
  std::string model_ = "projection";
  Real tolerance_ = 1e-6;  // [m]
  Real dt_ = 0.05;         // [s]
  int warm_up_ = 100;
  int steps_ = 20;
};

/// A hall of the length of two crowds whose right wall is one exit; columns on a square grid over the crowd's
/// half.
RunDeck<2> CrowdBench::hall(std::int64_t agents, Real density, std::int64_t columns) const {
  constexpr Real column_radius = 0.15;
  const Real edge = std::sqrt(static_cast<Real>(agents) / density);
  const auto per_row = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<Real>(columns))));
  std::string circles;
  const Real spacing = columns > 0 ? edge / static_cast<Real>(per_row) : 0;
  for (std::int64_t i = 0; i < per_row; ++i)
    for (std::int64_t j = 0; j < per_row; ++j)
      circles += fmt::format("{}[{:.4f}, {:.4f}, {}]", circles.empty() ? "" : ", ",
                             (static_cast<Real>(i) + 0.5) * spacing, (static_cast<Real>(j) + 0.5) * spacing,
                             column_radius);
  return read_bench_deck<2>(fmt::format(
      R"([simulation]
dimension = 2
scheme = "crowd"
end_time = 1e9
[time]
step = {}
[crowd]
model = "{}"
tolerance = {}
[navigation]
cell = 0.25
[walkable]
polygon = [[0, 0], [{}, 0], [{}, {}], [0, {}]]
{}
[exits.end]
line = [[{}, 0], [{}, {}]]
[populations.crowd]
region = [[0, 0], [{}, 0], [{}, {}], [0, {}]]
count = {}
)",
      dt_, model_, tolerance_, 2 * edge, 2 * edge, edge, edge,
      circles.empty() ? "" : fmt::format("[walkable.obstacles.columns]\ncircles = [{}]", circles), 2 * edge,
      2 * edge, edge, edge, edge, edge, edge, agents));
}

Real value_of(const std::vector<CertificateEntry>& certificate, std::string_view name) {
  const auto found = std::ranges::find(certificate, name, &CertificateEntry::name);
  return found == certificate.end() ? 0 : found->value;
}

void CrowdBench::measure(const BenchRun& run, std::int64_t agents, Real density, std::int64_t columns) const {
  const Comm& comm = run.comm();
  const std::int64_t memory_before = live_memory();
  Simulation<2> simulation(comm, hall(agents, density, columns));
  for (int i = 0; i < warm_up_; ++i) simulation.step();

  const std::int64_t n_agents = simulation.n_bodies();
  const auto bytes = static_cast<Real>(comm.sum(live_memory() - memory_before));
  reset_timers();
  Real contacts = 0, sweeps = 0, worst_overlap = 0, worst_residual = 0;
  Timing step;
  const Real wall = seconds_of_call(comm, TimeKind::wall, [&] {
    step = measure_windows(comm, repetitions_, steps_, [&] {
      simulation.step();
      const auto certificate = simulation.stepper().certificate();
      contacts += value_of(certificate, "contacts");
      sweeps += value_of(certificate, "sweeps");
      worst_overlap =
          std::max({worst_overlap, value_of(certificate, "overlap"), value_of(certificate, "overlap_met")});
      worst_residual = std::max(worst_residual, value_of(certificate, "residual"));
    });
  });
  const auto steps = static_cast<Real>(steps_) * repetitions_;
  const Real per_agent = 1e6 * comm.size() / static_cast<Real>(n_agents);
  const std::vector<TimerRow> timers = timer_table(comm);
  const auto part = [&](std::string_view name) { return seconds_of(timers, name) / steps * per_agent; };

  BenchRow row("step");
  row.key("model", model_).size("agents", n_agents).key("density", density, "1/m2").key("columns", columns);
  row.time(step);
  row.phases = phases_within(timers, "step");
  row.result("us_per_agent_step", "us", step.median * per_agent);
  row.result("real_time_factor", "-", steps * dt_ / wall);
  row.result("ways_us", "us", part("directions"));
  row.result("ahead_us", "us", part("look ahead"));
  row.result("apart_us", "us", part("projection") + part("sweeps on positions"));
  row.result("lists_us", "us", part("neighbours"));
  row.result("people_us", "us", part("people"));
  row.result("contacts_per_agent", "-", contacts / (steps * static_cast<Real>(n_agents)));
  row.result("sweeps", "-", sweeps / steps);
  row.result("worst_overlap_m", "m", worst_overlap);
  row.result("worst_residual_m", "m", worst_residual);
  row.result("bytes_per_agent", "-", bytes / static_cast<Real>(n_agents));
  run.add(std::move(row));
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(crowd, scree::CrowdBench,
                 "people: microseconds per agent and step in a hall, with and without columns")
