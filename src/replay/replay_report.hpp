#pragma once
#include <string>
#include <vector>

#include "friction/friction_solver.hpp"
#include "replay/fclib_operator.hpp"

namespace scree {

/// One solve of a stored problem.
struct ReplayRow {
  std::string file;
  bool is_global = false;      ///< the file
  bool solved_global = false;  ///< with bodies, shared by all ranks; else W and q, by rank 0
  std::string why_alone;       ///< why not
  int dimension = 3;
  std::int64_t contacts = 0;
  std::int64_t velocities = 0;   ///< 0: a local file does not say
  std::int64_t constraints = 0;  ///< bilateral
  Real preparation_seconds = 0;  ///< from the file's matrices to what is solved; not part of any solve
  std::string solver;
  SolveReport report;
  std::string failure;                  ///< why the solver gave up; empty: it did not
  FclibResidual checked;                ///< recomputed from the file
  bool confirmed = false;               ///< to the least tolerance, after a solve that ended well
  std::vector<ResidualSample> reached;  ///< for each tolerance: the first check below it; iteration -1: never
  std::vector<bool> agrees;             ///< for each tolerance: `checked` confirms the solver's residual
  bool was_reached(std::size_t tolerance) const { return reached[tolerance].iteration >= 0; }
  /// What tables call solved to this tolerance.
  bool is_solved(std::size_t tolerance) const { return agrees[tolerance] && was_reached(tolerance); }
};

/// The solves of a run: those of one file follow each other, each file with the same solvers.
struct ReplayRows {
  std::vector<Real> tolerances;
  ResidualNorm norm = ResidualNorm::fclib;
  int ranks = 1;
  std::string command_line;
  std::vector<std::string> solvers;
  std::vector<ReplayRow> rows;

  std::size_t n_files() const { return rows.size() / solvers.size(); }
  const ReplayRow& at(std::size_t file, std::size_t solver) const {
    return rows[file * solvers.size() + solver];
  }
  /// Of all files and solvers, to a tolerance; infinite: not solved.
  std::vector<std::vector<Real>> seconds_to(std::size_t tolerance) const;
};

/// Text for the terminal: the head of the table, a row of it, and what all rows come to.
std::string format_replay_head(const std::vector<Real>& tolerances);
std::string format_replay_row(const ReplayRow& row);
std::string format_replay_summary(const ReplayRows& all);

/// One line per row.
std::string replay_csv(const ReplayRows& all);
/// Everything; numbers that are not finite are null.
std::string replay_json(const ReplayRows& all);

}  // namespace scree
