// scree_bench: named measurements on the ranks it is started with (docs/benchmarks.md).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/study.hpp"
#include "core/log.hpp"
#include "driver_main.hpp"

namespace {

using namespace scree;

ExitCode bench_program(const Comm& comm, int argc, char** argv) {
  CLI::App app{"scree_bench: speed of scree on this machine"};
  app.require_subcommand(0, 1);
  StudyOptions study;
  study.command_line = command_line(argc, argv);
  add_study_options(app, study, false);

  // Quick measurements have other defaults, which options still override.
  const bool quick =
      std::any_of(argv + 1, argv + argc, [](const char* word) { return word == std::string("--quick"); });
  bool is_quick = quick;
  BenchFiles files;
  std::vector<std::unique_ptr<BenchCase>> cases;
  for (const BenchEntry& entry : bench_cases()) {
    BenchCase& bench = *cases.emplace_back(entry.make());
    if (quick) bench.make_quick();
    CLI::App* verb = app.add_subcommand(std::string(entry.name), std::string(entry.summary));
    bench.add_options(*verb);
    verb->add_flag("--quick", is_quick, "some seconds only: small sizes, few repetitions");
    verb->add_option("--csv", files.csv, "also write the rows to this file");
    verb->add_option("--json", files.json, "also write rows and machine to this file");
  }
  if (const auto done = parse(app, argc, argv, comm)) return *done;
  log::start(comm.is_root(), log::Level::normal);

  const Show show = [&](const std::string& text) { print_meanwhile(comm, text); };
  if (study.list) {
    show(list_bench_cases());
    return ExitCode::done;
  }
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const std::string name(bench_cases()[k].name);
    if (!app.got_subcommand(name)) continue;
    measure_case(comm, name, *cases[k], files, study.command_line, show);
    return ExitCode::done;
  }
  measure_study(comm, study, show);
  return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
  return scree::driver_main(argc, argv, bench_program);
}
