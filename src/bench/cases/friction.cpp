#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <type_traits>

#include "bench/case.hpp"
#include "bench/measure_time.hpp"
#include "bench/pile.hpp"
#include "contact/compliance.hpp"
#include "core/command_line.hpp"
#include "core/deck.hpp"
#include "core/error.hpp"
#include "core/petsc_options.hpp"
#include "core/units.hpp"
#include "replay/generated_problems.hpp"
#include "replay/round_form.hpp"
#include "replay/solver_choice.hpp"
#include "replay/split_problem.hpp"

namespace scree {

namespace {

/// A problem made ready.
struct FrictionBenchProblem {
  std::string name;
  std::int64_t seed = 0;
  Real compliance = 0;  ///< scaled, along N
  Real stiffness = 0;   ///< [N/m], along N; infinite: rigid
  int ranks = 0;
  std::int64_t bodies = 0, contacts = 0;
  Real settling_seconds = 0;  ///< of a settled pile, wall
  Real overlap = 0;           ///< of a settled pile, share of the mean radius
  Real assembly_seconds = 0;  ///< bodies to FrictionProblem; 0 for serial problems
  Real setup_ns = 0;          ///< validation and scaling: processor time per contact of a rank
  Real update_ns = 0;         ///< of Gauss-Seidel: processor time per contact of a rank and sweep
  Real update_bound_ns = 0;   ///< what the triad rate allows: update_bytes
  Real update_bytes = 0;      ///< that a sweep of Gauss-Seidel reads for a contact
};

constexpr std::string_view settled_case = "settled", gaps_case = "settled-gaps";

bool is_pile(std::string_view name) {
  return name == settled_case || name == gaps_case;
}

/// A number that is all of `text`.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/// A compliance as the user gives it: scaled, or a stiffness to be scaled by the masses and step of a case.
struct Compliance {
  Real scaled = 0;
  Real stiffness = 0;  ///< [N/m]; 0: `scaled` counts

  Real scale(Real mass, Real dt) const {
    return stiffness > 0 ? mass * compliance_of_stiffness(stiffness, dt) : scaled;
  }
};

Compliance parse_compliance(const std::string& text) {
  if (text == "rigid") return {};
  Real scaled = 0;
  if (parse_number(text, scaled) && std::isfinite(scaled) && scaled >= 0) return {.scaled = scaled};
  const std::optional<Real> stiffness = to_si(text, Unit::stiffness);
  if (stiffness && *stiffness > 0) return {.stiffness = *stiffness};
  throw InputError(fmt::format(
      "--compliance {}: valid are \"rigid\", numbers >= 0 (the scaled compliance m_c g) and stiffnesses "
      "such as \"6.5 kN/m\" (units {})",
      text, unit_names(Unit::stiffness)));
}

/// The generated problem meant by NAME:SIZE, as its name and size.
std::pair<std::string, int> parse_case(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  int size = 0;
  const bool has_size =
      colon != std::string::npos && parse_number(std::string_view(text).substr(colon + 1), size);
  std::string names;
  for (const GeneratedFamily& family : generated_families()) {
    if (has_size && family.name == name && size >= family.min_size) return {name, size};
    names += fmt::format(", {}:SIZE ({}, at least {})", family.name, family.size, family.min_size);
  }
  throw InputError(fmt::format("--case {}: valid are {}, {}{}", text, settled_case, gaps_case, names));
}

/// Bytes that a sweep of Gauss-Seidel with momentum reads per contact: its row in the form in which the
/// solver keeps it, empty lanes included, its impulse, and momentum with the last change. Velocities are not
/// counted: those of a body serve all of its contacts. Collective.
Real bytes_of_update(const ScaledProblem<3>& scaled) {
  constexpr std::size_t of_group = sizeof(GroupImpulses<3>) + sizeof(GroupMomentum<3>);
  const std::size_t of_rank =
      scaled.has_spheres() ? scaled.spheres().groups().size() * (sizeof(SphereGroup<3>) + of_group)
      : !scaled.general().empty()
          ? scaled.general().groups().size() * (sizeof(GeneralGroup<3>) + sizeof(GroupEntry) + of_group)
          : scaled.contacts().size() * (sizeof(ScaledProblem<3>::Contact) + (3 * 3 + 1) * sizeof(Real));
  const auto of_all = static_cast<Real>(scaled.comm().sum(static_cast<std::int64_t>(of_rank)));
  return of_all / static_cast<Real>(std::max<std::int64_t>(1, scaled.n_contacts_of_all()));
}

/// Processor time per contact of a rank [ns]: of the set-up of a solve, and of a sweep of Gauss-Seidel from
/// impulses near the solution.
void time_kernels(const FrictionProblem<3>& problem, FrictionBenchProblem& c) {
  ScaledProblem<3> scaled;
  const Comm& comm = problem.halo->comm();
  const Timing setup = measure_time(comm, 5, 0.01, [&] {
    problem.validate();
    scaled.rebuild(problem);
  });
  constexpr int n_sweeps = 50;
  const auto solver = make_solver<3>("nsgs");
  Deck deck = Deck::from_text(fmt::format("max_sweeps = {0}\ncheck_every = {0}", n_sweeps), "benchmark");
  solver->describe(deck.root());
  SolveReport report;
  // A tolerance that nothing meets: small problems are soon solved to the last bit.
  SolveMonitor<3> monitor(scaled, {.tolerance = -1}, report);
  std::vector<Real> r(scaled.impulse_size()), y(scaled.velocity_size());
  // A call ends and begins with a check of the residual.
  const Timing solve = measure_time(comm, 5, 0.02, [&] {
    report.trace.clear();
    solver->iterate(scaled, r, monitor);
  });
  const Timing look = measure_time(comm, 5, 0.01, [&] { monitor.check(0, r, y); });
  const Real contacts_of_rank = static_cast<Real>(scaled.n_contacts_of_all()) / comm.size();
  c.setup_ns = 1e9 * setup.median / contacts_of_rank;
  c.update_ns = 1e9 * (solve.median - 2 * look.median) / n_sweeps / contacts_of_rank;
  c.update_bytes = bytes_of_update(scaled);
}

using RunProblem = std::function<void(FrictionBenchProblem, const FrictionProblem<3>&)>;

/// Every solver on every problem, size and compliance, from r = 0. A solver that misses a tolerance is a
/// result, not an error.
class FrictionBench : public BenchCase {
 public:
  void add_options(CommandLine& app) override;
  void make_quick() override {
    bodies_ = {1000};
    max_seconds_ = 3;
  }
  std::int64_t study_bodies() const override { return bodies_.back(); }
  void set_bodies(std::int64_t bodies) override { bodies_ = {bodies}; }

  /// Throws InputError for names, keys and values that do not exist, before anything is computed, and for
  /// values of PETSc options that name nothing, in the first solve that reads them.
  void run(const BenchRun& run) override;

 private:
  PileOptions pile_of(const std::string& name, std::int64_t bodies, std::int64_t seed) const;
  void run_pile(const Comm& comm, const PileOptions& pile_options, const std::string& name,
                const std::vector<Compliance>& compliances, const RunProblem& run_problem) const;
  void run_generated(const Comm& comm, const std::string& name, std::int64_t seed,
                     const std::vector<Compliance>& compliances, const RunProblem& run_problem) const;
  std::string add_times(const SolveReport& report, BenchRow& row) const;
  BenchRow run_solver(const FrictionBenchProblem& c, const FrictionProblem<3>& problem,
                      const SolverChoice<3>& solvers, const std::string& name) const;

  /// "settled": a settled pile of spheres (bench/pile.hpp), of each size in `bodies_`; "settled-gaps": the
  /// same, but gaps of nearly touching bodies may close; "NAME:SIZE": a generated problem in space
  /// (replay/generated_problems.hpp).
  std::vector<std::string> cases_{"settled"};
  std::vector<std::int64_t> bodies_{1000, 5000};
  std::vector<std::string> solvers_;  // empty: all that are registered
  /// "rigid", scaled (m_c g), or a stiffness such as "6.5 kN/m".
  std::vector<std::string> compliances_{"rigid", "1e-2"};
  std::vector<Real> tolerances_{1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};  // the least ends a solve
  Real tangential_ = 1;  // compliance along T over that along N
  std::vector<std::int64_t> seeds_{1};
  Real max_seconds_ = 10;  // of a solve
  std::vector<std::string> settings_;
  std::string petsc_options_;
};

void FrictionBench::add_options(CommandLine& app) {
  app.option("--case", cases_, "piles: settled, settled-gaps; generated problems NAME:SIZE").delimiter(',');
  app.option("--bodies", bodies_, "sizes of settled piles, over all ranks")
      .delimiter(',')
      .check(positive_number());
  app.option("--solvers", solvers_, "as scree list solvers --laboratory names them; else all").delimiter(',');
  app.option("--compliance", compliances_,
             "\"rigid\", scaled (m_c g; 1e-2: soft spheres) or a stiffness (\"6.5 kN/m\")")
      .delimiter(',');
  app.option("--tangential", tangential_, "compliance along T over that along N")
      .check(non_negative_number());
  app.option("--seeds", seeds_, "of settled and generated problems")
      .delimiter(',')
      .check(non_negative_number());
  app.option("--tolerances", tolerances_, "natural residuals to time; the least ends a solve")
      .delimiter(',')
      .check(positive_number());
  app.option("--max-time", max_seconds_, "wall seconds after which a solve ends").check(positive_number());
  app.option("--set", settings_, "SOLVER.KEY=VALUE, a key of [solver]; may be repeated");
  app.option("--petsc", petsc_options_, "options of linear solvers, -scree_...");
}

std::string text_of(const FrictionBenchProblem& c) {
  std::string text = fmt::format(
      "{} (seed {}): {} bodies, {} contacts ({:.2f} per body), {}, {} rank{}\n", c.name, c.seed, c.bodies,
      c.contacts, static_cast<Real>(c.contacts) / static_cast<Real>(c.bodies),
      c.compliance > 0 ? fmt::format("compliance {:.3g} ({:.3g} kN/m)", c.compliance, 1e-3 * c.stiffness)
                       : "rigid",
      c.ranks, c.ranks > 1 ? "s" : "");
  if (is_pile(c.name))
    text += fmt::format(
        "settled in {:.2g} s, deepest overlap {:.1e} R; problem assembled in {:.3g} ms per 1000 bodies\n",
        c.settling_seconds, c.overlap, 1e6 * c.assembly_seconds / static_cast<Real>(c.bodies));
  return text + fmt::format(
                    "set up in {:.0f} ns per contact; nsgs {:.1f} ns per contact update, {:.0f} % of the "
                    "triad bound ({:.1f} ns to read {:.0f} bytes)\n",
                    c.setup_ns, c.update_ns, 100 * c.update_bound_ns / c.update_ns, c.update_bound_ns,
                    c.update_bytes);
}

std::vector<BenchPhase> phases_of(const SolveReport& report) {
  if (report.seconds <= 0) return {};
  std::vector<BenchPhase> phases{{"set-up", report.setup_seconds},
                                 {"matrices", report.assembly_seconds},
                                 {"factors", report.factor_seconds},
                                 {"krylov", report.krylov_seconds}};
  Real rest = report.seconds;
  for (const BenchPhase& phase : phases) rest -= phase.share;
  phases.push_back({"other", rest});
  for (BenchPhase& phase : phases) phase.share /= report.seconds;
  std::erase_if(phases, [](const BenchPhase& phase) { return phase.share < 0.005; });
  return phases;
}

/// When each tolerance was reached; returns the iterations as text.
std::string FrictionBench::add_times(const SolveReport& report, BenchRow& row) const {
  std::string iterations;
  for (const Real limit : tolerances_) {
    const auto first = std::ranges::find_if(
        report.trace, [&](const ResidualSample& sample) { return sample.residual <= limit; });
    const bool reached = first != report.trace.end();
    const std::string limit_text = fmt::format("{:g}", limit);
    const auto value = [&](auto number) {
      return reached ? BenchColumn::Value(number) : BenchColumn::Value(std::string());
    };
    row.result("seconds_to_" + limit_text, "s", value(reached ? first->seconds : 0));
    row.result("iteration_at_" + limit_text, "-", value(std::int64_t{reached ? first->iteration : 0}))
        .only_in_files();
    iterations += fmt::format(" {}", reached ? std::to_string(first->iteration) : "-");
  }
  return iterations;
}

BenchRow FrictionBench::run_solver(const FrictionBenchProblem& c, const FrictionProblem<3>& problem,
                                   const SolverChoice<3>& solvers, const std::string& name) const {
  SolveReport report;
  std::string failure;
  std::vector<Real> r(static_cast<std::size_t>(problem.n_contacts()) * 3);
  std::vector<Real> v(static_cast<std::size_t>(problem.n_local()) * FrictionProblem<3>::q);
  const Real tolerance = *std::ranges::min_element(tolerances_);
  try {
    report = solve_friction<3>(problem, *solvers.make(name),
                               {.tolerance = tolerance, .max_seconds = max_seconds_}, r, v);
  } catch (const RunError& error) {
    failure = error.what();
  }

  BenchRow row("solve");
  row.key("problem", c.name).key("seed", c.seed).only_in_files();
  row.size("bodies", c.bodies).only_in_files();
  row.result("contacts", "-", c.contacts).only_in_files();
  row.key("compliance", c.compliance);
  row.result("stiffness", "N/m", c.stiffness).only_in_files();
  row.result("settling_seconds", "s", c.settling_seconds).only_in_files();
  row.result("assembly_seconds", "s", c.assembly_seconds).only_in_files();
  row.result("setup_ns", "ns", c.setup_ns).only_in_files();
  row.result("nsgs_update_ns", "ns", c.update_ns).only_in_files();
  row.result("triad_update_ns", "ns", c.update_bound_ns).only_in_files();
  row.result("update_bytes", "B", c.update_bytes).only_in_files();
  row.key("solver", name);
  row.result("failure", "-", failure).only_in_files();
  row.seconds = report.seconds;
  row.is_complete = report.converged;
  row.phases = phases_of(report);
  if (!failure.empty()) row.remarks.push_back("failed: " + failure);
  const std::string iterations = add_times(report, row);
  row.result("residual", "-", report.residual.natural);
  row.result("implied_overlap", "m", report.residual.implied_overlap);
  std::string counts;
  for_each_effort(report, [&](std::string_view effort, auto value) {
    if (effort == "seconds") return;
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      row.result(std::string(effort), "s", value).only_in_files();
    } else {
      row.result(std::string(effort), "-", std::int64_t{value}).only_in_files();
      std::string words(effort);
      std::ranges::replace(words, '_', ' ');
      if (value > 0) counts += fmt::format("; {} {}", value, words);
    }
  });
  if (failure.empty()) row.remarks.push_back("iterations:" + iterations + counts);
  row.remarks.insert(row.remarks.end(), report.decisions.begin(), report.decisions.end());
  return row;
}

PileOptions FrictionBench::pile_of(const std::string& name, std::int64_t bodies, std::int64_t seed) const {
  PileOptions options;
  options.bodies = bodies;
  options.seed = seed;
  options.closed = name == settled_case;
  return options;
}

void FrictionBench::run_pile(const Comm& comm, const PileOptions& pile_options, const std::string& name,
                             const std::vector<Compliance>& compliances,
                             const RunProblem& run_problem) const {
  Pile pile(comm, pile_options);
  for (const Compliance& given : compliances) {
    const Real compliance = given.scale(pile.mean_mass(), pile_options.dt);
    FrictionBenchProblem c{.name = name, .seed = pile_options.seed, .compliance = compliance};
    c.stiffness = stiffness_of_compliance(compliance / pile.mean_mass(), pile_options.dt);
    c.settling_seconds = pile.settling_seconds();
    c.overlap = pile.deepest_overlap();
    const auto assemble = [&] { pile.assemble(compliance, tangential_ * compliance); };
    c.assembly_seconds = measure_time(comm, 5, 0.01, assemble).median;
    run_problem(c, pile.problem());
  }
}

void FrictionBench::run_generated(const Comm& comm, const std::string& name, std::int64_t seed,
                                  const std::vector<Compliance>& compliances,
                                  const RunProblem& run_problem) const {
  const auto [kind, size] = parse_case(name);
  SerialProblem<3> whole = generate_problem<3>(kind, size, static_cast<std::uint64_t>(seed), comm);
  Real mass = 0;
  for (std::size_t i = 0; i < whole.mass.size(); i += SerialProblem<3>::q * SerialProblem<3>::q)
    mass += whole.mass[i];
  mass /= whole.n_bodies();
  for (const Compliance& given : compliances) {
    const Real compliance = given.scale(mass, whole.time_step);
    whole.compliance.resize(whole.a.size() * 2);
    for (std::size_t k = 0; k < whole.compliance.size(); k += 2) {
      whole.compliance[k] = compliance / mass;
      whole.compliance[k + 1] = tangential_ * compliance / mass;
    }
    SplitProblem<3> split(comm, whole);
    take_round_form(split.problem());  // as in replays of the file
    FrictionBenchProblem c{.name = name, .seed = seed, .compliance = compliance};
    c.stiffness = stiffness_of_compliance(compliance / mass, whole.time_step);
    run_problem(c, split.problem());
  }
}

void FrictionBench::run(const BenchRun& run) {
  const Comm& comm = run.comm();
  // Everything the user named is looked at before anything is computed.
  const SolverChoice<3> solvers(solvers_, settings_);
  std::vector<Compliance> compliances;
  for (const std::string& text : compliances_) compliances.push_back(parse_compliance(text));
  for (const std::string& name : cases_) {
    if (!is_pile(name))
      parse_case(name);
    else
      for (const std::int64_t n : bodies_) Pile::validate(pile_of(name, n, 0));
  }
  insert_petsc_options(petsc_options_);

  const auto run_problem = [&](FrictionBenchProblem c, const FrictionProblem<3>& problem) {
    c.ranks = comm.size();
    c.bodies = comm.sum(std::int64_t{problem.n_owned()});
    c.contacts = comm.sum(std::int64_t{problem.n_contacts()});
    time_kernels(problem, c);
    c.update_bound_ns = 1e9 * c.update_bytes / run.triad();
    run.head(text_of(c));
    for (const std::string& name : solvers.names()) run.add(run_solver(c, problem, solvers, name));
  };
  for (const std::string& name : cases_) {
    for (const std::int64_t seed : seeds_) {
      if (is_pile(name))
        for (const std::int64_t n : bodies_)
          run_pile(comm, pile_of(name, n, seed), name, compliances, run_problem);
      else
        run_generated(comm, name, seed, compliances, run_problem);
    }
  }
  require_petsc_options_used(comm);
}

}  // namespace

}  // namespace scree

SCREE_BENCH_CASE(friction, scree::FrictionBench,
                 "solvers of frictional contact: wall seconds to each natural residual, iterations")
