#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/deck_bench.hpp"
#include "core/command_line.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"

namespace scree {

/// What `scree bench` is asked for (docs/benchmarks.md).
struct StudyOptions {
  std::vector<std::string> cases;  ///< names, or "all"
  DeckToMeasure deck;              ///< instead of cases
  bool list = false;
  bool quick = false;
  std::string mode = "fixed";  ///< fixed: each case at its own sizes; strong, weak: at one
  std::int64_t bodies = 0;     ///< strong: of all ranks, weak: of each; 0: as the case proposes
  int repetitions = 0;         ///< 0: as the case has it
  std::vector<int> ranks;      ///< to start programs on; empty: those that are there
  std::string launcher;        ///< "mpirun -n {ranks}"; empty: that
  std::string out;             ///< folder of results.json and NAME.csv; empty: none
  std::string folder;          ///< for files of cases that go away; empty: `out`, or that of temporary files
  std::string command_line;
  /// Of the programs that launch_study() starts: lines of JSON on standard output instead of tables, and the
  /// machine is measured only with `machine`.
  bool stream = false, machine = false;
};

/// Options of `scree bench`; `launches`: also those that start programs.
void add_study_options(CommandLine& app, StudyOptions& options, bool launches);

/// Names and summaries of all cases.
std::string list_bench_cases();

/// What the options name: entries of cases.def, in its order, or the one of a deck. Throws InputError.
std::vector<BenchEntry> chosen_cases(const StudyOptions& options);
/// The options as results.json tells them.
Json settings_of(const StudyOptions& options);

/// Prints text on one rank.
using Show = std::function<void(const std::string&)>;

/// Measures the chosen cases on the ranks of `comm`, prints a table for each and writes the results.
/// Throws InputError for names, numbers and folders that cannot be used, before anything is measured.
/// Collective.
void measure_study(const Comm& comm, const StudyOptions& options, const Show& show);

/// Where one case by itself writes its rows; empty: nowhere.
struct BenchFiles {
  std::string csv, json;
};
/// Measures a case whose options are set. The CSV file grows row by row, so what was measured outlives an
/// error. Collective.
void measure_case(const Comm& comm, const std::string& name, BenchCase& bench, const BenchFiles& to_write,
                  const std::string& command_line, const Show& show);

/// Starts `LAUNCHER scree_bench ...` for each case and number of ranks, one after the other, collects what
/// they print, and prints and writes the results with speed-up and efficiency. To be called where MPI was not
/// initialised. Throws InputError for what cannot be used and RunError with the message of a program that
/// failed.
void launch_study(const StudyOptions& options, const Show& show);

}  // namespace scree
