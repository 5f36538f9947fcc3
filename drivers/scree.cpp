// The scree program: command line only. What the verbs do is in run/commands.hpp.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bench/study.hpp"
#include "core/as_input.hpp"
#include "core/log.hpp"
#include "core/stop_signal.hpp"
#include "driver_main.hpp"
#include "run/commands.hpp"

namespace {

using namespace scree;

constexpr const char* about = "scree: grains and crowds on any number of MPI ranks";

CLI::App* add_bench(CLI::App& app, StudyOptions& study) {
  auto* bench = app.add_subcommand(
      "bench", "measure speed, on several numbers of ranks: kernels, exchange, output, whole steps");
  add_study_options(*bench, study, true);
  return bench;
}

/// Whether this is `scree bench`, which starts programs of its own on several numbers of ranks: a process in
/// which MPI runs could not. Started by mpirun, it measures on the ranks that are there.
bool starts_programs(int argc, char** argv) {
  const char* const* verb =
      std::find_if(argv + 1, argv + argc, [](const char* word) { return word[0] != '-'; });
  return verb != argv + argc && std::string_view(*verb) == "bench" && launcher_variable().empty();
}

ExitCode start_programs(int argc, char** argv) {
  try {
    CLI::App app{about};
    bool ignored = false;
    app.add_flag("-q,--quiet,-v,--verbose", ignored);
    StudyOptions study;
    study.command_line = command_line(argc, argv);
    add_bench(app, study);
    if (const auto done = parse(app, argc, argv, true)) return *done;
    if (study.list)
      show(list_bench_cases());
    else
      launch_study(study, show);
    return ExitCode::done;
  } catch (const CollectiveError& error) {
    std::fprintf(stderr, "scree: %s\n", error.what());
    return error.code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scree: %s\n", error.what());
    return ExitCode::runtime_failure;
  }
}

ExitCode run_program(const Comm& comm, int argc, char** argv) {
  CLI::App app{about};
  app.set_version_flag("--version", [] { return version_text(); });
  app.require_subcommand(1);
  bool quiet = false, verbose = false;
  app.add_flag("-q,--quiet", quiet, "only warnings and errors");
  app.add_flag("-v,--verbose", verbose, "more messages");

  std::string path, other, what;
  std::vector<std::string> overrides;
  bool json = false, schema = false, reference = false, last = false, first = false;
  RunOptions options;
  options.command_line = command_line(argc, argv);

  const auto with_overrides = [&](CLI::App* verb) {
    verb->add_option("--set", overrides, "override a key: --set time.step=0.01")->take_all();
    return verb;
  };
  const auto with_wall_time = [&](CLI::App* verb) {
    verb->add_option("--max-wall-time", options.max_wall_time,
                     "stop with a checkpoint after so many seconds (exit 4)");
    return verb;
  };
  auto* run = with_wall_time(with_overrides(app.add_subcommand("run", "run a deck")));
  run->add_option("deck", path, "TOML deck")->required();
  auto* force = run->add_flag("--force", options.force, "replace existing results");
  run->add_flag("--resume", options.resume, "go on from the latest checkpoint if there is one, else start")
      ->excludes(force);
  const auto with_from = [&](CLI::App* verb) {
    verb->add_option(
        "--from", options.from,
        "start with the bodies of another run's checkpoint: places, velocities, spins and what contacts "
        "remember; all else is as the deck says");
  };
  with_from(run);
  run->add_option("--ensemble", options.ensemble,
                  "so many runs with seeds one after the other, instead of simulation.ensemble")
      ->check(CLI::PositiveNumber);
  auto* restart = with_wall_time(with_overrides(app.add_subcommand("restart", "go on from a checkpoint")));
  restart->add_option("checkpoint", path, "checkpoint (.scree)")->required();
  auto* check = with_overrides(
      app.add_subcommand("check", "read a deck, build everything, try the first step; writes nothing"));
  check->add_option("deck", path, "TOML deck")->required();
  check->add_flag("--json", json, "machine-readable");
  with_from(check);
  auto* info =
      with_overrides(app.add_subcommand("info", "describe a deck (resolved), checkpoint, H5MD file or .pvd"));
  info->add_option("file", path, "file; not needed with --schema or --reference");
  info->add_flag("--schema", schema, "JSON Schema of decks");
  info->add_flag("--reference", reference, "Markdown reference of all deck keys (docs/decks.md)");
  auto* compare =
      app.add_subcommand("compare", "compare two result folders, checkpoints or H5MD files (exit 0: equal)");
  compare->add_option("a", path, "first")->required();
  compare->add_option("b", other, "second")->required();
  compare->add_flag("--last", last, "only the last frame of series");
  compare->add_flag("--first", first, "only where they differ first: file, field, body, step, values");
  compare->add_flag("--json", json, "machine-readable");
  auto* list = app.add_subcommand("list", "list schemes, obstacles, measures...");
  list->add_option("what", what, "one list only");
  StudyOptions study;
  study.command_line = options.command_line;
  auto* bench = add_bench(app, study);

  if (const auto done = parse(app, argc, argv, comm)) return *done;
  log::start(comm.is_root(), quiet ? log::Level::quiet : verbose ? log::Level::verbose : log::Level::normal);
  options.progress = !quiet;

  if (!*run && !*restart) stop_signal::release();
  const auto read_deck = [&] { return as_input(path, [&] { return Deck::read(comm, path, overrides); }); };
  if (*run) return run_deck(comm, read_deck(), options);
  if (*restart) return restart_run(comm, path, overrides, options);
  if (*compare) {
    const CompareReport report =
        as_input(path + ", " + other, [&] { return scree::compare(comm, path, other, last, json, first); });
    print(comm, report.text);
    return report.equal ? ExitCode::done : ExitCode::runtime_failure;
  }
  if (*bench) {
    if (!study.ranks.empty() || !study.launcher.empty())
      throw InputError("scree bench starts ranks itself, but it was started as one of some (" +
                       launcher_variable() + " is set): leave out --ranks and --launcher, or mpirun");
    const auto print_all = [&](const std::string& text) { print_meanwhile(comm, text); };
    if (study.list)
      print_all(list_bench_cases());
    else
      measure_study(comm, study, print_all);
    return ExitCode::done;
  }
  if (*check) {
    print(comm, as_input(path, [&] { return check_deck(comm, read_deck(), json, options.from); }));
  } else if (*list) {
    print(comm, list_kinds(what));
  } else if (schema || reference) {
    print(comm, schema ? deck_schema_text() : deck_reference_text());
  } else {
    if (path.empty()) throw InputError("scree info: name a file, or give --schema or --reference");
    print(comm, as_input(path, [&] { return describe(comm, path, overrides); }));
  }
  return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
  if (starts_programs(argc, argv)) return static_cast<int>(start_programs(argc, argv));
  stop_signal::watch();  // MPI and PETSc take their time to start
  return scree::driver_main(argc, argv, run_program);
}
