#pragma once
#include <string>
#include <vector>

#include "core/json.hpp"
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

/// A solve as the JSON file of scree_replay has it, but infinities and NaN are texts; tables and files are
/// made of that (postprocess/scree/bench/replays.py).
Json json_of_solve(const ReplayRow& row, const std::vector<Real>& tolerances);

}  // namespace scree
