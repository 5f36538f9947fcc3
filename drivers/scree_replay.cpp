// scree_replay: solves stored contact problems (FCLIB files) and makes new ones (docs/replay.md).
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "core/log.hpp"
#include "driver_main.hpp"
#include "replay/replay.hpp"

namespace {

using namespace scree;

ExitCode replay_program(const Comm& comm, int argc, char** argv) {
  CLI::App app{"scree_replay: solves stored contact problems in the format of FCLIB, and makes new ones"};
  app.footer("Families of --generate (in the plane all but tower and kapla):\n" + list_families());
  ReplayOptions options;
  options.command_line = command_line(argc, argv);
  GenerateOptions generated;
  std::string measure = "fclib", form, conversion;

  app.add_option("files", options.files, "FCLIB files (.hdf5)");
  const CLI::Validator positive =
      number("positive finite", [](Real value) { return value > 0 && std::isfinite(value); });
  // One argument each: files may follow.
  const auto list = [](CLI::Option* option) { return option->delimiter(',')->allow_extra_args(false); };
  auto* solver = list(app.add_option("--solver", options.solvers,
                                     "solvers as scree list solvers names them, or all (default auto)"));
  auto* tolerance = list(app.add_option("--tolerance", options.tolerances,
                                        "residuals to reach, of which the least ends a solve (default 1e-4)"))
                        ->check(positive);
  auto* max_time =
      app.add_option("--max-time", options.max_seconds, "wall seconds after which a solve ends (default 60)")
          ->check(positive);
  auto* measure_option = app.add_option("--measure", measure, "what tolerances are of (default fclib)")
                             ->check(CLI::IsMember({"fclib", "natural"}));
  auto* start = app.add_option("--start", options.start, "impulses to start from (default zero)")
                    ->check(CLI::IsMember({"zero", "guess", "solution"}));
  app.add_option("--form", form,
                 "how to solve or generate: with bodies, or as W and q (default: as "
                 "stored; generated files are global)")
      ->check(CLI::IsMember({"local", "global"}));
  auto* set =
      app.add_option("--set", options.settings, "SOLVER.KEY=VALUE, a key of [solver]; may be repeated")
          ->allow_extra_args(false);
  auto* petsc = app.add_option("--petsc", options.petsc_options, "options of linear solvers, -scree_...");
  auto* json = app.add_option("--json", options.json, "write everything to this file");
  auto* csv = app.add_option("--csv", options.csv, "write one line per solve to this file");
  auto* profile = app.add_option("--profile", options.profile, "write performance profiles to this file");
  auto* write = app.add_flag("--write-solution", options.write_solution,
                             "store what is solved and confirmed in each file (/solution)");
  app.add_flag("--force", options.force,
               "replace a file that exists; with --write-solution: store what is not solved, too");

  auto* generate = app.add_option("--generate", generated.family, "make a problem of this family");
  auto* size = app.add_option("--size", generated.size, "of the generated problem")->needs(generate);
  app.add_option("--seed", generated.seed, "of the generated problem (default 1)")
      ->check(CLI::NonNegativeNumber)
      ->needs(generate);
  app.add_option("--dimension", generated.dimension, "of the generated problem (default 3)")
      ->check(CLI::Range(2, 3))
      ->needs(generate);
  auto* output = app.add_option("-o,--output", generated.output, "file to make");
  auto* convert = app.add_option("--convert", conversion, "write the file in another form to --output")
                      ->check(CLI::IsMember({"local"}));
  const std::vector<CLI::Option*> of_solving{solver, tolerance, max_time, measure_option, start, set,
                                             petsc,  json,      csv,      profile,        write};
  if (const auto done = parse(app, argc, argv, comm)) return *done;
  log::start(comm.is_root(), log::Level::normal);

  options.natural = measure == "natural";
  options.form = form;
  generated.in_local_form = form == "local";
  generated.force = options.force;
  for (const CLI::Option* option : of_solving)
    if (*option && (*generate || *convert))
      throw InputError(
          fmt::format("{} does not go with {}", option->get_name(), *generate ? "--generate" : "--convert"));
  if ((*generate || *convert) != bool(*output))
    throw InputError("-o names the file that --generate or --convert makes: it goes with one of them");
  if (*generate) {
    if (*convert || !options.files.empty()) throw InputError("--generate makes a file and takes none");
    if (!*size) throw InputError("--generate needs --size");
    print(comm, generate_file(comm, generated));
    return ExitCode::done;
  }
  if (options.files.empty())
    throw InputError("name one FCLIB file or more, or make one with --generate FAMILY --size N -o FILE");
  if (*convert) {
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
