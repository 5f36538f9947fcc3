#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/pile.hpp"
#include "bench/process_memory.hpp"
#include "core/command_line.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/petsc.hpp"
#include "core/petsc_options.hpp"
#include "friction/friction_solver.hpp"
#include "replay/solver_choice.hpp"

namespace scree {

namespace {

/// A way to solve linear systems, as the command line has it: "iterative -scree_pc_type jacobi".
struct LinearMethod {
  std::string linear;   ///< the key of [solver]
  std::string options;  ///< of PETSc
};

/// PETSc options that hold until the scope ends. Throws InputError for what is no option.
class OptionsOfMethod {
 public:
  explicit OptionsOfMethod(const std::string& text) {
    SCREE_PETSC(PetscOptionsCreate(options_.address()));
    SCREE_PETSC(PetscOptionsPush(options_.get()));
    try {
      insert_petsc_options(text);
    } catch (...) {
      PetscOptionsPop();
      throw;
    }
  }
  ~OptionsOfMethod() { PetscOptionsPop(); }
  OptionsOfMethod(const OptionsOfMethod&) = delete;
  OptionsOfMethod& operator=(const OptionsOfMethod&) = delete;

 private:
  PetscHandle<PetscOptions, PetscOptionsDestroy> options_;
};

/// The impulses of a pile that all systems are made from.
struct LinearBenchState {
  Real compliance = 0;  ///< scaled
  std::int64_t bodies = 0, contacts = 0;
  std::vector<Real> impulse{};
  Real residual = 0;  ///< natural, of the friction problem
};

/// One linear system of each kind, of the first step of a solver from the same impulses: assembled, set up
/// and solved in each way.
class LinearBench : public BenchCase {
 public:
  void add_options(CommandLine& app) override;
  void make_quick() override {
    bodies_ = 1000;
    sweeps_ = 100;
    repetitions_ = 2;
  }
  std::int64_t study_bodies() const override { return bodies_; }
  void set_bodies(std::int64_t bodies) override { bodies_ = bodies; }

  /// Throws InputError for ways, options and values that do not exist, before anything is computed; for
  /// options that nothing reads, in the first solve.
  void run(const BenchRun& run) override;

 private:
  std::vector<LinearMethod> read_methods() const;
  SolverChoice<3> solver_of(const std::string& system, const LinearMethod& method) const;
  std::string options_of(const LinearMethod& method) const;
  LinearBenchState sweep(const FrictionProblem<3>& problem, Real compliance) const;
  BenchRow measure(const FrictionProblem<3>& problem, const LinearBenchState& state,
                   const std::string& system, const LinearMethod& method) const;

  std::int64_t bodies_ = 5000;
  std::vector<Real> compliances_{0};
  std::int64_t seed_ = 1;
  std::int64_t sweeps_ = 200;
  std::vector<std::string> systems_{"admm", "ipm"};
  std::vector<std::string> methods_{"direct", "iterative", "matrix_free"};
  Real tolerance_ = 1e-8;
  std::int64_t max_krylov_ = 2000;
};

void LinearBench::add_options(CommandLine& app) {
  app.option("--bodies", bodies_, "of the settled pile, over all ranks").check(positive_number());
  app.option("--compliance", compliances_, "scaled (m_c g; 1e-2: soft spheres); 0: rigid")
      .delimiter(',')
      .check(non_negative_number());
  app.option("--seed", seed_, "of the pile").check(non_negative_number());
  app.option("--sweeps", sweeps_, "of Gauss-Seidel, before the systems are made")
      .check(non_negative_number());
  app.option("--systems", systems_, "solvers whose first system is measured: admm, ipm, newton")
      .delimiter(',')
      .check(one_of({"admm", "ipm", "newton"}));
  app.option("--linear", methods_,
             "direct, iterative or matrix_free, each with options of PETSc after a blank: "
             "\"direct,iterative -scree_pc_type jacobi\"")
      .delimiter(',');
  app.option("--tolerance", tolerance_, "fall of the residual at which Krylov methods end")
      .check(positive_number());
  app.option("--max-krylov", max_krylov_, "most iterations of a Krylov method").check(positive_number());
  add_repetitions(app);
}

std::vector<LinearMethod> LinearBench::read_methods() const {
  std::vector<LinearMethod> methods;
  for (const std::string& given : methods_) {
    const std::size_t begin = given.find_first_not_of(" \t\r\n");  // a list may go on in another line
    const std::string text =
        begin == given.npos ? "" : given.substr(begin, given.find_last_not_of(" \t\r\n") - begin + 1);
    const std::size_t end = std::min(text.find(' '), text.size());
    methods.push_back({text.substr(0, end), text.substr(std::min(end + 1, text.size()))});
    const LinearMethod& method = methods.back();
    if (method.linear != "direct" && method.linear != "iterative" && method.linear != "matrix_free")
      throw InputError(fmt::format("--linear {}: valid are direct, iterative, matrix_free", text));
  }
  return methods;
}

SolverChoice<3> LinearBench::solver_of(const std::string& system, const LinearMethod& method) const {
  const auto setting = [&](const std::string& key, const auto& value) {
    return fmt::format("{}.{}={}", system, key, value);
  };
  std::vector<std::string> settings{setting("linear", method.linear), setting("max_krylov", max_krylov_),
                                    setting(system == "admm" ? "max_iterations" : "max_steps", 1)};
  if (system == "newton") settings.push_back(setting("start_sweeps", 0));
  return {{system}, settings};
}

/// ADMM asks for less than others, unless an option says what all Krylov methods shall reach.
std::string LinearBench::options_of(const LinearMethod& method) const {
  return method.linear == "direct" ? method.options
                                   : fmt::format("-scree_ksp_rtol {} {}", tolerance_, method.options);
}

LinearBenchState LinearBench::sweep(const FrictionProblem<3>& problem, Real compliance) const {
  const Comm& comm = problem.halo->comm();
  LinearBenchState state{.compliance = compliance,
                         .bodies = comm.sum(std::int64_t{problem.n_owned()}),
                         .contacts = comm.sum(std::int64_t{problem.n_contacts()})};
  state.impulse.resize(static_cast<std::size_t>(problem.n_contacts()) * 3);
  if (sweeps_ == 0) return state;
  const SolverChoice<3> choice(
      {"nsgs"}, {fmt::format("nsgs.max_sweeps={}", sweeps_), fmt::format("nsgs.check_every={}", sweeps_)});
  std::vector<Real> v(static_cast<std::size_t>(problem.n_local()) * FrictionProblem<3>::q);
  // A tolerance that nothing meets: all sweeps are run.
  const SolveReport report =
      solve_friction<3>(problem, *choice.make("nsgs"), {.tolerance = -1}, state.impulse, v);
  state.residual = report.residual.natural;
  return state;
}

BenchRow LinearBench::measure(const FrictionProblem<3>& problem, const LinearBenchState& state,
                              const std::string& system, const LinearMethod& method) const {
  const Comm& comm = problem.halo->comm();
  const OptionsOfMethod options(options_of(method));
  const SolverChoice<3> choice = solver_of(system, method);
  std::vector<Real> assembly, set_up, solution, all;
  SolveReport report;
  std::string failure;
  std::int64_t memory = 0;
  std::vector<Real> v(static_cast<std::size_t>(problem.n_local()) * FrictionProblem<3>::q);
  for (int repetition = 0; repetition < repetitions_ && failure.empty(); ++repetition) {
    std::vector<Real> r = state.impulse;
    reset_peak_memory();
    const std::int64_t before = memory_in_use();
    const auto solver = choice.make(system);
    report = solve_friction<3>(problem, *solver, {.tolerance = -1}, r, v);
    if (repetition == 0) memory = comm.sum(std::max<std::int64_t>(0, peak_memory() - before));
    if (report.linear_solutions == 0)
      failure = report.decisions.empty() ? "no linear system was solved" : report.decisions.back();
    const auto n = static_cast<Real>(std::max<std::int64_t>(1, report.linear_solutions));
    assembly.push_back(comm.max(report.assembly_seconds));
    set_up.push_back(comm.max(report.factor_seconds));
    solution.push_back(comm.max(report.krylov_seconds) / n);
    all.push_back(comm.max(report.assembly_seconds + report.factor_seconds + report.krylov_seconds));
  }
  require_petsc_options_used(comm);

  const auto n = static_cast<Real>(std::max<std::int64_t>(1, report.linear_solutions));
  const Timing total = timing_of(std::move(all)), one = timing_of(std::move(solution));
  BenchRow row("system");
  row.size("bodies", state.bodies).only_in_files();
  row.result("contacts", "-", state.contacts).only_in_files();
  row.key("compliance", state.compliance).only_in_files();
  row.key("sweeps", sweeps_).only_in_files();
  row.result("natural_residual", "-", state.residual).only_in_files();
  row.key("system", system).key("linear", method.linear).key("options", method.options);
  row.time(total);
  row.is_complete = failure.empty();
  row.result("matrix_s", "s", timing_of(std::move(assembly)).median);
  row.result("set_up_s", "s", timing_of(std::move(set_up)).median);
  row.timing("solution_s", "s", one.median, one.spread);
  row.result("iterations", "-", static_cast<Real>(report.krylov_iterations) / n);
  row.result("residual", "-", report.linear_residual);
  row.result("right_hand_sides", "-", report.linear_solutions).only_in_files();
  row.result("memory_MB", "MB", 1e-6 * static_cast<Real>(memory));
  if (!failure.empty()) row.remarks.push_back("failed: " + failure);
  return row;
}

void LinearBench::run(const BenchRun& run) {
  const Comm& comm = run.comm();
  PileOptions pile_options;
  pile_options.bodies = bodies_;
  pile_options.seed = seed_;
  Pile::validate(pile_options);
  const std::vector<LinearMethod> methods = read_methods();
  for (const LinearMethod& method : methods) {
    const OptionsOfMethod checked(options_of(method));
    for (const std::string& system : systems_) solver_of(system, method);
  }

  Pile pile(comm, pile_options);
  for (const Real compliance : compliances_) {
    const FrictionProblem<3>& problem = pile.assemble(compliance, compliance);
    const LinearBenchState state = sweep(problem, compliance);
    run.head(fmt::format(
        "settled pile (seed {}): {} bodies, {} contacts, {}; {} sweeps to a natural residual of {:.1e}\n"
        "solution_s and iterations are of a right-hand side; memory_MB: by how much a solve lets the peak "
        "grow\n",
        seed_, state.bodies, state.contacts,
        compliance > 0 ? fmt::format("compliance {:g}", compliance) : "rigid", sweeps_, state.residual));
    for (const std::string& system : systems_)
      for (const LinearMethod& method : methods) run.add(measure(problem, state, system, method));
  }
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(linear, scree::LinearBench,
                 "one linear system of admm, ipm or newton: assembled, set up and solved in each way; memory")
