#pragma once
#include <memory>
#include <string>

#include "core/json.hpp"
#include "core/parallel.hpp"
#include "io/folder_lock.hpp"
#include "io/run_files.hpp"

namespace scree {

/// The folder of a run's results, or of an ensemble. A file .scree-results in it says that scree made it:
/// nothing is removed from a folder without it. A lock (io/folder_lock.hpp) keeps other runs out, from
/// lock_if_there() or prepare() to the end of this object's life. All members are collective; what cannot be
/// makes all ranks throw InputError.
class ResultsFolder {
 public:
  enum class Use {
    fresh,       ///< a folder without results
    replace,     ///< --force: results that are there are removed
    start_over,  ///< --resume without a checkpoint: what a run left that was stopped before is removed
    go_on        ///< from a checkpoint, in the folder that holds it or in a new one
  };

  ResultsFolder(const Comm& comm, RunFiles files, std::string command);

  const RunFiles& files() const { return files_; }
  /// Takes the lock if there is a folder; nothing else is touched.
  void lock_if_there();
  /// Throws if results are there that a new start would take away and nothing could bring back: those of a
  /// run that wrote its summary or a checkpoint.
  void require_nothing_to_lose() const;
  /// Makes the folder if need be, takes the lock and makes room for a run.
  void prepare(Use use, const std::string& checkpoint);
  /// The same for the folder of an ensemble; to `replace`, results of all its members are removed, also of
  /// seeds that the next one does not have: scripts take every member for a part of it. The caller has the
  /// lock of the member `own`.
  void prepare_ensemble(Use use, const std::string& own);

 private:
  void lock();

  Comm comm_;
  RunFiles files_;
  std::string command_;
  std::unique_ptr<FolderLock> lock_;  ///< on rank 0
};

/// The summary of a run; null if there is none, discarded if it is damaged. Collective.
Json summary_in(const Comm& comm, const std::string& folder);
/// Whether a run has come to an end of its own.
bool is_done(const Json& summary);
/// Whether it has, and would end at the same time again.
bool has_ended(const Json& summary, Real end_time);

}  // namespace scree
