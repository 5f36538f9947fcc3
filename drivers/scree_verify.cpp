// The scree_verify program: recomputes published and exact results with the code that runs decks.
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/command_line.hpp"
#include "core/external_plugins.hpp"
#include "core/log.hpp"
#include "core/program_folder.hpp"
#include "driver_main.hpp"
#include "verify/verify.hpp"

namespace {

using namespace scree;

const std::string source_help = "folder that holds inputs/verification and tests/reference";

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

void add_dae_options(CommandLine& verb, DaeOptions& dae) {
  const auto positive = number("positive", [](Real value) { return value > 0 && std::isfinite(value); });
  const auto non_negative =
      number("non-negative", [](Real value) { return value >= 0 && std::isfinite(value); });
  const auto finite = number("finite", [](Real value) { return std::isfinite(value); });
  verb.option("case", dae.only, "pendulum, double-pendulum, slope, oscillator or stack")
      .required()
      .check(one_of({"pendulum", "double-pendulum", "slope", "oscillator", "stack"}));
  verb.option("--g", dae.gravity, "gravity in m/s2 (default 9.81, stack 10)").check(non_negative);
  verb.option("--dt", dae.time_step, "time step in s").check(positive);
  verb.option("--end-time", dae.end_time, "in s, a whole number of steps").check(positive);
  verb.option("--integrator", dae.integrator, "rk4 (default; stack: gear), gear or symplectic_euler");
  verb.option("--projection", dae.projection, "none, position, velocity (default) or both");
  verb.option("--start", dae.start, "positions in m: X,Y of each body, or X").delimiter(',').check(finite);
  verb.option("--velocity", dae.velocity, "velocities in m/s, as --start").delimiter(',').check(finite);
  verb.flag("--strict", dae.strict, "refuses a start that violates the constraints, instead of projecting");
  verb.option("--angle", dae.angle, "of the slope in degrees (default 30)").check(in_range(0.0, 90.0));
  verb.option("--mu", dae.mu,
              "friction: coefficient on the slope and in the stack, limit in N of the oscillator")
      .check(non_negative);
  verb.option("--disks", dae.disks, "of the stack: 3, 6 or 10 (default: all three)")
      .check(one_of({3, 6, 10}));
  verb.option("--csv", dae.csv, "table of the runs, for docs/figures/plot_dae_verification.py");
  verb.option("--source", dae.source, source_help);
  verb.flag("--quick", dae.quick, "stack: of 3 disks only");
  verb.example("scree_verify dae stack --disks 10");
}

void add_corner_options(CommandLine& verb, CornerOptions& corner) {
  const std::vector<Option> of_one_case{
      verb.option("--restitution", corner.restitution, "Newton's coefficient, 0 to 1 (default 1)"),
      verb.option("--alpha", corner.alpha, "half the angle of the corner, in rad or as pi/N (default pi/4)"),
      verb.option("--velocity", corner.velocity,
                  "before the impact, VX,VY in m/s (default 1,0; the corner is towards +x)")};
  const Option table = verb.flag("--table", corner.table, "all 343 published cases instead of one");
  const Option check =
      verb.flag("--check", corner.check, "compares with the published rows (exit 0: as published)")
          .excludes(table);
  for (const Option& option : of_one_case) option.excludes(table).excludes(check);
  verb.option("--source", corner.source, "for --check: " + source_help).needs(check);
  verb.example("scree_verify corner --restitution 0.5 --alpha pi/3");
}

/// A verification with the options that most have.
struct Verb {
  CommandLine line;
  bool (*verify)(const Comm&, const VerifyOptions&, const Show&);
};

ExitCode run_program(Ranks& ranks, int argc, char** argv) {
  CommandLine app{"scree_verify: compares scree with exact, published and reference results"};
  app.require_verbs(1, 1);
  app.example("mpirun -n 2 scree_verify pbd");
  VerifyOptions options;
  std::vector<Verb> verbs;
  const auto add = [&](const std::string& name, const std::string& summary, auto verify,
                       const std::string& of_case, std::initializer_list<const char*> cases,
                       const std::string& csv = "table to write") {
    CommandLine line = app.verb(name, summary + " (exit 0: as expected)");
    if (cases.size() > 0) line.option("--case", options.only, of_case).check(one_of(cases));
    line.flag("--quick", options.quick, "only cases that take seconds");
    line.option("--csv", options.csv, csv);
    line.option("--source", options.source, source_help);
    line.example("scree_verify " + name + " --quick");
    verbs.push_back({line, verify});
  };
  add("pbd", "position-based dynamics: two experiments, methods and steps", &verify_pbd, "experiment",
      {"sliding", "disks40", "all"}, "table to write, for docs/figures/plot_pbd_verification.py");
  add("slope", "exact friction: a cube on a slope, the published table and all solvers", &verify_slope, "",
      {});
  add("cards", "houses of cards of five storeys, beside published outcomes", &verify_cards, "group of runs",
      {"tables", "faces", "converged", "all"});
  CornerOptions corner;
  CommandLine corner_verb =
      app.verb("corner", "simultaneous impacts: a disk that touches both walls of a corner, as CSV");
  add_corner_options(corner_verb, corner);
  DaeOptions dae;
  CommandLine dae_verb = app.verb(
      "dae",
      "friction and joints as constraints: all published rows of a case (exit 0: as expected), or one run "
      "of your own if any option but --csv and --source is given");
  add_dae_options(dae_verb, dae);
  if (const auto done = parse(app, argc, argv, ranks)) return *done;
  const Comm& comm = ranks.comm();
  log::start(comm.is_root(), log::Level::quiet);
  load_external_plugins(comm);

  const Show show = [&](const std::string& line) { print_meanwhile(comm, line + "\n"); };
  bool passed = true;
  for (const Verb& verb : verbs) {
    if (!verb.line.given()) continue;
    options.source = find_source(comm, options.source);
    passed = verb.verify(comm, options, show);
  }
  if (corner_verb.given() && !corner.check) {
    print(comm, corner_csv(corner));
  } else if (corner_verb.given()) {
    corner.source = find_source(comm, corner.source);
    passed = verify_corner(comm, corner, show);
  } else if (dae_verb.given()) {
    dae.source = find_source(comm, dae.source);
    passed = verify_dae(comm, dae, show);
  }
  return passed ? ExitCode::done : ExitCode::runtime_failure;
}

}  // namespace

int main(int argc, char** argv) {
  return scree::driver_main(argc, argv, run_program);
}
