#include "replay/replay_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/json.hpp"
#include "io/csv.hpp"
#include "io/table_text.hpp"
#include "run/version.hpp"

namespace scree {

std::vector<std::vector<Real>> ReplayRows::seconds_to(std::size_t tolerance) const {
  std::vector<std::vector<Real>> seconds(n_files());
  for (std::size_t file = 0; file < seconds.size(); ++file)
    for (std::size_t solver = 0; solver < solvers.size(); ++solver) {
      const ReplayRow& row = at(file, solver);
      seconds[file].push_back(row.is_solved(tolerance) ? row.reached[tolerance].seconds : HUGE_VAL);
    }
  return seconds;
}

namespace {

/// Of the residual along a solve, the first and the last among them: more makes the JSON of many files huge.
constexpr std::size_t most_samples = 200;

std::string_view form_of(const ReplayRow& row) {
  return row.solved_global ? "global" : row.is_global ? "elim." : "local";
}

const char* norm_name(ResidualNorm norm) {
  return norm == ResidualNorm::fclib ? "fclib" : "natural";
}

/// What one solver did with all files, to one tolerance.
struct Sum {
  std::size_t solved = 0;
  std::size_t common = 0;  ///< files that all solvers solve
  Real seconds = 0, common_seconds = 0;
};

Sum sum_of(const ReplayRows& all, std::size_t solver, std::size_t tolerance) {
  Sum sum;
  for (const std::vector<Real>& seconds : all.seconds_to(tolerance)) {
    const auto is_finite = [](Real value) { return std::isfinite(value); };
    if (is_finite(seconds[solver])) {
      ++sum.solved;
      sum.seconds += seconds[solver];
    }
    if (std::ranges::all_of(seconds, is_finite)) {
      ++sum.common;
      sum.common_seconds += seconds[solver];
    }
  }
  return sum;
}

CsvRow csv_row(const ReplayRow& row, const ReplayRows& all) {
  CsvRow csv;
  const SolveReport& report = row.report;
  const Residual& residual = report.residual;
  csv.add("file", row.file);
  csv.add("form", row.is_global ? "global" : "local");
  csv.add("solved_as", row.solved_global ? "global" : "local");
  csv.add("dimension", row.dimension);
  csv.add("contacts", row.contacts);
  csv.add("velocities", row.velocities);
  csv.add("constraints", row.constraints);
  csv.add("ranks", all.ranks);
  csv.add("solver", row.solver);
  csv.add("measure", norm_name(all.norm));
  csv.add("converged", report.converged ? 1 : 0);
  csv.add("confirmed", row.confirmed ? 1 : 0);
  csv.add("failure", row.failure);
  csv.add("natural", residual.natural);
  csv.add("fclib_absolute", residual.fclib_absolute);
  csv.add("fclib_relative", residual.fclib_relative);
  csv.add("checked_absolute", row.checked.absolute);
  csv.add("checked_relative", row.checked.relative);
  csv.add("penetration_rate", residual.penetration_rate);
  csv.add("cone_violation", residual.cone_violation);
  csv.add("complementarity", residual.complementarity);
  csv.add("dissipation_error", residual.dissipation_error);
  for_each_effort(report, [&](const char* name, auto value) {
    if constexpr (std::is_floating_point_v<decltype(value)>)
      csv.add_measured(name, value);
    else
      csv.add(name, value);
  });
  csv.add_measured("preparation_seconds", row.preparation_seconds);
  for (std::size_t i = 0; i < all.tolerances.size(); ++i) {
    const std::string tolerance = fmt::format("{:g}", all.tolerances[i]);
    const bool reached = row.is_solved(i);
    csv.add("seconds_to_" + tolerance, reached ? fmt::format("{:.4g}", row.reached[i].seconds) : "");
    csv.add("iteration_at_" + tolerance, reached ? std::to_string(row.reached[i].iteration) : "");
  }
  return csv;
}

Json json_of(const ReplayRow& row, const std::vector<Real>& tolerances) {
  const SolveReport& report = row.report;
  const Residual& residual = report.residual;
  Json json{{"file", row.file},
            {"form", row.is_global ? "global" : "local"},
            {"solved_as", row.solved_global ? "global" : "local"},
            {"why_local", row.why_alone},
            {"dimension", row.dimension},
            {"contacts", row.contacts},
            {"velocities", row.velocities},
            {"constraints", row.constraints},
            {"solver", row.solver},
            {"converged", report.converged},
            {"confirmed", row.confirmed},
            {"failure", row.failure},
            {"residual",
             {{"natural", residual.natural},
              {"fclib_absolute", residual.fclib_absolute},
              {"fclib_relative", residual.fclib_relative},
              {"penetration_rate", residual.penetration_rate},
              {"cone_violation", residual.cone_violation},
              {"complementarity", residual.complementarity},
              {"dissipation_error", residual.dissipation_error},
              {"implied_overlap", residual.implied_overlap}}},
            {"checked", {{"fclib_absolute", row.checked.absolute}, {"fclib_relative", row.checked.relative}}},
            {"counts",
             {{"sweeps", report.sweeps},
              {"iterations", report.iterations},
              {"newton_steps", report.newton_steps},
              {"krylov_iterations", report.krylov_iterations},
              {"factorizations", report.factorizations}}},
            {"seconds",
             {{"solve", report.seconds},
              {"setup", report.setup_seconds},
              {"matrix", report.assembly_seconds},
              {"factor", report.factor_seconds},
              {"krylov", report.krylov_seconds},
              {"preparation", row.preparation_seconds}}},
            {"decisions", report.decisions}};
  Json& reached = json["reached"] = Json::array();
  for (std::size_t i = 0; i < tolerances.size(); ++i) {
    const ResidualSample& sample = row.reached[i];
    reached.push_back({{"tolerance", tolerances[i]},
                       {"solved", row.is_solved(i)},
                       {"agrees", bool(row.agrees[i])},
                       {"seconds", row.was_reached(i) ? Json(sample.seconds) : Json()},
                       {"iteration", row.was_reached(i) ? Json(sample.iteration) : Json()}});
  }
  Json& trace = json["trace"] = Json::array();
  const std::size_t n = report.trace.size();
  const std::size_t kept = std::min(n, most_samples);
  for (std::size_t k = 0; k < kept; ++k) {
    const ResidualSample& sample = report.trace[kept < n ? k * (n - 1) / (kept - 1) : k];
    trace.push_back({sample.iteration, sample.seconds, sample.residual});
  }
  return json;
}

}  // namespace

std::string format_replay_head(const std::vector<Real>& tolerances) {
  std::string head = fmt::format("{:>6} {:>6} {:>6} {:>8} |", "form", "nc", "dofs", "solver");
  for (const Real tolerance : tolerances) head += fmt::format(" {:>6.0e}", tolerance);
  return head + fmt::format(" | {:>6} {:>6} {:>6} | {:>7} {:>7} {:>7} {:>3} | {:>7} {:>7} {:>7} {:>7} | {}\n",
                            "sweeps", "its", "newton", "res", "rel", "natural", "ok", "penetr.", "cone",
                            "compl.", "dissip.", "file");
}

std::string format_replay_row(const ReplayRow& row) {
  std::string text = fmt::format("{:>6} {:>6} {:>6} {:>8} |", form_of(row), row.contacts,
                                 row.velocities > 0 ? std::to_string(row.velocities) : "-", row.solver);
  for (std::size_t i = 0; i < row.reached.size(); ++i)
    text += fmt::format(" {:>6}", row.was_reached(i) ? format_seconds(row.reached[i].seconds) : "-");
  if (!row.failure.empty()) {
    constexpr std::size_t most = 100;  // the table is wider, but this is text
    return text + fmt::format(" | {}\n", row.file) +
           wrap_words("failed: " + row.failure, fmt::format("{:>29} | ", ""), most);
  }
  const SolveReport& report = row.report;
  const Residual& residual = report.residual;
  return text + fmt::format(
                    " | {:>6} {:>6} {:>6} | {:>7.1e} {:>7.1e} {:>7.1e} {:>3} | {:>7.1e} {:>7.1e} "
                    "{:>7.1e} {:>7.1e} | {}\n",
                    report.sweeps, report.iterations, report.newton_steps, residual.fclib_absolute,
                    residual.fclib_relative, residual.natural,
                    !report.converged ? "-"
                    : row.confirmed   ? "yes"
                                      : "NO",
                    residual.penetration_rate, residual.cone_violation, residual.complementarity,
                    residual.dissipation_error, row.file);
}

std::string format_replay_summary(const ReplayRows& all) {
  std::string text = fmt::format("\n{:>9} {:>8} | {:>11} {:>8} | {:>6} {:>8}\n", "tolerance", "solver",
                                 "solved", "seconds", "common", "seconds");
  for (std::size_t t = 0; t < all.tolerances.size(); ++t)
    for (std::size_t s = 0; s < all.solvers.size(); ++s) {
      const Sum sum = sum_of(all, s, t);
      text += fmt::format("{:>9.0e} {:>8} | {:>11} {:>8} | {:>6} {:>8}\n", all.tolerances[t], all.solvers[s],
                          fmt::format("{} of {}", sum.solved, all.n_files()), format_seconds(sum.seconds),
                          sum.common, format_seconds(sum.common_seconds));
    }
  return text +
         fmt::format(
             "\nForm: how the problem was solved, with bodies (global), as W and q (local) or so after "
             "elimination (elim.).\nBelow tolerances: wall seconds of the solve until the {} residual "
             "was first reached (-: not reached).\nres, rel: FCLIB measures of the result; ok: the "
             "residual recomputed from the file agrees (-: the least tolerance was missed).\npenetr. "
             "[m/s], cone [N s], compl. [J], dissip. [J]: the worst contact. common: files that every "
             "solver of this run solves.\n",
             norm_name(all.norm));
}

std::string replay_csv(const ReplayRows& all) {
  std::string text;
  for (const ReplayRow& row : all.rows) csv_row(row, all).append_to(text);
  return text;
}

std::string replay_json(const ReplayRows& all) {
  Json json{{"program", version_text()},      {"command_line", all.command_line}, {"ranks", all.ranks},
            {"measure", norm_name(all.norm)}, {"tolerances", all.tolerances},     {"solvers", all.solvers},
            {"solves", Json::array()},        {"summary", Json::array()}};
  for (const ReplayRow& row : all.rows) json["solves"].push_back(json_of(row, all.tolerances));
  for (std::size_t t = 0; t < all.tolerances.size(); ++t)
    for (std::size_t s = 0; s < all.solvers.size(); ++s) {
      const Sum sum = sum_of(all, s, t);
      json["summary"].push_back({{"tolerance", all.tolerances[t]},
                                 {"solver", all.solvers[s]},
                                 {"files", all.n_files()},
                                 {"solved", sum.solved},
                                 {"seconds", sum.seconds},
                                 {"common", sum.common},
                                 {"common_seconds", sum.common_seconds}});
    }
  return json.dump(1, true) + '\n';
}

}  // namespace scree
