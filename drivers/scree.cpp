// The scree program: command line only. run/commands.hpp has the commands.
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/as_input.hpp"
#include "core/command_line.hpp"
#include "core/external_plugins.hpp"
#include "core/log.hpp"
#include "core/stop_signal.hpp"
#include "driver_main.hpp"
#include "run/commands.hpp"
#include "run/mesh_report.hpp"
#include "run/python_commands.hpp"
#include "run/run_deck.hpp"
#include "run/sweep.hpp"
#include "run/version.hpp"

namespace {

using namespace scree;

/// Becomes the program scree_bench, which lies beside this one and knows `bench` as a verb. MPI must not have
/// been started: `scree bench` starts programs on several numbers of ranks.
ExitCode become_bench(char** argv) {
  std::error_code error;
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe", error).replace_filename("scree_bench").string();
  execv(program.c_str(), argv);
  tell("there is no program scree_bench beside this one: " + program +
       " (cmake --build --preset release --target scree_bench)");
  return ExitCode::bad_input;
}

/// A verb of Python has its options there.
ExitCode run_python(Ranks& ranks, int argc, char** argv) {
  if (ranks.is_speaker(ExitCode::done)) become_python(words_of(argc, argv));
  return ExitCode::done;
}

ExitCode run_program(Ranks& ranks, int argc, char** argv) {
  CommandLine app{"scree: grains and crowds on any number of MPI ranks"};
  app.version(version_text);
  app.require_verbs(1, 1);
  bool quiet = false, verbose = false;
  app.flag("-q,--quiet", quiet, "only warnings and errors");
  app.flag("-v,--verbose", verbose, "more messages");
  app.example("scree run inputs/granular/pour.toml");

  std::string path, other, what;
  std::vector<std::string> overrides;
  bool json = false, schema = false, reference = false, last = false, first = false, mends = false;
  RunOptions options;
  SweepOptions study;
  options.command_line = command_line(argc, argv);

  const auto with_overrides = [&](CommandLine verb) {
    verb.option("--set", overrides, "override a key: --set time.step=0.01").take_all();
    return verb;
  };
  const auto with_wall_time = [&](CommandLine verb) {
    verb.option("--max-wall-time", options.max_wall_time,
                "stop with a checkpoint after this many seconds (exit 4)");
    return verb;
  };
  CommandLine run = with_wall_time(with_overrides(app.verb("run", "run a deck")));
  run.option("deck", path, "TOML deck").required();
  const Option force = run.flag("--force", options.force, "replace existing results");
  run.flag("--resume", options.resume, "continue from the latest checkpoint if there is one, else start")
      .excludes(force);
  const auto with_from = [&](CommandLine verb) {
    verb.option("--from", options.from,
                "start with the bodies of another run's checkpoint: positions, velocities, spins and "
                "contact memory; the deck says the rest");
  };
  with_from(run);
  run.option("--ensemble", options.ensemble,
             "number of runs with consecutive seeds, instead of simulation.ensemble")
      .check(positive_count());
  run.example("mpirun -n 2 scree run inputs/granular/pour.toml --set simulation.end_time=0.2");
  CommandLine sweep = with_wall_time(with_overrides(
      app.verb("sweep", "study parameters: a run for every combination of some keys' values, and a table")));
  sweep.option("deck", path, "TOML deck").required();
  sweep
      .option("--vary", study.vary,
              "a key and its values: --vary pairs.glass-glass.friction=0:0.9:0.1 or time.step=0.001,0.002")
      .required()
      .one_argument();
  sweep.option("--ensemble", options.ensemble, "runs of each point, with consecutive seeds")
      .check(positive_count());
  sweep.option("--index", study.index, "only the run with this number, from 0 on: for array jobs")
      .check(non_negative_count());
  sweep.option("--mean-after", study.mean_after,
               "the table has means over rows from this time on [s], not the last row");
  const Option replace = sweep.flag("--force", options.force, "replace existing results");
  sweep.flag("--resume", options.resume, "keep runs that have ended, go on with others; then the table")
      .excludes(replace);
  sweep.example(
      "scree sweep inputs/granular/heap2d.toml --vary pairs.glass-glass.friction=0.1:0.7:0.2 --ensemble 3");
  CommandLine restart = with_wall_time(with_overrides(app.verb("restart", "continue from a checkpoint")));
  restart.option("checkpoint", path, "checkpoint (.scree)").required();
  restart.example("scree restart results/pour/checkpoint/pour_000000100.scree --set simulation.end_time=0.3");
  CommandLine check =
      with_overrides(app.verb("check", "read a deck, build everything, try the first step; writes nothing"));
  check.option("deck", path, "TOML deck").required();
  check.flag("--json", json, "machine-readable");
  with_from(check);
  check.example("scree check inputs/granular/pour.toml --set particles.grains.source.count=10000");
  CommandLine info =
      with_overrides(app.verb("info", "describe a deck (resolved), checkpoint, H5MD file or .pvd"));
  info.option("file", path, "file; not needed with --schema or --reference");
  info.flag("--schema", schema, "JSON Schema of decks");
  info.flag("--reference", reference, "Markdown reference of all deck keys (docs/decks.md)");
  info.example("scree info results/pour/pour.h5");
  CommandLine compare =
      app.verb("compare", "compare two result folders, checkpoints or H5MD files (exit 0: equal)");
  compare.option("a", path, "first").required();
  compare.option("b", other, "second").required();
  compare.flag("--last", last, "only the last frame of series");
  compare.flag("--first", first, "only where they differ first: file, field, body, step, values");
  compare.flag("--json", json, "machine-readable");
  compare.example("scree compare --first results/a results/b");
  MeshReportOptions mesh;
  CommandLine shape = app.verb("shape", "say what a mesh is: closed, shells, volume, what is mended");
  shape.option("file", path, "STL or OBJ file").required();
  shape.option("--scale", mesh.scale, "length of one unit of the file [m] (default 1)")
      .check(positive_number());
  const Option mended = shape.option("--output", mesh.output, "STL file to write with --repair");
  const Option repair =
      shape.flag("--repair", mends, "write the mended mesh, with triangles that face outwards").needs(mended);
  mended.needs(repair);
  shape.flag("--scene", mesh.is_scene, "shells within others are walls of their own and keep their side");
  shape.flag("--json", mesh.json, "machine-readable");
  shape.example("scree shape inputs/granular/meshes/hopper.stl --repair --output mended.stl");
  CommandLine list = app.verb("list", "list schemes, obstacles, measures...");
  list.option("what", what, "one list only");
  list.example("scree list measures");
  for (const PythonCommand& command : python_commands())
    app.verb(command.name, command.about).example(command.example);
  app.verb("bench", "measure speed, on several numbers of ranks: kernels, exchange, output, whole steps");

  if (const auto done = parse(app, argc, argv, ranks)) return *done;
  if (!run.given() && !restart.given() && !sweep.given()) stop_signal::release();
  if (list.given() || schema || reference) load_external_plugins();
  if (list.given()) return answer(ranks, {.output = list_kinds(what)});
  if (schema || reference)
    return answer(ranks,
                  {.output = schema ? deck_schema(deck_description()) : deck_reference(deck_description())});

  if (shape.given()) {
    if (!ranks.is_speaker(ExitCode::done)) return ExitCode::done;
    return answer(ranks, {.output = as_input(path, [&] { return report_mesh(path, mesh); })});
  }

  const Comm& comm = ranks.comm();
  log::start(comm.is_root(), quiet ? log::Level::quiet : verbose ? log::Level::verbose : log::Level::normal);
  options.progress = !quiet;
  load_external_plugins(comm);

  const auto read_deck = [&] { return as_input(path, [&] { return Deck::read(comm, path, overrides); }); };
  if (run.given()) return run_deck(comm, read_deck(), options);
  if (sweep.given()) return run_sweep(comm, read_deck(), options, study);
  if (restart.given()) return restart_run(comm, path, overrides, options);
  if (compare.given()) {
    const Comparison result = as_input(
        path + ", " + other, [&] { return compare_results(comm, path, other, {.last_frame_only = last}); });
    print(comm, first ? (json ? result.first_json() : result.first_text())
                      : (json ? result.json() : result.text()));
    return result.equal() ? ExitCode::done : ExitCode::runtime_failure;
  }
  if (check.given()) {
    print(comm, as_input(path, [&] { return check_deck(comm, read_deck(), json, options.from); }));
  } else {
    if (path.empty()) throw InputError("scree info: name a file, or give --schema or --reference");
    print(comm, as_input(path, [&] { return describe(comm, path, overrides); }));
  }
  return ExitCode::done;
}

}  // namespace

int main(int argc, char** argv) {
  if (first_word(argc, argv) == "bench") return static_cast<int>(become_bench(argv));
  if (is_python_command(first_word(argc, argv))) return scree::driver_main(argc, argv, run_python);
  stop_signal::watch();  // MPI and PETSc take their time to start
  return scree::driver_main(argc, argv, run_program);
}
