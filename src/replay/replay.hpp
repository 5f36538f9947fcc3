#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/types.hpp"
#include "run/python_lines.hpp"

namespace scree {

/// What `scree_replay FILE...` is asked for.
struct ReplayOptions {
  std::vector<std::string> files;
  std::vector<std::string> solvers{"auto"};  ///< "all": every registered one
  std::vector<Real> tolerances{1e-4};        ///< the least ends a solve
  Real max_seconds = 60;                     ///< of a solve
  bool natural = false;                      ///< the measure: natural residual, else that of FCLIB
  std::string start = "zero";                ///< or "guess", "solution": the file's
  std::string form;  ///< "local": by W and q, also where bodies would do; "global": not
  bool write_solution = false;
  bool force = false;                 ///< also write a solution that is none
  std::vector<std::string> settings;  ///< "SOLVER.KEY=VALUE", keys as in [solver]
  std::string petsc_options;
  std::string json, csv;  ///< files that the report is written to; empty: none
  std::string command_line;
};

/// Solves stored problems one after the other with each solver, and checks every result by a residual
/// recomputed from the file. Tells `head` (what all solves share), `solve` after each, `file` after all
/// solves of a file, and `done`, to be shown and written by Python (bench/replays.py). All files are read and
/// checked before anything is solved. Returns done if every solver met the least tolerance on every file and
/// was confirmed, solver_failure if not, bad_input if a file turned out to be no problem for the solvers.
/// Throws InputError for options and files that cannot be used. Collective.
ExitCode replay(const Comm& comm, const ReplayOptions& options, const Send& send);

/// Throws InputError if a file cannot be made at `path`, before anything is computed for it. Local.
void check_place(const std::string& path);

/// The families of generated problems in space, one per line with a summary.
std::string list_families();

/// What `scree_replay --generate` is asked for (replay/generated_problems.hpp).
struct GenerateOptions {
  std::string family;
  int size = 0;
  std::uint64_t seed = 1;
  int dimension = 3;
  bool in_local_form = false;
  std::string output;
  bool force = false;  ///< replace a file that exists
};

/// Writes a generated problem; returns a line about it. Throws InputError for a family, size or output that
/// cannot be used. Collective.
std::string generate_file(const Comm& comm, const GenerateOptions& options);

/// Writes the problem of `path` in local form; returns a line about it. By rank 0 alone. Throws InputError as
/// reading does, and for an output that exists unless `force`. Collective.
std::string convert_file(const Comm& comm, const std::string& path, const std::string& output, bool force);

}  // namespace scree
