#include "app/bench_friction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "app/measure_time.hpp"
#include "app/pile.hpp"
#include "core/deck.hpp"
#include "core/error.hpp"
#include "solvers/generated_problems.hpp"

namespace scree {

namespace {

constexpr std::string_view settled_case = "settled";

/// A number that is all of `text`.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

Real parse_compliance(const std::string& text) {
  if (text == "rigid") return 0;
  Real value = 0;
  if (!parse_number(text, value) || !std::isfinite(value) || value < 0)
    throw InputError(fmt::format(
        "--compliance {}: valid are \"rigid\" and numbers >= 0 (the scaled compliance m_c g)", text));
  return value;
}

/// The generated problem called NAME:SIZE.
ListedProblem<3> parse_generated(const std::string& text, std::int64_t seed) {
  const std::size_t colon = text.find(':');
  int size = 0;
  if (colon == std::string::npos || !parse_number(std::string_view(text).substr(colon + 1), size)) {
    std::string names;
    for (const auto& problem : generated_problems<3>()) names += fmt::format(", {}:SIZE", problem.name);
    throw InputError(fmt::format("--case {}: valid are {}{}", text, settled_case, names));
  }
  return generate_problem<3>(std::string_view(text).substr(0, colon), size, static_cast<std::uint64_t>(seed));
}

/// The solvers by name, with settings "SOLVER.KEY=VALUE".
class Solvers {
 public:
  explicit Solvers(const FrictionBenchOptions& options)
      : names_(options.solvers), settings_(options.settings) {
    if (names_.empty())
      for (const auto& entry : registry<FrictionSolver<3>>()) names_.emplace_back(entry.name);
    for (const std::string& name : names_) make(name);
    Deck deck = Deck::from_text("", "--set", settings_);
    for (const std::string& name : names_) describe(deck, name, *make_solver<3>(name));
    deck.require_all_read();
  }
  const std::vector<std::string>& names() const { return names_; }
  std::unique_ptr<FrictionSolver<3>> make(const std::string& name) const {
    auto solver = make_solver<3>(name);
    Deck deck = Deck::from_text("", "--set", settings_);
    describe(deck, name, *solver);
    return solver;
  }

 private:
  static void describe(Deck& deck, const std::string& name, FrictionSolver<3>& solver) {
    deck.root().table(name, {.doc = "Solver"}, [&](Section& section) { solver.describe(section); });
  }

  std::vector<std::string> names_;
  std::vector<std::string> settings_;
};

/// Processor time of Gauss-Seidel per contact of a rank and sweep [ns], from impulses near the solution.
Real time_of_update(const FrictionProblem<3>& problem) {
  ScaledProblem<3> scaled;
  scaled.rebuild(problem);
  constexpr int n_sweeps = 50;
  const auto solver = make_solver<3>("nsgs");
  Deck deck = Deck::from_text(fmt::format("max_sweeps = {0}\ncheck_every = {0}", n_sweeps), "benchmark");
  solver->describe(deck.root());
  const Comm& comm = scaled.comm();
  SolveReport report;
  SolveMonitor<3> monitor(scaled, 0, HUGE_VAL, report);
  std::vector<Real> r(scaled.impulse_size()), y(scaled.velocity_size());
  // A call ends and begins with a look at the residual.
  const Timing solve = measure_time(comm, 5, 0.2, [&] { solver->iterate(scaled, r, monitor); });
  const Timing look = measure_time(comm, 5, 0.05, [&] { monitor.look(0, r, y); });
  return 1e9 * (solve.median - 2 * look.median) / n_sweeps /
         (static_cast<Real>(scaled.n_contacts_of_all()) / comm.size());
}

FrictionBenchRow run_solver(const FrictionProblem<3>& problem, const Solvers& solvers,
                            const std::string& name, const FrictionBenchOptions& options) {
  FrictionBenchRow row;
  row.solver = name;
  std::vector<Real> r(static_cast<std::size_t>(problem.n_contacts()) * 3);
  std::vector<Real> v(static_cast<std::size_t>(problem.n_held()) * FrictionProblem<3>::q);
  const Real tolerance = *std::ranges::min_element(options.tolerances);
  try {
    row.report = solve_friction<3>(problem, *solvers.make(name), tolerance, options.max_seconds, r, v);
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
      "\n{} (seed {}): {} bodies, {} contacts ({:.2f} per body), compliance {}, {} rank{}\n", c.name, c.seed,
      c.bodies, c.contacts, static_cast<Real>(c.contacts) / static_cast<Real>(c.bodies),
      c.compliance > 0 ? fmt::format("{:g}", c.compliance) : "rigid", c.ranks, c.ranks > 1 ? "s" : "");
  if (c.settling_seconds > 0)
    text += fmt::format("settled in {:.2g} s, deepest overlap {:.1e} R; ", c.settling_seconds, c.overlap);
  if (c.assembly_seconds > 0)
    text += fmt::format("problem assembled in {:.3g} ms per 1000 bodies; ",
                        1e6 * c.assembly_seconds / static_cast<Real>(c.bodies));
  text +=
      fmt::format("nsgs {:.0f} ns per contact update, {:.0f} % of the triad bound ({:.0f} ns for {} bytes)\n",
                  c.update_ns, 100 * c.update_bound_ns / c.update_ns, c.update_bound_ns, c.row_bytes);
  return text;
}

std::string format_head(const std::vector<Real>& tolerances) {
  std::string text = fmt::format("{:>8} |", "solver");
  for (const Real tolerance : tolerances) text += fmt::format(" {:>8.0e}", tolerance);
  return text + fmt::format(" | {:>8} {:>7} | {:>6} {:>6} {:>6} {:>7} {:>5} | {:>7} {:>6} {:>6} {:>6}\n",
                            "best", "overlap", "sweeps", "its", "newton", "krylov", "fact", "s", "assem",
                            "factor", "krylov");
}

std::string format_row(const FrictionBenchRow& row) {
  if (!row.failure.empty()) return fmt::format("{:>8} | failed: {}\n", row.solver, row.failure);
  const SolveReport& report = row.report;
  std::string seconds = fmt::format("{:>8} |", row.solver);
  std::string counts = fmt::format("{:>8} |", "");
  for (const ResidualSample& sample : row.reached) {
    seconds += sample.iteration < 0 ? fmt::format(" {:>8}", "-") : fmt::format(" {:>8.3g}", sample.seconds);
    counts += sample.iteration < 0 ? fmt::format(" {:>8}", "") : fmt::format(" {:>8}", sample.iteration);
  }
  seconds += fmt::format(
      " | {:>8.1e} {:>7.0e} | {:>6} {:>6} {:>6} {:>7} {:>5} | {:>7.3g} {:>6.2g} {:>6.2g} {:>6.2g}\n",
      report.residual.natural, report.residual.implied_overlap, report.sweeps, report.iterations,
      report.newton_steps, report.krylov_iterations, report.factorizations, report.seconds,
      report.assembly_seconds, report.factor_seconds, report.krylov_seconds);
  std::string text = seconds + counts + " |\n";
  for (const std::string& decision : report.decisions) text += fmt::format("{:>8} | {}\n", "", decision);
  return text;
}

std::string csv_head(const std::vector<Real>& tolerances) {
  std::string text =
      "case,seed,ranks,bodies,contacts,compliance,settling_seconds,assembly_seconds,nsgs_update_ns,triad_"
      "update_"
      "ns,"
      "solver,failure,residual,implied_overlap,sweeps,iterations,newton_steps,krylov_iterations,"
      "factorizations,seconds,setup_seconds,matrix_seconds,factor_seconds,krylov_seconds";
  for (const Real t : tolerances) text += fmt::format(",seconds_to_{0:g},iteration_at_{0:g}", t);
  return text + "\n";
}

std::string csv_row(const FrictionBenchCase& c, const FrictionBenchRow& row) {
  const SolveReport& r = row.report;
  std::string failure = row.failure;
  std::ranges::replace(failure, '"', '\'');
  std::string text = fmt::format(
      "{},{},{},{},{},{:g},{:.4g},{:.4g},{:.4g},{:.4g},{},\"{}\",{:.6g},{:.6g},{},{},{},{},{},{:.4g},{:.4g},{"
      ":."
      "4g},"
      "{:.4g},{:.4g}",
      c.name, c.seed, c.ranks, c.bodies, c.contacts, c.compliance, c.settling_seconds, c.assembly_seconds,
      c.update_ns, c.update_bound_ns, row.solver, failure, r.residual.natural, r.residual.implied_overlap,
      r.sweeps, r.iterations, r.newton_steps, r.krylov_iterations, r.factorizations, r.seconds,
      r.setup_seconds, r.assembly_seconds, r.factor_seconds, r.krylov_seconds);
  for (const ResidualSample& sample : row.reached)
    text += sample.iteration < 0 ? ",," : fmt::format(",{:.4g},{}", sample.seconds, sample.iteration);
  return text + "\n";
}

using RunCase = std::function<void(FrictionBenchCase, const FrictionProblem<3>&)>;

void run_pile(const Comm& comm, std::int64_t bodies, std::int64_t seed, const std::vector<Real>& compliances,
              const FrictionBenchOptions& options, const RunCase& run_case) {
  PileOptions pile_options;
  pile_options.bodies = bodies;
  pile_options.seed = seed;
  Pile pile(comm, pile_options);
  for (const Real compliance : compliances) {
    FrictionBenchCase c{.name = std::string(settled_case), .seed = seed, .compliance = compliance};
    c.settling_seconds = pile.settling_seconds();
    c.overlap = pile.deepest_overlap();
    const auto assemble = [&] { pile.assemble(compliance, options.tangential * compliance); };
    c.assembly_seconds = measure_time(comm, 5, 0.05, assemble).median;
    run_case(c, pile.problem());
  }
}

void run_generated(const Comm& comm, const std::string& name, std::int64_t seed,
                   const std::vector<Real>& compliances, const FrictionBenchOptions& options,
                   const RunCase& run_case) {
  ListedProblem<3> whole = parse_generated(name, seed);
  Real mass = 0;
  for (std::size_t i = 0; i < whole.mass.size(); i += ListedProblem<3>::q * ListedProblem<3>::q)
    mass += whole.mass[i];
  mass /= whole.n_bodies();
  for (const Real compliance : compliances) {
    whole.compliance.resize(whole.a.size() * 2);
    for (std::size_t k = 0; k < whole.compliance.size(); k += 2) {
      whole.compliance[k] = compliance / mass;
      whole.compliance[k + 1] = options.tangential * compliance / mass;
    }
    const SplitProblem<3> split(comm, whole);
    run_case({.name = name, .seed = seed, .compliance = compliance}, split.problem());
  }
}

}  // namespace

std::string bench_friction(const Comm& comm, const FrictionBenchOptions& options, Real triad,
                           const std::function<void(const std::string&)>& show) {
  // Everything the user named is looked at before anything is computed.
  const Solvers solvers(options);
  std::vector<Real> compliances;
  for (const std::string& text : options.compliances) compliances.push_back(parse_compliance(text));
  for (const std::string& name : options.cases)
    if (name != settled_case) parse_generated(name, 1);
  insert_petsc_options(options.petsc_options);

  std::string csv = csv_head(options.tolerances);
  const auto run_case = [&](FrictionBenchCase c, const FrictionProblem<3>& problem) {
    c.ranks = comm.size();
    c.bodies = comm.sum(std::int64_t{problem.n_owned()});
    c.contacts = comm.sum(std::int64_t{problem.n_contacts()});
    c.row_bytes = sizeof(ScaledProblem<3>::Contact);
    c.update_ns = time_of_update(problem);
    c.update_bound_ns = 1e9 * static_cast<Real>(c.row_bytes) / triad;
    show(format_case(c) + format_head(options.tolerances));
    for (const std::string& name : solvers.names()) {
      const FrictionBenchRow row = run_solver(problem, solvers, name, options);
      show(format_row(row));
      csv += csv_row(c, row);
    }
  };
  for (const std::string& name : options.cases) {
    for (const std::int64_t seed : options.seeds) {
      if (name == settled_case)
        for (const std::int64_t n : options.bodies) run_pile(comm, n, seed, compliances, options, run_case);
      else
        run_generated(comm, name, seed, compliances, options, run_case);
    }
  }
  show(
      "\nwall seconds and, below, iterations to first reach each natural residual (-: not reached); overlap "
      "[m]: "
      "what compliance\nimplies; s: whole solve, of which assembly of matrices, factorisation, Krylov "
      "iterations\n");
  require_petsc_options_used(comm);
  return csv;
}

}  // namespace scree
