// scree_bench: named measurements, one table row each (docs/performance.md).
#include <CLI/CLI.hpp>
#include <fstream>
#include <string>

#include "app/bench.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "driver_main.hpp"

namespace {

using namespace scree;

ExitCode bench_program(const Comm& comm, int argc, char** argv) {
  CLI::App app{"scree_bench: speed of scree on this machine"};
  app.require_subcommand(1);
  PbdBenchOptions options;
  std::string csv;
  auto* pbd = app.add_subcommand("pbd", "position-based dynamics: sweeps, rebuilds, steps, memory");
  pbd->add_option("--dimensions", options.dimensions, "2, 3 or both")
      ->delimiter(',')
      ->check(CLI::Range(2, 3));
  pbd->add_option("--bodies", options.bodies, "numbers of bodies, over all ranks")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  pbd->add_option("--repetitions", options.repetitions, "of each timing; the median counts")
      ->check(CLI::PositiveNumber);
  pbd->add_option("--seconds", options.seconds, "least time of a repetition")->check(CLI::PositiveNumber);
  pbd->add_option("--block-cells", options.block_cells, "cells along the edge of a block; 0: auto");
  pbd->add_flag("--all-sets", options.all_sets, "every instruction set of this processor");
  pbd->add_option("--csv", csv, "also write the rows to this file");
  if (const auto done = parse(app, argc, argv, comm)) return *done;
  log::start(comm.is_root(), log::Level::normal);

  const Real triad = triad_rate(comm);
  const std::vector<PbdBenchRow> rows = bench_pbd(comm, options, triad);
  print(comm, format_bench(rows, triad));
  if (!csv.empty()) {
    agree(comm, [&] {
      if (!comm.is_root()) return;
      std::ofstream file(csv);
      file << bench_csv(rows, triad);
      if (!file.flush()) throw RunError("cannot write " + csv);
    });
  }
  return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
  return scree::driver_main(argc, argv, bench_program);
}
