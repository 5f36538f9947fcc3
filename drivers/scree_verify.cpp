// The scree_verify program: recomputes published and exact results with the code that runs decks.
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/command_line.hpp"
#include "core/log.hpp"
#include "driver_main.hpp"
#include "verify/corner.hpp"
#include "verify/crowd.hpp"
#include "verify/dae.hpp"
#include "verify/friction_schemes.hpp"
#include "verify/grains.hpp"
#include "verify/pbd.hpp"
#include "verify/slope.hpp"

namespace {

using namespace scree;

/// The folder with inputs/ and tests/reference/: as given, that of the sources this program was built from,
/// or that of the program itself. Collective.
std::string find_source(const Comm& comm, const std::string& given) {
  std::string found;
  if (comm.is_root()) {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
    const std::vector<std::string> candidates = given.empty()
                                                    ? std::vector<std::string>{SCREE_SOURCE_FOLDER, program}
                                                    : std::vector<std::string>{given};
    for (const std::string& folder : candidates)
      if (found.empty() && std::filesystem::exists(folder + "/inputs/verification", ignored) &&
          std::filesystem::exists(folder + "/tests/reference", ignored))
        found = folder;
  }
  comm.broadcast(found);
  if (found.empty())
    throw InputError(given.empty()
                         ? "the folders inputs/verification and tests/reference are not where they were when "
                           "scree_verify was built; say where with --source"
                         : given + " has no folders inputs/verification and tests/reference");
  return found;
}

void add_dae_options(CommandLine& verb, DaeVerification& dae) {
  const auto positive = number("positive", [](Real value) { return value > 0 && std::isfinite(value); });
  const auto non_negative =
      number("non-negative", [](Real value) { return value >= 0 && std::isfinite(value); });
  const auto finite = number("finite", [](Real value) { return std::isfinite(value); });
  verb.option(
          "case", dae.which,
          "pendulum, double-pendulum, slope, oscillator or stack; compare: decks of dry friction with all "
          "schemes; threshold: the least friction with which three disks stand, for all schemes")
      .required()
      .check(one_of({"pendulum", "double-pendulum", "slope", "oscillator", "stack", "compare", "threshold"}));
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
  verb.option("--csv", dae.csv, "table of the runs, for postprocess/plot_dae_verification.py");
  verb.option("--source", dae.source, "folder that holds inputs/verification and tests/reference");
}

ExitCode run_program(const Comm& comm, int argc, char** argv) {
  CommandLine app{"scree_verify: compares scree with exact, published and reference results"};
  app.require_verbs(1, 1);
  PbdVerification pbd;
  CommandLine pbd_verb = app.verb("pbd",
                                  "position-based dynamics: two experiments, methods and steps (exit 0: as "
                                  "expected)");
  pbd_verb.option("--case", pbd.only, "experiment").check(one_of({"sliding", "disks40", "all"}));
  pbd_verb.flag("--quick", pbd.quick, "only cases that take seconds");
  pbd_verb.option("--csv", pbd.csv, "table to write, for postprocess/plot_pbd_verification.py");
  pbd_verb.option("--source", pbd.source, "folder that holds inputs/verification and tests/reference");
  SlopeVerification slope;
  CommandLine slope_verb = app.verb(
      "slope",
      "exact friction: a cube on a slope, the published table and all solvers (exit 0: as expected)");
  slope_verb.flag("--quick", slope.quick, "only cases that take seconds");
  slope_verb.option("--csv", slope.csv, "table to write");
  slope_verb.option("--source", slope.source, "folder that holds inputs/verification and tests/reference");
  GrainsVerification grains;
  CommandLine grains_verb = app.verb(
      "grains",
      "rigid and soft grains with inertia: impacts, slip and roll, stacks, balances (exit 0: as expected)");
  grains_verb.option("--case", grains.only, "group of cases")
      .check(one_of({"impacts", "motions", "stacks", "balances", "soft", "all"}));
  grains_verb.option("--csv", grains.csv, "table to write");
  CrowdVerification crowd;
  CommandLine crowd_verb = app.verb(
      "crowd",
      "people: head-on pairs, pushing columns, convergence in the time step, optimality of steps, files, "
      "wall forces (exit 0: as expected)");
  crowd_verb.option("--case", crowd.only, "one of them")
      .check(one_of({"s1", "s2", "s3", "s4", "s6", "s7", "all"}));
  crowd_verb.option("--csv", crowd.csv, "table to write");
  CornerVerification corner;
  CommandLine corner_verb =
      app.verb("corner", "simultaneous impacts: a disk that touches both walls of a corner, as CSV");
  const std::vector<Option> of_one_case{
      corner_verb.option("--restitution", corner.restitution, "Newton's coefficient, 0 to 1 (default 1)"),
      corner_verb.option("--alpha", corner.alpha,
                         "half the angle of the corner, in rad or as pi/N (default pi/4)"),
      corner_verb.option("--velocity", corner.velocity,
                         "before the impact, VX,VY in m/s (default 1,0; the corner is towards +x)")};
  const Option corner_table =
      corner_verb.flag("--table", corner.table, "all 343 published cases instead of one");
  const Option corner_check =
      corner_verb.flag("--check", corner.check, "compares with the published rows (exit 0: as published)")
          .excludes(corner_table);
  for (const Option& option : of_one_case) option.excludes(corner_table).excludes(corner_check);
  corner_verb
      .option("--source", corner.source,
              "for --check: folder that holds inputs/verification and tests/reference")
      .needs(corner_check);
  DaeVerification dae;
  CommandLine dae_verb = app.verb(
      "dae",
      "friction and joints as constraints: all published rows of a case (exit 0: as expected), or one run "
      "of your own if any option but --csv and --source is given");
  add_dae_options(dae_verb, dae);
  bool quick = false;
  dae_verb.flag("--quick", quick, "compare, threshold, stack: fewer cases, a wider bracket");
  if (const auto done = parse(app, argc, argv, comm)) return *done;
  log::start(comm.is_root(), log::Level::quiet);

  const auto show = [&](const std::string& line) { print_meanwhile(comm, line + "\n"); };
  bool passed = false;
  if (pbd_verb.given()) {
    pbd.source = find_source(comm, pbd.source);
    passed = verify_pbd(comm, pbd, show);
  } else if (grains_verb.given()) {
    passed = verify_grains(comm, grains, show);
  } else if (crowd_verb.given()) {
    passed = verify_crowd(comm, crowd, show);
  } else if (corner_verb.given() && !corner.check) {
    print(comm, corner_csv(corner));
    passed = true;
  } else if (corner_verb.given()) {
    corner.source = find_source(comm, corner.source);
    passed = verify_corner(comm, corner, show);
  } else if (dae_verb.given()) {
    dae.source = find_source(comm, dae.source);
    const bool of_schemes = dae.which == "compare" || dae.which == "threshold";
    dae.quick = quick;
    if (of_schemes && (dae.is_single_run() || dae.disks))
      throw InputError(dae.which +
                       " runs decks as they are: it has no options but --quick, --csv and --source");
    const FrictionSchemesVerification schemes{quick, dae.source, dae.csv};
    passed = dae.which == "compare"     ? compare_friction_schemes(comm, schemes, show)
             : dae.which == "threshold" ? find_friction_threshold(comm, schemes, show)
                                        : verify_dae(comm, dae, show);
  } else {
    slope.source = find_source(comm, slope.source);
    passed = verify_slope(comm, slope, show);
  }
  return passed ? ExitCode::done : ExitCode::runtime_failure;
}

}  // namespace

int main(int argc, char** argv) {
  return scree::driver_main(argc, argv, run_program);
}
