// The scree_verify program: recomputes published and exact results with the code that runs decks.
#include <string>

#include "core/command_line.hpp"
#include "core/external_plugins.hpp"
#include "core/log.hpp"
#include "core/program_folder.hpp"
#include "driver_main.hpp"
#include "verify/verify.hpp"

namespace {

using namespace scree;

/// The folder with inputs/ and tests/reference/: as given, or the nearest above this program, which lies in a
/// source tree (build/PRESET/bin) or is installed (bin beside share/scree). Collective.
std::string find_source(const Comm& comm, const std::string& given) {
  const auto wanted = {"inputs/verification", "tests/reference"};
  std::string found;
  if (comm.is_root()) found = given.empty() ? program_folder(wanted) : holds(given, wanted) ? given : "";
  comm.broadcast(found);
  if (found.empty())
    throw InputError(
        given.empty() ? "the folders inputs/verification and tests/reference are neither above the program "
                        "nor in share/scree beside it; say where with --source"
                      : given + " has no folders inputs/verification and tests/reference");
  return found;
}

ExitCode run_program(Ranks& ranks, int argc, char** argv) {
  CommandLine app{"scree_verify: compares scree with exact, published and reference results"};
  app.require_verbs(1, 1);
  app.example("mpirun -n 2 scree_verify crowd");
  VerifyOptions options;
  CommandLine crowd = app.verb(
      "crowd",
      "people: head-on pairs, pushing columns, convergence in the time step, optimality of steps, files, "
      "wall forces, doors (exit 0: as expected)");
  crowd.option("--case", options.only, "one of them")
      .check(one_of({"s1", "s2", "s3", "s4", "s6", "s7", "doors", "all"}));
  crowd.flag("--quick", options.quick, "only cases that take seconds");
  crowd.option("--csv", options.csv, "table to write");
  crowd.option("--source", options.source, "folder that holds inputs/verification and tests/reference");
  crowd.example("scree_verify crowd --quick");
  if (const auto done = parse(app, argc, argv, ranks)) return *done;
  const Comm& comm = ranks.comm();
  log::start(comm.is_root(), log::Level::quiet);
  load_external_plugins(comm);

  const Show show = [&](const std::string& line) { print_meanwhile(comm, line + "\n"); };
  options.source = find_source(comm, options.source);
  const bool passed = verify_crowd(comm, options, show);
  return passed ? ExitCode::done : ExitCode::runtime_failure;
}

}  // namespace

int main(int argc, char** argv) {
  return scree::driver_main(argc, argv, run_program);
}
