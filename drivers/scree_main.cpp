// The verbs of the program scree: command lines only. run/commands.hpp has what they do.
#include "scree_main.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/as_input.hpp"
#include "core/command_line.hpp"
#include "core/external_plugins.hpp"
#include "core/log.hpp"
#include "core/stop_signal.hpp"
#include "run/commands.hpp"
#include "run/mesh_report.hpp"
#include "run/python_commands.hpp"
#include "run/run_deck.hpp"
#include "run/sweep.hpp"
#include "run/version.hpp"

namespace scree {

namespace {

/// What the verbs have in common. A verb's own options live in its `act`.
struct Arguments {
  bool quiet = false, verbose = false, json = false;
  std::string path;
  std::vector<std::string> overrides;
  RunOptions run;
};

struct Verb {
  CommandLine line;
  std::function<ExitCode(Ranks&)> act;
  bool saves_when_stopped = false;  ///< a signal ends it with a checkpoint
};

/// Options that several verbs have.
void add_deck(CommandLine& verb, Arguments& a) {
  verb.option("deck", a.path, "TOML deck").required();
}
void add_overrides(CommandLine& verb, Arguments& a) {
  verb.option("--set", a.overrides, "override a key: --set time.step=0.01").take_all();
}
void add_wall_time(CommandLine& verb, Arguments& a) {
  verb.option("--max-wall-time", a.run.max_wall_time,
              "stop with a checkpoint after this many seconds (exit 4)");
}
void add_from(CommandLine& verb, Arguments& a) {
  verb.option("--from", a.run.from,
              "start with the bodies of another run's checkpoint: positions, velocities, spins and "
              "contact memory; the deck says the rest");
}

/// Starts MPI, the log and plug-ins. Collective.
const Comm& start(Ranks& ranks, Arguments& a) {
  const Comm& comm = ranks.comm();
  log::start(comm.is_root(), a.quiet     ? log::Level::quiet
                             : a.verbose ? log::Level::verbose
                                         : log::Level::normal);
  a.run.progress = !a.quiet;
  load_external_plugins(comm);
  return comm;
}

Deck read_deck(const Comm& comm, const Arguments& a) {
  return as_input(a.path, [&] { return Deck::read(comm, a.path, a.overrides); });
}

Verb run_verb(CommandLine& app, Arguments& a) {
  CommandLine verb = app.verb("run", "run a deck");
  add_overrides(verb, a);
  add_wall_time(verb, a);
  add_deck(verb, a);
  const Option force = verb.flag("--force", a.run.force, "replace existing results");
  verb.flag("--resume", a.run.resume, "continue from the latest checkpoint if there is one, else start")
      .excludes(force);
  add_from(verb, a);
  verb.option("--ensemble", a.run.ensemble,
              "number of runs with consecutive seeds, instead of simulation.ensemble")
      .check(positive_count());
  verb.example("mpirun -n 2 scree run inputs/granular/pour.toml --set simulation.end_time=0.2");
  const auto act = [&a](Ranks& ranks) {
    const Comm& comm = start(ranks, a);
    return run_deck(comm, read_deck(comm, a), a.run);
  };
  return {verb, act, true};
}

Verb sweep_verb(CommandLine& app, Arguments& a, SweepOptions& study) {
  CommandLine verb =
      app.verb("sweep", "study parameters: a run for every combination of some keys' values, and a table");
  add_overrides(verb, a);
  add_wall_time(verb, a);
  add_deck(verb, a);
  verb.option("--vary", study.vary,
              "a key and its values: --vary pairs.glass-glass.friction=0:0.9:0.1 or time.step=0.001,0.002")
      .required()
      .one_argument();
  verb.option("--ensemble", a.run.ensemble, "runs of each point, with consecutive seeds")
      .check(positive_count());
  verb.option("--index", study.index, "only the run with this number, from 0 on: for array jobs")
      .check(non_negative_count());
  verb.option("--mean-after", study.mean_after,
              "the table has means over rows from this time on [s], not the last row");
  const Option force = verb.flag("--force", a.run.force, "replace existing results");
  verb.flag("--resume", a.run.resume, "keep runs that have ended, go on with others; then the table")
      .excludes(force);
  verb.example(
      "scree sweep inputs/granular/heap2d.toml --vary pairs.glass-glass.friction=0.1:0.7:0.2 --ensemble 3");
  const auto act = [&a, &study](Ranks& ranks) {
    const Comm& comm = start(ranks, a);
    return run_sweep(comm, read_deck(comm, a), a.run, study);
  };
  return {verb, act, true};
}

Verb restart_verb(CommandLine& app, Arguments& a) {
  CommandLine verb = app.verb("restart", "continue from a checkpoint");
  add_overrides(verb, a);
  add_wall_time(verb, a);
  verb.option("checkpoint", a.path, "checkpoint (.scree)").required();
  verb.example("scree restart results/pour/checkpoint/pour_000000100.scree --set simulation.end_time=0.3");
  const auto act = [&a](Ranks& ranks) { return restart_run(start(ranks, a), a.path, a.overrides, a.run); };
  return {verb, act, true};
}

Verb check_verb(CommandLine& app, Arguments& a) {
  CommandLine verb = app.verb("check", "read a deck, build everything, try the first step; writes nothing");
  add_overrides(verb, a);
  add_deck(verb, a);
  verb.flag("--json", a.json, "machine-readable");
  add_from(verb, a);
  verb.example("scree check inputs/granular/pour.toml --set particles.grains.source.count=10000");
  const auto act = [&a](Ranks& ranks) {
    const Comm& comm = start(ranks, a);
    print(comm, as_input(a.path, [&] { return check_deck(comm, read_deck(comm, a), a.json, a.run.from); }));
    return ExitCode::done;
  };
  return {verb, act};
}

Audience audience(bool laboratory) {
  return laboratory ? Audience::laboratory : Audience::users;
}

struct InfoOptions {
  bool schema = false, keys = false, reference = false, laboratory = false;
};

Verb info_verb(CommandLine& app, Arguments& a, InfoOptions& info) {
  CommandLine verb = app.verb("info", "describe a deck (resolved), checkpoint, H5MD file or .pvd");
  add_overrides(verb, a);
  verb.option("file", a.path, "file; not needed with --schema or --reference");
  verb.flag("--schema", info.schema, "JSON Schema of decks");
  const Option reference =
      verb.flag("--reference", info.reference, "Markdown reference of deck keys (docs/decks.md)");
  verb.flag("--laboratory", info.laboratory, "of those for the laboratory (docs/decks-laboratory.md)")
      .needs(reference);
  verb.flag("--keys", info.keys, "what the reference and the schema are made of").hidden();
  verb.example("scree info results/pour/pour.h5");
  const auto act = [&a, &info](Ranks& ranks) {
    if (info.schema || info.reference || info.keys) {
      load_external_plugins();
      if (info.keys) return answer(ranks, {.output = deck_keys(deck_description())});
      return answer(ranks, {.page = info.schema ? "schema" : info.laboratory ? "laboratory" : "reference"});
    }
    const Comm& comm = start(ranks, a);
    if (a.path.empty()) throw InputError("scree info: name a file, or give --schema or --reference");
    print(comm, as_input(a.path, [&] { return describe(comm, a.path, a.overrides); }));
    return ExitCode::done;
  };
  return {verb, act};
}

struct CompareArguments {
  std::string other;
  bool last = false, first = false;
};

Verb compare_verb(CommandLine& app, Arguments& a, CompareArguments& options) {
  CommandLine verb =
      app.verb("compare", "compare two result folders, checkpoints or H5MD files (exit 0: equal)");
  verb.option("a", a.path, "first").required();
  verb.option("b", options.other, "second").required();
  verb.flag("--last", options.last, "only the last frame of series");
  verb.flag("--first", options.first, "only where they differ first: file, field, body, step, values");
  verb.flag("--json", a.json, "machine-readable");
  verb.example("scree compare --first results/a results/b");
  const auto act = [&a, &options](Ranks& ranks) {
    const Comm& comm = start(ranks, a);
    const Comparison result = as_input(a.path + ", " + options.other, [&] {
      return compare_results(comm, a.path, options.other, {.last_frame_only = options.last});
    });
    print(comm, options.first ? (a.json ? result.first_json() : result.first_text())
                              : (a.json ? result.json() : result.text()));
    return result.equal() ? ExitCode::done : ExitCode::runtime_failure;
  };
  return {verb, act};
}

struct ShapeOptions {
  MeshReportOptions mesh;
  bool mends = false;  ///< says that --output is meant
};

Verb shape_verb(CommandLine& app, Arguments& a, ShapeOptions& options) {
  MeshReportOptions& mesh = options.mesh;
  CommandLine verb = app.verb("shape", "say what a mesh is: closed, shells, volume, what is mended");
  verb.option("file", a.path, "STL or OBJ file").required();
  verb.option("--scale", mesh.scale, "length of one unit of the file [m] (default 1)")
      .check(positive_number());
  const Option output = verb.option("--output", mesh.output, "STL file to write with --repair");
  const Option repair =
      verb.flag("--repair", options.mends, "write the mended mesh, with triangles that face outwards")
          .needs(output);
  output.needs(repair);
  verb.flag("--keep-inner-shells", mesh.keeps_inner_shells,
            "shells within others are walls of their own and keep their side");
  verb.flag("--json", mesh.json, "machine-readable");
  verb.example("scree shape inputs/granular/meshes/hopper.stl --repair --output mended.stl");
  const auto act = [&a, &mesh](Ranks& ranks) {
    if (!ranks.is_speaker(ExitCode::done)) return ExitCode::done;
    return answer(ranks, {.output = as_input(a.path, [&] { return report_mesh(a.path, mesh); })});
  };
  return {verb, act};
}

struct ListOptions {
  std::string what;
  bool laboratory = false;
};

Verb list_verb(CommandLine& app, ListOptions& options) {
  CommandLine verb = app.verb("list", "list schemes, obstacles, measures...");
  verb.option("what", options.what, "one list only");
  verb.flag("--laboratory", options.laboratory, "those for the laboratory, too (docs/decks-laboratory.md)");
  verb.example("scree list measures");
  const auto act = [&options](Ranks& ranks) {
    load_external_plugins();
    return answer(ranks, {.output = list_kinds(options.what, audience(options.laboratory))});
  };
  return {verb, act};
}

}  // namespace

ExitCode scree_main(Ranks& ranks, int argc, char** argv) {
  CommandLine app{"scree: grains and crowds on any number of MPI ranks"};
  app.version(version_text);
  app.require_verbs(1, 1);
  Arguments a;
  a.run.command_line = command_line(argc, argv);
  app.flag("-q,--quiet", a.quiet, "only warnings and errors");
  app.flag("-v,--verbose", a.verbose, "more messages");
  app.example("scree run inputs/granular/pour.toml");

  SweepOptions study;
  InfoOptions info;
  CompareArguments compare;
  ShapeOptions shape;
  ListOptions list;
  // In the order of the help.
  const std::vector<Verb> verbs = {run_verb(app, a),          sweep_verb(app, a, study),
                                   restart_verb(app, a),      check_verb(app, a),
                                   info_verb(app, a, info),   compare_verb(app, a, compare),
                                   shape_verb(app, a, shape), list_verb(app, list)};
  // main() sends these on before this function is called.
  for (const PythonCommand& command : python_commands())
    app.verb(command.name, command.about).example(command.example);
  app.verb("bench", "measure speed, on several numbers of ranks: kernels, exchange, output, whole steps");

  if (const auto done = parse(app, argc, argv, ranks)) return *done;
  const auto verb = std::ranges::find_if(verbs, [](const Verb& v) { return v.line.given(); });
  if (verb == verbs.end()) throw InputError("bench and commands of Python stand first in a command line");
  if (!verb->saves_when_stopped) stop_signal::release();
  return verb->act(ranks);
}

}  // namespace scree
