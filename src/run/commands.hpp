#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "io/compare.hpp"  // of `scree compare`
#include "run/progress.hpp"

namespace scree {

/// What the command line of `run` and `restart` decides.
struct RunOptions {
  bool force = false;         ///< replace existing results
  bool resume = false;        ///< go on from the latest checkpoint if there is one, else start
  bool progress = true;       ///< show how far the run is
  std::int64_t ensemble = 0;  ///< number of runs with seeds of their own; 0: as the deck says
  std::string from;        ///< checkpoint of another run that brings the bodies; empty: the deck makes them
  Real max_wall_time = 0;  ///< stop with a checkpoint after this many seconds; 0: no limit
  std::string command_line;
  std::vector<std::string> overrides;  ///< of a restart; run_deck and restart_run set these two
  std::string go_on_with;              ///< the command that goes on if the run is stopped
};

/// The name of a run if the deck gives none: that of its file.
std::string name_after(const Deck& deck);
/// What is left of RunOptions::max_wall_time for the next of several runs, the first of which began at
/// `start`; 0: no limit. Collective.
Real remaining_wall_time(const Comm& comm, const RunOptions& options, WallClock::time_point start);

/// Runs a deck, or an ensemble of it (run/ensemble.hpp), with all its outputs. Returns done, or interrupted
/// (a signal or max_wall_time: a checkpoint is written). Sets go_on_with if it is empty. Collective.
ExitCode run_deck(const Comm& comm, Deck deck, RunOptions options);

/// Goes on from a checkpoint with its stored deck. `overrides` may change only what does not define the
/// state (run/deck_changes.hpp). Collective.
ExitCode restart_run(const Comm& comm, const std::string& checkpoint,
                     const std::vector<std::string>& overrides, RunOptions options);

/// Builds everything, takes no step, and reports what the run would be, as text or JSON; `from` as in
/// RunOptions. Throws InputError as `run` would. Collective.
std::string check_deck(const Comm& comm, Deck deck, bool as_json, const std::string& from = "");

/// Describes a deck (its resolved form) or a result file. Collective.
std::string describe(const Comm& comm, const std::string& path, const std::vector<std::string>& overrides);

/// One word for a shell.
std::string quoted(const std::string& word);
/// `scree VERB FILE` with what was set, as one types it to go on with a run that was stopped.
std::string command_to_go_on(const Comm& comm, const std::string& verb_and_file,
                             const std::vector<std::string>& overrides, const std::string& options = "");

/// Registered kinds ("shapes", "measures", ...), or all if `what` is empty, for users or for the laboratory,
/// too. Throws InputError for an unknown word.
std::string list_kinds(const std::string& what, Audience audience);

}  // namespace scree
