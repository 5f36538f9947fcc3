#include "app/bench_crowd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/measure_time.hpp"
#include "app/run_deck.hpp"
#include "app/simulation.hpp"

namespace scree {

namespace {

/// A hall of the length of two crowds whose right wall is one exit; columns on a square grid over the crowd's
/// half.
RunDeck<2> hall(const CrowdBenchOptions& options, std::int64_t agents, Real density, std::int64_t columns) {
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
  const std::string text = fmt::format(
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
      options.dt, options.model, options.tolerance, 2 * edge, 2 * edge, edge, edge,
      circles.empty() ? "" : fmt::format("[walkable.obstacles.columns]\ncircles = [{}]", circles), 2 * edge,
      2 * edge, edge, edge, edge, edge, edge, agents);
  Deck deck = Deck::from_text(text, "benchmark deck");
  RunDeck<2> content;
  content.describe(deck.root());
  deck.require_all_read();
  return content;
}

Real value_of(const std::vector<CertificateEntry>& certificate, std::string_view name) {
  const auto found = std::ranges::find(certificate, name, &CertificateEntry::name);
  return found == certificate.end() ? 0 : found->value;
}

CrowdBenchRow measure(const Comm& comm, const CrowdBenchOptions& options, std::int64_t agents, Real density,
                      std::int64_t columns) {
  Simulation<2> simulation(comm, hall(options, agents, density, columns));
  for (int i = 0; i < options.warm_up; ++i) simulation.step();

  CrowdBenchRow row;
  row.model = options.model;
  row.agents = simulation.n_bodies();
  row.columns = columns;
  row.ranks = comm.size();
  row.density = density;
  row.bytes_per_agent = static_cast<Real>(comm.sum(static_cast<std::int64_t>(simulation.bytes()))) /
                        static_cast<Real>(row.agents);
  reset_timers();
  std::vector<Real> seconds;
  Real wall = 0;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    comm.barrier();
    const Real start = processor_time();
    const auto wall_start = std::chrono::steady_clock::now();
    for (int i = 0; i < options.steps; ++i) {
      simulation.step();
      const auto certificate = simulation.stepper().certificate();
      row.contacts_per_agent += value_of(certificate, "contacts");
      row.sweeps += value_of(certificate, "sweeps");
      row.worst_overlap = std::max(row.worst_overlap, std::max(value_of(certificate, "overlap"),
                                                               value_of(certificate, "overlap_met")));
      row.worst_residual = std::max(row.worst_residual, value_of(certificate, "residual"));
    }
    seconds.push_back(comm.max(processor_time() - start));
    wall += comm.max(std::chrono::duration<Real>(std::chrono::steady_clock::now() - wall_start).count());
  }
  const auto steps = static_cast<Real>(options.steps) * options.repetitions;
  const Real per_agent = static_cast<Real>(row.ranks) / static_cast<Real>(row.agents) * 1e6;
  std::ranges::sort(seconds);
  const Real median = seconds[seconds.size() / 2];
  row.microseconds = median / options.steps * per_agent;
  row.spread = (seconds.back() - seconds.front()) / median;
  row.real_time_factor = steps * options.dt / wall;
  const std::vector<TimerRow> timers = timer_table(comm);
  const auto part = [&](std::string_view name) { return seconds_of(timers, name) / steps * per_agent; };
  row.directions = part("directions");
  row.look_ahead = part("look ahead");
  row.projection = part("projection") + part("sweeps on positions");
  row.neighbours = part("neighbours");
  row.people = part("people");
  row.contacts_per_agent /= steps * static_cast<Real>(row.agents);
  row.sweeps /= steps;
  return row;
}

}  // namespace

std::vector<CrowdBenchRow> bench_crowd(const Comm& comm, const CrowdBenchOptions& options) {
  std::vector<CrowdBenchRow> rows;
  for (const std::int64_t agents : options.agents)
    for (const Real density : options.densities)
      for (const std::int64_t columns : options.columns)
        rows.push_back(measure(comm, options, agents, density, columns));
  return rows;
}

std::string format_bench(const std::vector<CrowdBenchRow>& rows) {
  std::string text = fmt::format(
      "{:>10} {:>7} {:>4} {:>5} {:>5} | {:>7} {:>6} {:>9} | {:>6} {:>6} {:>6} {:>6} {:>6} | {:>7} {:>6} "
      "{:>9} {:>9} | "
      "{:>6}\n",
      "model", "agents", "1/m2", "col", "ranks", "us/step", "spread", "real time", "ways", "ahead", "apart",
      "lists", "people", "contact", "sweeps", "overlap", "residual", "B/ag");
  for (const CrowdBenchRow& r : rows)
    text += fmt::format(
        "{:>10} {:>7} {:>4.1f} {:>5} {:>5} | {:>7.2f} {:>5.0f}% {:>9.2f} | {:>6.2f} {:>6.2f} {:>6.2f} "
        "{:>6.2f} {:>6.2f} | "
        "{:>7.2f} {:>6.1f} {:>9.1e} {:>9.1e} | {:>6.0f}\n",
        r.model, r.agents, r.density, r.columns, r.ranks, r.microseconds, 100 * r.spread, r.real_time_factor,
        r.directions, r.look_ahead, r.projection, r.neighbours, r.people, r.contacts_per_agent, r.sweeps,
        r.worst_overlap, r.worst_residual, r.bytes_per_agent);
  text +=
      "us/step: processor microseconds per agent and step, all ranks together, and its parts: ways "
      "(directions), ahead\n"
      "(headway and contacts), apart (projection), lists (neighbours), people (exits, journeys); real time: "
      "simulated\n"
      "over wall seconds; overlap, residual: worst of the timed steps [m]\n";
  return text;
}

std::string bench_csv(const std::vector<CrowdBenchRow>& rows) {
  std::string text =
      "model,agents,density,columns,ranks,us_per_agent_step,spread,real_time_factor,ways_us,ahead_us,apart_"
      "us,lists_us,"
      "people_us,contacts_per_agent,sweeps,worst_overlap_m,worst_residual_m,bytes_per_agent\n";
  for (const CrowdBenchRow& r : rows)
    text += fmt::format(
        "{},{},{},{},{},{:.5g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},{:.4g},"
        "{:.4g},{:.4g}\n",
        r.model, r.agents, r.density, r.columns, r.ranks, r.microseconds, r.spread, r.real_time_factor,
        r.directions, r.look_ahead, r.projection, r.neighbours, r.people, r.contacts_per_agent, r.sweeps,
        r.worst_overlap, r.worst_residual, r.bytes_per_agent);
  return text;
}

}  // namespace scree
