#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "state/state.hpp"

namespace scree {

/// Where a run's files lie: FOLDER/NAME.h5 and so on.
struct RunFiles {
  std::string folder;  ///< DIRECTORY/NAME
  std::string name;
  std::string with(const std::string& ending) const { return folder + "/" + name + ending; }
  std::string checkpoints() const { return folder + "/checkpoint"; }
};

/// Where a restart goes on, and which outputs drop a frame for it: one that the run had ended with and that a
/// run without a stop does not have.
struct ResumePoint {
  Clock clock;
  std::string
      end_frames{};  ///< names of outputs, separated by blanks; of no meaning if no step is left to take
  /// The last step and time whose frame or row `output` keeps.
  Clock last_of(std::string_view output) const;
};

/// Whether to go on with the file `path`: a restart may write to a new folder, or what the run did not write
/// before. The same on all ranks. Collective.
bool goes_on_with(const Comm& comm, const std::string& path, const std::optional<ResumePoint>& resume);

}  // namespace scree
