#pragma once
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
  /// Of the programs that a study starts: lines of JSON on standard output instead of tables, and the machine
  /// is measured only with `machine`.
  bool stream = false, machine = false;
};

/// Where one case by itself writes its rows; empty: nowhere.
struct BenchFiles {
  std::string csv, json;
};

/// Options of `scree bench`; `launches`: also those that start programs.
void add_study_options(CommandLine& app, StudyOptions& options, bool launches);

/// Names and summaries of all cases.
std::string list_bench_cases();

/// What the Python programs get that show and write (postprocess/scree/bench): the command line, the
/// settings as results.json has them, folder and files to write, and whether it is a study, which shows the
/// machine.
Json show_request(const StudyOptions& options, bool is_study, const BenchFiles& files = {});
/// The same for those that start programs, with the summary of each case and the path of scree_bench. Throws
/// InputError for names, numbers, decks and folders that cannot be used. Local.
Json launch_request(const StudyOptions& options);

/// Measures the chosen cases on the ranks of `comm`. Throws InputError as launch_request(), before anything
/// is measured. Collective.
void measure_study(const Comm& comm, const StudyOptions& options, const Send& send);

/// Measures a case whose options are set, with the machine if `describes`. Collective.
void measure_case(const Comm& comm, const std::string& name, BenchCase& bench, bool describes,
                  const Send& send);

}  // namespace scree
