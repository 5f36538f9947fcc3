#include "replay/replay_report.hpp"

#include <algorithm>

#include "run/python_lines.hpp"

namespace scree {

namespace {

/// Of the residual along a solve, the first and the last among them: more makes the JSON of many files huge.
constexpr std::size_t max_samples = 200;

}  // namespace

Json json_of_solve(const ReplayRow& row, const std::vector<Real>& tolerances) {
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
             {{"natural", finite_or_text(residual.natural)},
              {"fclib_absolute", finite_or_text(residual.fclib_absolute)},
              {"fclib_relative", finite_or_text(residual.fclib_relative)},
              {"penetration_rate", finite_or_text(residual.penetration_rate)},
              {"cone_violation", finite_or_text(residual.cone_violation)},
              {"complementarity", finite_or_text(residual.complementarity)},
              {"dissipation_error", finite_or_text(residual.dissipation_error)},
              {"implied_overlap", finite_or_text(residual.implied_overlap)}}},
            {"checked",
             {{"fclib_absolute", finite_or_text(row.checked.absolute)},
              {"fclib_relative", finite_or_text(row.checked.relative)}}},
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
  const std::size_t kept = std::min(n, max_samples);
  for (std::size_t k = 0; k < kept; ++k) {
    const ResidualSample& sample = report.trace[kept < n ? k * (n - 1) / (kept - 1) : k];
    trace.push_back({sample.iteration, sample.seconds, finite_or_text(sample.residual)});
  }
  return json;
}

}  // namespace scree
