#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "solvers/friction_solver.hpp"

namespace scree {

/// What `scree_bench friction` measures: every solver on every case, size and compliance, from r = 0.
struct FrictionBenchOptions {
  /// "settled": a settled pile of spheres (app/pile.hpp), of each size in `bodies`; "settled-gaps": the same,
  /// but gaps of nearly touching bodies may close; "NAME:SIZE": a generated problem in space
  /// (solvers/generated_problems.hpp).
  std::vector<std::string> cases{"settled"};
  std::vector<std::int64_t> bodies{1000, 5000};
  std::vector<std::string> solvers;  ///< empty: all that are registered
  /// "rigid", scaled (m_c g), or a stiffness such as "6.5 kN/m".
  std::vector<std::string> compliances{"rigid", "1e-2"};
  std::vector<Real> tolerances{1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};  ///< the least ends a solve
  Real tangential = 1;                 ///< compliance along T over that along N
  std::vector<std::int64_t> seeds{1};  ///< of settled and generated problems
  Real max_seconds = 10;               ///< of a solve
  std::vector<std::string> settings;   ///< "SOLVER.KEY=VALUE", keys as in [solver]
  std::string petsc_options;
};

/// A case made ready.
struct FrictionBenchCase {
  std::string name;
  std::int64_t seed = 0;
  Real compliance = 0;  ///< scaled, along N
  Real stiffness = 0;   ///< [N/m], along N; infinite: rigid
  int ranks = 0;
  std::int64_t bodies = 0, contacts = 0;
  Real settling_seconds = 0;  ///< of a settled pile, wall
  Real overlap = 0;           ///< of a settled pile, share of the mean radius
  Real assembly_seconds = 0;  ///< bodies to FrictionProblem; 0 for listed problems
  Real setup_ns = 0;          ///< validation and scaling: processor time per contact of a rank
  Real update_ns = 0;         ///< of Gauss-Seidel: processor time per contact of a rank and sweep
  Real update_bound_ns = 0;   ///< what the triad rate allows: one contact row read
  std::int64_t row_bytes = 0;
};

struct FrictionBenchRow {
  std::string solver;
  std::string failure;  ///< why the solver gave up; empty: it did not
  SolveReport report;
  std::vector<ResidualSample> reached;  ///< for each tolerance: the first look below it; iteration -1: never
};

/// Runs everything. `show` gets the text of each finished part, `save` after each solve the table so far, in
/// CSV; both on all ranks. A solver that misses a tolerance is a result, not an error. Throws InputError for
/// names, keys and values that do not exist, before anything is computed, and for values of PETSc options
/// that name nothing, in the first solve that reads them; whether all options were read is the caller's
/// question (require_petsc_options_used). Collective.
void bench_friction(const Comm& comm, const FrictionBenchOptions& options,
                    const std::function<void(const std::string&)>& show,
                    const std::function<void(const std::string&)>& save);

}  // namespace scree
