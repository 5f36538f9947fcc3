#include "app/bench_friction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "app/csv_row.hpp"
#include "app/measure_time.hpp"
#include "app/pile.hpp"
#include "app/solver_choice.hpp"
#include "app/table_text.hpp"
#include "comm/split_problem.hpp"
#include "contact/compliance.hpp"
#include "core/deck.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "solvers/generated_problems.hpp"

namespace scree {

namespace {

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
  for (const auto& problem : generated_problems<3>()) {
    if (has_size && problem.name == name && size >= problem.least_size) return {name, size};
    names += fmt::format(", {}:SIZE ({}, at least {})", problem.name, problem.size, problem.least_size);
  }
  throw InputError(fmt::format("--case {}: valid are {}, {}{}", text, settled_case, gaps_case, names));
}

/// Processor time per contact of a rank [ns]: of the set-up of a solve, and of a sweep of Gauss-Seidel from
/// impulses near the solution.
void time_kernels(const FrictionProblem<3>& problem, FrictionBenchCase& c) {
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
  // A call ends and begins with a look at the residual.
  const Timing solve = measure_time(comm, 5, 0.02, [&] {
    report.trace.clear();
    solver->iterate(scaled, r, monitor);
  });
  const Timing look = measure_time(comm, 5, 0.01, [&] { monitor.look(0, r, y); });
  const Real contacts_of_rank = static_cast<Real>(scaled.n_contacts_of_all()) / comm.size();
  c.setup_ns = 1e9 * setup.median / contacts_of_rank;
  c.update_ns = 1e9 * (solve.median - 2 * look.median) / n_sweeps / contacts_of_rank;
}

FrictionBenchRow run_solver(const FrictionProblem<3>& problem, const SolverChoice<3>& solvers,
                            const std::string& name, const FrictionBenchOptions& options) {
  FrictionBenchRow row;
  row.solver = name;
  std::vector<Real> r(static_cast<std::size_t>(problem.n_contacts()) * 3);
  std::vector<Real> v(static_cast<std::size_t>(problem.n_held()) * FrictionProblem<3>::q);
  const Real tolerance = *std::ranges::min_element(options.tolerances);
  try {
    row.report = solve_friction<3>(problem, *solvers.make(name),
                                   {.tolerance = tolerance, .max_seconds = options.max_seconds}, r, v);
  } catch (const RunError& error) {
    row.failure = error.what();
  }
  for (const Real limit : options.tolerances) {
    const auto first = std::ranges::find_if(
        row.report.trace, [&](const ResidualSample& sample) { return sample.residual <= limit; });
    row.reached.push_back(first != row.report.trace.end() ? *first : ResidualSample{-1, 0, 0});
  }
  return row;
}

std::string format_case(const FrictionBenchCase& c) {
  std::string text = fmt::format(
      "\n{} (seed {}): {} bodies, {} contacts ({:.2f} per body), {}, {} rank{}\n", c.name, c.seed, c.bodies,
      c.contacts, static_cast<Real>(c.contacts) / static_cast<Real>(c.bodies),
      c.compliance > 0 ? fmt::format("compliance {:.3g} ({:.3g} kN/m)", c.compliance, 1e-3 * c.stiffness)
                       : "rigid",
      c.ranks, c.ranks > 1 ? "s" : "");
  if (is_pile(c.name))
    text += fmt::format(
        "settled in {:.2g} s, deepest overlap {:.1e} R; problem assembled in {:.3g} ms per 1000 bodies\n",
        c.settling_seconds, c.overlap, 1e6 * c.assembly_seconds / static_cast<Real>(c.bodies));
  return text + fmt::format(
                    "set up in {:.0f} ns per contact; nsgs {:.0f} ns per contact update, {:.0f} % of the "
                    "triad bound ({:.0f} ns for {} bytes)\n",
                    c.setup_ns, c.update_ns, 100 * c.update_bound_ns / c.update_ns, c.update_bound_ns,
                    c.row_bytes);
}

std::string format_head(const std::vector<Real>& tolerances) {
  std::string first = fmt::format("{:>6} |", "solver");
  std::string second = fmt::format("{:>6} |", "");
  for (const Real tolerance : tolerances) {
    first += fmt::format(" {:>6.0e}", tolerance);
    second += fmt::format(" {:>6}", "");
  }
  first += fmt::format(" | {:>7} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>7}\n", "best", "overlap", "s", "setup",
                       "matrix", "factor", "krylov");
  second += fmt::format(" | {:>7} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>7}\n", "", "", "sweeps", "its", "newton",
                        "fact", "krylov");
  return first + second;
}

std::string format_row(const FrictionBenchRow& row) {
  constexpr std::size_t most = 115;  // as wide as the table
  if (!row.failure.empty())
    return wrap_words("failed: " + row.failure, fmt::format("{:>6} | ", row.solver), most);
  const SolveReport& report = row.report;
  std::string seconds = fmt::format("{:>6} |", row.solver);
  std::string counts = fmt::format("{:>6} |", "");
  for (const ResidualSample& sample : row.reached) {
    const bool reached = sample.iteration >= 0;
    seconds += fmt::format(" {:>6}", reached ? format_seconds(sample.seconds) : "-");
    counts += fmt::format(" {:>6}", reached ? std::to_string(sample.iteration) : "");
  }
  seconds += fmt::format(
      " | {:>7.1e} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>7}\n", report.residual.natural,
      report.residual.implied_overlap > 0 ? fmt::format("{:.1e}", report.residual.implied_overlap) : "-",
      format_seconds(report.seconds), format_seconds(report.setup_seconds),
      format_seconds(report.assembly_seconds), format_seconds(report.factor_seconds),
      format_seconds(report.krylov_seconds));
  counts +=
      fmt::format(" | {:>7} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>7}\n", "", "", report.sweeps,
                  report.iterations, report.newton_steps, report.factorizations, report.krylov_iterations);
  std::string text = seconds + counts;
  for (const std::string& decision : report.decisions)
    text += wrap_words(decision, fmt::format("{:>6} | ", ""), most);
  return text;
}

CsvRow csv_row(const FrictionBenchCase& c, const FrictionBenchRow& row, const std::vector<Real>& tolerances) {
  CsvRow csv;
  csv.add("case", c.name);
  csv.add("seed", c.seed);
  csv.add("ranks", c.ranks);
  csv.add("bodies", c.bodies);
  csv.add("contacts", c.contacts);
  csv.add("compliance", c.compliance);
  csv.add("stiffness", c.stiffness);
  csv.add_measured("settling_seconds", c.settling_seconds);
  csv.add_measured("assembly_seconds", c.assembly_seconds);
  csv.add_measured("setup_ns", c.setup_ns);
  csv.add_measured("nsgs_update_ns", c.update_ns);
  csv.add_measured("triad_update_ns", c.update_bound_ns);
  const SolveReport& report = row.report;
  csv.add("solver", row.solver);
  csv.add_text("failure", row.failure);
  csv.add("residual", report.residual.natural);
  csv.add("implied_overlap", report.residual.implied_overlap);
  csv.add_effort(report);
  for (std::size_t i = 0; i < tolerances.size(); ++i)
    csv.add_reached(tolerances[i], row.reached[i].iteration >= 0, row.reached[i]);
  return csv;
}

using RunCase = std::function<void(FrictionBenchCase, const FrictionProblem<3>&)>;

PileOptions pile_of(const std::string& name, std::int64_t bodies, std::int64_t seed) {
  PileOptions options;
  options.bodies = bodies;
  options.seed = seed;
  options.touching = name == settled_case;
  return options;
}

void run_pile(const Comm& comm, const PileOptions& pile_options, const std::string& name,
              const std::vector<Compliance>& compliances, const FrictionBenchOptions& options,
              const RunCase& run_case) {
  Pile pile(comm, pile_options);
  for (const Compliance& given : compliances) {
    const Real compliance = given.scale(pile.mean_mass(), pile_options.dt);
    FrictionBenchCase c{.name = name, .seed = pile_options.seed, .compliance = compliance};
    c.stiffness = stiffness_of_compliance(compliance / pile.mean_mass(), pile_options.dt);
    c.settling_seconds = pile.settling_seconds();
    c.overlap = pile.deepest_overlap();
    const auto assemble = [&] { pile.assemble(compliance, options.tangential * compliance); };
    c.assembly_seconds = measure_time(comm, 5, 0.01, assemble).median;
    run_case(c, pile.problem());
  }
}

void run_generated(const Comm& comm, const std::string& name, std::int64_t seed,
                   const std::vector<Compliance>& compliances, const FrictionBenchOptions& options,
                   const RunCase& run_case) {
  const auto [kind, size] = parse_case(name);
  ListedProblem<3> whole = generate_problem<3>(kind, size, static_cast<std::uint64_t>(seed));
  Real mass = 0;
  for (std::size_t i = 0; i < whole.mass.size(); i += ListedProblem<3>::q * ListedProblem<3>::q)
    mass += whole.mass[i];
  mass /= whole.n_bodies();
  for (const Compliance& given : compliances) {
    const Real compliance = given.scale(mass, whole.time_step);
    whole.compliance.resize(whole.a.size() * 2);
    for (std::size_t k = 0; k < whole.compliance.size(); k += 2) {
      whole.compliance[k] = compliance / mass;
      whole.compliance[k + 1] = options.tangential * compliance / mass;
    }
    const SplitProblem<3> split(comm, whole);
    FrictionBenchCase c{.name = name, .seed = seed, .compliance = compliance};
    c.stiffness = stiffness_of_compliance(compliance / mass, whole.time_step);
    run_case(c, split.problem());
  }
}

}  // namespace

void bench_friction(const Comm& comm, const FrictionBenchOptions& options,
                    const std::function<void(const std::string&)>& show,
                    const std::function<void(const std::string&)>& save) {
  // Everything the user named is looked at before anything is computed.
  const SolverChoice<3> solvers(options.solvers, options.settings);
  std::vector<Compliance> compliances;
  for (const std::string& text : options.compliances) compliances.push_back(parse_compliance(text));
  for (const std::string& name : options.cases) {
    if (!is_pile(name))
      parse_case(name);
    else
      for (const std::int64_t n : options.bodies) Pile::validate(pile_of(name, n, 0));
  }
  insert_petsc_options(options.petsc_options);

  const Real triad = triad_rate(comm);
  std::string csv;
  const auto run_case = [&](FrictionBenchCase c, const FrictionProblem<3>& problem) {
    c.ranks = comm.size();
    c.bodies = comm.sum(std::int64_t{problem.n_owned()});
    c.contacts = comm.sum(std::int64_t{problem.n_contacts()});
    c.row_bytes = sizeof(ScaledProblem<3>::Contact);
    time_kernels(problem, c);
    c.update_bound_ns = 1e9 * static_cast<Real>(c.row_bytes) / triad;
    show(format_case(c) + format_head(options.tolerances));
    for (const std::string& name : solvers.names()) {
      const FrictionBenchRow row = run_solver(problem, solvers, name, options);
      show(format_row(row));
      csv_row(c, row, options.tolerances).append_to(csv);
      save(csv);
    }
  };
  for (const std::string& name : options.cases) {
    for (const std::int64_t seed : options.seeds) {
      if (is_pile(name))
        for (const std::int64_t n : options.bodies)
          run_pile(comm, pile_of(name, n, seed), name, compliances, options, run_case);
      else
        run_generated(comm, name, seed, compliances, options, run_case);
    }
  }
  show(
      "\nLeft: wall seconds and, below, iterations until each natural residual was first reached (-: not "
      "reached). best: natural residual\nof the result; overlap [m]: what compliance implies. Right: wall "
      "seconds of the solve, of which set-up (validation, scaling), assembly\nof matrices, factorisation, "
      "Krylov iterations and triangular solves; below, how many there were.\n");
}

}  // namespace scree
