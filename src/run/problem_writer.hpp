#pragma once
#include <optional>

#include "run/run_deck.hpp"
#include "run/writers.hpp"
#include "schemes/common/stepper.hpp"

namespace scree {

/// Whether `file_name`, without its folder, is one that the ProblemWriter of a run called `run_name` makes.
bool is_problem_file(const std::string& file_name, const std::string& run_name);

/// The contact problems of a run as FCLIB files (io/fclib.hpp), as [output.fclib] says. STEP is the step that
/// a problem leads to, nine digits, as in tables and frames:
///     NAME.fclib_STEP.hdf5    what a due step went on with
///     NAME.failed_STEP.hdf5   what a solver left unsolved
/// Contacts of bodies with obstacles have the key (id, -1 - obstacle, part of the obstacle), obstacles
/// counted from 0 in the order of the deck. Everything collective.
template <int D>
class ProblemWriter {
 public:
  /// `resume_after`: the clock of a checkpoint to go on from. Files of later steps are removed then, and
  /// earlier failures count.
  ProblemWriter(const Comm& comm, const RunFiles& files, const OutputSettings& settings,
                std::optional<Clock> resume_after);

  /// Whether there can be anything to write.
  bool active() const { return settings_.fclib.ever() || settings_.fclib_on_failure > 0; }
  /// Writes the problem if it is due.
  void write(const ContactProblem<D>& solved);

 private:
  void write(const ContactProblem<D>& solved, const std::string& path) const;

  RunFiles files_;
  const OutputSettings& settings_;
  std::int64_t n_failed_ = 0;
};

}  // namespace scree
