#include "bench/nonsmooth_steps.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/measure_time.hpp"
#include "core/memory.hpp"
#include "core/timing.hpp"

namespace scree {

BenchRow measure_nonsmooth_steps(const Comm& comm, Simulation<3>& simulation, std::int64_t memory_before,
                                 int repetitions, int steps, BenchRow row) {
  reset_timers();
  const std::int64_t rebuilds = simulation.neighborhood().n_rebuilds();
  Real sweeps = 0, contacts = 0, worst_residual = 0, success = 0;
  const Timing step = measure_windows(comm, repetitions, steps, [&] {
    simulation.step();
    for (const CertificateEntry& entry : simulation.stepper().certificate()) {
      if (entry.name == "sweeps") sweeps += entry.value;
      if (entry.name == "contacts") contacts += entry.value;
      if (entry.name == "residual") worst_residual = std::max(worst_residual, entry.value);
      if (entry.is_success) success += entry.value;
    }
  });
  const Real n_steps = static_cast<Real>(steps) * repetitions;
  const auto bodies = static_cast<Real>(simulation.n_bodies());
  const std::vector<TimerRow> timers = timer_table(comm);
  const auto us = [&](std::string_view name) {
    return 1e6 * seconds_of(timers, name) / n_steps * comm.size() / bodies;
  };
  row.size("bodies", simulation.n_bodies());
  row.time(step);
  row.phases = phases_within(timers, "step");
  row.result("us_per_body_step", "us", 1e6 * step.median * comm.size() / bodies);
  row.result("sweeps_per_step", "-", sweeps / n_steps);
  row.result("contacts_per_body", "-", contacts / n_steps / bodies);
  row.result(
      "ns_per_contact_sweep", "ns",
      sweeps > 0 ? 1e9 * seconds_of(timers, "nsgs sweep") * comm.size() / (contacts / n_steps) / sweeps : 0);
  row.result("friction_us_per_body", "us", us("friction"));
  row.result("neighbours_us_per_body", "us", us("neighbours"));
  const auto n_lists = static_cast<Real>(simulation.neighborhood().n_rebuilds() - rebuilds);
  row.result("steps_per_rebuild", "-", n_steps / std::max(Real{1}, n_lists));
  row.result("worst_residual", "-", worst_residual);
  row.result("share_of_steps_solved", "-", success / n_steps);
  row.result("bytes_per_body", "-", static_cast<Real>(comm.sum(live_memory() - memory_before)) / bodies);
  return row;
}

}  // namespace scree
