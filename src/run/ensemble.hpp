#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "core/parallel.hpp"
#include "io/environment_output.hpp"

namespace scree {

/// What runs that differ in their seeds alone say about a quantity together. The interval is that of
/// Student's t: it holds the mean of all possible runs with a probability of 95 % if the values are normally
/// distributed.
struct SampleStatistics {
  std::int64_t n = 0;
  Real mean = 0;
  Real standard_deviation = 0;  ///< of the sample, n - 1 degrees of freedom; NaN for n < 2
  Real lower = 0, upper = 0;    ///< 95 % confidence interval of the mean; NaN for n < 2
};
SampleStatistics statistics_of(const std::vector<Real>& values);
/// Of a table of quantities: name, unit, number of runs, mean, standard deviation, ends of the interval; what
/// is not finite is empty.
std::string csv_cells(const EnsembleQuantity& quantity);

/// One of the runs of an ensemble.
struct EnsembleMember {
  std::int64_t seed = 0;
  std::string name;                    ///< of the run, seed_SEED
  std::string folder;                  ///< its results
  std::vector<std::string> overrides;  ///< what makes its deck of that of the ensemble
};

/// The member with this seed of an ensemble in `folder`.
EnsembleMember ensemble_member(const std::string& folder, std::int64_t seed);
/// An entry of the summary of a run as JSON, {} if there is none.
std::string summary_entry(const Json& summary, std::string_view key);

/// Runs an ensemble of `count` runs, one after the other: seeds first_seed, first_seed + 1, ...; each is a
/// complete run into FOLDER/seed_SEED. `run` takes a member through to its end and returns its exit code; one
/// other than "done" stops the ensemble with that code. With `resume` a member that has ended at `end_time`
/// is left as it is; before any is run, `require_same_deck` gets the resolved deck of each that is there, to
/// throw InputError if a run of this deck could not go on with it. Then FOLDER/ensemble.csv and
/// FOLDER/ensemble.json have mean, standard deviation and confidence interval of what the runs have in
/// common: `quantities_of` finds it in the entry `summary_key` of their summaries (JSON texts). Collective;
/// throws alike on all ranks.
ExitCode run_ensemble(
    const Comm& comm, const std::string& folder, std::int64_t first_seed, std::int64_t count, Real end_time,
    bool resume, const std::function<void(const EnsembleMember&, const std::string&)>& require_same_deck,
    const std::function<ExitCode(const EnsembleMember&)>& run, std::string_view summary_key = {},
    const std::function<std::vector<EnsembleQuantity>(std::span<const std::string>)>& quantities_of = {});

}  // namespace scree
