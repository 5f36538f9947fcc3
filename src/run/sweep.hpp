#pragma once
#include <optional>
#include <string>
#include <vector>

#include "run/commands.hpp"

namespace scree {

/// A key of a deck and the values that a study gives it, as `--set` takes them.
struct VariedKey {
  std::string key;
  std::vector<std::string> values;
};
/// Reads KEY=FIRST:LAST:STEP (numbers; LAST is one of them if it is a whole number of steps away) or
/// KEY=VALUE,VALUE,... (TOML values). Throws InputError.
VariedKey parse_varied_key(const std::string& text);

/// What the command line of `sweep` decides beside RunOptions.
struct SweepOptions {
  std::vector<std::string> vary;   ///< as for parse_varied_key()
  std::int64_t index = -1;         ///< of the only run to take; -1: all of them
  std::optional<Real> mean_after;  ///< columns are means over rows from this time on [s]; else the last row
};

/// Runs a deck for every combination of the values, the last key fastest, each with as many seeds as
/// RunOptions::ensemble or the deck says: complete runs into DIRECTORY/NAME_sweep/point_P/seed_S, one after
/// the other. Then NAME_sweep/sweep.csv has a row for each point and quantity, with mean, standard deviation
/// and 95 % interval over the seeds: all columns of the scalars, and what an environment's summaries have.
/// With an index, for jobs in parallel, there is one run and no table; the same command without it and with
/// --resume writes that. All decks are read before anything runs. A run that fails is left out of the table;
/// RunError follows at the end. Returns done, or interrupted. Collective.
ExitCode run_sweep(const Comm& comm, const Deck& deck, RunOptions options, const SweepOptions& sweep);

}  // namespace scree
