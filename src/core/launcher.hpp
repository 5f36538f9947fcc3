#pragma once
#include <optional>
#include <string>
#include <vector>

/// What the environment says of how this process was started: before MPI runs, or where it must not.
namespace scree::launcher {

/// The variable that shows that this process was started by mpirun, srun or the like, as one of its ranks;
/// empty if it was not.
std::string variable();

/// The rank among the processes that were started together: 0 without a launcher; empty if the launcher does
/// not say.
std::optional<int> rank();

/// Settings of Open MPI, to live while MPI starts; programs started later see nothing of them. What the user
/// has set in the environment stays.
///
/// Ranks that a launcher started send what a sweep hands over, some 20 kB to a neighbour, at once through
/// shared memory: beyond 4 kB Open MPI would ask the receiver first, and go on only when both are within MPI.
///
/// A process that no launcher started has nobody to send to, so it needs neither a daemon, whose start takes
/// longer than all else, nor networks. Without a daemon all such processes of a machine would take the same
/// folder for what Open MPI keeps in files, and the first to end would remove it from under the others: each
/// gets one of its own, within OMPI_MCA_orte_tmpdir_base, TMPDIR or /tmp. Without such a folder, the daemon
/// starts.
class StartSettings {
 public:
  StartSettings();
  ~StartSettings();
  /// The folder of a process alone, to be removed when MPI has ended; empty if there is none.
  const std::string& folder() const { return folder_; }
  StartSettings(const StartSettings&) = delete;
  StartSettings& operator=(const StartSettings&) = delete;

 private:
  struct Change {
    const char* name = nullptr;
    std::optional<std::string> old;  ///< what the user has set
  };

  /// Unless the user has set it.
  void set(const char* name, const char* text);
  void change(const char* name, const std::string& text);

  std::string folder_;
  std::vector<Change> changes_;
};

}  // namespace scree::launcher
