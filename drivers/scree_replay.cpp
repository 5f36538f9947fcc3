// scree_replay: solves stored contact problems (FCLIB files) and makes new ones (docs/replay.md).
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/command_line.hpp"
#include "core/external_plugins.hpp"
#include "core/log.hpp"
#include "core/petsc_options.hpp"
#include "driver_main.hpp"
#include "replay/replay.hpp"
#include "run/python_lines.hpp"

namespace {

using namespace scree;

/// What the command line says.
struct Arguments {
  ReplayOptions options;
  GenerateOptions generated;
  std::string measure = "fclib", conversion;
  std::vector<Option> of_solving;  ///< that go with nothing else
  std::optional<Option> generate, size, convert, output;
};

void add_solving(CommandLine& app, Arguments& given) {
  ReplayOptions& options = given.options;
  const Check positive =
      number("positive finite", [](Real value) { return value > 0 && std::isfinite(value); });
  // One argument each: files may follow.
  const auto list = [](const Option& option) { return option.delimiter(',').one_argument(); };
  given.of_solving = {
      list(app.option("--solver", options.solvers,
                      "solvers as scree list solvers --laboratory names them, or all (default auto)")),
      list(app.option("--tolerance", options.tolerances,
                      "residuals to reach; the smallest ends a solve (default 1e-4)"))
          .check(positive),
      app.option("--max-time", options.max_seconds, "wall seconds after which a solve ends (default 60)")
          .check(positive),
      app.option("--measure", given.measure, "measure of the residual (default fclib)")
          .check(one_of({"fclib", "natural"})),
      app.option("--start", options.start, "impulses to start from (default zero)")
          .check(one_of({"zero", "guess", "solution"}))};
  app.option("--form", options.form,
             "how to solve or generate: with bodies, or as W and q (default: as "
             "stored; generated files are global)")
      .check(one_of({"local", "global"}));
  for (const Option& option :
       {app.option("--set", options.settings, "SOLVER.KEY=VALUE, a key of [solver]; may be repeated")
            .one_argument(),
        app.option("--petsc", options.petsc_options, "options of linear solvers, -scree_..."),
        app.option("--json", options.json, "write everything to this file"),
        app.option("--csv", options.csv, "write one line per solve to this file"),
        app.flag("--write-solution", options.write_solution,
                 "store confirmed solutions in each file (/solution)")})
    given.of_solving.push_back(option);
  app.flag("--force", options.force,
           "replace a file that exists; with --write-solution: store unsolved results, too");
}

void add_making(CommandLine& app, Arguments& given) {
  GenerateOptions& generated = given.generated;
  given.generate = app.option("--generate", generated.family, "generate a problem of this family");
  given.size = app.option("--size", generated.size, "of the generated problem").needs(*given.generate);
  app.option("--seed", generated.seed, "of the generated problem (default 1)")
      .check(non_negative_count())
      .needs(*given.generate);
  app.option("--dimension", generated.dimension, "of the generated problem (default 3)")
      .check(in_range(2, 3))
      .needs(*given.generate);
  given.output = app.option("-o,--output", generated.output, "file to write");
  given.convert = app.option("--convert", given.conversion, "write the file in another form to --output")
                      .check(one_of({"local"}));
}

/// Throws InputError for options that do not go together. Local.
void require_consistent(const Arguments& given) {
  const bool generates = given.generate->given(), converts = given.convert->given();
  const std::size_t n_files = given.options.files.size();
  for (const Option& option : given.of_solving)
    if (option.given() && (generates || converts))
      throw InputError(
          fmt::format("{} does not go with {}", option.name(), generates ? "--generate" : "--convert"));
  if ((generates || converts) != given.output->given())
    throw InputError("-o names the file that --generate or --convert makes: it goes with one of them");
  if (!generates && n_files == 0)
    throw InputError("name one FCLIB file or more, or make one with --generate FAMILY --size N -o FILE");
  if (generates && (converts || n_files > 0)) throw InputError("--generate makes a file and takes none");
  if (generates && !given.size->given()) throw InputError("--generate needs --size");
  if (converts && n_files > 1) throw InputError("--convert takes one file");
  if (converts && !given.options.form.empty()) throw InputError("--form does not go with --convert");
}

ExitCode replay_program(Ranks& ranks, int argc, char** argv) {
  CommandLine app{
      "scree_replay: solves stored contact problems in the format of FCLIB, and generates new ones"};
  app.footer("Families of --generate (in the plane all but tower and kapla):\n" + list_families());
  app.example("scree_replay problem.hdf5 --solver nsgs,newton --tolerance 1e-6");
  Arguments given;
  ReplayOptions& options = given.options;
  options.command_line = command_line(argc, argv);
  app.option("files", options.files, "FCLIB files (.hdf5)");
  add_solving(app, given);
  add_making(app, given);
  if (const auto done = parse(app, argc, argv, ranks)) return *done;
  require_consistent(given);

  const bool generates = given.generate->given(), converts = given.convert->given();
  options.natural = given.measure == "natural";
  given.generated.in_local_form = options.form == "local";
  given.generated.force = options.force;
  const Json request{{"csv", options.csv}, {"json", options.json}};
  PythonLines tables(!generates && !converts && ranks.is_speaker(ExitCode::done), false, "bench",
                     {"replay", request.dump(-1, true)});
  const Comm& comm = ranks.comm();
  log::start(comm.is_root(), log::Level::normal);
  load_external_plugins(comm);
  if (generates || converts) {
    print(comm, generates ? generate_file(comm, given.generated)
                          : convert_file(comm, options.files[0], given.generated.output, options.force));
    return ExitCode::done;
  }
  const ExitCode code = replay(
      comm, options, [&](const std::string& what, const Json& value) { tables.send(comm, what, value); });
  require_petsc_options_used(comm);
  const ExitCode shown = tables.finish(comm);
  return code == ExitCode::done ? shown : code;
}

}  // namespace

int main(int argc, char** argv) {
  return scree::driver_main(argc, argv, replay_program);
}
