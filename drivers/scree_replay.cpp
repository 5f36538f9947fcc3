// scree_replay: solves stored contact problems (FCLIB files) and makes new ones (docs/replay.md).
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/command_line.hpp"
#include "core/external_plugins.hpp"
#include "core/log.hpp"
#include "driver_main.hpp"
#include "replay/replay.hpp"

namespace {

using namespace scree;

ExitCode replay_program(Ranks& ranks, int argc, char** argv) {
  CommandLine app{
      "scree_replay: solves stored contact problems in the format of FCLIB, and generates new ones"};
  app.footer("Families of --generate (in the plane all but tower and kapla):\n" + list_families());
  app.example("scree_replay problem.hdf5 --solver nsgs,newton --tolerance 1e-6");
  ReplayOptions options;
  options.command_line = command_line(argc, argv);
  GenerateOptions generated;
  std::string measure = "fclib", form, conversion;

  app.option("files", options.files, "FCLIB files (.hdf5)");
  const Check positive =
      number("positive finite", [](Real value) { return value > 0 && std::isfinite(value); });
  // One argument each: files may follow.
  const auto list = [](const Option& option) { return option.delimiter(',').one_argument(); };
  const Option solver =
      list(app.option("--solver", options.solvers,
                      "solvers as scree list solvers --laboratory names them, or all (default auto)"));
  const Option tolerance = list(app.option("--tolerance", options.tolerances,
                                           "residuals to reach; the smallest ends a solve (default 1e-4)"))
                               .check(positive);
  const Option max_time =
      app.option("--max-time", options.max_seconds, "wall seconds after which a solve ends (default 60)")
          .check(positive);
  const Option measure_option = app.option("--measure", measure, "measure of the residual (default fclib)")
                                    .check(one_of({"fclib", "natural"}));
  const Option start = app.option("--start", options.start, "impulses to start from (default zero)")
                           .check(one_of({"zero", "guess", "solution"}));
  app.option("--form", form,
             "how to solve or generate: with bodies, or as W and q (default: as "
             "stored; generated files are global)")
      .check(one_of({"local", "global"}));
  const Option set =
      app.option("--set", options.settings, "SOLVER.KEY=VALUE, a key of [solver]; may be repeated")
          .one_argument();
  const Option petsc = app.option("--petsc", options.petsc_options, "options of linear solvers, -scree_...");
  const Option json = app.option("--json", options.json, "write everything to this file");
  const Option csv = app.option("--csv", options.csv, "write one line per solve to this file");
  const Option write = app.flag("--write-solution", options.write_solution,
                                "store confirmed solutions in each file (/solution)");
  app.flag("--force", options.force,
           "replace a file that exists; with --write-solution: store unsolved results, too");

  const Option generate = app.option("--generate", generated.family, "generate a problem of this family");
  const Option size = app.option("--size", generated.size, "of the generated problem").needs(generate);
  app.option("--seed", generated.seed, "of the generated problem (default 1)")
      .check(non_negative_count())
      .needs(generate);
  app.option("--dimension", generated.dimension, "of the generated problem (default 3)")
      .check(in_range(2, 3))
      .needs(generate);
  const Option output = app.option("-o,--output", generated.output, "file to write");
  const Option convert = app.option("--convert", conversion, "write the file in another form to --output")
                             .check(one_of({"local"}));
  const std::vector<Option> of_solving{solver, tolerance, max_time, measure_option, start, set,
                                       petsc,  json,      csv,      write};
  if (const auto done = parse(app, argc, argv, ranks)) return *done;

  options.natural = measure == "natural";
  options.form = form;
  generated.in_local_form = form == "local";
  generated.force = options.force;
  for (const Option& option : of_solving)
    if (option.given() && (generate.given() || convert.given()))
      throw InputError(fmt::format("{} does not go with {}", option.name(),
                                   generate.given() ? "--generate" : "--convert"));
  if ((generate.given() || convert.given()) != output.given())
    throw InputError("-o names the file that --generate or --convert makes: it goes with one of them");
  if (!generate.given() && options.files.empty())
    throw InputError("name one FCLIB file or more, or make one with --generate FAMILY --size N -o FILE");
  const Comm& comm = ranks.comm();
  log::start(comm.is_root(), log::Level::normal);
  load_external_plugins(comm);
  if (generate.given()) {
    if (convert.given() || !options.files.empty()) throw InputError("--generate makes a file and takes none");
    if (!size.given()) throw InputError("--generate needs --size");
    print(comm, generate_file(comm, generated));
    return ExitCode::done;
  }
  if (convert.given()) {
    if (options.files.size() > 1) throw InputError("--convert takes one file");
    if (!form.empty()) throw InputError("--form does not go with --convert");
    print(comm, convert_file(comm, options.files[0], generated.output, options.force));
    return ExitCode::done;
  }
  const ExitCode code = replay(comm, options, [&](const std::string& text) { print_meanwhile(comm, text); });
  require_petsc_options_used(comm);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return scree::driver_main(argc, argv, replay_program);
}
