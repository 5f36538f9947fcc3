// scree_bench: named measurements, one table row each (docs/performance.md).
#include <CLI/CLI.hpp>
#include <fstream>
#include <string>

#include "app/bench.hpp"
#include "app/bench_crowd.hpp"
#include "app/bench_dem.hpp"
#include "app/bench_friction.hpp"
#include "app/measure_time.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "driver_main.hpp"

namespace {

using namespace scree;

void write_csv(const Comm& comm, const std::string& path, const std::string& text) {
  if (path.empty()) return;
  agree(comm, [&] {
    if (!comm.is_root()) return;
    std::ofstream file(path);
    file << text;
    if (!file.flush()) throw RunError("cannot write " + path);
  });
}

ExitCode bench_program(const Comm& comm, int argc, char** argv) {
  CLI::App app{"scree_bench: speed of scree on this machine"};
  app.require_subcommand(1);
  std::string csv;
  const CLI::Validator positive = number("positive", [](Real value) { return value > 0; });
  const CLI::Validator non_negative = number("non-negative", [](Real value) { return value >= 0; });

  PbdBenchOptions options;
  auto* pbd = app.add_subcommand("pbd", "position-based dynamics: sweeps, rebuilds, steps, memory");
  pbd->add_option("--dimensions", options.dimensions, "2, 3 or both")
      ->delimiter(',')
      ->check(CLI::Range(2, 3));
  pbd->add_option("--bodies", options.bodies, "numbers of bodies, over all ranks")
      ->delimiter(',')
      ->check(positive);
  pbd->add_option("--repetitions", options.repetitions, "of each timing; the median counts")->check(positive);
  pbd->add_option("--seconds", options.seconds, "least time of a repetition")->check(positive);
  pbd->add_option("--block-cells", options.block_cells, "cells along the edge of a block; 0: auto");
  pbd->add_flag("--all-sets", options.all_sets, "every instruction set of this processor");
  pbd->add_option("--csv", csv, "also write the rows to this file");

  DemBenchOptions soft;
  auto* dem = app.add_subcommand("dem", "soft contact: body-steps per second of a settled bed of spheres");
  dem->add_option("--bodies", soft.bodies, "numbers of bodies, over all ranks; multiples of 4096")
      ->delimiter(',')
      ->check(positive);
  dem->add_option("--law", soft.law, "hertz or linear")->check(CLI::IsMember({"hertz", "linear"}));
  dem->add_option("--settling-time", soft.settling_time, "of the bed before it is measured [s]")
      ->check(positive);
  dem->add_option("--repetitions", soft.repetitions, "of each timing; the median counts")->check(positive);
  dem->add_option("--seconds", soft.seconds, "least time of a repetition")->check(positive);
  dem->add_option("--csv", csv, "also write the rows to this file");

  CrowdBenchOptions people;
  auto* crowd = app.add_subcommand(
      "crowd", "people: microseconds per agent and step in a hall, with and without columns");
  crowd->add_option("--agents", people.agents, "numbers of people, over all ranks")
      ->delimiter(',')
      ->check(positive);
  crowd->add_option("--densities", people.densities, "at the start [1/m2]")->delimiter(',')->check(positive);
  crowd->add_option("--columns", people.columns, "among the crowd, on a square grid")
      ->delimiter(',')
      ->check(non_negative);
  crowd->add_option("--model", people.model, "projection or pbd")
      ->check(CLI::IsMember({"projection", "pbd"}));
  crowd->add_option("--tolerance", people.tolerance, "of the projection [m]")->check(positive);
  crowd->add_option("--step", people.dt, "length of a step [s]")->check(positive);
  crowd->add_option("--warm-up", people.warm_up, "steps before the first timing")->check(non_negative);
  crowd->add_option("--repetitions", people.repetitions, "of each timing; the median counts")
      ->check(positive);
  crowd->add_option("--steps", people.steps, "of one repetition")->check(positive);
  crowd->add_option("--csv", csv, "also write the rows to this file");

  FrictionBenchOptions friction;
  bool quick = false;
  auto* solvers = app.add_subcommand("friction", "solvers of frictional contact: time to each residual");
  auto* quick_flag = solvers->add_flag("--quick", quick, "1000 bodies, at most 3 s per solve");
  solvers->add_option("--case", friction.cases, "piles: settled, settled-gaps; generated problems NAME:SIZE")
      ->delimiter(',');
  solvers->add_option("--bodies", friction.bodies, "sizes of settled piles, over all ranks")
      ->delimiter(',')
      ->check(positive)
      ->excludes(quick_flag);
  solvers->add_option("--solvers", friction.solvers, "as scree list solvers names them; else all")
      ->delimiter(',');
  solvers
      ->add_option("--compliance", friction.compliances,
                   "\"rigid\", scaled (m_c g; 1e-2: soft spheres) or a stiffness (\"6.5 kN/m\")")
      ->delimiter(',');
  solvers->add_option("--tangential", friction.tangential, "compliance along T over that along N")
      ->check(non_negative);
  solvers->add_option("--seeds", friction.seeds, "of settled and generated problems")
      ->delimiter(',')
      ->check(non_negative);
  solvers
      ->add_option("--tolerances", friction.tolerances, "natural residuals to time; the least ends a solve")
      ->delimiter(',')
      ->check(positive);
  solvers->add_option("--max-time", friction.max_seconds, "wall seconds after which a solve ends")
      ->check(positive)
      ->excludes(quick_flag);
  solvers->add_option("--set", friction.settings, "SOLVER.KEY=VALUE, a key of [solver]; may be repeated");
  solvers->add_option("--petsc", friction.petsc_options, "options of linear solvers, -scree_...");
  solvers->add_option("--csv", csv, "also write the rows to this file");
  if (const auto done = parse(app, argc, argv, comm)) return *done;
  log::start(comm.is_root(), log::Level::normal);

  if (pbd->parsed()) {
    const Real triad = triad_rate(comm);
    const std::vector<PbdBenchRow> rows = bench_pbd(comm, options, triad);
    print(comm, format_bench(rows, triad));
    write_csv(comm, csv, bench_csv(rows, triad));
  }
  if (dem->parsed()) {
    const std::vector<DemBenchRow> rows = bench_dem(comm, soft);
    print(comm, format_bench(rows));
    write_csv(comm, csv, bench_csv(rows));
  }
  if (crowd->parsed()) {
    const std::vector<CrowdBenchRow> rows = bench_crowd(comm, people);
    print(comm, format_bench(rows));
    write_csv(comm, csv, bench_csv(rows));
  }
  if (solvers->parsed()) {
    if (quick) {
      friction.bodies = {1000};
      friction.max_seconds = 3;
    }
    bench_friction(
        comm, friction, [&](const std::string& text) { print(comm, text); },
        [&](const std::string& table) { write_csv(comm, csv, table); });
    require_petsc_options_used(comm);
  }
  return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
  return scree::driver_main(argc, argv, bench_program);
}
