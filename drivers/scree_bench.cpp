// scree_bench: named measurements on the ranks it is started with; also what `scree bench` becomes, which
// starts ranks itself (docs/benchmarks.md).
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/study.hpp"
#include "core/command_line.hpp"
#include "core/external_plugins.hpp"
#include "core/log.hpp"
#include "driver_main.hpp"
#include "run/python_lines.hpp"
#include "run/python_package.hpp"

namespace {

using namespace scree;

/// Measures and lets the tables be shown, which are started before MPI is.
ExitCode measure(Ranks& ranks, bool streams, const Json& request, log::Level level,
                 const std::function<void(const Comm&, const Send&)>& work) {
  PythonLines tables(ranks.is_speaker(ExitCode::done), streams, "bench", {"show", request.dump()});
  const Comm& comm = ranks.comm();
  log::start(comm.is_root(), level);
  load_external_plugins(comm);
  work(comm, [&](const std::string& what, const Json& value) { tables.send(comm, what, value); });
  return tables.finish(comm);
}

ExitCode measure_study(Ranks& ranks, const StudyOptions& study, log::Level level = log::Level::normal) {
  return measure(ranks, study.stream, show_request(study, true), level,
                 [&](const Comm& comm, const Send& send) { measure_study(comm, study, send); });
}

ExitCode bench_program(Ranks& ranks, int argc, char** argv) {
  CommandLine app{"scree_bench: speed of scree on this machine"};
  app.require_verbs(0, 1);
  StudyOptions study;
  study.command_line = command_line(argc, argv);
  add_study_options(app, study, false);
  app.example("mpirun -n 2 scree_bench --case ghosts --quick");

  // Quick measurements have other defaults, which options still override.
  const bool quick =
      std::any_of(argv + 1, argv + argc, [](const char* word) { return word == std::string("--quick"); });
  bool is_quick = quick;
  BenchFiles files;
  std::vector<std::unique_ptr<BenchCase>> cases;
  std::vector<CommandLine> verbs;
  for (const BenchEntry& entry : bench_cases()) {
    BenchCase& bench = *cases.emplace_back(entry.make());
    if (quick) bench.make_quick();
    CommandLine& verb = verbs.emplace_back(app.verb(std::string(entry.name), std::string(entry.summary)));
    bench.add_options(verb);
    verb.flag("--quick", is_quick, "some seconds only: small sizes, few repetitions");
    verb.option("--csv", files.csv, "also write the rows to this file");
    verb.option("--json", files.json, "also write rows and machine to this file");
    verb.example(fmt::format("mpirun -n 2 scree_bench {} --quick", entry.name));
  }
  if (const auto done = parse(app, argc, argv, ranks)) return *done;
  if (study.list) return answer(ranks, {.output = list_bench_cases()});
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (!verbs[k].given()) continue;
    return measure(ranks, false, show_request(study, false, files), log::Level::normal,
                   [&](const Comm& comm, const Send& send) {
                     measure_case(comm, std::string(bench_cases()[k].name), *cases[k], !files.json.empty(),
                                  send);
                   });
  }
  return measure_study(ranks, study);
}

/// `scree bench` on the ranks that are there, or on numbers of ranks that it starts: MPI must not run in a
/// process that starts programs on ranks.
ExitCode study_verb(Ranks& ranks, int argc, char** argv) {
  CommandLine app{"scree: grains and crowds on any number of MPI ranks"};
  bool quiet = false, verbose = false;
  app.flag("-q,--quiet", quiet, "only warnings and errors");
  app.flag("-v,--verbose", verbose, "more messages");
  StudyOptions study;
  study.command_line = command_line(argc, argv);
  CommandLine verb =
      app.verb("bench", "measure speed, on several numbers of ranks: kernels, exchange, output, whole steps");
  add_study_options(verb, study, true);
  verb.example("scree bench --case ghosts,nonsmooth --ranks 1,2 --quick");
  if (const auto done = parse(app, argc, argv, ranks)) return *done;
  const std::string launcher = launcher::variable();
  if (!launcher.empty() && (!study.ranks.empty() || !study.launcher.empty()))
    throw InputError("scree bench starts ranks itself, but it was started as one of some (" + launcher +
                     " is set): leave out --ranks and --launcher, or mpirun");
  if (study.list) return answer(ranks, {.output = list_bench_cases()});
  if (launcher.empty()) become_python_package("bench", {"study", launch_request(study).dump()});
  return measure_study(ranks, study,
                       quiet     ? log::Level::quiet
                       : verbose ? log::Level::verbose
                                 : log::Level::normal);
}

}  // namespace

int main(int argc, char** argv) {
  return scree::driver_main(argc, argv, first_word(argc, argv) == "bench" ? study_verb : bench_program);
}
